from __future__ import annotations

from pathlib import Path

from motherlode.model import DOCUMENT_SYNTAXES, ContentKind, Syntax
from motherlode.sim.synthetic.entities import EMBEDDED, WRITERS
from motherlode.sim.synthetic.entity_kinds import KINDS
from motherlode.sim.synthetic.host_profiles import HOST_PROFILES, Charset, Design, Family, ItemShape, Trap, Voice


def test_habit_names_are_unique_and_first_is_a_hub() -> None:
    assert len({profile.name for profile in HOST_PROFILES}) == len(HOST_PROFILES)
    assert HOST_PROFILES[0].hub
    assert len(HOST_PROFILES) <= 48


def test_every_enum_member_is_used_by_a_profile() -> None:
    sections = [section for profile in HOST_PROFILES for section in profile.sections]
    assert {section.shape for section in sections} == set(ItemShape)
    assert {section.voice for section in sections} == set(Voice)
    assert {section.syntax for section in sections} - {None} == EMBEDDED
    assert {kind for section in sections for kind in section.formats} == set(WRITERS)
    assert {design for profile in HOST_PROFILES for design in profile.designs} == set(Design)
    assert {profile.trap for profile in HOST_PROFILES} - {None} == set(Trap)
    assert {profile.charset for profile in HOST_PROFILES} == set(Charset)
    assert {profile.family for profile in HOST_PROFILES} == set(Family)
    assert {name for profile in HOST_PROFILES for name in profile.encodings} == {"", "gzip", "deflate"}


def test_every_fault_is_used_by_a_profile() -> None:
    for name in ("seed", "hub", "featured", "every_page", "lies", "robots", "feed", "sitemap"):
        assert any(getattr(profile, name) for profile in HOST_PROFILES), name
    for name in ("flawed_permille", "moved_permille", "flaky_permille", "slow_permille", "dead_permille"):
        assert any(getattr(profile, name) for profile in HOST_PROFILES), name


def test_habits_use_only_existing_values() -> None:
    for profile in HOST_PROFILES:
        for section in profile.sections:
            if section.syntax is Syntax.MICROFORMATS:
                assert all(KINDS[kind].microformat for kind in section.kinds), profile.name
            assert bool(section.formats) == (section.shape is not ItemShape.PAGES), profile.name
        kinds = [kind for section in profile.sections for kind in section.kinds]
        assert len(kinds) == len(set(kinds)), f"two sections of {profile.name} could have the same path"
        if profile.charset is not Charset.UTF8:
            assert set(profile.designs) <= {Design.TABLES, Design.XHTML}, profile.name


def test_habits_cover_all_rdf_syntaxes() -> None:
    written = {kind for profile in HOST_PROFILES for section in profile.sections for kind in section.formats}
    assert {kind.value for kind in written} >= {syntax.value for syntax in DOCUMENT_SYNTAXES - {Syntax.N3}}
    assert ContentKind.JSON_LD in written


def test_every_habit_is_documented() -> None:
    text = (Path(__file__).parents[3] / "docs" / "synthetic-web.md").read_text()
    assert not [profile.name for profile in HOST_PROFILES if profile.name not in text]

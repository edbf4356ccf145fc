from __future__ import annotations

from pathlib import Path

from motherlode.model import DOCUMENT_SYNTAXES, ContentKind, Syntax
from motherlode.sim.synthetic.entities import EMBEDDED, WRITERS
from motherlode.sim.synthetic.entity_kinds import KINDS
from motherlode.sim.synthetic.host_profiles import HABITS, Charset, Design, Family, ItemShape, Trap, Voice


def test_habit_names_are_unique_and_first_is_a_hub() -> None:
    assert len({habit.name for habit in HABITS}) == len(HABITS)
    assert HABITS[0].hub
    assert len(HABITS) <= 48


def test_every_enum_member_is_used_by_a_habit() -> None:
    sections = [section for habit in HABITS for section in habit.sections]
    assert {section.shape for section in sections} == set(ItemShape)
    assert {section.voice for section in sections} == set(Voice)
    assert {section.syntax for section in sections} - {None} == EMBEDDED
    assert {kind for section in sections for kind in section.formats} == set(WRITERS)
    assert {design for habit in HABITS for design in habit.designs} == set(Design)
    assert {habit.trap for habit in HABITS} - {None} == set(Trap)
    assert {habit.charset for habit in HABITS} == set(Charset)
    assert {habit.family for habit in HABITS} == set(Family)
    assert {name for habit in HABITS for name in habit.encodings} == {"", "gzip", "deflate"}


def test_every_fault_is_used_by_a_habit() -> None:
    for name in ("seed", "hub", "featured", "every_page", "lies", "robots", "feed", "sitemap"):
        assert any(getattr(habit, name) for habit in HABITS), name
    for name in ("flawed_permille", "moved_permille", "flaky_permille", "slow_permille", "dead_permille"):
        assert any(getattr(habit, name) for habit in HABITS), name


def test_habits_use_only_existing_values() -> None:
    for habit in HABITS:
        for section in habit.sections:
            if section.syntax is Syntax.MICROFORMATS:
                assert all(KINDS[kind].microformat for kind in section.kinds), habit.name
            assert bool(section.formats) == (section.shape is not ItemShape.PAGES), habit.name
        kinds = [kind for section in habit.sections for kind in section.kinds]
        assert len(kinds) == len(set(kinds)), f"two sections of {habit.name} could have the same path"
        if habit.charset is not Charset.UTF8:
            assert set(habit.designs) <= {Design.TABLES, Design.XHTML}, habit.name


def test_habits_cover_all_rdf_syntaxes() -> None:
    written = {kind for habit in HABITS for section in habit.sections for kind in section.formats}
    assert {kind.value for kind in written} >= {syntax.value for syntax in DOCUMENT_SYNTAXES - {Syntax.N3}}
    assert ContentKind.JSON_LD in written


def test_every_habit_is_documented() -> None:
    text = (Path(__file__).parents[3] / "docs" / "synthetic-web.md").read_text()
    assert not [habit.name for habit in HABITS if habit.name not in text]

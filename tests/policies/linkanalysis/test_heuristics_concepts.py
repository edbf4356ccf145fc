"""The sets of the link analysis: the paper's own members are there, and a user's files replace ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.policies.linkanalysis.heuristics import concepts_from, default_concepts


def test_the_members_that_the_paper_names_are_in_the_sets() -> None:
    concepts = default_concepts()
    assert {"application/rdf+xml", "text/n3"} <= concepts.content_types
    assert {"rdf", "owl", "nt"} <= concepts.file_extensions
    assert {"rdf", "triple", "n3", "foaf", "turtle"} <= concepts.words
    assert {"jpg", "pdf"} <= concepts.other_extensions
    assert "html" in concepts.html_extensions
    sets = (concepts.file_extensions, concepts.html_extensions, concepts.other_extensions)
    assert sum(map(len, sets)) == len(frozenset().union(*sets)), "no extension is in two sets"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Download RDF", True),
        ("application/rdf+xml", True),
        ("/data/foaf_profile", True),
        ("as N-Triples", True),
        ("n triples of them", True),
        ("wordforms, birdfeed", False),
        ("RDFa", False),
        ("", False),
        ("n", False),
    ],
)
def test_terms_are_whole_words(text: str, expected: bool) -> None:  # noqa: FBT001 - a row of the table
    assert default_concepts().has_term(text) is expected


def test_a_user_s_file_replaces_ours_and_the_others_stay(tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("# mine\nLinked  Data # both words\nshacl\n\n", encoding="utf-8")
    concepts = concepts_from(tmp_path)
    assert concepts.has_term("our linked-data dump")
    assert concepts.has_term("SHACL")
    assert not concepts.has_term("rdf")
    assert concepts.file_extensions == default_concepts().file_extensions


def test_a_folder_without_any_of_the_files_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"contains none of the files content_types\.txt"):
        concepts_from(tmp_path)

"""The sparse tree of HTML: elements that it leaves out must not change the result."""

from __future__ import annotations

from motherlode.transform.rdfa.evaluation_context import TERMS
from motherlode.transform.rdfa.html_tree import build_html_tree
from tests.transform.rdfa.pages import triples
from tests.www.pages import document

DC = "http://purl.org/dc/terms/"


def tags(markup: str) -> list[str]:
    tree = build_html_tree(document(markup), roles=False)
    assert tree is not None
    return [element.tag for element in tree.elements]


def test_tree_has_only_relevant_elements() -> None:
    assert tags(
        "<body class=x><main><a href=x>y</a><section lang=de><p id=q><b property=dc:title>z</b></p></section>"
    ) == [
        "html",
        "section",
        "b",
    ]


def test_html_keywords_in_rel_are_left_out_without_vocabulary() -> None:
    assert tags("<link rel=icon href=x><p property=dc:title>y") == ["html", "p"]
    assert tags("<link rel=icon href=x><p vocab='http://v/' property=title>y") == ["html", "link", "p"]


def test_selector_finds_all_terms_of_the_initial_context() -> None:
    """The selector has a copy of each term."""
    for term in TERMS:
        assert tags(f"<link rel='x {term.upper()} y' href=z>") == ["html", "link"]
    assert tags("<link rel='x dc:y' href=z>") == ["html", "link"]


def test_ancestor_with_href_is_the_subject() -> None:
    assert triples("<a href='http://x/'><div><b property=dc:title>y</b></div></a>") == [
        ("<http://x/>", f"<{DC}title>", '"y"')
    ]


def test_relation_without_object_is_completed_by_descendants() -> None:
    found = triples("<div about=#s rel=dc:relation><p><a href='http://x/'>y</a><img src='http://z/'></p></div>")
    assert found == [("<#s>", f"<{DC}relation>", "<http://x/>"), ("<#s>", f"<{DC}relation>", "<http://z/>")]


def test_xmlns_attribute_declares_a_prefix() -> None:
    assert triples("<html xmlns:EX='http://ex/'><p property=ex:a>b") == [("<>", "<http://ex/a>", '"b"')]


def test_html_literal_keeps_its_markup() -> None:
    ((_, _, found),) = triples("<p property=dc:title datatype=rdf:HTML>a<b>c</b>")
    assert found == '"a<b>c</b>"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#HTML>'


def test_relation_with_unresolvable_safe_curie_is_completed_by_descendants() -> None:
    for resource in ("[]", " [unknown:x] "):
        markup = f"<p rel=dc:creator resource='{resource}'><a about=x>y</a></p>"
        assert triples(markup) == [("<>", f"<{DC}creator>", "<http://example.org/folder/x>")]

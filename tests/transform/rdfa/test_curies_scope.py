"""Vocabularies, prefixes and languages in force."""

from __future__ import annotations

import pytest

from motherlode.model import ContentKind
from tests.transform.rdfa.pages import rdfa, triples

USES = "<http://www.w3.org/ns/rdfa#usesVocabulary>"


def test_a_vocabulary_is_said_and_can_be_taken_back() -> None:
    found = triples("<div vocab='http://v/'><b property=a>x</b><p vocab=''><b property=a>y</b></p></div>")
    assert found == [("<>", USES, "<http://v/>"), ("<>", "<http://v/a>", '"x"')]


def test_a_vocabulary_that_is_only_a_host_gets_its_slash() -> None:
    markup = "<div vocab='https://schema.org' prefix='e: http://e.org'><b property='a e:b'>x</b></div>"
    assert [predicate for _, predicate, _ in triples(markup)[1:]] == ["<https://schema.org/a>", "<http://e.org/b>"]
    assert [problem.repaired for problem in rdfa(markup).problems] == [True, True]


def test_prefixes_end_with_their_element() -> None:
    markup = "<p prefix='e: http://e/'><b property=e:a>x</b></p><b property=e:a>y</b>"
    assert [predicate for _, predicate, _ in triples(markup)] == ["<http://e/a>", "<e:a>"]


def test_a_prefix_is_a_name() -> None:
    assert triples("<p prefix='1x: http://e/' property=1x:a>y</p>") == []
    assert triples("<p xmlns:1x='http://e/' property=1x:a>y</p>") == []
    assert triples("<p prefix='x1: http://e/ é: http://f/' property='x1:a é:b'>y</p>") == [
        ("<>", "<http://e/a>", '"y"'),
        ("<>", "<http://f/b>", '"y"'),
    ]


def test_prefix_wins_over_xmlns_on_the_same_element_and_inner_over_outer() -> None:
    assert triples("<p xmlns:e='http://x/' prefix='e: http://p/' property=e:a>x</p>")[0][1] == "<http://p/a>"
    assert triples("<p prefix='e: http://p/'><b xmlns:e='http://x/' property=e:a>x</b></p>")[0][1] == "<http://x/a>"


def test_languages() -> None:
    markup = (
        "<html lang=en><p property=dc:title>a<p lang='' property=dc:title>b<p xml:lang=fr lang=de property=dc:title>c"
    )
    assert [value for *_, value in triples(markup)] == ['"a"@en', '"b"', '"c"@fr']


@pytest.mark.parametrize("kind", [ContentKind.HTML, ContentKind.XHTML])
@pytest.mark.parametrize("declared", ["prefix='r: voc/#'", "xmlns:r='voc/#'"])
def test_relative_namespace_of_a_prefix_is_resolved_against_the_document(kind: ContentKind, declared: str) -> None:
    markup = (
        f"<html xmlns='http://www.w3.org/1999/xhtml' {declared}><head><title>x</title><base href='http://b/c/d' />"
        "</head><body><p property='r:p' resource='e' typeof='r:T'>x</p></body></html>"
    )
    folder = "http://example.org/folder/voc/"
    assert sorted(triples(markup, kind=kind)) == [
        ("<http://b/c/d>", f"<{folder}#p>", "<http://b/c/e>"),
        ("<http://b/c/e>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", f"<{folder}#T>"),
    ]


def test_relative_namespace_ignores_xml_base() -> None:
    markup = (
        "<svg xmlns='http://www.w3.org/2000/svg' prefix='r: voc#'><g xml:base='http://b/' property='r:p'>x</g></svg>"
    )
    assert [it[1] for it in triples(markup, kind=ContentKind.SVG)] == ["<http://example.org/folder/voc#p>"]

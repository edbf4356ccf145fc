"""Resolution of terms, CURIEs and IRIs, the declarations of elements, and the processor graph."""

from __future__ import annotations

import pytest

from motherlode.model import ContentKind, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdfa.curies import CurieResolver, ProcessorGraph, ProcessorMessage, _add_slash, _iter_mappings
from motherlode.transform.rdfa.evaluation_context import PREFIXES, TERMS, EvaluationContext, ListMapping
from tests.transform.rdfa.pages import rdfa, triples

XHV = "http://www.w3.org/1999/xhtml/vocab#"
USES = "<http://www.w3.org/ns/rdfa#usesVocabulary>"


def context(vocabulary: str = "") -> EvaluationContext:
    prefixes = {**PREFIXES, "ex": "http://ex/", "rel": "dir/"}
    base = "http://b/a/b"
    return EvaluationContext(
        base=base, subject="", object="", lists=ListMapping(""), prefixes=prefixes, vocabulary=vocabulary
    )


def resolver() -> CurieResolver:
    return CurieResolver(
        url="http://d/a/b", terms=TERMS, names=BlankNames("http://b/", Syntax.RDFA), graph=ProcessorGraph()
    )


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("ex:a", "<http://ex/a>"),
        ("EX:a:b", "<http://ex/a:b>"),
        ("ex:", "<http://ex/>"),
        (":a", f"<{XHV}a>"),
        ("rel:a", "<http://d/a/dir/a>"),
        ("http://x/a", "<http://x/a>"),
        ("ex://a", "<ex://a>"),
        ("none:a", "<none:a>"),
        ("license", f"<{XHV}license>"),
        ("LICENSE", f"<{XHV}license>"),
        ("stylesheet", None),
        ("a/b", None),
        ("#a", None),
    ],
)
def test_token_without_vocabulary_resolves_to_iri_or_none(token: str, expected: str | None) -> None:
    assert resolver().resolve_token(token, context()) == expected


def test_token_with_vocabulary_is_a_term_of_it() -> None:
    assert resolver().resolve_token("license", context("http://v/")) == "<http://v/license>"
    assert resolver().resolve_token("a/b", context("http://v/")) == "<http://v/a/b>"
    assert resolver().resolve_token("9", context("http://v/")) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", "<http://b/a/b>"),
        (" c ", "<http://b/a/c>"),
        ("[ex:a]", "<http://ex/a>"),
        ("[none:a]", None),
        ("[]", None),
        ("[a]", None),
        ("ex:a", "<http://ex/a>"),
        ("license", "<http://b/a/license>"),
        ("mailto:a@b", "<mailto:a@b>"),
        ("a b", "<http://b/a/a%20b>"),
    ],
)
def test_resource_resolves_to_iri_or_none(value: str, expected: str | None) -> None:
    assert resolver().resolve_resource(value, context()) == expected


def test_blank_node_is_a_resource_and_a_type_but_not_a_predicate() -> None:
    it = resolver()
    assert (
        it.resolve_resource("_:a", context())
        == it.resolve_resource("[_:a]", context())
        != it.resolve_resource("_:b", context())
    )
    assert it.resolve_predicates("_:a ex:b", context()) == ["<http://ex/b>"]
    assert len(it.resolve_types("_:a ex:b ex:b", context())) == 2


def test_vocabulary_is_stated_and_can_be_reset() -> None:
    found = triples("<div vocab='http://v/'><b property=a>x</b><p vocab=''><b property=a>y</b></p></div>")
    assert found == [("<>", USES, "<http://v/>"), ("<>", "<http://v/a>", '"x"')]


def test_vocabulary_without_path_is_repaired_with_a_slash() -> None:
    markup = "<div vocab='https://schema.org' prefix='e: http://e.org'><b property='a e:b'>x</b></div>"
    assert [predicate for _, predicate, _ in triples(markup)[1:]] == ["<https://schema.org/a>", "<http://e.org/b>"]
    assert [problem.repaired for problem in rdfa(markup).problems] == [True, True]


def test_prefix_is_unknown_outside_its_element() -> None:
    markup = "<p prefix='e: http://e/'><b property=e:a>x</b></p><b property=e:a>y</b>"
    assert [predicate for _, predicate, _ in triples(markup)] == ["<http://e/a>", "<e:a>"]


def test_prefix_that_is_not_a_name_is_ignored() -> None:
    assert triples("<p prefix='1x: http://e/' property=1x:a>y</p>") == []
    assert triples("<p xmlns:1x='http://e/' property=1x:a>y</p>") == []
    assert triples("<p prefix='x1: http://e/ é: http://f/' property='x1:a é:b'>y</p>") == [
        ("<>", "<http://e/a>", '"y"'),
        ("<>", "<http://f/b>", '"y"'),
    ]


def test_prefix_attribute_overrides_xmlns_and_inner_overrides_outer() -> None:
    assert triples("<p xmlns:e='http://x/' prefix='e: http://p/' property=e:a>x</p>")[0][1] == "<http://p/a>"
    assert triples("<p prefix='e: http://p/'><b xmlns:e='http://x/' property=e:a>x</b></p>")[0][1] == "<http://x/a>"


def test_xml_lang_overrides_lang_and_empty_lang_resets() -> None:
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


# The processor graph


def test_message_has_its_class_and_error_or_warning_once() -> None:
    graph = ProcessorGraph()
    graph.add_message(ProcessorMessage.DOCUMENT_ERROR, "broken")
    graph.add_message(ProcessorMessage.UNRESOLVED_TERM, "unknown")
    graph.add_message(ProcessorMessage.UNRESOLVED_TERM, "unknown")
    found = list(graph.statements("http://example.org/", BlankNames("http://example.org/", Syntax.RDFA)))
    types = [o.rpartition("#")[2] for _, p, o, _ in found if p.endswith("type>")]
    assert types == ["DocumentError>", "Error>", "UnresolvedTerm>", "Warning>"]


def test_messages_are_bounded() -> None:
    graph = ProcessorGraph()
    for number in range(5_000):
        graph.add_message(ProcessorMessage.UNRESOLVED_TERM, str(number))
    assert len(graph.messages) == 1_000


def test_invalid_iri_removes_only_its_statements_and_is_reported_on_every_page() -> None:
    markup = (
        "<div about=#s vocab='http://v/'><a property=a href='http://[bad'>x</a><b property='http://[p c'>y</b>"
        "<a rel=d href='http://e.org:port/'>z</a></div><p about='http://[s' property=dc:title>w"
    )
    for _ in range(2):
        found = rdfa(markup)
        assert [statement[1:3] for statement in found.statements[1:]] == [("<http://v/c>", '"y"')]
        assert [problem.message for problem in found.problems] == [
            *("not a valid IRI: <http://[bad>", "not a valid IRI: <http://[p>"),
            *("not a valid IRI: <http://e.org:port/>", "not a valid IRI: <http://[s>"),
        ]


def test_add_slash_on_examples_gives_expected_values() -> None:
    assert (
        _add_slash("https://schema.org", ProcessorGraph()),
        _add_slash("http://example.org/x", ProcessorGraph()),
    ) == ("https://schema.org/", "http://example.org/x")


@pytest.mark.parametrize(
    "written", ["a:http://a/ b:https://b#", "a: http://a/, b: https://b#,", "a: http://a/; b:https://b#"]
)
def test_faulty_prefix_attribute_is_repaired(written: str) -> None:
    found = rdfa(f'<p prefix="{written}"><b property="a:x b:y">1</b></p>')
    assert [statement[1] for statement in found.statements] == ["<http://a/x>", "<https://b#y>"]
    assert [problem.message for problem in found.problems] == [
        "faulty prefix attribute, read as a: http://a/ b: https://b#"
    ]
    assert found.problems[0].repaired


def test_iter_mappings_on_examples_gives_expected_values() -> None:
    assert list(_iter_mappings("a: http://a/ nonsense _: http://b/ 1: http://1/ C: http://c/")) == [
        ("a", "http://a/"),
        ("c", "http://c/"),
    ]

"""Tests of the graph of a page."""

from motherlode.model.terms import RDF_TYPE
from motherlode.quality.page_graph import RDFS_SUBCLASS, PageGraph, parse_literal

A, B, C, P = "<urn:a>", "<urn:b>", "<urn:c>", "<urn:p>"


def test_page_graph_with_both_schema_namespaces_has_one_statement() -> None:
    graph = PageGraph([(A, "<http://schema.org/name>", '"x"'), (A, "<https://schema.org/name>", '"x"')])
    assert graph.objects(A, "<http://schema.org/name>") == ['"x"']


def test_page_graph_types_follow_subclasses_of_the_data_and_of_the_vocabulary() -> None:
    graph = PageGraph(
        [(A, RDF_TYPE, B), (B, RDFS_SUBCLASS, C), (C, RDFS_SUBCLASS, B)],
        superclasses=lambda term: frozenset({"<urn:d>"}) if term == C else frozenset(),
    )
    assert graph.types(A) == {B, C, "<urn:d>"}


def test_page_graph_indexes_by_object_and_predicate() -> None:
    graph = PageGraph([(A, P, B), (C, P, B)])
    assert list(graph.subjects(P, B)) == [A, C]
    assert list(graph.pairs(P)) == [(A, B), (C, B)]


def test_read_list_that_refers_to_itself_ends() -> None:
    first, rest = (f"<http://www.w3.org/1999/02/22-rdf-syntax-ns#{name}>" for name in ("first", "rest"))
    graph = PageGraph([("_:l", first, A), ("_:l", rest, "_:l")])
    assert graph.read_list("_:l") == [A]


def test_parse_literal_reads_escapes_language_and_datatype() -> None:
    literal = parse_literal(r'"a\nb\u00e9"@EN')
    assert literal is not None
    assert (literal.text, literal.language) == ("a\nbé", "en")
    assert parse_literal(A) is None

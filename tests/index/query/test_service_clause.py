"""Tests of the word search in queries, and of the refusal of other services."""

from __future__ import annotations

import pyoxigraph as ox
import pytest

from motherlode.index.query.diagnostics import QueryError
from motherlode.index.query.service_clause import rewrite_services
from motherlode.model.terms import PREFIXES

A, NAME = ox.NamedNode("http://ex.org/a"), ox.NamedNode("http://schema.org/name")
PAGE = ox.NamedNode("http://page.test/")
FOUND = [("http://ex.org/a", "http://page.test/", 2.0), ("_:b1", "http://page.test/", 1.0)]


@pytest.fixture
def store() -> ox.Store:
    made = ox.Store()
    for subject, name in ((A, "tomato"), (ox.BlankNode("b1"), "tomato soup"), (ox.BlankNode("b2"), "bread")):
        made.add(ox.Quad(subject, NAME, ox.Literal(name), PAGE))
        made.add(ox.Quad(subject, NAME, ox.Literal(name)))
    return made


def look_up(words: str, limit: int) -> list[tuple[str, str, float]]:
    return FOUND[:limit] if words == "tomato" else []


def rows(store: ox.Store, sparql: str) -> list[tuple[str, ...]]:
    made = rewrite_services(sparql, look_up)
    found = store.query(made.text, prefixes=PREFIXES, custom_functions=made.functions)
    assert isinstance(found, ox.QuerySolutions)
    return sorted(tuple(str(value) for value in row) for row in found)


def test_search_clause_binds_iris_and_blank_nodes(store: ox.Store) -> None:
    sparql = 'SELECT ?name { SERVICE <urn:motherlode:search> { ?s ml:matches "tomato" } ?s schema:name ?name }'
    assert rows(store, sparql) == [('"tomato soup"',), ('"tomato"',)]
    assert rows(store, sparql.replace("tomato", "nothing")) == []


def test_search_clause_supports_score_graph_and_limit(store: ox.Store) -> None:
    asked = '?s ml:matches """tomato""" ; ml:score ?score ; ml:graph ?g ; ml:limit 1 .'
    sparql = f"SELECT ?s ?g ?score {{ SERVICE SILENT ml:search {{ {asked} }} }}"
    score = '"2"^^<http://www.w3.org/2001/XMLSchema#double>'
    assert rows(store, sparql) == [("<http://ex.org/a>", "<http://page.test/>", score)]


def test_search_functions_in_filter(store: ox.Store) -> None:
    sparql = 'SELECT ?name { ?s schema:name ?name FILTER(ml:matches(?s, "tomato") && ml:score(?s, "tomato") > 1.5) }'
    assert rows(store, sparql) == [('"tomato"',)]


def test_two_search_clauses_are_joined(store: ox.Store) -> None:
    search = 'SERVICE ml:search { ?s ml:matches "tomato" }'
    assert len(rows(store, f"SELECT ?s {{ {search} {search} }}")) == 2


def test_search_words_are_escaped(store: ox.Store) -> None:
    seen: list[str] = []

    def note(words: str, limit: int) -> list[tuple[str, str, float]]:
        seen.append(words)
        return FOUND

    made = rewrite_services('ASK { SERVICE ml:search { ?s ml:matches "a\\"} ?x {\\n" ; ml:score ?n } }', note)
    store.query(made.text, prefixes=PREFIXES, custom_functions=made.functions)
    assert seen[-1] == 'a"} ?x {\n'


@pytest.mark.parametrize(
    "sparql",
    [
        "SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }",
        "SELECT * { service silent ?x { ?s ?p ?o } }",
        "PREFIX x: <http://x/> SELECT * { { { SERVICE x:y {} } } }",
        "SELECT * { SERVICE#\n<http://a/> {} }",
        "PREFIX ml: <http://evil/> SELECT * { SERVICE ml:search { ?s ?p ?o } }",
        "SELECT * { ?s ?p 'a' . SERVICE <http://a/> { ?s ?p \"b\" } }",
    ],
)
def test_service_is_refused_unless_allowed(sparql: str) -> None:
    with pytest.raises(QueryError, match="sends requests to another server"):
        rewrite_services(sparql, look_up)
    assert rewrite_services(sparql, look_up, allow_network=True).text == sparql


@pytest.mark.parametrize(
    ("sparql", "message"),
    [
        ("ASK { SERVICE ml:search { } }", "has no words"),
        ("ASK { SERVICE ml:search ?x }", "enclosed in { and }"),
        ('ASK { SERVICE ml:search { ?s ml:matches "x" ', "never closed"),
        ("ASK { SERVICE ml:search { ?s ml:matches ?w } }", "not part of a search"),
        ('ASK { SERVICE ml:search { ?s ml:matches "x" . ?t ml:score ?n } }', "one subject"),
        ("ASK { SERVICE ml:search { ?s ml:matches } }", "incomplete"),
    ],
)
def test_malformed_search_clause_is_explained(sparql: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        rewrite_services(sparql, look_up)


def test_search_without_word_index_is_explained() -> None:
    for sparql in ('ASK { SERVICE ml:search { ?s ml:matches "x" } }', 'ASK { ?s ?p ?o FILTER(ml:matches(?s, "x")) }'):
        with pytest.raises(QueryError, match="no word index"):
            rewrite_services(sparql, None)


def test_unreadable_word_index_is_reported_before_query_runs() -> None:
    def of_another_version(words: str, limit: int) -> list[tuple[str, str, float]]:
        raise ValueError("Schema error: the schema does not match")

    for sparql in ('ASK { SERVICE ml:search { ?s ml:matches "x" } }', 'ASK { ?s ?p ?o FILTER(ml:matches(?s, "x")) }'):
        with pytest.raises(QueryError, match="cannot be read") as caught:
            rewrite_services(sparql, of_another_version)
        assert "--rebuild" in str(caught.value)


def test_original_offset_maps_to_users_text() -> None:
    sparql = 'ASK { SERVICE ml:search { ?s ml:matches "tomato" } ?s ?p ?o }'
    made = rewrite_services(sparql, look_up)
    assert made.original_offset(made.text.index("?s ?p ?o }", made.text.rindex("}") - 12)) == sparql.index("?s ?p ?o }")


def test_search_finds_subject_that_is_not_valid_iri(store: ox.Store) -> None:
    """Invalid IRIs of the web are stored as they are, though SPARQL rejects them."""
    wild = next(iter(ox.parse(b"<urn:s> <urn:p> <http://ex.org/50%> .", ox.RdfFormat.N_QUADS, lenient=True))).object
    other = ox.NamedNode("http://other.test/")
    for page in (PAGE, other):
        store.add(ox.Quad(wild, NAME, ox.Literal("tomato"), page))
    asked = rewrite_services(
        'SELECT ?s ?g { SERVICE ml:search { ?s ml:matches "tomato" ; ml:graph ?g } }',
        lambda words, limit: [*FOUND, ("http://ex.org/50%", PAGE.value, 0.5)],
    )
    found = store.query(asked.text, prefixes=PREFIXES, custom_functions=asked.functions)
    assert isinstance(found, ox.QuerySolutions)
    assert sorted((str(row["s"]), str(row["g"])) for row in found) == [
        ("<http://ex.org/50%>", "<http://page.test/>"),
        ("<http://ex.org/a>", "<http://page.test/>"),
        ("_:b1", "<http://page.test/>"),
    ]


def test_search_limit_applies_to_its_own_search(store: ox.Store) -> None:
    one = '{ SELECT ?x { SERVICE ml:search { ?x ml:matches "tomato" ; ml:limit 1 } } }'
    all_of_them = 'GRAPH ?g { ?s schema:name ?name FILTER(ml:matches(?s, "tomato")) }'
    assert len(rows(store, f"SELECT ?s {{ {one} {all_of_them} }}")) == 2
    two = 'SERVICE ml:search { ?y ml:matches "tomato" ; ml:limit 2 }'
    assert len(rows(store, f"SELECT ?x ?y {{ {one} {two} }}")) == 2


def test_invalid_escape_in_search_words_is_explained() -> None:
    with pytest.raises(QueryError, match="column 46: this string has an invalid escape"):
        rewrite_services('SELECT * { SERVICE ml:search { ?s ml:matches "\\q" } }', look_up)


HIDDEN = [
    "{ SERVICEx:a { ?s ?p ?o } }",
    "{ ?s ?p ?o . servicesilentx:a{ ?s ?p ?o } }",
    "{ SERVICESILENT <http://x.test/> { ?s ?p ?o } }",
    "{ SERVICE:a { ?s ?p ?o } }",
    "{ ?s ?p trueSERVICE x:a { ?s ?p ?o } }",
    "{ ?s ?p 1SERVICEx:a { ?s ?p ?o } }",
    "{ ?s <http://x.test/\\u0041#> ?o . SERVICE x:a { ?s ?p ?o } }",
    "{ ?s ?p x:a\\_\\#'''\n''' . SERVICE x:a { ?s ?p ?o } # '''\n }",
    "{ ?s ?p x:a\u0300\\#'''\n''' . SERVICE x:a { ?s ?p ?o } # '''\n }",
    "{ ?s ?p ?o FILTER(?s<x:b#c>'''\n) SERVICE # to\n x:a\\# { ?s ?p ?o } # '''\n }",
]
"""Queries that the engine reads as SERVICE, though our tokenizer does not find the keyword."""
PROLOGUE = "PREFIX x: <http://x.test/> PREFIX : <http://x.test/> PREFIX service: <http://s.test/> SELECT * "


@pytest.mark.parametrize("pattern", HIDDEN)
def test_hidden_service_is_refused(pattern: str) -> None:
    with pytest.raises(QueryError, match="SERVICE sends requests to another server"):
        rewrite_services(PROLOGUE + pattern, look_up)
    assert rewrite_services(PROLOGUE + pattern, look_up, allow_network=True).text == PROLOGUE + pattern


def test_own_search_is_not_taken_for_hidden_service(store: ox.Store) -> None:
    asked = 'SERVICE ml:search { ?s ml:matches "tomato" } FILTER(EXISTS { ?s <http://schema.org/name#> ?o } || true)'
    assert len(rows(store, f"SELECT ?s {{ {asked} }}")) == 2


@pytest.mark.parametrize(
    "pattern",
    [
        "{ service:x service:y service:z }",
        "{ GRAPH service:g { ?service ?p ?o } }",
        "FROM service:g { ?s ?p 'SERVICE x:a {' } # SERVICE x:a { ?s ?p ?o }",
        "{ ?s ?p ?o FILTER(EXISTS { ?s <http://x.test/#p> ?o }) } # not a service",
    ],
)
def test_name_that_begins_with_service_is_allowed(pattern: str) -> None:
    assert rewrite_services(PROLOGUE + pattern, look_up).text == PROLOGUE + pattern

"""Words inside of a query, and the network outside of it."""

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


def test_a_search_binds_iris_and_blank_nodes(store: ox.Store) -> None:
    sparql = 'SELECT ?name { SERVICE <urn:motherlode:search> { ?s ml:matches "tomato" } ?s schema:name ?name }'
    assert rows(store, sparql) == [('"tomato soup"',), ('"tomato"',)]
    assert rows(store, sparql.replace("tomato", "nothing")) == []


def test_score_graph_and_limit(store: ox.Store) -> None:
    asked = '?s ml:matches """tomato""" ; ml:score ?score ; ml:graph ?g ; ml:limit 1 .'
    sparql = f"SELECT ?s ?g ?score {{ SERVICE SILENT ml:search {{ {asked} }} }}"
    score = '"2"^^<http://www.w3.org/2001/XMLSchema#double>'
    assert rows(store, sparql) == [("<http://ex.org/a>", "<http://page.test/>", score)]


def test_the_function_form(store: ox.Store) -> None:
    sparql = 'SELECT ?name { ?s schema:name ?name FILTER(ml:matches(?s, "tomato") && ml:score(?s, "tomato") > 1.5) }'
    assert rows(store, sparql) == [('"tomato"',)]


def test_two_searches_join(store: ox.Store) -> None:
    search = 'SERVICE ml:search { ?s ml:matches "tomato" }'
    assert len(rows(store, f"SELECT ?s {{ {search} {search} }}")) == 2


def test_words_are_escaped(store: ox.Store) -> None:
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
def test_the_network_is_refused_unless_allowed(sparql: str) -> None:
    with pytest.raises(QueryError, match="asks another server"):
        rewrite_services(sparql, look_up)
    assert rewrite_services(sparql, look_up, allow_network=True).text == sparql


@pytest.mark.parametrize(
    ("sparql", "message"),
    [
        ("ASK { SERVICE ml:search { } }", "has no words"),
        ("ASK { SERVICE ml:search ?x }", "between { and }"),
        ('ASK { SERVICE ml:search { ?s ml:matches "x" ', "never closed"),
        ("ASK { SERVICE ml:search { ?s ml:matches ?w } }", "no part of a search"),
        ('ASK { SERVICE ml:search { ?s ml:matches "x" . ?t ml:score ?n } }', "one subject"),
        ("ASK { SERVICE ml:search { ?s ml:matches } }", "not whole"),
    ],
)
def test_a_search_that_is_wrong_is_explained(sparql: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        rewrite_services(sparql, look_up)


def test_without_words_the_query_says_so() -> None:
    for sparql in ('ASK { SERVICE ml:search { ?s ml:matches "x" } }', 'ASK { ?s ?p ?o FILTER(ml:matches(?s, "x")) }'):
        with pytest.raises(QueryError, match="no index of words"):
            rewrite_services(sparql, None)


def test_words_that_cannot_be_read_are_told_before_the_query_runs() -> None:
    def of_another_version(words: str, limit: int) -> list[tuple[str, str, float]]:
        raise ValueError("Schema error: the schema does not match")

    for sparql in ('ASK { SERVICE ml:search { ?s ml:matches "x" } }', 'ASK { ?s ?p ?o FILTER(ml:matches(?s, "x")) }'):
        with pytest.raises(QueryError, match="cannot be read") as caught:
            rewrite_services(sparql, of_another_version)
        assert "--rebuild" in str(caught.value)


def test_places_are_told_in_the_users_own_text() -> None:
    sparql = 'ASK { SERVICE ml:search { ?s ml:matches "tomato" } ?s ?p ?o }'
    made = rewrite_services(sparql, look_up)
    assert made.original_offset(made.text.index("?s ?p ?o }", made.text.rindex("}") - 12)) == sparql.index("?s ?p ?o }")


def test_a_subject_that_no_query_can_spell_is_found_too(store: ox.Store) -> None:
    """IRIs of the wild web are stored as they are, though SPARQL refuses them."""
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


def test_a_limit_holds_for_its_own_search_only(store: ox.Store) -> None:
    one = '{ SELECT ?x { SERVICE ml:search { ?x ml:matches "tomato" ; ml:limit 1 } } }'
    all_of_them = 'GRAPH ?g { ?s schema:name ?name FILTER(ml:matches(?s, "tomato")) }'
    assert len(rows(store, f"SELECT ?s {{ {one} {all_of_them} }}")) == 2
    two = 'SERVICE ml:search { ?y ml:matches "tomato" ; ml:limit 2 }'
    assert len(rows(store, f"SELECT ?x ?y {{ {one} {two} }}")) == 2


def test_an_escape_that_is_none_is_told() -> None:
    with pytest.raises(QueryError, match="column 46: this string has an escape that is none"):
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
"""Queries in which the engine finds a SERVICE, though the word does not stand there alone."""
PROLOGUE = "PREFIX x: <http://x.test/> PREFIX : <http://x.test/> PREFIX service: <http://s.test/> SELECT * "


@pytest.mark.parametrize("pattern", HIDDEN)
def test_a_service_that_hides_is_refused(pattern: str) -> None:
    with pytest.raises(QueryError, match="SERVICE asks another server"):
        rewrite_services(PROLOGUE + pattern, look_up)
    assert rewrite_services(PROLOGUE + pattern, look_up, allow_network=True).text == PROLOGUE + pattern


def test_our_own_search_is_none_that_hides(store: ox.Store) -> None:
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
def test_a_name_that_begins_like_a_service_is_a_name(pattern: str) -> None:
    assert rewrite_services(PROLOGUE + pattern, look_up).text == PROLOGUE + pattern

"""Wrong queries, as the parser complains about them, and what we make of it."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.index.query.diagnostics import QueryProblem, diagnose
from motherlode.model.terms import PREFIXES


def problem(sparql: str) -> QueryProblem:
    with pytest.raises(SyntaxError) as caught:
        ox.Store().query(sparql, prefixes=PREFIXES)
    return diagnose(sparql, caught.value.msg or "")


@pytest.mark.parametrize(
    ("sparql", "at", "message", "hint"),
    [
        ("SELECT * { ?s scema:name ?o }", (1, 15), "prefix scema: is not known", "did you mean schema:?"),
        ("SELECT * {\n ?s zzz:name ?o }", (2, 5), "prefix zzz: is not known", "PREFIX zzz: <…>"),
        ("SELEC * {}", (1, 1), "no form of query", "did you mean SELECT?"),
        ("PREFIX a: <http://a/> INSERT DATA { a:a a:a a:a }", (1, 23), "an update", "only be read"),
        ("SELECT * {\n  ?s ?p ?o .\n  FILTER(?o > )\n}", (3, 15), "')' does not fit", "possible here"),
        ('SELECT * { ?s ?p "abc }', (1, 18), "never closed", ""),
        ("SELECT * { ?s ?p ?o ", (1, 10), "{ is never closed", "a } is missing"),
        ("SELECT * { ?s ?p ?o } }", (1, 23), "closes nothing", ""),
        ("SELECT * { { ?s ?p ?o ) }", (1, 23), "{ of line 1, column 12", "a } is missing before"),
        ("SELECT ?x { ?s ?p ?o } GROUP BY ?s", (1, 1), "no value", "SAMPLE"),
        ("SELECT * { ?s <http://a b> 3 }", (1, 15), "no absolute IRI", "%20"),
        ("SELECT * { ?s ?p <rel> }", (1, 18), "no absolute IRI", "in full"),
        ("SELECT * { ?s ?p ?o FILTR(?o) }", (1, 21), "'FILTR' is no word", "did you mean FILTER?"),
        ("SELECT * { ?s name ?o }", (1, 15), "'name' is no word", "prefix:name"),
        ("SELECT * { ?s ?p ?o } ORDER ?s", (1, 29), "'?s' does not fit", "BY"),
        ("SELECT * { ?s ?p ?o } LIMIT ?x", (1, 29), "'?x' does not fit", ""),
        ('SELECT * { ?s ?p ?o FILTER regex(?o "a") }', (1, 28), "what regex is given does not fit", "commas"),
        ("SELECT (MAX(?x, ?y) AS ?m) { ?s ?p ?x }", (1, 9), "what MAX is given does not fit", "arguments"),
        ("SELECT (MIN() AS ?m) { ?s ?p ?x }", (1, 13), "')' does not fit", ""),
        ("", (0, 0), "empty", "SELECT"),
    ],
)
def test_the_place_and_the_hint(sparql: str, at: tuple[int, int], message: str, hint: str) -> None:
    found = problem(sparql)
    assert (found.line, found.column) == at, str(found)
    assert message in found.message
    assert hint in found.hint


def test_the_caret_stands_below_the_mistake() -> None:
    lines = str(problem("SELECT * {\n  ?s fofa:name ?o\n}")).split("\n")
    assert lines[1][lines[2].index("^") :].startswith("fofa:name")


def test_the_long_list_of_the_parser_is_short_here() -> None:
    assert len(str(problem("SELECT ?s WHERE { ?s ?p ?o . FILTER(?o > ) }"))) < 300


# fmt: off
PARTS = ("SELECT", "ASK", "*", "{", "}", "(", ")", "?s", "<a:b>", "foaf:x", "zz:y", '"s', "FILTER", "GROUP", "BY", "1",
         ".", ";", ",", "[", "]", "^^", "\n")
# fmt: on


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PARTS)))
def test_every_wrong_query_is_explained(parts: list[str]) -> None:
    sparql = " ".join(parts)
    try:
        ox.Store().query(sparql, prefixes=PREFIXES)
    except SyntaxError as error:
        found = diagnose(sparql, error.msg or "")
        assert found.message
        assert found.line <= sparql.count("\n") + 1

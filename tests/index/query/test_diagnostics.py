"""Tests of the explanation of syntax errors."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.index.query.diagnostics import QueryProblem, _parse_expected, diagnose, query_form
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
        ("SELEC * {}", (1, 1), "not a query form", "did you mean SELECT?"),
        ("PREFIX a: <http://a/> INSERT DATA { a:a a:a a:a }", (1, 23), "an update", "only be read"),
        ("SELECT * {\n  ?s ?p ?o .\n  FILTER(?o > )\n}", (3, 15), "')' is not possible", "possible here"),
        ('SELECT * { ?s ?p "abc }', (1, 18), "never closed", ""),
        ("SELECT * { ?s ?p ?o ", (1, 10), "{ is never closed", "a } is missing"),
        ("SELECT * { ?s ?p ?o } }", (1, 23), "closes nothing", ""),
        ("SELECT * { { ?s ?p ?o ) }", (1, 23), "{ of line 1, column 12", "a } is missing before"),
        ("SELECT ?x { ?s ?p ?o } GROUP BY ?s", (1, 1), "no value", "SAMPLE"),
        ("SELECT * { ?s <http://a b> 3 }", (1, 15), "not an absolute IRI", "%20"),
        ("SELECT * { ?s ?p <rel> }", (1, 18), "not an absolute IRI", "in full"),
        ("SELECT * { ?s ?p ?o FILTR(?o) }", (1, 21), "'FILTR' is not a keyword", "did you mean FILTER?"),
        ("SELECT * { ?s name ?o }", (1, 15), "'name' is not a keyword", "prefix:name"),
        ("SELECT * { ?s ?p ?o } ORDER ?s", (1, 29), "'?s' is not possible", "BY"),
        ("SELECT * { ?s ?p ?o } LIMIT ?x", (1, 29), "'?x' is not possible", ""),
        ('SELECT * { ?s ?p ?o FILTER regex(?o "a") }', (1, 28), "arguments of regex are wrong", "commas"),
        ("SELECT (MAX(?x, ?y) AS ?m) { ?s ?p ?x }", (1, 9), "arguments of MAX are wrong", "arguments"),
        ("SELECT (MIN() AS ?m) { ?s ?p ?x }", (1, 13), "')' is not possible", ""),
        ("", (0, 0), "empty", "SELECT"),
    ],
)
def test_diagnose_reports_position_and_hint(sparql: str, at: tuple[int, int], message: str, hint: str) -> None:
    found = problem(sparql)
    assert (found.line, found.column) == at, str(found)
    assert message in found.message
    assert hint in found.hint


def test_problem_caret_is_below_error() -> None:
    lines = str(problem("SELECT * {\n  ?s fofa:name ?o\n}")).split("\n")
    assert lines[1][lines[2].index("^") :].startswith("fofa:name")


def test_diagnose_shortens_list_of_expected_tokens() -> None:
    assert len(str(problem("SELECT ?s WHERE { ?s ?p ?o . FILTER(?o > ) }"))) < 300


# fmt: off
PARTS = ("SELECT", "ASK", "*", "{", "}", "(", ")", "?s", "<a:b>", "foaf:x", "zz:y", '"s', "FILTER", "GROUP", "BY", "1",
         ".", ";", ",", "[", "]", "^^", "\n")
# fmt: on


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PARTS)))
def test_diagnose_any_invalid_query_is_explained(parts: list[str]) -> None:
    sparql = " ".join(parts)
    try:
        ox.Store().query(sparql, prefixes=PREFIXES)
    except SyntaxError as error:
        found = diagnose(sparql, error.msg or "")
        assert found.message
        assert found.line <= sparql.count("\n") + 1


def test_query_form_on_examples_gives_expected_values() -> None:
    assert (query_form("PREFIX a: <http://a/> construct where { ?s a:b ?o }"), query_form("# nothing")) == (
        "CONSTRUCT",
        "",
    )


def test_parse_expected_on_examples_gives_expected_values() -> None:
    assert _parse_expected("\",\", \".\", ABS, [_], ['0'..='9']") == [",", ".", "ABS"]

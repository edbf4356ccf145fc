"""Which syntax says what."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from motherlode.index import PageRecord, QuadStore, serialize_page, syntax_keys
from motherlode.model import Extraction, Statement, Syntax, TransformResult
from motherlode.model.terms import XSD, literal

from .fakes import A, B, P, facts, rows, says

WHO_SAYS = """SELECT ?page ?syntax {
  GRAPH ?page { ?s ?p ?o }
  GRAPH <urn:motherlode:provenance> { ?page ml:syntax|ml:says ?said }
  FILTER(CONTAINS(?said, ml:key(?s, ?p, ?o)) ||
         NOT EXISTS { GRAPH <urn:motherlode:provenance> { ?page ml:says ?keys } })
  BIND(REPLACE(?said, " .*", "") AS ?syntax)
}"""
"""The query of docs/provenance.md."""


@pytest.fixture
def store(tmp_path: Path) -> QuadStore:
    return QuadStore(tmp_path / "store")


def page(url: str, **said: list[Statement]) -> PageRecord:
    spoken = TransformResult(
        extractions=tuple(Extraction(syntax=Syntax(s), statements=tuple(rows)) for s, rows in said.items())
    )
    graph_quads, union_quads, quads, graphs = serialize_page(url, spoken)
    names = tuple(sorted(name for name, statements in said.items() if statements and name != "page"))
    return PageRecord(
        url=url,
        fetched_at=0.0,
        status=200,
        graph_quads=graph_quads,
        union_quads=union_quads,
        quads=quads,
        graphs=graphs,
        syntaxes=names,
        says=syntax_keys(spoken),
    )


def all_said(store: QuadStore) -> set[tuple[str, str, str]]:
    found = rows(store, WHO_SAYS.replace("SELECT ?page ?syntax", "SELECT ?page ?syntax ?p ?o"))
    return {(row["page"].value, row["syntax"].value, str(row["o"])) for row in found}


def test_one_syntax_needs_no_keys() -> None:
    assert syntax_keys(facts(says("x", "1"), says("y", "2"))) == ()
    assert syntax_keys(TransformResult()) == ()


def test_pages_and_syntaxes_that_say_a_statement(store: QuadStore) -> None:
    shared, alone = says("x", "shared"), says("x", "alone")
    store.write(
        [
            page(A, jsonld=[shared, alone], rdfa=[shared], page=[says("t", "title")]),
            page(B, microdata=[shared]),
            page("http://c.example/", page=[shared]),
        ]
    )
    assert all_said(store) == {
        (A, "jsonld", '"shared"'),
        (A, "rdfa", '"shared"'),
        (A, "jsonld", '"alone"'),
        (A, "page", '"title"'),
        (B, "microdata", '"shared"'),
        ("http://c.example/", "page", '"shared"'),
    }


def test_statements_are_not_doubled_for_ordinary_queries(store: QuadStore) -> None:
    store.write([page(A, jsonld=[says("x", "1")], rdfa=[says("x", "1")], microdata=[says("x", "1")])])
    assert len(rows(store, f"SELECT * {{ ?s {P} ?o }}")) == 1
    assert len(rows(store, f"SELECT * {{ GRAPH ?g {{ ?s {P} ?o }} }}")) == 1


def test_blank_nodes_are_told_apart(store: QuadStore) -> None:
    store.write([page(A, jsonld=[("_:j1", P, '"x"', "")], rdfa=[("_:r1", P, '"x"', "")])])
    found = rows(store, WHO_SAYS.replace("SELECT ?page ?syntax", "SELECT ?s ?syntax"))
    assert {(str(row["s"]), row["syntax"].value) for row in found} == {("_:j1", "jsonld"), ("_:r1", "rdfa")}


def test_a_page_with_very_many_statements(store: QuadStore) -> None:
    many = [says("x", str(number)) for number in range(5000)]
    record = page(A, jsonld=many, rdfa=many[:1])
    assert len(record.says) == 4, "a literal holds a bounded number of keys"
    store.write([record])
    assert len(all_said(store)) == 5001


LITERALS = st.builds(
    literal,
    st.text(max_size=10) | st.sampled_from(["01", "1.50", "1e3", "+5", "true", "2024-01-01T00:00:00+00:00", "a\tb"]),
    language=st.sampled_from(["", "en", "de-CH"]),
    datatype=st.sampled_from(["", *(XSD + name for name in ("integer", "decimal", "double", "boolean", "dateTime"))]),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(LITERALS, min_size=1, max_size=5))
def test_every_literal_is_found_however_the_store_spells_it(store: QuadStore, values: list[str]) -> None:
    store.write([page(A, jsonld=[("<http://ex.org/x>", P, v, "") for v in values], rdfa=[says("y", "else")])])
    stored = {str(quad.object) for quad in store.match(subject="<http://ex.org/x>")}
    assert {o for _, syntax, o in all_said(store) if syntax == "jsonld"} == stored


def test_a_triple_that_is_a_term_has_a_key(store: QuadStore) -> None:
    term = f'<<( <http://ex.org/s> {P} "01"^^<{XSD}integer> )>>'
    store.write([page(A, turtle=[("<http://ex.org/x>", P, term, "")], rdfa=[says("x", "other")])])
    assert {(page, syntax) for page, syntax, _ in all_said(store)} == {(A, "turtle"), (A, "rdfa")}

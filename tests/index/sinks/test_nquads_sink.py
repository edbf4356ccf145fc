"""What a sink is told of a page; the plain case is part of `test_spool`."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.index import PROVENANCE, PageRecord
from motherlode.index.sinks.nquads_sink import PageChange, change_from, drop_nonstandard
from motherlode.model.terms import literal, page_iri

from .records import P, record

A = "http://a.example/"
X = "<http://x.example/>"


def quads(change: PageChange, *, provenance_graph: str = "") -> set[str]:
    text = change.nquads(provenance_graph=provenance_graph)
    return {str(quad) for quad in ox.parse(text.encode(), ox.RdfFormat.N_QUADS, lenient=True)}


def test_a_page_without_statements_still_names_its_graph_and_its_provenance() -> None:
    change = change_from(PageRecord(url=A, fetched_at=0.0, status=410))
    assert change.graphs == {f"<{A}>": ""}
    assert "status" in change.provenance
    assert change.nquads(provenance_graph="") == ""


def test_a_graph_that_the_page_names_is_told_even_where_its_lines_are_lost() -> None:
    made = replace(record(A, (X, P, '"in"', "<http://g.example/>")), graph_quads=b"")
    assert list(change_from(made).graphs.values()) == ["", ""]


def test_a_broken_line_costs_only_itself() -> None:
    page = record(A, (X, P, '"one"'), (X, P, '"two"'))
    first, second = page.graph_quads.splitlines(keepends=True)
    broken = replace(page, graph_quads=first + b"<no> <statement\n" + b"\xff\xfe .\n" + second)
    assert change_from(broken).graphs[f"<{A}>"].count("\n") == 2


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=20), max_size=5, unique=True))
def test_any_text_comes_out_as_it_went_in(texts: list[str]) -> None:
    change = change_from(record(A, *((X, P, literal(text)) for text in texts)))
    found = ox.parse(change.nquads(provenance_graph="").encode(), ox.RdfFormat.N_QUADS)
    assert sorted(quad.object.value for quad in found) == sorted(set(texts))


@pytest.mark.parametrize("text", ["ends with a dot .", " .\\n", "<urn:not-a-graph> ."])
def test_text_that_looks_like_the_end_of_a_statement_stays_text(text: str) -> None:
    change = change_from(record(A, (X, P, literal(text))))
    assert quads(change) == {f"{X} {P} {literal(text)} <{A}>"}


def test_the_provenance_is_in_the_graph_that_is_asked_for() -> None:
    change = change_from(record(A, (X, P, '"1"')))
    graphs = {quad.rpartition(" ")[2] for quad in quads(change, provenance_graph=f"<{PROVENANCE}>")}
    assert graphs == {f"<{A}>", f"<{PROVENANCE}>"}


def test_a_change_survives_the_spool() -> None:
    change = change_from(record(A, (X, P, '"é\\n"@fr'), ("_:b", P, "_:c", "<http://g.example/>")))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(change), type=PageChange) == change


def test_what_is_not_strictly_rdf_is_left_out_and_all_else_stays() -> None:
    good, bad = f'{X} {P} "good"@en .\n', f"{X} {P} <http://y.example/50%> .\n"
    page, inner = page_iri(A), f"<{A}#graph=g>"
    repaired = drop_nonstandard(PageChange(page=page, graphs={page: bad + good, inner: bad}, provenance=good + bad))
    assert repaired == PageChange(page=page, graphs={page: good, inner: ""}, provenance=good)
    assert drop_nonstandard(repaired) == repaired


def test_what_an_endpoint_of_rdf_1_1_does_not_know_is_left_out() -> None:
    good = f'{X} {P} "good"@en .\n'
    new = f'{X} {P} <<( {X} {P} "good" )>> .\n{X} {P} "good"@en--ltr .\n'
    page = page_iri(A)
    assert drop_nonstandard(PageChange(page=page, graphs={page: new + good}, provenance="")).graphs == {page: good}

"""Export: what is written can be read again, and is all there is."""

from __future__ import annotations

import io
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from motherlode.index import PROVENANCE, QuadStore, export_nquads
from motherlode.model import Statement
from motherlode.model.terms import XSD, literal

from .fakes import A, B, P, graph, record, says

LITERALS = st.builds(
    literal,
    st.text(max_size=20),
    language=st.sampled_from(["", "en", "de-CH"]),
    datatype=st.sampled_from(["", XSD + "integer", XSD + "string"]),
)


@pytest.fixture
def store(tmp_path: Path) -> QuadStore:
    return QuadStore(tmp_path / "store")


def exported(store: QuadStore) -> tuple[int, bytes]:
    output = io.BytesIO()
    return export_nquads(store, output), output.getvalue()


def test_the_pages_and_the_provenance_are_written_and_the_union_is_not(store: QuadStore) -> None:
    store.write([record(A, says("x", "1"), says("y", "2", graph="_:g")), record(B, says("x", "1"))])
    count, data = exported(store)
    quads = list(ox.parse(data, ox.RdfFormat.N_QUADS))
    assert len(quads) == len(set(quads)) == count
    names = {quad.graph_name for quad in quads}
    assert names == {ox.NamedNode(name) for name in (A, B, f"{A}#graph=_:g", PROVENANCE)}
    assert set(quads) == set(store.quads())


def test_many_quads(store: QuadStore) -> None:
    store.write([record(A, *(says(str(number), "x") for number in range(9000)))])
    count, data = exported(store)
    assert count == data.count(b"\n") == 9000 + len(graph(store, PROVENANCE))


def test_an_empty_store(store: QuadStore) -> None:
    assert exported(store) == (0, b"")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(LITERALS, max_size=5))
def test_any_literal_comes_back_as_it_was(store: QuadStore, values: list[str]) -> None:
    statements: list[Statement] = [("_:b1", P, value, "") for value in values]
    store.write([record(A, *statements)])
    _, data = exported(store)
    assert set(ox.parse(data, ox.RdfFormat.N_QUADS)) == set(store.quads())
    assert sum(quad.graph_name == ox.NamedNode(A) for quad in store.quads()) == len(set(values))

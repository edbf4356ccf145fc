"""Tests of the exports as N-Quads, TriG and JSON-LD, and of the export of WARC files."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from motherlode.fetch.warc.writer import WarcResponse, new_id, response_record
from motherlode.index.export.streams import export_jsonld, export_nquads, export_trig, export_warc, open_output
from motherlode.index.page_record import PROVENANCE
from motherlode.index.quad_store import QuadStore
from motherlode.model import Statement
from motherlode.model.terms import XSD, literal

from ..fakes import A, B, P, graph, record, says, union

Write = Callable[[QuadStore, BinaryIO, Callable[[int], None]], int]

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


def test_export_nquads_writes_pages_and_provenance_without_union(store: QuadStore) -> None:
    store.write([record(A, says("x", "1"), says("y", "2", graph="_:g")), record(B, says("x", "1"))])
    count, data = exported(store)
    quads = list(ox.parse(data, ox.RdfFormat.N_QUADS))
    assert len(quads) == len(set(quads)) == count
    names = {quad.graph_name for quad in quads}
    assert names == {ox.NamedNode(name) for name in (A, B, f"{A}#graph=_:g", PROVENANCE)}
    assert set(quads) == set(store.quads())


def test_export_jsonld_has_the_same_quads(store: QuadStore) -> None:
    store.write([record(A, says("x", "1"), says("y", "2", graph="_:g")), record(B, says("x", "1"))])
    output = io.BytesIO()
    count = export_jsonld(store, output)
    assert count == len(set(ox.parse(output.getvalue(), ox.RdfFormat.JSON_LD))) == len(set(store.quads()))


def test_export_nquads_of_many_quads_reports_progress(store: QuadStore) -> None:
    store.write([record(A, *(says(str(number), "x") for number in range(9000)))])
    count, data = exported(store)
    assert count == data.count(b"\n") == 9000 + len(graph(store, PROVENANCE))


def test_export_nquads_of_empty_store_writes_nothing(store: QuadStore) -> None:
    assert exported(store) == (0, b"")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(LITERALS, max_size=5))
def test_export_nquads_any_literal_round_trips(store: QuadStore, values: list[str]) -> None:
    statements: list[Statement] = [("_:b1", P, value, "") for value in values]
    store.write([record(A, *statements)])
    _, data = exported(store)
    assert set(ox.parse(data, ox.RdfFormat.N_QUADS)) == set(store.quads())
    assert sum(quad.graph_name == ox.NamedNode(A) for quad in store.quads()) == len(set(values))


def imported(data: bytes, form: ox.RdfFormat, path: Path) -> QuadStore:
    """Return the quads of another program's store after it has loaded an export."""
    fresh = QuadStore(path)
    fresh.extend(ox.parse(data, form))
    return fresh


def canonical(store: QuadStore) -> ox.Dataset:
    dataset = ox.Dataset(store.quads())
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return dataset


@pytest.mark.parametrize(
    ("write", "form"), [(export_nquads, ox.RdfFormat.N_QUADS), (export_trig, ox.RdfFormat.TRIG)], ids=["nquads", "trig"]
)
def test_export_round_trip_gives_equal_dataset(
    store: QuadStore, tmp_path: Path, write: Write, form: ox.RdfFormat
) -> None:
    odd: list[Statement] = [
        ("_:b1", P, "_:b2", ""),
        ("_:b2", P, '"two\\nlines \\"quoted\\" \\\\"@de', ""),
        ("_:b2", P, f'"1.50"^^<{XSD}decimal>', "<http://ex.org/g>"),
        ("<http://ex.org/a,b(c)'d%20e>", "<http://ex.org/p#q.r->", "<http://schema.org/>", ""),
        ("<urn:x:y>", P, '"\\u0001"', "_:g"),
    ]
    store.write([record(A, *odd, says("x", "1")), record(B, *odd)])
    output = io.BytesIO()
    heard: list[int] = []
    count = write(store, output, heard.append)
    fresh = imported(output.getvalue(), form, tmp_path / "fresh")
    assert count == len(list(fresh.quads())) == heard[-1]
    assert canonical(fresh) == canonical(store)
    assert union(fresh) == union(store), "blank nodes keep their labels, and the union is rebuilt"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(LITERALS, max_size=5))
def test_export_trig_any_literal_round_trips(store: QuadStore, values: list[str]) -> None:
    store.write([record(A, *(("_:b1", P, value, "") for value in values))])
    output = io.BytesIO()
    export_trig(store, output)
    assert set(ox.parse(output.getvalue(), ox.RdfFormat.TRIG)) == set(store.quads())


def test_open_output_with_gz_suffix_compresses(store: QuadStore, tmp_path: Path) -> None:
    store.write([record(A, says("x", "1"))])
    for name in ("all.nq", "all.nq.gz"):
        with open_output(tmp_path / name) as file:
            export_nquads(store, file)
    assert gzip.decompress((tmp_path / "all.nq.gz").read_bytes()) == (tmp_path / "all.nq").read_bytes()


def records(*numbers: int) -> list[bytes]:
    urls = [(f"http://a.example/{number}", f"body {number}".encode() * 1000) for number in numbers]
    return [response_record(WarcResponse(url=url, at=0.0, status=200, body=body), new_id()) for url, body in urls]


def read(data: bytes) -> dict[str, bytes]:
    return {r.rec_headers["WARC-Target-URI"]: r.content_stream().read() for r in ArchiveIterator(io.BytesIO(data))}


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("cut", [0, 1, 40, 10_000_000])
def test_export_warc_joins_files_and_skips_truncated_record(tmp_path: Path, cut: int, packed: bool) -> None:  # noqa: FBT001 - pytest calls it
    first, second = tmp_path / "1.warc.gz", tmp_path / "2.warc.gz"
    *whole, last = records(1, 2, 3)
    first.write_bytes(b"".join(whole) + last[: max(0, len(last) - cut)])
    second.write_bytes(b"".join(records(4, 5)))
    output = io.BytesIO()
    count = export_warc([first, second], output, packed=packed)
    found = read(output.getvalue())
    expected = [1, 2, 3, 4, 5] if cut == 0 else [1, 2, 4, 5]
    assert count == len(expected)
    assert found == {f"http://a.example/{number}": f"body {number}".encode() * 1000 for number in expected}


def test_export_warc_plain_equals_decompressed_export(tmp_path: Path) -> None:
    path = tmp_path / "1.warc.gz"
    path.write_bytes(b"".join(records(*range(300))))
    packed, plain = io.BytesIO(), io.BytesIO()
    export_warc([path], packed, packed=True)
    export_warc([path], plain, packed=False)
    assert packed.getvalue() == path.read_bytes()
    assert gzip.decompress(packed.getvalue()) == plain.getvalue()


def test_export_warc_skips_file_that_is_not_gzip(tmp_path: Path) -> None:
    (tmp_path / "1").write_bytes(b"rubbish" * 100)
    (tmp_path / "2").write_bytes(records(1)[0])
    assert export_warc([tmp_path / "1", tmp_path / "2"], io.BytesIO(), packed=True) == 1

"""Tests of `PageChange`, and of the sink that writes N-Quads files."""

from __future__ import annotations

import errno
import gzip
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.index.page_record import PROVENANCE, PageRecord
from motherlode.index.sinks.nquads_sink import PageChange, SegmentSink, change_from, drop_nonstandard
from motherlode.model.terms import literal, page_iri

from .records import P, record

A = "http://a.example/"
X = "<http://x.example/>"


def quads(change: PageChange, *, provenance_graph: str = "") -> set[str]:
    text = change.nquads(provenance_graph=provenance_graph)
    return {str(quad) for quad in ox.parse(text.encode(), ox.RdfFormat.N_QUADS, lenient=True)}


def test_change_of_page_without_statements_has_graph_and_provenance() -> None:
    change = change_from(PageRecord(url=A, fetched_at=0.0, status=410))
    assert change.graphs == {f"<{A}>": ""}
    assert "status" in change.provenance
    assert change.nquads(provenance_graph="") == ""


def test_change_keeps_named_graph_without_quads() -> None:
    made = replace(record(A, (X, P, '"in"', "<http://g.example/>")), graph_quads=b"")
    assert list(change_from(made).graphs.values()) == ["", ""]


def test_change_skips_broken_lines() -> None:
    page = record(A, (X, P, '"one"'), (X, P, '"two"'))
    first, second = page.graph_quads.splitlines(keepends=True)
    broken = replace(page, graph_quads=first + b"<no> <statement\n" + b"\xff\xfe .\n" + second)
    assert change_from(broken).graphs[f"<{A}>"].count("\n") == 2


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=20), max_size=5, unique=True))
def test_change_any_text_round_trips(texts: list[str]) -> None:
    change = change_from(record(A, *((X, P, literal(text)) for text in texts)))
    found = ox.parse(change.nquads(provenance_graph="").encode(), ox.RdfFormat.N_QUADS)
    assert sorted(quad.object.value for quad in found) == sorted(set(texts))


@pytest.mark.parametrize("text", ["ends with a dot .", " .\\n", "<urn:not-a-graph> ."])
def test_change_text_that_looks_like_end_of_statement_is_kept(text: str) -> None:
    change = change_from(record(A, (X, P, literal(text))))
    assert quads(change) == {f"{X} {P} {literal(text)} <{A}>"}


def test_change_nquads_uses_given_provenance_graph() -> None:
    change = change_from(record(A, (X, P, '"1"')))
    graphs = {quad.rpartition(" ")[2] for quad in quads(change, provenance_graph=f"<{PROVENANCE}>")}
    assert graphs == {f"<{A}>", f"<{PROVENANCE}>"}


def test_change_round_trips_through_spool_encoding() -> None:
    change = change_from(record(A, (X, P, '"é\\n"@fr'), ("_:b", P, "_:c", "<http://g.example/>")))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(change), type=PageChange) == change


def test_drop_nonstandard_removes_invalid_rdf_only() -> None:
    good, bad = f'{X} {P} "good"@en .\n', f"{X} {P} <http://y.example/50%> .\n"
    page, inner = page_iri(A), f"<{A}#graph=g>"
    repaired = drop_nonstandard(PageChange(page=page, graphs={page: bad + good, inner: bad}, provenance=good + bad))
    assert repaired == PageChange(page=page, graphs={page: good, inner: ""}, provenance=good)
    assert drop_nonstandard(repaired) == repaired


def test_drop_nonstandard_removes_rdf_1_2() -> None:
    good = f'{X} {P} "good"@en .\n'
    new = f'{X} {P} <<( {X} {P} "good" )>> .\n{X} {P} "good"@en--ltr .\n'
    page = page_iri(A)
    assert drop_nonstandard(PageChange(page=page, graphs={page: new + good}, provenance="")).graphs == {page: good}


def _page(number: int) -> tuple[str, str]:
    return f"http://h.example/{number}", f'"{number}"'


def _write(sink: SegmentSink, *numbers: int) -> None:
    sink.write([record(_page(n)[0], (f"<http://x.example/{n}>", P, _page(n)[1])) for n in numbers])


def _values(path: Path) -> list[str]:
    quads = ox.parse(gzip.decompress(path.read_bytes()), ox.RdfFormat.N_QUADS)
    return [quad.object.value for quad in quads if quad.graph_name.value != PROVENANCE]


def test_segment_sink_rotates_files_and_keeps_each_page_once(tmp_path: Path) -> None:
    sink = SegmentSink(tmp_path, size=1, provenance=True)
    _write(sink, 1, 2)
    _write(sink, 3)
    sink.close()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["segment-000001.nq.gz", "segment-000002.nq.gz"]
    assert [_values(tmp_path / name) for name in names] == [["1", "2"], ["3"]]


def test_segment_sink_quads_have_page_graph_and_optional_provenance(tmp_path: Path) -> None:
    for provenance in (True, False):
        folder = tmp_path / str(provenance)
        sink = SegmentSink(folder, size=10**6, provenance=provenance)
        _write(sink, 7)
        sink.close()
        (path,) = folder.iterdir()
        graphs = {quad.graph_name.value for quad in ox.parse(gzip.decompress(path.read_bytes()), ox.RdfFormat.N_QUADS)}
        assert graphs == ({"http://h.example/7", PROVENANCE} if provenance else {"http://h.example/7"})


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_segment_sink_kill_loses_no_acknowledged_batch(tmp_path: Path, cut: int) -> None:
    """The process is killed in its third batch: two batches are complete, and the next run starts a new file."""
    sink = SegmentSink(tmp_path, size=10**6, provenance=False)
    _write(sink, 1)
    _write(sink, 2)
    _write(sink, 3)
    (part,) = tmp_path.glob("*.part")
    part.write_bytes(part.read_bytes()[:-cut])
    again = SegmentSink(tmp_path, size=10**6, provenance=False)
    _write(again, 4)
    again.close()
    assert _values(tmp_path / "segment-000001.nq.gz") == ["1", "2"]
    assert _values(tmp_path / "segment-000002.nq.gz") == ["4"]
    assert not list(tmp_path.glob("*.part"))


def test_segment_without_complete_batch_is_removed(tmp_path: Path) -> None:
    (tmp_path / "segment-000001.nq.gz.part").write_bytes(b"\x1f\x8b\x08")
    SegmentSink(tmp_path, size=10, provenance=False).close()
    assert list(tmp_path.iterdir()) == []


def test_whole_members_reads_large_batches(tmp_path: Path) -> None:
    sink = SegmentSink(tmp_path, size=10**9, provenance=False)
    for start in range(0, 30_000, 10_000):
        _write(sink, *range(start, start + 10_000))
    sink.flush()
    SegmentSink(tmp_path, size=10**9, provenance=False).close()
    assert len(_values(tmp_path / "segment-000001.nq.gz")) == 30_000


def test_segment_sink_full_disk_leaves_no_incomplete_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = SegmentSink(tmp_path, size=10**6, provenance=False)
    _write(sink, 1)
    monkeypatch.setattr(os, "write", _full_after(20))
    with pytest.raises(OSError, match="No space left"):
        _write(sink, 2)
    monkeypatch.undo()
    _write(sink, 3)
    sink.close()
    assert _values(tmp_path / "segment-000001.nq.gz") == ["1", "3"]


def _full_after(room: int) -> Callable[[int, memoryview], int]:
    """Return a replacement of `os.write` that writes this number of bytes once and then fails."""
    write, left = os.write, [room]

    def limited(file: int, data: memoryview) -> int:
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data[: left.pop()])

    return limited


def test_drop_nonstandard_on_examples_gives_expected_values() -> None:
    page = "<http://a.example/>"
    bad = "<http://a.example/> <http://p.example/> <http://b.example/50%> .\n"
    assert drop_nonstandard(PageChange(page=page, graphs={page: bad}, provenance="")).graphs[page] == ""

"""N-Quads files that are complete once they have their name, whatever cut the writing short."""

from __future__ import annotations

import errno
import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pyoxigraph as ox
import pytest

from motherlode.index import PROVENANCE
from motherlode.index.sinks import SegmentSink

from .records import P, record


def _page(number: int) -> tuple[str, str]:
    return f"http://h.example/{number}", f'"{number}"'


def _write(sink: SegmentSink, *numbers: int) -> None:
    sink.write([record(_page(n)[0], (f"<http://x.example/{n}>", P, _page(n)[1])) for n in numbers])


def _values(path: Path) -> list[str]:
    quads = ox.parse(gzip.decompress(path.read_bytes()), ox.RdfFormat.N_QUADS)
    return [quad.object.value for quad in quads if quad.graph_name.value != PROVENANCE]


def test_files_rotate_and_hold_every_page_once(tmp_path: Path) -> None:
    sink = SegmentSink(tmp_path, size=1, provenance=True)
    _write(sink, 1, 2)
    _write(sink, 3)
    sink.close()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["segment-000001.nq.gz", "segment-000002.nq.gz"]
    assert [_values(tmp_path / name) for name in names] == [["1", "2"], ["3"]]


def test_each_quad_names_its_page_and_the_provenance_can_be_left_out(tmp_path: Path) -> None:
    for provenance in (True, False):
        folder = tmp_path / str(provenance)
        sink = SegmentSink(folder, size=10**6, provenance=provenance)
        _write(sink, 7)
        sink.close()
        (path,) = folder.iterdir()
        graphs = {quad.graph_name.value for quad in ox.parse(gzip.decompress(path.read_bytes()), ox.RdfFormat.N_QUADS)}
        assert graphs == ({"http://h.example/7", PROVENANCE} if provenance else {"http://h.example/7"})


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_kill_costs_no_batch_that_was_taken(tmp_path: Path, cut: int) -> None:
    """The process ends in the middle of its third batch: two are whole, and the next run begins a file of its own."""
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


def test_a_file_with_no_whole_batch_goes(tmp_path: Path) -> None:
    (tmp_path / "segment-000001.nq.gz.part").write_bytes(b"\x1f\x8b\x08")
    SegmentSink(tmp_path, size=10, provenance=False).close()
    assert list(tmp_path.iterdir()) == []


def test_large_batches_are_found_whole_again(tmp_path: Path) -> None:
    sink = SegmentSink(tmp_path, size=10**9, provenance=False)
    for start in range(0, 30_000, 10_000):
        _write(sink, *range(start, start + 10_000))
    sink.flush()
    SegmentSink(tmp_path, size=10**9, provenance=False).close()
    assert len(_values(tmp_path / "segment-000001.nq.gz")) == 30_000


def test_a_full_disk_leaves_no_half_batch_in_a_complete_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    """A write for which the disk has room once, for so many bytes."""
    write, left = os.write, [room]

    def limited(file: int, data: memoryview) -> int:
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data[: left.pop()])

    return limited

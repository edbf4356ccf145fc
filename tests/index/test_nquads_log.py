"""Tests of the N-Quads log: a store that is built from it equals a store that was written directly."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from motherlode.index import nquads_log, segment_files
from motherlode.index.nquads_log import NQuadsLog, UnindexedQuads, log_damage, log_from_store
from motherlode.index.page_record import PageRecord, RunRecord
from motherlode.index.quad_store import QuadStore
from motherlode.index.segment_files import SegmentWriter
from motherlode.index.snapshot import DamagedError
from tests.index.sinks.records import P, record

RUN = RunRecord(identifier="r", started_at=0.0, version="1", target="any")
A, B = "http://a.example/", "http://b.example/x"
TRICKY = " <urn:motherlode:provenance> .\\n<http://a.example/> a <x> ."


def some_pages() -> list[PageRecord]:
    said = record(A, ("<urn:s>", P, '"two words"@en'), ("_:b1", P, "_:b2", "<urn:g>"), ("<urn:s>", P, f'"{TRICKY}"'))
    moved = PageRecord(url=B, fetched_at=5.25, status=301, redirects_to=A)
    silent = PageRecord(url=B + "?q=1", fetched_at=7.5, status=200, media_type=f"text/html{TRICKY}", size=3)
    return [said, moved, moved, silent, record("http://c.example/é", ("<urn:s>", P, '"ü"'))]


def logged(folder: Path, *batches: list[PageRecord]) -> None:
    log = NQuadsLog(folder)
    log.begin(RUN)
    for batch in batches:
        log.write(batch)
    log.finish(9.0)
    log.flush()
    log.close()


def _from_log(folder: Path, store: QuadStore) -> QuadStore:
    unread = UnindexedQuads(folder)
    for portion in unread.batches():
        store.add_run_quads(portion.run_quads)
        store.write(portion.pages)
        unread.mark_indexed(portion.position)
    return store


def _all(store: QuadStore) -> tuple[set[str], set[str]]:
    return {str(quad) for quad in store.quads()}, {str(quad) for quad in store.statements()}


def test_store_from_log_equals_store_written_directly(tmp_path: Path) -> None:
    logged(tmp_path / "log", some_pages()[:2], some_pages()[2:])
    at_once = QuadStore(tmp_path / "at-once")
    at_once.begin(RUN)
    at_once.write(some_pages())
    at_once.finish(9.0)
    assert _all(_from_log(tmp_path / "log", QuadStore(tmp_path / "later"))) == _all(at_once)


def test_records_of_one_url_in_a_row_are_read_as_they_were_written(tmp_path: Path) -> None:
    failed = PageRecord(url=B, fetched_at=1.0, status=None, state="failed", reason="timeout")
    silent = PageRecord(url=B, fetched_at=2.0, status=200)
    logged(tmp_path, [failed, silent, failed])
    pages = [page for portion in UnindexedQuads(tmp_path).batches() for page in portion.pages]
    assert [(page.state, page.fetched_at) for page in pages] == [("known", 1.0), ("", 2.0), ("known", 1.0)]
    assert [b"timeout" in page.provenance for page in pages] == [True, False, True]


def test_batches_restore_time_and_quad_count_of_pages(tmp_path: Path) -> None:
    logged(tmp_path, some_pages())
    pages = [page for portion in UnindexedQuads(tmp_path).batches() for page in portion.pages]
    assert [page.quads for page in pages] == [3, 0, 0, 0, 1]
    assert [page.fetched_at for page in pages] == [0.0, 5.25, 5.25, 7.5, 0.0]
    assert [page.graph_quads for page in pages] == [page.graph_quads for page in some_pages()]
    assert [page.union_quads for page in pages] == [page.union_quads for page in some_pages()]


def test_later_version_of_page_replaces_earlier_one(tmp_path: Path) -> None:
    logged(tmp_path / "log", [record(A, ("<urn:s>", P, '"old"'))], [record(A, ("<urn:s>", P, '"new"'))])
    store = _from_log(tmp_path / "log", QuadStore(tmp_path / "store"))
    store.flush()
    assert [str(quad.object) for quad in store.statements()] == ['"new"']
    assert '"old"' in (tmp_path / "changes.rdfp").read_text()


def test_batches_start_after_mark(tmp_path: Path) -> None:
    log = NQuadsLog(tmp_path)
    log.write(some_pages()[:1])
    unread = UnindexedQuads(tmp_path)
    size = unread.size
    (portion,) = unread.batches()
    assert unread and unread.bytes_after(portion.position) == 0
    unread.mark_indexed(portion.position)
    assert not unread
    log.write(some_pages()[3:])
    log.close()
    again = UnindexedQuads(tmp_path)
    assert 0 < again.size < size + 1000
    assert [len(portion.pages) for portion in again.batches()] == [2]


def test_truncated_batch_is_left_for_next_run(tmp_path: Path) -> None:
    segments = SegmentWriter(tmp_path, size=10**9)
    log = NQuadsLog(tmp_path / "whole")
    log.write(some_pages())
    (whole,) = (tmp_path / "whole").glob("*.part")
    segments.append(b"")
    (part,) = tmp_path.glob("*.part")
    part.write_bytes(whole.read_bytes() + whole.read_bytes()[:-5])
    assert [len(portion.pages) for portion in UnindexedQuads(tmp_path).batches()] == [5]


def test_unindexed_quads_without_log_is_empty(tmp_path: Path) -> None:
    assert not UnindexedQuads(tmp_path / "nowhere")
    assert list(UnindexedQuads(tmp_path / "nowhere").batches()) == []


def test_log_and_its_backup_have_every_committed_page(tmp_path: Path) -> None:
    log = NQuadsLog(tmp_path / "log")
    log.write(some_pages())
    log.backup(tmp_path / "copy")
    assert [len(portion.pages) for portion in UnindexedQuads(tmp_path / "copy").batches()] == [5]


@pytest.mark.parametrize(
    "line", [b"no quad at all <http://a.example/> .\n", b'<urn:s> <urn:p> "open <http://a.example/> .\n']
)
def test_broken_line_in_log_is_skipped(tmp_path: Path, line: bytes) -> None:
    good = record(A, ("<urn:s>", P, '"x"'))
    broken = PageRecord(url=B, fetched_at=0.0, status=200, graph_quads=line, quads=1)
    logged(tmp_path / "log", [broken, good])
    store = _from_log(tmp_path / "log", QuadStore(tmp_path / "store"))
    assert [str(quad.object) for quad in store.statements()] == ['"x"']
    assert store.has(A) and store.has(B)


def test_manifest_has_files_of_all_runs(tmp_path: Path) -> None:
    first = NQuadsLog(tmp_path)
    first.write(some_pages()[:2])
    committed = first.manifest()
    first.write(some_pages()[2:])
    del first  # killed: later batches are in the file, and the next run adds them to the manifest
    again = NQuadsLog(tmp_path, manifest=committed)
    again.write(some_pages())
    manifest = again.manifest()
    assert [entry.number for entry in manifest] == [1, 2]
    assert manifest[0].length > committed[0].length
    again.close()
    assert [len(portion.pages) for portion in UnindexedQuads(tmp_path).batches()] == [2, 3, 5]
    assert log_damage(tmp_path, manifest) == []


def test_log_that_differs_from_manifest_is_refused(tmp_path: Path) -> None:
    log = NQuadsLog(tmp_path)
    log.write(some_pages())
    manifest = log.manifest()
    (part,) = tmp_path.glob("*.part")
    data = part.read_bytes()
    part.write_bytes(data[:10] + b"?" + data[11:])
    with pytest.raises(DamagedError, match=r"segment-000001.nq.gz is not what was written.*--skip-damaged"):
        NQuadsLog(tmp_path, manifest=manifest)
    assert part.exists(), "the file is unchanged"


def test_empty_mark_file_restarts_indexing(tmp_path: Path) -> None:
    logged(tmp_path, some_pages())
    (tmp_path / "indexed").write_text("")
    assert [len(portion.pages) for portion in UnindexedQuads(tmp_path).batches() if portion.pages] == [5]


def test_file_shorter_than_mark_does_not_hide_later_files(tmp_path: Path) -> None:
    logged(tmp_path, some_pages())
    unread = UnindexedQuads(tmp_path)
    unread.mark_indexed((1, 10**9))
    assert unread.size == 0
    logged(tmp_path, some_pages())
    assert unread.size == (tmp_path / "segment-000002.nq.gz").stat().st_size


class _Killed(BaseException):
    """The simulated end of the process: nothing that follows is executed."""


class _KillingOs:
    """The module `os` until a step of the log is reached. That step writes only half of its data."""

    _STEPS = frozenset({"open", "write", "fsync", "close", "rename"})

    def __init__(self, last_step: int) -> None:
        self._left = last_step

    def __getattr__(self, name: str) -> Any:
        return self._step(name) if name in self._STEPS else getattr(os, name)

    def _step(self, name: str) -> Any:
        self._left -= 1
        if self._left:
            return getattr(os, name)
        if name == "write":
            return self._write_half
        raise _Killed

    def _write_half(self, file: int, data: memoryview) -> int:
        os.write(file, data[: len(data) // 2])
        raise _Killed


@pytest.mark.parametrize("size", [200, 1_000_000], ids=["many segments", "one segment"])
def test_kill_at_every_step_of_the_log_keeps_acknowledged_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(nquads_log, "_SEGMENT_BYTES", size)
    pages = [record(f"http://a.example/{number}", ("<urn:s>", P, f'"{number}"')) for number in range(4)]
    step, is_killed = 0, True
    while is_killed:
        step += 1
        folder = tmp_path / str(step)
        acknowledged: list[str] = []
        manifest: list[segment_files.ManifestEntry] = []
        with monkeypatch.context() as patch:
            patch.setattr(segment_files, "os", system := _KillingOs(step))
            patch.setattr(Path, "rename", lambda path, to, system=system: system.rename(path, to))
            is_killed = _is_killed(folder, pages, acknowledged, manifest)
        log = NQuadsLog(folder, manifest=manifest)
        log.write([record(B, ("<urn:s>", P, '"after"'))])
        log.close()
        found = [page.url for batch in UnindexedQuads(folder).batches() for page in batch.pages]
        assert found[: len(acknowledged)] == acknowledged, step
        assert found in ([*acknowledged, B], [*(page.url for page in pages[: len(acknowledged) + 1]), B]), step
        assert not log_damage(folder, log.manifest())
    assert step > len(pages)


def _is_killed(
    folder: Path, pages: list[PageRecord], acknowledged: list[str], manifest: list[segment_files.ManifestEntry]
) -> bool:
    """Write a log until the kill. The lists get what was acknowledged and committed by then."""
    try:
        log = NQuadsLog(folder)
        for page in pages:
            log.write([page])
            acknowledged.append(page.url)
            manifest[:] = log.manifest()
        log.close()
    except _Killed:
        return True
    return False


def test_kill_at_every_rename_of_a_log_that_is_written_again_keeps_its_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, is_killed = 0, True
    while is_killed:
        step += 1
        folder = tmp_path / str(step) / "quads"
        logged(folder, some_pages())
        store = _from_log(folder, QuadStore(folder.with_name("store")))
        with monkeypatch.context() as patch:
            system = _KillingOs(step)
            patch.setattr(Path, "rename", lambda path, to, system=system: system.rename(path, to))
            is_killed = _is_rewriting_killed(store, folder)
        places = [place for place in (folder, folder.with_name("quads.old")) if place.is_dir()]
        assert any(_urls(place) >= {page.url for page in some_pages()} for place in places), step
        log_from_store(store, folder, after=1)
        assert _urls(folder) == {page.url for page in some_pages()}
        assert not UnindexedQuads(folder)
        assert not folder.with_name("quads.old").exists()
    assert step == 4, "a segment, the old log and the new log are renamed"


def _is_rewriting_killed(store: QuadStore, folder: Path) -> bool:
    try:
        log_from_store(store, folder, after=1)
    except _Killed:
        return True
    return False


def _urls(folder: Path) -> set[str]:
    return {page.url for batch in UnindexedQuads(folder).batches(from_start=True) for page in batch.pages}

"""Tests of the removal of damaged views, and of what counts as damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.index.page_record import CLUSTERS
from motherlode.index.quad_store import QuadStore, graph_copy_path
from motherlode.index.rebuild import has_all_pages, is_store_damage, remove_views
from motherlode.index.segment_files import SegmentWriter

from .fakes import spoil


@pytest.mark.parametrize(
    ("error", "is_damaged"),
    [
        (RuntimeError("Corruption: checksum mismatch  The file MANIFEST-000005 may be corrupted."), True),
        (OSError("Corruption: IO error: No such file or directory: While open a file for random read: 9.sst"), True),
        (FileNotFoundError("IO error: No such file or directory: While opening a file: MANIFEST-000005"), True),
        (OSError("IO error: While lock file: store/LOCK: Resource temporarily unavailable"), False),
        (OSError("IO error: While open a file for random read: 9.sst: Permission denied"), False),
        (OSError("IO error: While open a file for random read: 9.sst: Too many open files"), False),
        (RuntimeError("Corruption: IO error: While mmap: 9.sst: Cannot allocate memory"), False),
        (OSError("IO error: No space left on device: While appending to file: 9.sst"), False),
        (OSError("IO error: While pread: 9.sst: Input/output error"), False),
        (FileNotFoundError(2, "No such file or directory", "quads/segment-000001.nq.gz"), False),
        (RuntimeError("Already borrowed"), False),
    ],
)
def test_is_store_damage_excludes_refused_access(error: Exception, *, is_damaged: bool) -> None:
    assert is_store_damage(error) is is_damaged


def test_has_all_pages_requires_the_first_segment_or_a_compaction(tmp_path: Path) -> None:
    log = tmp_path / "quads"
    assert not has_all_pages(log)
    log.mkdir()
    assert has_all_pages(log), "nothing was written yet"
    segments = SegmentWriter(log, size=1_000, after=1)
    segments.append(b"<a:a> <a:a> <a:a> .\n")
    segments.close()
    assert not has_all_pages(log), "segment 1 is missing"
    (log / "compacted").write_text("2026-01-01T00:00:00+00:00")
    assert has_all_pages(log)


@pytest.mark.parametrize("is_damaged", [False, True])
def test_remove_views_saves_derived_graphs_that_can_be_read(tmp_path: Path, *, is_damaged: bool) -> None:
    store, words = tmp_path / "store", tmp_path / "words"
    made = QuadStore(store)
    made.add_run_quads(f"<a:a> <a:a> <a:a> <{CLUSTERS}> .\n".encode())
    made.flush()
    made.close()
    del made
    words.mkdir()
    (tmp_path / "store.damaged").mkdir()  # a removal that was killed
    if is_damaged:
        spoil(store)
    remove_views(store, words)
    assert graph_copy_path(store, CLUSTERS).exists() is not is_damaged
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []

"""Compaction of a log: only the newest version of each page is kept.

The new segments have higher numbers than the old ones, and are moved into the log before the old ones are removed. A
kill leaves the old segments, or old and new ones. Both give the same store, because the new segments come last, and a
page that is written again replaces itself. The next compaction removes what is left.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from motherlode.index.nquads_log import UnindexedQuads, complete_manifest, note_reach, open_segment_writer
from motherlode.index.page_record import PageRecord
from motherlode.index.segment_files import ManifestEntry, list_segments, sync_path


class Compaction(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of one compaction."""

    versions: int = 0
    """Versions of pages, and records of URLs without a page, that the log had."""
    dropped: int = 0
    """Number of those that newer ones had replaced."""
    bytes_before: int = 0
    bytes_after: int = 0

    def __add__(self, other: Compaction) -> Compaction:
        return Compaction(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})


class _NewestVersions:
    """Decides which versions of pages are kept. Memory grows with the number of pages."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[int, bool]] = {}
        """Number of the newest version of each URL, and whether it is a page."""
        self.versions = 0

    def add(self, record: PageRecord) -> None:
        """Count the next record of the log. A record without a page does not replace one with a page."""
        _, has_page = self._newest.get(record.url, (0, False))
        if not (record.state and has_page):
            self._newest[record.url] = self.versions, not record.state
        self.versions += 1

    @property
    def superseded(self) -> int:
        """Number of versions that are not kept."""
        return self.versions - len(self._newest)

    def is_newest(self, url: str, number: int) -> bool:
        """Return whether the record with this number is the newest version of its URL."""
        return self._newest[url][0] == number


def compact_log(folder: Path, *, after: int, commit: Callable[[list[ManifestEntry]], None]) -> Compaction:
    """Drop the versions of pages that newer ones have replaced.

    The caller holds the lock of the log and has checked and indexed all of it, because the change log gets the
    differences between versions from the indexer. New segments get numbers above `after`. `commit` makes the new
    manifest durable and moves the mark of the indexer to the end of the log, before old segments are removed.
    """
    old, newest = list_segments(folder), _NewestVersions()
    size = sum(path.stat().st_size for _, path in old)
    for batch in UnindexedQuads(folder).batches(from_start=True):
        for record in batch.pages:
            newest.add(record)
    if not newest.superseded:
        return Compaction(versions=newest.versions, bytes_before=size, bytes_after=size)
    new = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    try:
        last = _write_newest(folder, new, newest, after=max(after, *(number for number, _ in old)))
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)  # makes room again if the disk is full
        raise
    note_reach(folder, datetime.fromtimestamp(last, UTC))
    manifest = complete_manifest(new)
    for _, segment in list_segments(new):
        segment.rename(folder / segment.name)
    new.rmdir()
    sync_path(folder)
    commit(manifest)
    for _, segment in old:
        segment.unlink()
    sync_path(folder)
    left = sum(entry.length for entry in manifest)
    return Compaction(versions=newest.versions, dropped=newest.superseded, bytes_before=size, bytes_after=left)


def _write_newest(folder: Path, new: Path, newest: _NewestVersions, *, after: int) -> float:
    """Write the newest versions to new segments. Return the time of the last one that has replaced another."""
    segments, number, last = open_segment_writer(new, after=after), 0, 0.0
    superseded: set[str] = set()
    for batch in UnindexedQuads(folder).batches(from_start=True):
        parts = [batch.run_quads]
        for record in batch.pages:
            if not newest.is_newest(record.url, number):
                superseded.add(record.url)
            else:
                parts += (record.graph_quads, record.provenance)
                last = max(last, record.fetched_at) if record.url in superseded else last
            number += 1
        if text := b"".join(parts):
            segments.append(text)
    segments.close()
    return last

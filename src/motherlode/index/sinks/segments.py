"""A folder of N-Quads files: each is complete once it has its final name, and is never touched again.

The file that is being written ends in `.part`. Every batch is a gzip member of its own, written with one call, so a
kill can cut at most the last member, which the next run takes off again; a member that is whole was acknowledged. The
files are a log: a page that is crawled again stands in a later file again, and the later one holds.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Sequence
from pathlib import Path

from motherlode.index.records import PROVENANCE, PageRecord
from motherlode.index.sinks.changes import change_from

_NAME = re.compile(r"segment-(\d+)[.]nq[.]gz(?:[.]part)?")
_PIECE = 1 << 20


class SegmentSink:
    """Writes batches to a file until it has `size` bytes, then begins the next."""

    def __init__(self, folder: Path, *, size: int, provenance: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._size = size
        self._provenance = f"<{PROVENANCE}>" if provenance else ""
        for part in sorted(folder.glob("segment-*.nq.gz.part")):
            _take_up(part)
        numbers = [int(match[1]) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))]
        self._number = max(numbers, default=0)
        self._file = -1
        self._written = 0

    def write(self, records: Sequence[PageRecord]) -> None:
        text = "".join(change_from(record).nquads(provenance_graph=self._provenance) for record in records)
        if not text:
            return
        if self._file < 0:
            self._number += 1
            self._file = os.open(self._part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o644)
        self._append(gzip.compress(text.encode("utf-8", "replace"), compresslevel=6, mtime=0))
        if self._written >= self._size:
            self._finish()

    def _append(self, member: bytes) -> None:
        left = memoryview(member)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError:  # the disk is full, perhaps: half a member must not come to stand in a complete file
            os.ftruncate(self._file, self._written)
            raise
        self._written += len(member)

    def flush(self) -> None:
        if self._file >= 0:
            os.fsync(self._file)

    def close(self) -> None:
        self._finish()

    @property
    def _part(self) -> Path:
        return self._folder / f"segment-{self._number:06d}.nq.gz.part"

    def _finish(self) -> None:
        if self._file < 0:
            return
        os.fsync(self._file)
        os.close(self._file)
        self._file, self._written = -1, 0
        self._part.rename(self._part.with_suffix(""))


def _take_up(part: Path) -> None:
    """Give a file that a kill left behind its final name, without the member that was cut."""
    good = _whole_members(part)
    if good == 0:
        part.unlink()
        return
    with part.open("r+b") as file:
        file.truncate(good)
        os.fsync(file.fileno())
    part.rename(part.with_suffix(""))


def _whole_members(path: Path) -> int:
    """Bytes up to the end of the last gzip member that is whole."""
    good = place = 0
    unpacker = zlib.decompressobj(wbits=31)
    with path.open("rb") as file:
        while data := file.read(_PIECE):
            while data:
                try:
                    unpacker.decompress(data)
                except zlib.error:
                    return good
                place += len(data) - len(unpacker.unused_data)
                data = unpacker.unused_data
                if unpacker.eof:
                    good = place
                    unpacker = zlib.decompressobj(wbits=31)
    return good

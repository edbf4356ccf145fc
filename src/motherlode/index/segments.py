"""Files of N-Quads that only grow: each is complete once it has its final name, and is never touched again.

The file that is being written ends in `.part`. Every batch is a gzip member of its own, written with one call, so a
kill can cut at most the last member, which the next run takes off again; a member that is whole was acknowledged.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_NAME = re.compile(r"segment-(\d+)[.]nq[.]gz(?:[.]part)?")
_PIECE = 1 << 20


class Segments:
    """Appends batches to a file until it has `size` bytes, then begins the next."""

    def __init__(self, folder: Path, *, size: int, level: int = 6) -> None:
        """`level` is gzip's."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._size = size
        self._level = level
        for part in sorted(folder.glob("segment-*.nq.gz.part")):
            _take_up(part)
        self._number = max((number for number, _ in segment_files(folder)), default=0)
        self._file = -1
        self._written = 0

    def append(self, text: bytes) -> None:
        """One batch, which is there as a whole or not at all."""
        if self._file < 0:
            self._number += 1
            self._file = os.open(self._part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o644)
        self._write(gzip.compress(text, compresslevel=self._level, mtime=0))
        if self._written >= self._size:
            self.close()

    def _write(self, member: bytes) -> None:
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
        """Give the file that is being written its final name."""
        if self._file < 0:
            return
        os.fsync(self._file)
        os.close(self._file)
        self._file, self._written = -1, 0
        self._part.rename(self._part.with_suffix(""))

    @property
    def _part(self) -> Path:
        return self._folder / f"segment-{self._number:06d}.nq.gz.part"


def segment_files(folder: Path) -> list[tuple[int, Path]]:
    """The files of a folder by their numbers, the one that is being written included."""
    found = [(int(match[1]), path) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))]
    return sorted(found)


def opened(path: Path) -> BinaryIO:
    """A file of those, whose writer may give it its final name at any moment."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        return path.with_suffix("").open("rb")


def whole_members(path: Path, start: int = 0) -> Iterator[tuple[bytes, int]]:
    """The batches of a file from a place on, each with the place behind it; a cut one at the end is left out."""
    place = start
    with opened(path) as file:
        file.seek(start)
        data = b""
        while data or (data := file.read(_PIECE)):
            unpacker = zlib.decompressobj(wbits=31)
            pieces = []
            while data and not unpacker.eof:
                try:
                    pieces.append(unpacker.decompress(data))
                except zlib.error:
                    return
                place += len(data) - len(unpacker.unused_data)
                data = unpacker.unused_data or (b"" if unpacker.eof else file.read(_PIECE))
            if not unpacker.eof:
                return
            yield b"".join(pieces), place


def _take_up(part: Path) -> None:
    """Give a file that a kill left behind its final name, without the member that was cut."""
    good = max((end for _, end in whole_members(part)), default=0)
    if good == 0:
        part.unlink()
        return
    with part.open("r+b") as file:
        file.truncate(good)
        os.fsync(file.fileno())
    part.rename(part.with_suffix(""))

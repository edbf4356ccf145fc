"""Segments: append-only files of compressed N-Quads. A file with its final name is complete and never changes again.

The name of the file that is being written ends in `.part`. Each batch is one gzip member that is written with one call,
so a kill can truncate only the last member, which the next run removes. A complete member was acknowledged.

A `ManifestEntry` has the name, length and SHA-256 of a file. With entries that were saved elsewhere, `entry_damage`
detects whether a file is missing, truncated or changed.
"""

from __future__ import annotations

import gzip
import hashlib
import mmap
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from motherlode.www.gzip_members import gzip_members

_NAME = re.compile(r"segment-(\d+)[.]nq[.]gz(?:[.]part)?")
_CHUNK_BYTES = 1 << 20
_MEMBER_START = b"\x1f\x8b\x08\x00\x00\x00\x00\x00"
"""The first bytes of every member that is written here: gzip, deflate, no flags, no time."""


class ManifestEntry(msgspec.Struct, frozen=True, array_like=True):
    """Name, length and checksum of a file."""

    name: str
    """The final name, also if the file is not finished yet."""
    length: int
    """Length in bytes. The file may have grown since."""
    sha256: str
    """Hexadecimal SHA-256 of the first `length` bytes."""

    @property
    def number(self) -> int:
        return file_number(self.name)


class SegmentWriter:
    """Appends batches to a file until it has `size` bytes, then starts the next file."""

    def __init__(self, folder: Path, *, size: int, level: int = 6, after: int = 0) -> None:
        """`level` is the gzip level. New files get numbers above `after` and above those of the files in the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._size = size
        self._level = level
        for part in sorted(folder.glob("segment-*.nq.gz.part")):
            _recover_part(part)
        self._number = max(after, *(number for number, _ in list_segments(folder)), 0)
        self._file = -1
        self._written = 0
        self._sha256 = hashlib.sha256()
        self._closed: list[ManifestEntry] = []
        self._lock = threading.Lock()
        """One thread appends, another one reads the manifest."""

    def append(self, text: bytes) -> None:
        """Append a batch. After a crash the file has all of it or nothing."""
        member = gzip.compress(text, compresslevel=self._level, mtime=0)
        with self._lock:
            if self._file < 0:
                self._number += 1
                self._file = os.open(self._part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o644)
                sync_path(self._folder)
            self._write(member)
        if self._written >= self._size:
            self.close()

    def _write(self, member: bytes) -> None:
        left = memoryview(member)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError:  # for example a full disk: a finished file must not contain an incomplete member
            os.ftruncate(self._file, self._written)
            raise
        self._written += len(member)
        self._sha256.update(member)

    def flush(self) -> None:
        if self._file >= 0:
            os.fsync(self._file)

    def manifest(self) -> list[ManifestEntry]:
        """Return the manifest of all files of this writer, including the open one, after syncing them to disk."""
        with self._lock:
            self.flush()
            return [*self._closed, self._entry()] if self._file >= 0 else list(self._closed)

    def _entry(self) -> ManifestEntry:
        return ManifestEntry(self._part.stem, self._written, self._sha256.hexdigest())

    def close(self) -> None:
        """Finish the open file: sync it and give it its final name."""
        with self._lock:
            if self._file < 0:
                return
            os.fsync(self._file)
            os.close(self._file)
            self._closed.append(self._entry())
            self._file, self._written, self._sha256 = -1, 0, hashlib.sha256()
            self._part.rename(self._part.with_suffix(""))
            sync_path(self._folder)

    @property
    def _part(self) -> Path:
        return self._folder / f"{segment_name(self._number)}.part"


def sync_path(path: Path) -> None:
    """Sync a file or a folder, so that its contents or the names of new files survive a power failure."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def segment_name(number: int) -> str:
    return f"segment-{number:06d}.nq.gz"


def file_number(name: str) -> int:
    """Return the number in the name of a file; 0 if it is not the name of a segment.

    >>> file_number("segment-000012.nq.gz.part"), file_number("lock")
    (12, 0)
    """
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else 0


def describe_segment(path: Path) -> ManifestEntry:
    with open_segment(path) as file:
        length = os.fstat(file.fileno()).st_size
        return ManifestEntry(path.name.removesuffix(".part"), length, _checksum(file, length))


def entry_damage(folder: Path, entry: ManifestEntry, *, contents: bool = True) -> str:
    """Return what is wrong with the file of an entry, as text; "" if it is intact. `contents`: compare the SHA-256."""
    try:
        with open_segment(folder / f"{entry.name}.part") as file:
            size = os.fstat(file.fileno()).st_size
            if size < entry.length:
                return f"has only {size:,} of the {entry.length:,} bytes that were written"
            if contents and _checksum(file, entry.length) != entry.sha256:
                return f"is not what was written: the SHA-256 of its first {entry.length:,} bytes is different"
    except FileNotFoundError:
        return f"is missing: {entry.length:,} bytes were written to it"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    return ""


def _checksum(file: BinaryIO, length: int) -> str:
    found = hashlib.sha256()
    while length and (piece := file.read(min(_CHUNK_BYTES, length))):
        found.update(piece)
        length -= len(piece)
    return found.hexdigest()


def list_segments(folder: Path) -> list[tuple[int, Path]]:
    """Return the numbers and paths of the segments in a folder, sorted, including the unfinished one.

    The folder is read until it is the same twice, because a file that is renamed meanwhile may be listed under both
    names or under none.
    """
    found = _read_names(folder)
    while (again := _read_names(folder)) != found:
        found = again
    return found


def _read_names(folder: Path) -> list[tuple[int, Path]]:
    return sorted((number, path) for path in folder.iterdir() if (number := file_number(path.name)))


def open_segment(path: Path) -> BinaryIO:
    """Open a segment for reading. Its writer may rename it from `.part` to its final name at any time."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        return path.with_suffix("").open("rb")


def whole_members(path: Path, start: int = 0) -> Iterator[tuple[bytes, int]]:
    """Yield the batches of a file from an offset on, each with its end offset, up to the first incomplete one."""
    with open_segment(path) as file:
        for member in gzip_members(file, start):
            yield member.data, member.end


def readable_members(path: Path, start: int = 0) -> Iterator[tuple[bytes, int]]:
    """Yield the complete batches of a finished file, each with its end offset. Damaged batches are skipped."""
    offset = start
    while offset >= 0:
        for text, end in whole_members(path, offset):
            yield text, end
            offset = end
        offset = _next_start(path, offset + 1)


def _next_start(path: Path, offset: int) -> int:
    """Return the first offset, from `offset` on, at which a member may start; -1 if no member follows."""
    with open_segment(path) as file:
        if os.fstat(file.fileno()).st_size <= offset:  # an empty file cannot be mapped
            return -1
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(_MEMBER_START, offset)


def _recover_part(part: Path) -> None:
    """Finish a file that a killed process left: remove its incomplete last member and give it its final name."""
    good = max((end for _, end in whole_members(part)), default=0)
    if good == 0:
        part.unlink()
        return
    with part.open("r+b") as file:
        file.truncate(good)
        os.fsync(file.fileno())
    part.rename(part.with_suffix(""))

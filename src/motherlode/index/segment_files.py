"""Files of N-Quads that only grow: each is complete once it has its final name, and is never touched again.

The file that is being written ends in `.part`. Every batch is a gzip member of its own, written with one call, so a
kill can cut at most the last member, which the next run takes off again; a member that is whole was acknowledged.

A `ManifestEntry` has the name, the length and the SHA-256 of a file. With entries that are kept in another place,
`entry_damage` finds out later whether a file is missing, cut or changed.
"""

from __future__ import annotations

import gzip
import hashlib
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
"""Begins every member that is written here: gzip, deflate, no flags, no time."""


class ManifestEntry(msgspec.Struct, frozen=True, array_like=True):
    """What a file held when it was written."""

    name: str
    """The final name, also while the file is still being written."""
    length: int
    """Bytes; the file may have grown since."""
    sha256: str
    """Hexadecimal, of these bytes."""

    @property
    def number(self) -> int:
        return file_number(self.name)


class SegmentWriter:
    """Appends batches to a file until it has `size` bytes, then begins the next."""

    def __init__(self, folder: Path, *, size: int, level: int = 6, after: int = 0) -> None:
        """`level` is gzip's. The first new file has a higher number than `after` and than every file in the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._size = size
        self._level = level
        for part in sorted(folder.glob("segment-*.nq.gz.part")):
            _recover_part(part)
        self._number = max((number for number, _ in list_segments(folder)), default=0)
        self._number = max(self._number, after)
        self._file = -1
        self._written = 0
        self._sha256 = hashlib.sha256()
        self._closed: list[ManifestEntry] = []
        self._lock = threading.Lock()
        """One thread appends while another asks for the manifest."""

    def append(self, text: bytes) -> None:
        """One batch, which is there as a whole or not at all."""
        member = gzip.compress(text, compresslevel=self._level, mtime=0)
        with self._lock:
            if self._file < 0:
                self._number += 1
                self._file = os.open(self._part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o644)
                _sync_folder(self._folder)
            self._write(member)
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
        self._sha256.update(member)

    def flush(self) -> None:
        if self._file >= 0:
            os.fsync(self._file)

    def manifest(self) -> list[ManifestEntry]:
        """The manifest of all files that were written here, the open one included; their bytes are on disk then."""
        with self._lock:
            self.flush()
            return [*self._closed, self._entry()] if self._file >= 0 else list(self._closed)

    def _entry(self) -> ManifestEntry:
        return ManifestEntry(self._part.stem, self._written, self._sha256.hexdigest())

    def close(self) -> None:
        """Give the file that is being written its final name."""
        with self._lock:
            if self._file < 0:
                return
            os.fsync(self._file)
            os.close(self._file)
            self._closed.append(self._entry())
            self._file, self._written, self._sha256 = -1, 0, hashlib.sha256()
            self._part.rename(self._part.with_suffix(""))
            _sync_folder(self._folder)

    @property
    def _part(self) -> Path:
        return self._folder / f"{segment_name(self._number)}.part"


def _sync_folder(folder: Path) -> None:
    """Make the names of files lasting."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def segment_name(number: int) -> str:
    """The final name of a file."""
    return f"segment-{number:06d}.nq.gz"


def file_number(name: str) -> int:
    """The number in the name of a file; 0 if it is not such a name.

    >>> file_number("segment-000012.nq.gz.part"), file_number("lock")
    (12, 0)
    """
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else 0


def describe_segment(path: Path) -> ManifestEntry:
    """The entry of a file as it is now."""
    found, length = hashlib.sha256(), 0
    with open_segment(path) as file:
        while piece := file.read(_CHUNK_BYTES):
            found.update(piece)
            length += len(piece)
    return ManifestEntry(path.name.removesuffix(".part"), length, found.hexdigest())


def entry_damage(folder: Path, entry: ManifestEntry, *, contents: bool = True) -> str:
    """What is wrong with the file of an entry, for a person; "" if nothing is. Without `contents` no bytes are read."""
    try:
        with open_segment(folder / f"{entry.name}.part") as file:
            size = os.fstat(file.fileno()).st_size
            if size < entry.length:
                return f"has only {size:,} of the {entry.length:,} bytes that were written"
            if contents and _checksum(file, entry.length) != entry.sha256:
                return f"is not what was written: the SHA-256 of its first {entry.length:,} bytes is another"
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
    """The files of a folder by their numbers, the one that is being written included."""
    found = [(int(match[1]), path) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))]
    return sorted(found)


def open_segment(path: Path) -> BinaryIO:
    """A file of those, whose writer may give it its final name at any moment."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        return path.with_suffix("").open("rb")


def whole_members(path: Path, start: int = 0) -> Iterator[tuple[bytes, int]]:
    """The batches of a file from a place on, each with the place behind it; a cut one at the end is left out."""
    with open_segment(path) as file:
        for member in gzip_members(file, start):
            yield member.data, member.end


def readable_members(path: Path, start: int = 0) -> Iterator[tuple[bytes, int]]:
    """The batches of a complete file that are whole, each with the offset behind it; the others are passed over."""
    place = start
    while place >= 0:
        for text, end in whole_members(path, place):
            yield text, end
            place = end
        place = _next_start(path, place + 1)


def _next_start(path: Path, place: int) -> int:
    """Where the next member may begin, from an offset on; -1 if there is none."""
    with open_segment(path) as file:
        file.seek(place)
        data = b""
        while piece := file.read(_CHUNK_BYTES):
            data += piece
            found = data.find(_MEMBER_START)
            if found >= 0:
                return place + found
            kept = data[1 - len(_MEMBER_START) :]
            place += len(data) - len(kept)
            data = kept
    return -1


def _recover_part(part: Path) -> None:
    """Give a file that a kill left behind its final name, without the member that was cut."""
    good = max((end for _, end in whole_members(part)), default=0)
    if good == 0:
        part.unlink()
        return
    with part.open("r+b") as file:
        file.truncate(good)
        os.fsync(file.fileno())
    part.rename(part.with_suffix(""))

"""Unpack the members of archives and compressed files (tar, ZIP, gzip, bzip2) within limits, against bombs.

The tar reader is our own (POSIX.1-2001, with GNU long names), because a negative size can send the reader of the
standard library into an endless loop.
"""

import bz2
import gzip
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import cast
from urllib.parse import quote

from motherlode.model import ContentKind, Problem
from motherlode.www.document import Document
from motherlode.www.media_types import by_magic

_BLOCK_BYTES = 512
_PAX_PATH = re.compile(rb"\d+ path=([^\n]*)\n")


def read_tar_members(body: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each regular file. Stop at the end or at the first invalid header."""
    position = 0
    long_name = b""
    while position + _BLOCK_BYTES <= len(body):
        header = body[position : position + _BLOCK_BYTES]
        size = _parse_number(header[124:136])
        if size is None or not _has_valid_checksum(header):
            return
        start = position + _BLOCK_BYTES
        position = start + -(-size // _BLOCK_BYTES) * _BLOCK_BYTES
        kind = header[156:157]
        if kind == b"L":  # GNU: the content is the name of the next member
            long_name = body[start : start + size].rstrip(b"\0")
        elif kind == b"x":  # pax: the content is attributes of the next member
            path = _PAX_PATH.search(body, start, min(start + size, len(body)))
            long_name = path[1] if path else long_name
        elif kind in (b"0", b"\0", b"7"):
            name = long_name or _member_name(header)
            long_name = b""
            yield name.decode(errors="replace"), body[start : start + size]


def _member_name(header: bytes) -> bytes:
    name, prefix = header[:100].partition(b"\0")[0], header[345:500].partition(b"\0")[0]
    return prefix + b"/" + name if prefix and header[257:263] == b"ustar\0" else name


def _parse_number(field: bytes) -> int | None:
    """Return an octal number, or a binary one marked by its first bit; None if the field is invalid."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b" \0")
    return int(digits, 8) if digits and not digits.strip(b"01234567") else None if digits else 0


def _has_valid_checksum(header: bytes) -> bool:
    checksum = _parse_number(header[148:156])
    return checksum == sum(header[:148]) + sum(header[156:]) + 8 * ord(" ")


# Limits

_READ_BYTES = 1 << 16
_ZIP_ENTRY_SIGNATURE = b"PK\x01\x02"
_MAX_ZIP_ENTRIES = 65_535
_DECOMPRESSED_EXTENSIONS = {"gz": "", "bz2": "", "tgz": ".tar", "tbz": ".tar", "tbz2": ".tar", "svgz": ".svg"}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackLimits:
    """Limits on what one archive may contain."""

    max_bytes: int = 256 << 20
    """Maximum total unpacked size of all members in bytes."""
    max_members: int = 10_000
    max_ratio: int = 250
    """Maximum number of unpacked bytes per packed byte. Text stays far below it, a bomb of zeros is far above."""
    ratio_free_bytes: int = 1 << 20
    """The ratio is checked only after this many unpacked bytes."""
    max_depth: int = 2
    """Levels of archives inside archives. A compressed tar file has two levels."""


MemberOrProblem = tuple[str, bytes] | Problem
DecompressedFile = gzip.GzipFile | bz2.BZ2File | zipfile.ZipExtFile | io.BytesIO


def unpack_members(document: Document, limits: UnpackLimits = UnpackLimits()) -> Iterator[MemberOrProblem]:  # noqa: B008 - it is frozen
    """Yield the name and content of each member that is not itself an archive, and a problem for each failure."""
    name = document.url.partition("?")[0].rpartition("/")[2]
    budget = _UnpackBudget(limits, packed=len(document.body))
    yield from _unpack_nested(name, document.body, document.kind, budget, limits.max_depth)


def member_url(url: str, name: str) -> str:
    """Return the URL of the archive with the member name as fragment, so that references resolve as in the archive."""
    return f"{url.partition('#')[0]}#{quote(name)}"


class _UnpackBudget:
    """Counts unpacked bytes and members. `exceeded` is the message about the first limit that was exceeded."""

    def __init__(self, limits: UnpackLimits, *, packed: int) -> None:
        self.exceeded = ""
        self._limits = limits
        self._packed = packed
        self._bytes = 0
        self._members = 0

    def spend_bytes(self, size: int) -> bool:
        """Count unpacked bytes. Return False if a limit is exceeded."""
        self._bytes += size
        if self._bytes > self._limits.max_bytes:
            self.exceeded = f"more than {self._limits.max_bytes} bytes unpacked"
        elif self._bytes > self._limits.ratio_free_bytes and self._bytes > self._limits.max_ratio * self._packed:
            self.exceeded = f"unpacks to more than {self._limits.max_ratio} times its size"
        return not self.exceeded

    def spend_member(self) -> bool:
        """Count a member. Return False if there are too many."""
        self._members += 1
        if self._members > self._limits.max_members:
            self.exceeded = f"more than {self._limits.max_members} members"
        return not self.exceeded


def _unpack_nested(
    name: str, body: bytes, kind: ContentKind, budget: _UnpackBudget, depth: int
) -> Iterator[MemberOrProblem]:
    for found in _UNPACKERS[kind](name, body, budget):
        if isinstance(found, Problem):
            yield found
            continue
        inner_name, content = found
        inner = by_magic(content)
        if inner is None or inner not in _UNPACKERS:
            yield found
        elif depth > 1:
            yield from _unpack_nested(inner_name, content, inner, budget, depth - 1)
        else:
            yield Problem(syntax=None, message=f"{inner_name}: archives are nested too deep")


def _gunzip(name: str, body: bytes, budget: _UnpackBudget) -> Iterator[MemberOrProblem]:
    return _read_member(_decompressed_name(name), partial(gzip.GzipFile, fileobj=io.BytesIO(body)), budget)


def _bunzip2(name: str, body: bytes, budget: _UnpackBudget) -> Iterator[MemberOrProblem]:
    return _read_member(_decompressed_name(name), partial(bz2.BZ2File, io.BytesIO(body)), budget)


def _untar(name: str, body: bytes, budget: _UnpackBudget) -> Iterator[MemberOrProblem]:
    return _read_members(name, ((one, partial(io.BytesIO, content)) for one, content in read_tar_members(body)), budget)


def _unzip(name: str, body: bytes, budget: _UnpackBudget) -> Iterator[MemberOrProblem]:
    if body.count(_ZIP_ENTRY_SIGNATURE) > 2 * _MAX_ZIP_ENTRIES:  # reading the directory alone would exhaust the memory
        yield Problem(syntax=None, message=f"{name}: more than {_MAX_ZIP_ENTRIES} members")
        return
    try:
        archive = zipfile.ZipFile(io.BytesIO(body))
    except Exception as error:  # noqa: BLE001 - zipfile has no closed set of errors for bytes that are no zip file
        yield Problem(syntax=None, message=f"{name}: cannot be unpacked: {error}")
        return
    members = (
        (info.filename, partial(_open_zip_entry, archive, info))
        for info in archive.infolist()
        if not info.filename.endswith("/")  # is_dir() raises IndexError for an empty name in Python 3.11
    )
    yield from _read_members(name, members, budget)


def _read_members(
    archive: str, members: Iterable[tuple[str, Callable[[], DecompressedFile]]], budget: _UnpackBudget
) -> Iterator[MemberOrProblem]:
    for name, open_file in members:
        if not budget.spend_member():
            yield Problem(syntax=None, message=f"{archive}: {budget.exceeded}; the rest was left out")
            return
        yield from _read_member(name, open_file, budget)
        if budget.exceeded:
            return


def _open_zip_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> zipfile.ZipExtFile:
    return cast("zipfile.ZipExtFile", archive.open(info))  # the type of a file opened for reading


def _read_member(
    name: str, open_file: Callable[[], DecompressedFile], budget: _UnpackBudget
) -> Iterator[MemberOrProblem]:
    """Yield a member as far as it can be read, and a problem if it is incomplete."""
    pieces: list[bytes] = []
    failure = ""
    try:
        with open_file() as file:
            while piece := file.read1(_READ_BYTES):  # `read` loses the bytes before an error
                if not budget.spend_bytes(len(piece)):
                    failure = budget.exceeded
                    break
                pieces.append(piece)
    except Exception as error:  # noqa: BLE001 - four libraries, each with errors of its own for broken or locked members
        failure = f"{type(error).__name__}: {error}"
    if pieces or not failure:
        yield name, b"".join(pieces)
    if failure:
        yield Problem(syntax=None, message=f"{name}: {failure}; the rest was left out")


def _decompressed_name(name: str) -> str:
    stem, _, extension = name.rpartition(".")
    return stem + _DECOMPRESSED_EXTENSIONS[extension.lower()] if extension.lower() in _DECOMPRESSED_EXTENSIONS else name


_UNPACKERS: dict[ContentKind, Callable[[str, bytes, _UnpackBudget], Iterator[MemberOrProblem]]] = {
    ContentKind.GZIP: _gunzip,
    ContentKind.BZIP2: _bunzip2,
    ContentKind.ZIP: _unzip,
    ContentKind.TAR: _untar,
}

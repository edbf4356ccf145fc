"""Reading the responses of a WARC file, from any writer, damaged files included.

fastwarc stops at the first damaged record, sometimes without an error. Here reading continues at the next offset where
a record starts, and every gap is counted. A recorded response is interpreted by the same code as a live one.

Archives write a body only once if it was received several times. `PayloadIndex` finds the record that contains it.
"""

from __future__ import annotations

import contextlib
import gzip
import mmap
import os
import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import BinaryIO, cast

import zstandard
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from motherlode.fetch.http.parser import join_headers
from motherlode.fetch.http.response import ResponseReader, failure_from_status
from motherlode.model import Failure, FailureKind, Fetched, Page, Request, RequestKind
from motherlode.www.gzip_members import gzip_members
from motherlode.www.urls import canonical

_CODING_HEADERS = ("content-encoding", "transfer-encoding")
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_RECORD_START = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]|(?<=\r\n\r\n)WARC/1\.[01]\r\n")
"""The start of a record: a gzip member, or uncompressed."""
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")


class ResponseRecords:
    """Iterates over the response records of a file, once. A record is valid until the next one is requested."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.position = 0
        """Bytes of the file that were read so far."""
        self.broken = 0
        """Number of unusable records. Adjacent ones count as one."""
        self.is_one_stream = False
        """Several records are compressed as one stream, so that random access is impossible."""
        self._counted: int | None = None
        """Offset of the record that was last counted as broken."""

    def __iter__(self) -> Iterator[WarcRecord]:
        if not os.fstat(self._file.fileno()).st_size:
            return
        with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            start = 0
            while start >= 0:
                last = yield from self._read_from(start, data)
                if last is None:
                    self.broken += start == 0  # other offsets may only have looked like a record
                elif last != self._counted and not _is_complete_to_end(data, last):
                    self.broken += 1
                match = _RECORD_START.search(data, (start if last is None else last) + 1)
                start = match.start() if match else -1

    def _read_from(self, start: int, data: mmap.mmap) -> Generator[WarcRecord, None, int | None]:
        """Yield records from an offset on. Return the offset of the last readable one, whose body may be damaged."""
        self._file.seek(start)
        is_packed = data[:4].startswith((_GZIP, _ZSTD))
        last = None
        with contextlib.suppress(OSError):  # fastwarc's error for a stream that is cut or damaged, if it raises one
            for record in ArchiveIterator(self._file, parse_http=False):
                last = record.stream_pos
                self.is_one_stream |= is_packed and data[last : last + 2] != data[:2]
                self.position = self._file.tell()
                if record.record_type == WarcRecordType.response or is_same_payload(record):
                    yield record
        return last

    def count_as_broken(self, record: WarcRecord) -> None:
        self.broken += 1
        self._counted = record.stream_pos


def open_decompressed(file: BinaryIO) -> BinaryIO:
    """Return a stream of the decompressed content of a gzip or zstd file."""
    file.seek(0)
    is_gzip = file.read(2) == _GZIP
    file.seek(0)
    if is_gzip:
        return cast("BinaryIO", gzip.GzipFile(fileobj=file))
    return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)


def target_url(record: WarcRecord) -> str | None:
    """Return the canonical URL of a response, or None if it has no valid one."""
    return canonical((record.headers.get("WARC-Target-URI") or "").strip("<>"))


def is_same_payload(record: WarcRecord) -> bool:
    """Return whether a record is a response whose body is in another record.

    A revisit record for "not modified" is not: the earlier response of the URL remains valid.
    """
    is_revisit = record.record_type == WarcRecordType.revisit
    return is_revisit and not (record.headers.get("WARC-Profile") or "").endswith("/server-not-modified")


def read_response(
    record: WarcRecord, url: str, *, limit: int, robots: bool = False, useful: tuple[str, ...] = ()
) -> Fetched | None:
    """Return the page or failure of a response record, or None if the record is unusable.

    `limit` bounds the bytes of the body. A media type in `useful` has an extractor of the user, so it is never useless.
    """
    head = read_head(record)
    try:
        encoded = record.reader.read(limit + 1)
    except OSError:
        return None
    if head is None or len(encoded) < min(record.content_length, limit):
        return None  # the file ends in the middle of the record
    status, headers = head
    if "chunked" in headers.get("transfer-encoding", "").lower():
        encoded = _remove_chunk_lines(encoded)
    request = Request(url=url, kind=RequestKind.ROBOTS if robots else RequestKind.PAGE)
    fetched = interpret(request, status, headers, encoded, limit=limit, useful=useful)
    if isinstance(fetched, Failure) and fetched.kind is FailureKind.PROTOCOL:
        # many archives decode a body and keep its Content-Encoding
        plain = {name: value for name, value in headers.items() if name not in _CODING_HEADERS}
        fetched = interpret(request, status, plain, encoded, limit=limit, useful=useful)
    if isinstance(fetched, Failure):
        return fetched
    is_truncated = fetched.truncated or record.headers.get("WARC-Truncated") is not None
    return replace(fetched, headers=headers, truncated=is_truncated)


def interpret(
    request: Request, status: int, headers: dict[str, str], body: bytes, *, limit: int, useful: tuple[str, ...]
) -> Fetched:
    """Return the page or failure that a live response with this status, headers and body would give."""
    reader = ResponseReader(request, max_body_bytes=limit, useful=useful)
    if reader.receive_head(status, headers):
        reader.receive_body(body)
    return reader.result(began=0.0, elapsed=0.0, address="")


def read_head(record: WarcRecord) -> tuple[int, dict[str, str]] | None:
    """Return status and headers of a response, parsed like those of a live one. None if the record is not HTTP."""
    try:
        record.parse_http()
    except OSError:
        return None
    http = record.http_headers
    if http is None or http.status_code is None:
        return None
    try:
        return int(http.status_code), join_headers(list(http.items_bytes()))
    except ValueError:  # headers that a live crawl rejects as well
        return None


def _remove_chunk_lines(body: bytes) -> bytes:
    """Return a body without chunk lines. A body that is not chunked is unchanged: many archives decode it.

    >>> _remove_chunk_lines(b"5\\r\\nhello\\r\\n0\\r\\n\\r\\n"), _remove_chunk_lines(b"hello")
    (b'hello', b'hello')
    """
    found, at = [], 0
    while (size := _CHUNK_SIZE.match(body, at)) and int(size[1], 16):
        at = size.end() + int(size[1], 16)
        found.append(body[size.end() : at])
        at += len(b"\r\n")
    return b"".join(found) if size or found else body


def _is_complete_to_end(data: mmap.mmap, start: int) -> bool:
    """Return whether the record at an offset is complete and ends the file. Uncompressed ones are assumed to be."""
    if data[start : start + 2] != _GZIP:
        return True
    member = next(gzip_members(data, start, max_data_bytes=0), None)
    return member is not None and member.end == len(data)


_DIGEST = "WARC-Payload-Digest"


class PayloadIndex:
    """Offsets of the responses of one file, by the digest of their body."""

    def __init__(self) -> None:
        self._offsets: dict[int, int] = {}
        """Hash of a digest → offset. The digests themselves would take too much memory in files of millions of
        records."""

    def add(self, response: WarcRecord) -> None:
        digest = response.headers.get(_DIGEST)
        if digest:
            self._offsets[hash(digest)] = response.stream_pos

    def resolve(
        self,
        record: WarcRecord,
        url: str,
        read: Callable[[int], WarcRecord | None],
        *,
        limit: int,
        robots: bool = False,
        useful: tuple[str, ...] = (),
    ) -> Fetched | None:
        """Return the response of a record without a body, or None if its body is not in the file.

        `read` reads the record at an offset. After that, the given record is no longer valid.
        """
        head, digest = read_head(record), record.headers.get(_DIGEST)
        failure = None if head is None else failure_from_status(url, *head)
        if failure is not None:
            return failure
        offset = self._offsets.get(hash(digest))
        original = None if offset is None else read(offset)
        if original is None or original.headers.get(_DIGEST) != digest:
            return None
        response = read_response(original, url, limit=limit, robots=robots, useful=useful)
        if isinstance(response, Page):
            return response if head is None else replace(response, status=head[0], headers=head[1])
        return response if response is not None and response.kind is FailureKind.USELESS else None

"""The responses of a WARC file, one after the other, whoever wrote it and whatever has happened to it since.

Requests, metadata and the like are passed over; so are records that cannot be read, which are counted. Behind a broken
record the next one is looked for by its first bytes, because a reader that has lost its place does not find it again.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from motherlode.fetch.answers import failure_from_status, is_useless
from motherlode.fetch.unpack import UNPACK_ERRORS, unpacker_for
from motherlode.model import Failure, FailureKind, Fetched, Page
from motherlode.www.urls import canonical

MAX_BODY = 10 << 20
"""Bytes of a body that are read, before and after unpacking; as much as a crawl reads."""
_START = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]|WARC/1\.[01]\r\n")
"""How a record begins, packed or not."""
_HEAD = 512
_GZIP = zlib.MAX_WBITS | 16
_CHUNK = 1 << 20


class Responses:
    """Iterate once; `broken` and `position` tell how it went."""

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open("rb")
        self.position = 0
        """Bytes of the file that have been read."""
        self.broken = 0
        self._ends_short = False
        """The last record was broken, and has been counted."""

    def __iter__(self) -> Iterator[Fetched]:
        with self._file:
            start: int | None = 0
            while start is not None:
                self._file.seek(start)
                records = ArchiveIterator(
                    self._file, record_types=WarcRecordType.response, parse_http=True, auto_decode="transfer"
                )
                last = start
                try:
                    for record in records:
                        last = max(last, record.stream_pos)
                        self.position = self._file.tell()
                        answer = self._answer(record)
                        if answer is None:
                            self._pass_over()
                            continue
                        self._ends_short = False
                        yield answer
                    self.broken += not self._ends_short and self._is_cut(last)
                    return
                except OSError:  # fastwarc's word for bytes that are no record
                    if last > start or start == 0:  # a place that only looked like a record is not counted
                        self._pass_over()
                start = self._next_start(last + 1)

    @staticmethod
    def _answer(record: WarcRecord) -> Fetched | None:
        """None for a record that cannot be used."""
        url = canonical((record.headers.get("WARC-Target-URI") or "").strip("<>"))
        if url is None or record.http_headers is None or record.http_headers.status_code is None:
            return None
        expected = record.content_length
        body = record.reader.read(MAX_BODY)
        headers = _folded(record)
        if len(body) < min(expected, MAX_BODY) and "transfer-encoding" not in headers:
            return None  # the file ends in the middle of the record
        return _fetched(url, int(record.http_headers.status_code), headers, body)

    def _pass_over(self) -> None:
        self._ends_short = True
        self.broken += 1

    def _is_cut(self, offset: int) -> bool:
        """Whether the last packed record, at the offset or behind it, has no end: fastwarc says nothing of it."""
        self._file.seek(offset)
        inflate, fed = zlib.decompressobj(_GZIP), False
        while chunk := self._file.read(_CHUNK):
            while chunk:
                try:
                    inflate.decompress(chunk)
                except zlib.error:  # not packed, or padding at the end
                    return False
                fed, chunk = not inflate.eof, inflate.unused_data
                if inflate.eof:
                    inflate = zlib.decompressobj(_GZIP)
        return fed

    def _next_start(self, offset: int) -> int | None:
        """Where the next record may begin, at the offset or behind it."""
        self._file.seek(offset)
        tail = b""
        while chunk := self._file.read(_CHUNK):
            match = _START.search(tail + chunk)
            if match:
                return offset - len(tail) + match.start()
            offset += len(chunk)
            tail = chunk[-16:]
        return None


def _folded(record: WarcRecord) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in record.http_headers:
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return headers


def _fetched(url: str, status: int, headers: dict[str, str], packed: bytes) -> Fetched:
    """The page or failure that an answer is, by the rules of a live crawl."""
    failure = failure_from_status(url, status, headers)
    if failure is not None:
        return failure
    try:
        unpacker = unpacker_for(headers.get("content-encoding", ""))
        body = None if unpacker is None else unpacker.feed(packed, MAX_BODY)
    except UNPACK_ERRORS:  # many archives keep the header of an encoding that they have undone
        body = packed
    if body is None:
        detail = f"unknown Content-Encoding {headers['content-encoding']!r}"
        return Failure(url=url, kind=FailureKind.PROTOCOL, detail=detail, status=status)
    if is_useless(headers.get("content-type", ""), body[:_HEAD]):
        return Failure(url=url, kind=FailureKind.USELESS, status=status, wire_bytes=len(packed))
    return Page(url=url, status=status, headers=headers, body=body, wire_bytes=len(packed))

"""The answers in a WARC file, whoever wrote it and whatever has happened to it since.

fastwarc reads records and stops at the first that is garbled, sometimes without a word. Here the reading goes on at the
next place where a record begins, and every gap is counted. What a response means is told by the rules of a live crawl.
"""

from __future__ import annotations

import contextlib
import gzip
import mmap
import os
import re
import zlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import BinaryIO, cast

import zstandard
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from motherlode.fetch.http.decoding import DECODE_ERRORS, content_codings, decoder_for
from motherlode.fetch.http.parser import join_headers
from motherlode.fetch.http.response import failure_from_status, is_useful, is_useless
from motherlode.model import Failure, FailureKind, Fetched, Page
from motherlode.www.urls import canonical

_HEAD = 512
"""Bytes that `is_useless` looks at."""
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_BEGINNING = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]|(?<=\r\n\r\n)WARC/1\.[01]\r\n")
"""A record, packed on its own with gzip or plain."""
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
_STEP = 1 << 20


class ResponseRecords:
    """Iterate once. A record can be read until the next one is asked for."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.position = 0
        """Bytes of the file that have been read."""
        self.broken = 0
        """Records that could not be read or used; of several side by side, one."""
        self.packed_as_one = False
        """Records are packed together, so that they can only be read one after the other."""
        self._counted: int | None = None
        """The place of the record that was counted as broken last."""

    def __iter__(self) -> Iterator[WarcRecord]:
        if not os.fstat(self._file.fileno()).st_size:
            return
        with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            start = 0
            while start >= 0:
                last = yield from self._from(start, data)
                if last is None:
                    self.broken += start == 0  # other places may have only looked like a record
                elif last != self._counted and not _ends_whole(data, last):
                    self.broken += 1
                start = _next_beginning(data, (start if last is None else last) + 1)

    def _from(self, start: int, data: mmap.mmap) -> Generator[WarcRecord, None, int | None]:
        """Returns where the last readable record begins; its body may be garbled, or the head of the next."""
        self._file.seek(start)
        is_packed = data[:4].startswith((_GZIP, _ZSTD))
        last = None
        with contextlib.suppress(OSError):  # fastwarc's word for a stream that is cut or garbled, if it says a word
            for record in ArchiveIterator(self._file, parse_http=False):
                last = record.stream_pos
                self.packed_as_one |= is_packed and data[last : last + 2] != data[:2]
                self.position = self._file.tell()
                if record.record_type == WarcRecordType.response or is_same_payload(record):
                    yield record
        return last

    def count_as_broken(self, record: WarcRecord) -> None:
        self.broken += 1
        self._counted = record.stream_pos


def unpacked(file: BinaryIO) -> BinaryIO:
    """What a file holds that is packed with gzip or zstd, read from its beginning."""
    file.seek(0)
    is_gzip = file.read(2) == _GZIP
    file.seek(0)
    if is_gzip:
        return cast("BinaryIO", gzip.GzipFile(fileobj=file))
    return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)


def target_of(record: WarcRecord) -> str | None:
    """The address that a response came from, in its canonical form."""
    return canonical((record.headers.get("WARC-Target-URI") or "").strip("<>"))


def is_same_payload(record: WarcRecord) -> bool:
    """Whether a record is an answer whose body stands in another one. One that says "not modified" is none: what was
    there before still holds."""
    is_revisit = record.record_type == WarcRecordType.revisit
    return is_revisit and not (record.headers.get("WARC-Profile") or "").endswith("/server-not-modified")


def answer_in(
    record: WarcRecord, url: str, *, limit: int, robots: bool = False, useful: tuple[str, ...] = ()
) -> Fetched | None:
    """The page or failure that a response is, with so many bytes of its body; None where the record is unusable.

    Content of the types in `useful` has a reader of the user's, so it is a page whatever else is thought of it.
    """
    head = head_of(record)
    try:
        packed = record.reader.read(limit + 1)
    except OSError:
        return None
    if head is None or len(packed) < min(record.content_length, limit):
        return None  # the file ends in the middle of the record
    status, headers = head
    if "chunked" in headers.get("transfer-encoding", "").lower():
        packed = _without_chunks(packed)
    page = Page(
        url=url,
        status=status,
        headers=headers,
        body=packed,
        wire_bytes=len(packed),
        truncated=record.headers.get("WARC-Truncated") is not None,
    )
    may_be_useless = not robots and not is_useful(page.content_type, useful)
    return failure_from_status(url, page.status, headers) or _page(page, limit=limit, may_be_useless=may_be_useless)


def head_of(record: WarcRecord) -> tuple[int, dict[str, str]] | None:
    """Status and headers of an answer, read as those of a live one; None where it has none."""
    try:
        record.parse_http()
    except OSError:
        return None
    http = record.http_headers
    if http is None or http.status_code is None:
        return None
    try:
        return int(http.status_code), join_headers(list(http.items_bytes()))
    except ValueError:  # headers that a live crawl would not take either
        return None


def _without_chunks(body: bytes) -> bytes:
    """What a chunked body says; the body itself where it is not chunked: many archives have undone it.

    >>> _without_chunks(b"5\\r\\nhello\\r\\n0\\r\\n\\r\\n"), _without_chunks(b"hello")
    (b'hello', b'hello')
    """
    found, at = [], 0
    while (size := _CHUNK_SIZE.match(body, at)) and int(size[1], 16):
        at = size.end() + int(size[1], 16)
        found.append(body[size.end() : at])
        at += len(b"\r\n")
    return b"".join(found) if size or found else body


def _page(packed: Page, *, limit: int, may_be_useless: bool) -> Fetched:
    """A page as it came, with its body unpacked and looked at."""
    unpacker = decoder_for(content_codings(packed.headers))
    try:
        body = packed.body if unpacker is None else unpacker.feed(packed.body, limit + 1)
    except DECODE_ERRORS:  # many archives keep the header of an encoding that they have undone
        body = packed.body
    if may_be_useless and is_useless(packed.content_type, body[:_HEAD]):
        return Failure(
            url=packed.url,
            kind=FailureKind.USELESS,
            detail=f"nothing can come of {packed.content_type}",
            status=packed.status,
            wire_bytes=packed.wire_bytes,
        )
    return replace(packed, body=body[:limit], truncated=packed.truncated or len(body) > limit)


def _ends_whole(data: mmap.mmap, start: int) -> bool:
    """Whether the file ends with the record that begins here, and that is whole. Plain ones are taken to be."""
    if data[start : start + 2] != _GZIP:
        return True
    member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        while not member.eof and start < len(data):
            member.decompress(data[start : start + _STEP])
            start += _STEP
    except zlib.error:
        return False
    return member.eof and not member.unused_data and start >= len(data)


def _next_beginning(data: mmap.mmap, start: int) -> int:
    """The next place where a record may begin, or -1."""
    match = _BEGINNING.search(data, start)
    return match.start() if match else -1


# ── Answers whose body stands in another record: archives write a body that came before only once.

_DIGEST = "WARC-Payload-Digest"


class Bodies:
    """Where the responses of one file lie, by the digests of their bodies."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        """Hash of a digest → offset: files have millions of responses, and hardly one of them is asked for."""

    def note(self, response: WarcRecord) -> None:
        digest = response.headers.get(_DIGEST)
        if digest:
            self._places[hash(digest)] = response.stream_pos

    def answer(
        self,
        record: WarcRecord,
        url: str,
        read: Callable[[int], WarcRecord | None],
        *,
        limit: int,
        robots: bool = False,
        useful: tuple[str, ...] = (),
    ) -> Fetched | None:
        """What a record without a body says; None where its body is not in the file. `read` reads the one at a place.

        The record itself cannot be read any more when another has been.
        """
        head, digest = head_of(record), record.headers.get(_DIGEST)
        failure = None if head is None else failure_from_status(url, *head)
        if failure is not None:
            return failure
        place = self._places.get(hash(digest))
        original = None if place is None else read(place)
        if original is None or original.headers.get(_DIGEST) != digest:
            return None
        answer = answer_in(original, url, limit=limit, robots=robots, useful=useful)
        if isinstance(answer, Page):
            return answer if head is None else replace(answer, status=head[0], headers=head[1])
        return answer if answer is not None and answer.kind is FailureKind.USELESS else None

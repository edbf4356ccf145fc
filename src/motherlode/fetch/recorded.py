"""A recorded web in the place of the network: pages out of a WARC file, by random access."""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from motherlode.fetch.answers import failure_from_status, is_useless
from motherlode.fetch.unpack import UNPACK_ERRORS, unpacker_for
from motherlode.model import Failure, FailureKind, Fetched, Page, Request, RequestKind
from motherlode.www.urls import canonical

_HEAD = 512
"""Bytes that `is_useless` looks at."""

_GZIP = b"\x1f\x8b"
_STEP = 1 << 20
_BEGINNING = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]|(?<=\r\n\r\n)WARC/1\.")
"""A record of its own, packed with gzip or plain."""


class RecordedWeb:
    """What the file does not hold is a 404. http and https are the same here.

    Opening reads the file once and remembers where each response lies; the last record of a URL counts, but for
    redirects to the same place in another spelling: from http to https, or from raw to escaped characters.
    """

    def __init__(self, path: Path, *, limit: int = 10 << 20) -> None:
        self._limit = limit
        """Bytes of a body, after unpacking."""
        self._file: BinaryIO = path.open("rb")
        self._places: dict[str, tuple[int, str]] = {}
        """URL without its scheme → offset of the record, and the URL as it was recorded."""
        self._earlier: dict[str, list[tuple[int, str]]] = {}
        """The records before the last, of URLs that have several."""
        self.broken_records = 0
        """Records that could not be read, or have no URL that we know; reading goes on behind them."""
        self._index()
        if not self._places:
            self._file.close()
            raise ValueError(f"{path} holds no HTTP responses: is it a WARC file?")

    def _index(self) -> None:
        """Reads from record to record; what is garbled is stepped over to the next place where a record begins."""
        if not os.fstat(self._file.fileno()).st_size:
            return
        with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            start = 0
            while start >= 0:
                last = self._index_from(start)
                if start == 0 if last is None else not _ends_whole(data, last):
                    self.broken_records += 1
                start = _next_beginning(data, (start if last is None else last) + 1)

    def _index_from(self, start: int) -> int | None:
        """Where the last readable record begins; its body may be garbled, or the head of the next."""
        self._file.seek(start)
        last = None
        with contextlib.suppress(OSError):  # fastwarc's word for a stream that is cut or garbled, if it says a word
            for record in ArchiveIterator(self._file, parse_http=False):
                last = record.stream_pos
                if record.record_type == WarcRecordType.response:
                    self._index_response(record)
        return last

    def _index_response(self, record: WarcRecord) -> None:
        url = canonical((record.headers.get("WARC-Target-URI") or "").strip("<>"))
        if url is None:
            self.broken_records += 1
        else:
            self._remember(_schemeless(url), (record.stream_pos, url))

    def _remember(self, key: str, place: tuple[int, str]) -> None:
        if key in self._places:
            self._earlier.setdefault(key, []).append(self._places[key])
        self._places[key] = place

    def __len__(self) -> int:
        return len(self._places)

    def urls(self) -> list[str]:
        return [url for _, url in self._places.values()]

    def spelling(self, url: str) -> str:
        """The one spelling under which a page of this web is known: as recorded, https where it is not recorded."""
        rest = _schemeless(url)
        place = self._places.get(rest)
        return place[1] if place else f"https://{rest}"

    async def fetch(self, request: Request) -> Fetched:
        answer = self.answer(request.url, robots=request.kind is RequestKind.ROBOTS)
        return _without_body(answer) if request.kind is RequestKind.PROBE else answer

    def answer(self, url: str, *, robots: bool = False) -> Fetched:
        """The recorded answer for a URL."""
        key = _schemeless(url)
        place = self._places.get(key)
        if place is None:
            return Failure(url=url, kind=FailureKind.NOT_FOUND, detail="not in the recorded web", status=404)
        answer = self._answer(url, place, robots=robots)
        for earlier in reversed(self._earlier.get(key, ())):
            if not _leads_back(answer):
                break
            answer = self._answer(url, earlier, robots=robots)
        return answer

    def _answer(self, url: str, place: tuple[int, str], *, robots: bool) -> Fetched:
        self._file.seek(place[0])
        try:
            record = next(iter(ArchiveIterator(self._file, parse_http=True, auto_decode="transfer")), None)
            if record is None or record.http_headers is None or record.http_headers.status_code is None:
                return Failure(url=url, kind=FailureKind.PROTOCOL, detail="the record holds no HTTP answer")
            return _read(url, record, limit=self._limit, robots=robots)
        except (OSError, *UNPACK_ERRORS) as error:
            return Failure(url=url, kind=FailureKind.PROTOCOL, detail=f"the record cannot be read: {error}")

    async def close(self) -> None:
        self._file.close()


def _ends_whole(data: mmap.mmap, start: int) -> bool:
    """Whether the file ends with the record that begins here, and that is whole. Plain ones are taken to be."""
    if data[start : start + 2] != _GZIP:
        return True
    member = zlib.decompressobj(wbits=31)
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


def _without_body(answer: Fetched) -> Fetched:
    """What a HEAD would have told."""
    if isinstance(answer, Failure):
        return replace(answer, wire_bytes=0)
    if is_useless(answer.content_type, b""):
        detail = f"nothing can come of {answer.content_type}"
        return Failure(url=answer.url, kind=FailureKind.USELESS, detail=detail, status=answer.status)
    return replace(answer, body=b"", wire_bytes=0, truncated=False)


def _schemeless(url: str) -> str:
    return url.partition("://")[2]


def _leads_back(answer: Fetched) -> bool:
    """A redirect to the place where it was found."""
    if isinstance(answer, Page):
        return False
    to_itself = answer.kind is FailureKind.REDIRECT_BROKEN and bool(answer.headers.get("location"))
    return to_itself or (
        answer.kind is FailureKind.REDIRECT and _schemeless(answer.location) == _schemeless(answer.url)
    )


def _read(url: str, record: WarcRecord, *, limit: int, robots: bool) -> Fetched:
    status = int(record.http_headers.status_code or 0)
    headers: dict[str, str] = {}
    for name, value in record.http_headers:
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    failure = failure_from_status(url, status, headers)
    if failure is not None:
        return failure
    packed = record.reader.read()
    unpacker = unpacker_for(headers.get("content-encoding", ""))
    if unpacker is None:
        detail = f"unknown Content-Encoding {headers['content-encoding']!r}"
        return Failure(url=url, kind=FailureKind.PROTOCOL, detail=detail, status=status, wire_bytes=len(packed))
    body = unpacker.feed(packed, limit + 1)
    if not robots and is_useless(headers.get("content-type", ""), body[:_HEAD]):
        detail = f"nothing can come of {headers.get('content-type', '')}"
        return Failure(url=url, kind=FailureKind.USELESS, detail=detail, status=status, wire_bytes=len(packed))
    return Page(
        url=url,
        status=status,
        headers=headers,
        body=body[:limit],
        truncated=len(body) > limit,
        wire_bytes=len(packed),
    )

"""The end of a WARC file that somebody may have been killed over.

A record that is not whole is cut off: other tools stop at it, and some of them lose what they had read before. And who
goes on with a crawl gets the last answers again from its journal, so it must be known which of them are kept already.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

from motherlode.fetch.warc.records import (
    Field,
    Original,
    WarcResponse,
    digest_of,
    info_record,
    new_id,
    not_modified_record,
    request_record,
    response_record,
    same_payload_record,
)
from motherlode.model import Fetched, Fetcher, Page, Request

_WINDOW = 32 << 20
"""Bytes at the end of a file that are looked at: no record of ours is as long, nor is what a journal holds."""
_STEP = 1 << 18
_GZIP = zlib.MAX_WBITS | 16
_BEGINNING = b"\x1f\x8b\x08"
_MAGIC = b"WARC/"
_ANSWER = re.compile(rb"WARC/1\.1\r\nWARC-Type: re(?:sponse|visit)\r\n")
_URL = re.compile(rb"\r\nWARC-Target-URI: ([^\r]*)\r\n")
_DATE = re.compile(rb"\r\nWARC-Date: ([^\r]*)\r\n")

Kept = tuple[str, str]
"""URL and date of an answer."""


class _Member(NamedTuple):
    end: int
    head: bytes
    """The beginning of what it holds, with all fields of the record."""


def repair_tail(path: Path) -> frozenset[Kept]:
    """Cut a file of packed records behind its last whole record; the answers among the last ones.

    A file of which nothing would be left is removed: an empty one is no WARC file to many tools.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - _WINDOW))
        tail = file.read()
    place = _first_record(tail) if size > _WINDOW else 0
    members = list(_members(tail, place))
    end = members[-1].end if members else place
    lost = len(tail) - end
    if lost and _MAGIC.startswith(_beginning(tail, end)):
        if lost == size:
            path.unlink()
        else:
            os.truncate(path, size - lost)
    return frozenset(kept for member in members if (kept := _response_target(member.head)) is not None)


def _first_record(tail: bytes) -> int:
    """Where a record begins, in bytes that may begin within one; behind them all where none does."""
    place = tail.find(_BEGINNING)
    while place != -1 and _beginning(tail, place) != _MAGIC:
        place = tail.find(_BEGINNING, place + 1)
    return len(tail) if place == -1 else place


def _beginning(data: bytes, place: int) -> bytes:
    """The first characters of a member, as far as they are there."""
    try:
        return zlib.decompressobj(_GZIP).decompress(data[place : place + _STEP], len(_MAGIC))
    except zlib.error:
        return b"?"


def _members(data: bytes, place: int) -> Iterator[_Member]:
    """Whole members, one after the other."""
    while place < len(data):
        member = _member(data, place)
        if member is None:
            return
        yield member
        place = member.end


def _member(data: bytes, place: int) -> _Member | None:
    """The member that begins here; None where it is cut or garbled."""
    member, head = zlib.decompressobj(_GZIP), b""
    try:
        while not member.eof:
            step = data[place : place + _STEP]
            if not step:
                return None
            plain = member.decompress(step)
            head = head or plain[:_STEP]
            place += len(step)
    except zlib.error:
        return None
    return _Member(place - len(member.unused_data), head)


def _response_target(head: bytes) -> Kept | None:
    url, date = _URL.search(head), _DATE.search(head)
    if url is None or date is None or not _ANSWER.match(head):
        return None
    return url[1].decode(), date[1].decode()


# ── WARC output: each record a gzip member of its own, so that a file can be indexed and cut off anywhere between two.

_NAME = re.compile(r"crawl-([0-9]+)\.warc\.gz")
_BODILESS = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
_LEAST_SHARED = 1024
"""Bytes of a body that is worth a reference: a shorter one is hardly longer than that."""
_MOST_SHARED = 100_000
"""Bodies of one file that are remembered; the one that was met longest ago is forgotten first."""

Written = Callable[[Request], bytes]
"""Gives a request as the bytes that are sent."""


def _truncated(fetched: Fetched) -> str:
    """Why the body of an answer is not whole, in the words of WARC 1.1 (5.13)."""
    if isinstance(fetched, Page):
        return "length" if fetched.truncated else ""
    is_empty = fetched.status in _BODILESS or fetched.headers.get("content-length") == "0"
    return "" if is_empty else "unspecified"  # the status or the type told that there was no use in reading it


def _answer(fetched: Fetched, status: int) -> WarcResponse:
    return WarcResponse(
        url=fetched.url,
        at=fetched.fetched_at or time.time(),
        status=status,
        headers=fetched.headers,
        body=fetched.body if isinstance(fetched, Page) else b"",
        truncated=_truncated(fetched),
        address=fetched.address,
    )


def _is_shared(answer: WarcResponse) -> bool:
    """Whether the body is written once for all addresses at which it is met."""
    return len(answer.body) >= _LEAST_SHARED and not answer.truncated


class WarcFile:
    """Appends records to a file. What belongs together is written with one call, so a kill cuts at most the last."""

    def __init__(self, path: Path, *, about: Mapping[str, str] | None = None) -> None:
        self._path = path
        self._file = path.open("ab", buffering=0)
        self.size = os.fstat(self._file.fileno()).st_size
        self._more: tuple[Field, ...] = ()
        """What every record says of the file."""
        self._bodies: OrderedDict[str, Original] = OrderedDict()
        if about is not None:
            info = new_id()
            self._append(info_record(info, name=path.name, at=time.time(), about=about))
            self._more = (("WARC-Warcinfo-ID", info),)

    def add(self, url: str, *, at: float, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
        """An answer of which no more is known."""
        self.keep(WarcResponse(url=url, at=at, status=status, headers=headers, body=body))

    def keep(self, answer: WarcResponse, sent: bytes = b"") -> None:
        """An answer, and the request for it if one was sent."""
        record = new_id()
        written = self._response(answer, record)
        if sent:
            written += request_record(answer, sent, record, more=self._more)
        self._append(written)
        if _is_shared(answer):
            self._remember(answer, record)

    def _response(self, answer: WarcResponse, record: str) -> bytes:
        if answer.status == HTTPStatus.NOT_MODIFIED:
            return not_modified_record(answer, record, more=self._more)
        original = self._bodies.get(digest_of(answer.body)) if _is_shared(answer) else None
        if original is not None:
            return same_payload_record(answer, record, original, more=self._more)
        return response_record(answer, record, more=self._more)

    def _remember(self, answer: WarcResponse, record: str) -> None:
        digest = digest_of(answer.body)
        self._bodies.setdefault(digest, Original(record=record, url=answer.url, date=answer.date))
        self._bodies.move_to_end(digest)
        if len(self._bodies) > _MOST_SHARED:
            self._bodies.popitem(last=False)

    def _append(self, records: bytes) -> None:
        """Write all or nothing: behind half a record nobody would find the next."""
        try:
            written = self._file.write(records)
        except OSError as error:
            raise OSError(f"{self._path} could not be written: {error.strerror}") from error
        if written != len(records):
            os.ftruncate(self._file.fileno(), self.size)
            raise OSError(f"{self._path} could not be written: is the disk full?")
        self.size += written

    def close(self) -> None:
        self._file.close()


class WarcArchive:
    """All answers of a crawl, in files of a bounded size; each run begins a new one, and mends that of the last."""

    def __init__(
        self,
        folder: Path,
        *,
        about: Mapping[str, str] | None = None,
        written: Written | None = None,
        most_bytes: int = 1_000_000_000,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._about = {} if about is None else about
        """What the first record of each file tells of the crawl."""
        self._written = written
        """None where nothing is sent, because the web is a recorded one."""
        self._most = most_bytes
        files = {int(name[1]): path for path in folder.iterdir() if (name := _NAME.fullmatch(path.name))}
        self._number = max(files, default=0)
        """Of the last file; others may have been moved away."""
        self._kept: frozenset[Kept] = repair_tail(files[self._number]) if files else frozenset()
        """The last answers of the run before, which its journal may give once more."""
        self._file: WarcFile | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="warc")

    async def add(self, request: Request, fetched: Fetched) -> None:
        """Keep an answer; what never came as an answer (time-outs and the like) is none.

        Nor are answers to what was posted, since a record names nothing but a URL.
        """
        if fetched.status is None or request.posting is not None:
            return
        answer = _answer(fetched, fetched.status)
        if not fetched.recalled or (answer.url, answer.date) not in self._kept:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._write, request, answer)

    def _write(self, request: Request, answer: WarcResponse) -> None:
        if self._file is None or self._file.size > self._most:
            self._file = self._next_file()
        self._file.keep(answer, b"" if self._written is None else self._written(request))

    def _next_file(self) -> WarcFile:
        if self._file is not None:
            self._file.close()
        self._number += 1
        return WarcFile(self._folder / f"crawl-{self._number:05d}.warc.gz", about=self._about)

    def close(self) -> None:
        self._thread.shutdown(wait=True)
        if self._file is not None:
            self._file.close()


class ArchivedFetcher:
    """A fetcher whose answers are kept."""

    def __init__(self, inner: Fetcher, archive: WarcArchive) -> None:
        self._inner = inner
        self._archive = archive

    async def fetch(self, request: Request) -> Fetched:
        fetched = await self._inner.fetch(request)
        await self._archive.add(request, fetched)
        return fetched

    async def close(self) -> None:
        await self._inner.close()

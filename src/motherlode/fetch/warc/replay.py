"""A recorded web in the place of the network: pages out of a WARC file, by random access."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from fastwarc.warc import ArchiveIterator, WarcRecord

from motherlode.fetch.http.response import is_useful, is_useless
from motherlode.fetch.warc.reader import Bodies, ResponseRecords, answer_in, is_same_payload, target_of, unpacked
from motherlode.model import Failure, FailureKind, Fetched, Page, Request, RequestKind
from motherlode.www.urls import canonical

_BODY_ELSEWHERE = "its body is in a record of another file"
_TROUBLE = frozenset({FailureKind.SERVER_ERROR, FailureKind.UNAVAILABLE, FailureKind.TOO_MANY, FailureKind.PROTOCOL})
"""A live crawl keeps a page whose server has trouble later on."""


class RecordedWeb:
    """What the file does not hold is a 404. http and https are the same here.

    Opening reads the file once and remembers where each answer lies; the last record of a URL counts, but for those
    that say nothing of the page: redirects to the same place in another spelling (from http to https, from raw to
    escaped characters), trouble of the server, and bodies that stand in another file.
    """

    def __init__(self, path: Path, *, limit: int = 10 << 20, useful: tuple[str, ...] = ()) -> None:
        self._limit = limit
        """Bytes of a body, after unpacking."""
        self._useful = useful
        """Media types that the user has readers of his own for."""
        self._file: BinaryIO = path.open("rb")
        self._places: dict[str, tuple[int, str]] = {}
        """URL without its scheme → offset of the record, and the URL as it was recorded."""
        self._earlier: dict[str, list[tuple[int, str]]] = {}
        """The records before the last, of URLs that have several."""
        self._bodies = Bodies()
        self.broken_records = 0
        """Records that could not be read, or have no URL that we know; reading goes on behind them."""
        self._index()
        if not self._places:
            self._file.close()
            raise ValueError(_without_responses(path))

    def _index(self) -> None:
        records = ResponseRecords(self._file)
        for record in records:
            url = target_of(record)
            if url is None:
                records.count_as_broken(record)
                continue
            self._remember(_schemeless(url), (record.stream_pos, url))
            if not is_same_payload(record):
                self._bodies.note(record)
        self.broken_records = records.broken
        if records.packed_as_one:
            self._unpack()

    def _unpack(self) -> None:
        """Records that are packed together cannot be sought out: they are unpacked once, to a file without a name."""
        packed, self._file = self._file, cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115
        with packed:
            shutil.copyfileobj(unpacked(packed), self._file)
        self._file.flush()
        self._places.clear()
        self._earlier.clear()
        self._bodies = Bodies()
        self._index()

    def _remember(self, key: str, place: tuple[int, str]) -> None:
        if key in self._places:
            self._earlier.setdefault(key, []).append(self._places[key])
        self._places[key] = place

    def __contains__(self, url: str) -> bool:
        return _schemeless(url) in self._places

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
        return self._without_body(answer) if request.kind is RequestKind.PROBE else answer

    def answer(self, url: str, *, robots: bool = False) -> Fetched:
        """The recorded answer for a URL."""
        key = _schemeless(url)
        place = self._places.get(key)
        if place is None:
            return Failure(url=url, kind=FailureKind.NOT_FOUND, detail="not in the recorded web", status=404)
        answer = self._answer(url, place, robots=robots)
        for earlier in reversed(self._earlier.get(key, ())):
            if not _leads_back(answer) and not _says_nothing(answer):
                break
            answer = self._answer(url, earlier, robots=robots)
        return answer

    def _answer(self, url: str, place: tuple[int, str], *, robots: bool) -> Fetched:
        record = self._record_at(place[0])
        answer = None
        if record is not None and is_same_payload(record):
            answer = self._bodies.answer(
                record, url, self._record_at, limit=self._limit, robots=robots, useful=self._useful
            )
            return answer or Failure(url=url, kind=FailureKind.NOT_FOUND, detail=_BODY_ELSEWHERE, status=404)
        if record is not None:
            answer = answer_in(record, url, limit=self._limit, robots=robots, useful=self._useful)
        return answer or Failure(url=url, kind=FailureKind.PROTOCOL, detail="the record cannot be read")

    def _record_at(self, place: int) -> WarcRecord | None:
        self._file.seek(place)
        return next(iter(ArchiveIterator(self._file, parse_http=False)), None)

    def _without_body(self, answer: Fetched) -> Fetched:
        """What a HEAD would have told."""
        if isinstance(answer, Failure):
            return replace(answer, wire_bytes=0)
        if is_useless(answer.content_type, b"") and not is_useful(answer.content_type, self._useful):
            detail = f"nothing can come of {answer.content_type}"
            return Failure(url=answer.url, kind=FailureKind.USELESS, detail=detail, status=answer.status)
        return replace(answer, body=b"", wire_bytes=0, truncated=False)

    async def close(self) -> None:
        self._file.close()


def check_recorded(path: Path) -> None:
    """ValueError where a file holds no response; it is read up to the first. OSError where it cannot be read."""
    with path.open("rb") as file:
        if not any(target_of(record) for record in ResponseRecords(file)):
            raise ValueError(_without_responses(path))


def _without_responses(path: Path) -> str:
    return f"{path} holds no HTTP responses: is it a WARC file?"


def _schemeless(url: str) -> str:
    return url.partition("://")[2]


def _leads_back(answer: Fetched) -> bool:
    """A redirect to the place where it was found."""
    if isinstance(answer, Page):
        return False
    to_itself = answer.kind is FailureKind.REDIRECT_BROKEN and bool(answer.headers.get("location"))
    if answer.kind is not FailureKind.REDIRECT:
        return to_itself
    return _schemeless(canonical(answer.location) or "") == _schemeless(answer.url)


def _says_nothing(answer: Fetched) -> bool:
    """Nothing of the page, so that what was said before still holds."""
    return isinstance(answer, Failure) and (answer.kind in _TROUBLE or answer.detail == _BODY_ELSEWHERE)

"""Replay: a fetcher that returns the responses of a WARC file instead of using the network."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from fastwarc.warc import ArchiveIterator, WarcRecord

from motherlode.fetch.warc.reader import (
    PayloadIndex,
    ResponseRecords,
    interpret,
    is_same_payload,
    open_decompressed,
    read_response,
    target_url,
)
from motherlode.model import Failure, FailureKind, Fetched, Page, Request, RequestKind
from motherlode.www.urls import canonical

_BODY_ELSEWHERE = "its body is in a record of another file"
_SERVER_FAILURES = frozenset(
    {FailureKind.SERVER_ERROR, FailureKind.UNAVAILABLE, FailureKind.TOO_MANY, FailureKind.PROTOCOL}
)
"""After such a failure a live crawl keeps the earlier page."""


class RecordedWeb:
    """A fetcher for a recorded web. A URL that is not in the file is a 404. http and https URLs are equal.

    The constructor reads the file once and builds an index of offsets. The last record of a URL counts, unless it says
    nothing about the page: a redirect to another spelling of the same URL (from http to https, from raw to escaped
    characters), a server error, or a body that is in another file.
    """

    def __init__(self, path: Path, *, limit: int = 10 << 20, useful: tuple[str, ...] = ()) -> None:
        self._limit = limit
        """Bytes of a decoded body."""
        self._useful = useful
        """Media types for which the user has extractors."""
        self._file: BinaryIO = path.open("rb")
        self._locations: dict[str, tuple[int, str]] = {}
        """URL without its scheme → offset of the record, and the URL as it was recorded."""
        self._earlier: dict[str, list[tuple[int, str]]] = {}
        """The earlier records of URLs that have several."""
        self._payloads = PayloadIndex()
        self.broken_records = 0
        """Records that could not be read or have no valid URL. Reading continues after them."""
        self._index()
        if not self._locations:
            self._file.close()
            raise ValueError(_no_responses_message(path))

    def _index(self) -> None:
        records = ResponseRecords(self._file)
        for record in records:
            url = target_url(record)
            if url is None:
                records.count_as_broken(record)
                continue
            key = _without_scheme(url)
            if key in self._locations:
                self._earlier.setdefault(key, []).append(self._locations[key])
            self._locations[key] = record.stream_pos, url
            if not is_same_payload(record):
                self._payloads.add(record)
        self.broken_records = records.broken
        if records.is_one_stream:
            self._decompress()

    def _decompress(self) -> None:
        """Decompress records that share one stream into a temporary file, since such a stream has no random access."""
        compressed, self._file = self._file, cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115
        with compressed:
            shutil.copyfileobj(open_decompressed(compressed), self._file)
        self._file.flush()
        self._locations.clear()
        self._earlier.clear()
        self._payloads = PayloadIndex()
        self._index()

    def __contains__(self, url: str) -> bool:
        return _without_scheme(url) in self._locations

    def __len__(self) -> int:
        return len(self._locations)

    def urls(self) -> list[str]:
        return [url for _, url in self._locations.values()]

    def spelling(self, url: str) -> str:
        """Return the recorded spelling of a URL. If it is not recorded, the URL with https."""
        rest = _without_scheme(url)
        location = self._locations.get(rest)
        return location[1] if location else f"https://{rest}"

    async def fetch(self, request: Request) -> Fetched:
        response = self.read_response(request.url, robots=request.kind is RequestKind.ROBOTS)
        if request.kind is not RequestKind.PROBE:
            return response
        if isinstance(response, Failure):
            return replace(response, wire_bytes=0)
        headers = dict(response.headers)
        return interpret(request, response.status, headers, b"", limit=self._limit, useful=self._useful)

    def read_response(self, url: str, *, robots: bool = False) -> Fetched:
        """Return the recorded response for a URL."""
        key = _without_scheme(url)
        location = self._locations.get(key)
        if location is None:
            return Failure(url=url, kind=FailureKind.NOT_FOUND, detail="not in the recorded web", status=404)
        response = self._read_location(url, location, robots=robots)
        for earlier in reversed(self._earlier.get(key, ())):
            if not _says_nothing(response):
                break
            response = self._read_location(url, earlier, robots=robots)
        return response

    def _read_location(self, url: str, location: tuple[int, str], *, robots: bool) -> Fetched:
        record = self._read_record(location[0])
        response = None
        if record is not None and is_same_payload(record):
            response = self._payloads.resolve(
                record, url, self._read_record, limit=self._limit, robots=robots, useful=self._useful
            )
            return response or Failure(url=url, kind=FailureKind.NOT_FOUND, detail=_BODY_ELSEWHERE, status=404)
        if record is not None:
            response = read_response(record, url, limit=self._limit, robots=robots, useful=self._useful)
        return response or Failure(url=url, kind=FailureKind.PROTOCOL, detail="the record cannot be read")

    def _read_record(self, offset: int) -> WarcRecord | None:
        self._file.seek(offset)
        return next(iter(ArchiveIterator(self._file, parse_http=False)), None)

    async def close(self) -> None:
        self._file.close()


def check_recorded(path: Path) -> None:
    """Raise ValueError if a file contains no response, OSError if it cannot be read. Read up to the first response."""
    with path.open("rb") as file:
        if not any(target_url(record) for record in ResponseRecords(file)):
            raise ValueError(_no_responses_message(path))


def _no_responses_message(path: Path) -> str:
    return f"{path} contains no HTTP responses: is it a WARC file?"


def _without_scheme(url: str) -> str:
    return url.partition("://")[2]


def _says_nothing(response: Fetched) -> bool:
    """Return whether a response says nothing about the page, so that an earlier one counts."""
    if isinstance(response, Page):
        return False
    if response.kind is FailureKind.REDIRECT:
        return _without_scheme(canonical(response.location) or "") == _without_scheme(response.url)
    if response.kind is FailureKind.REDIRECT_BROKEN:
        return bool(response.headers.get("location"))
    return response.kind in _SERVER_FAILURES or response.detail == _BODY_ELSEWHERE

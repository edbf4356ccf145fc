"""Reading WARC files from any writer, damaged ones included, and a fetcher that replays their responses.

fastwarc stops at the first damaged record, sometimes without an error. Here reading continues at the next offset where
a record starts, and every gap is counted. A recorded response is interpreted by the same code as a live one.
"""

from __future__ import annotations

import contextlib
import gzip
import mmap
import os
import re
import shutil
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

import zstandard
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from motherlode.fetch.http.decoding import max_encoded_bytes
from motherlode.fetch.http.parser import BLANK_LINE, parse_head, remove_chunk_lines
from motherlode.fetch.http.response import ResponseReader, failure_from_status
from motherlode.fetch.warc.writer import ORIGINAL_PREFIX
from motherlode.model import Failure, FailureKind, Fetched, Page, Request, RequestKind
from motherlode.www.challenges import may_be_challenge
from motherlode.www.gzip_members import gzip_members
from motherlode.www.urls import canonical

_DECIDED_BY_BODY = frozenset({FailureKind.USELESS, FailureKind.CHALLENGED})
_CODING_HEADERS = ("content-encoding", "transfer-encoding")
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_RECORD_START = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]|(?<=\r\n\r\n)WARC/1\.[01]\r\n")
"""The start of a record: a gzip member, or uncompressed."""
_DIGEST = "WARC-Payload-Digest"
_ORIGINAL_LENGTH = f"{ORIGINAL_PREFIX}content-length".lower()
_MAX_BODY_BYTES = 10 << 20
_MAX_HEAD_BYTES = 1 << 18
_MAX_FRAMING_RATIO = 2
"""Maximum ratio of received to encoded bytes: a response may have as many bytes of chunk lines as of data."""


class ResponseRecords:
    """Iterates over the response records of a file, once. A record is valid until the next one is requested."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.position = 0
        """Bytes of the file that were read so far."""
        self.broken = 0
        """Number of unusable records. Adjacent ones count as one."""
        self.is_one_stream = False
        """True if several records are compressed as one stream, so that random access is impossible."""
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


def target_url(record: WarcRecord) -> str | None:
    """Return the canonical URL of a response, or None if it has no valid one."""
    return canonical((record.headers.get("WARC-Target-URI") or "").strip("<>"))


def is_same_payload(record: WarcRecord) -> bool:
    """Return whether a record is a response whose body is in another record.

    A revisit record for "not modified" is not: the earlier response of the URL remains valid.
    """
    is_revisit = record.record_type == WarcRecordType.revisit
    return is_revisit and not (record.headers.get("WARC-Profile") or "").endswith("/server-not-modified")


class RecordReader:
    """Reads responses from the records of a file.

    Archives write a body only once if it was received several times. The other records refer to it by its digest.
    """

    def __init__(self, file: BinaryIO, *, limit: int = _MAX_BODY_BYTES, useful: tuple[str, ...] = ()) -> None:
        self._file = file
        self._limit = limit
        """Maximum size of a decoded body in bytes."""
        self._useful = useful
        """Media types for which the user has extractors, so that they are never useless."""
        self._offsets: dict[int, int] = {}
        """Hash of a digest → offset of the record. The digests of millions of records would take too much memory."""

    def add(self, record: WarcRecord) -> None:
        """Remember the digest and the offset of a record, for later records that refer to its body."""
        digest = record.headers.get(_DIGEST)
        if digest and not is_same_payload(record):
            self._offsets[hash(digest)] = record.stream_pos

    def record_at(self, offset: int) -> WarcRecord | None:
        self._file.seek(offset)
        return next(iter(ArchiveIterator(self._file, parse_http=False)), None)

    def read(self, record: WarcRecord, url: str, *, robots: bool = False) -> Fetched | None:
        """Return the page or failure of a response record. None if it is unusable, or its body is not in the file."""
        if is_same_payload(record):
            return self._read_shared(record, url, robots=robots)
        found = _read_http(record, limit=self._limit)
        if found is None:
            return None
        status, headers, encoded = found
        if "chunked" in headers.get("transfer-encoding", "").lower():
            encoded = remove_chunk_lines(encoded)
        if not encoded and record.headers.get("WARC-Truncated") == "length":
            # the length that ended the fetch, in records with a new head
            headers |= {"content-length": headers.get(_ORIGINAL_LENGTH, headers.get("content-length", ""))}
        request = Request(url=url, kind=RequestKind.ROBOTS if robots else RequestKind.PAGE)
        fetched = self.interpret(request, status, headers, encoded)
        if isinstance(fetched, Failure) and fetched.kind is FailureKind.PROTOCOL:
            # many archives decode a body and keep its Content-Encoding
            plain = {name: value for name, value in headers.items() if name not in _CODING_HEADERS}
            fetched = self.interpret(request, status, plain, encoded)
        if isinstance(fetched, Failure):
            return fetched
        is_truncated = fetched.truncated or record.headers.get("WARC-Truncated") is not None
        return replace(fetched, headers=headers, truncated=is_truncated)

    def _read_shared(self, record: WarcRecord, url: str, *, robots: bool) -> Fetched | None:
        """Return the response of a record whose body is only in an earlier record with the same digest.

        Reading that one makes `record` invalid.
        """
        head, digest = _read_http(record, limit=0), record.headers.get(_DIGEST)
        failure = None if head is None else failure_from_status(url, head[0], head[1])
        if failure is not None and not (head and may_be_challenge(head[0], head[1])):
            return failure
        offset = self._offsets.get(hash(digest))
        original = None if offset is None else self.record_at(offset)
        if original is None or original.headers.get(_DIGEST) != digest:
            return failure
        response = self.read(original, url, robots=robots)
        if isinstance(response, Page) and failure is None:
            return response if head is None else replace(response, status=head[0], headers=head[1])
        is_decided_by_body = isinstance(response, Failure) and response.kind in _DECIDED_BY_BODY
        return response if is_decided_by_body else failure

    def interpret(self, request: Request, status: int, headers: dict[str, str], body: bytes) -> Fetched:
        """Return the page or failure that a live response with this status, headers and body would give."""
        reader = ResponseReader(request, max_body_bytes=self._limit, useful=self._useful)
        if reader.receive_head(status, headers):
            reader.receive_body(body)
        return reader.result(began=0.0, elapsed=0.0, address="")


def _read_http(record: WarcRecord, *, limit: int) -> tuple[int, dict[str, str], bytes] | None:
    """Return status, headers and body of a response. None if it is not HTTP, or if the file ends within it.

    The head is parsed like that of a live response. The body has all bytes that `limit` decoded bytes may need.
    """
    max_bytes = _MAX_HEAD_BYTES + _MAX_FRAMING_RATIO * max_encoded_bytes(limit)
    try:
        block = record.reader.read(max_bytes)
    except OSError:
        return None
    if len(block) < min(record.content_length, max_bytes):
        return None
    end = BLANK_LINE.search(block)
    head = parse_head(block[: end.end()] if end else block.rstrip() + b"\r\n\r\n")
    return None if head is None else (*head, block[end.end() :] if end else b"")


def _is_complete_to_end(data: mmap.mmap, start: int) -> bool:
    """Return whether the record at an offset is complete and the last of its file. True if it is uncompressed."""
    if data[start : start + 2] != _GZIP:
        return True
    member = next(gzip_members(data, start, max_data_bytes=0), None)
    return member is not None and member.end == len(data)


# Replay --------------------------------------------------------------------------------------------------------------

_BODY_ELSEWHERE = "its body is in a record of another file"
_SERVER_FAILURES = frozenset(
    {
        *(FailureKind.SERVER_ERROR, FailureKind.UNAVAILABLE, FailureKind.TOO_MANY, FailureKind.PROTOCOL),
        FailureKind.CHALLENGED,
    }
)
"""Failures after which an earlier record of the URL counts, because a live crawl would keep the earlier page, too."""


class RecordedWeb:
    """A fetcher for a recorded web. A URL that is not in the file is a 404. http and https URLs are equal.

    The constructor reads the file once and builds an index of offsets. The last record of a URL counts, unless it says
    nothing about the page: a redirect to another spelling of the same URL (from http to https, from raw to escaped
    characters), a server error, or a body that is in another file.
    """

    def __init__(self, path: Path, *, limit: int = _MAX_BODY_BYTES, useful: tuple[str, ...] = ()) -> None:
        self._limit = limit
        self._useful = useful
        self._file: BinaryIO = path.open("rb")
        self._locations: dict[str, tuple[int, str]] = {}
        """URL without its scheme → offset of the record, and the URL as it was recorded."""
        self._earlier: dict[str, list[tuple[int, str]]] = {}
        """The earlier records of URLs that have several."""
        self.broken_records = 0
        """Records that could not be read or have no valid URL. Reading continues after them."""
        self._index()
        if not self._locations:
            self._file.close()
            raise ValueError(_no_responses_message(path))

    def _index(self) -> None:
        self._reader = RecordReader(self._file, limit=self._limit, useful=self._useful)
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
            self._reader.add(record)
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
        return self._reader.interpret(request, response.status, dict(response.headers), b"")

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
        record = self._reader.record_at(location[0])
        is_shared = record is not None and is_same_payload(record)
        response = None if record is None else self._reader.read(record, url, robots=robots)
        if response is None and is_shared:
            return Failure(url=url, kind=FailureKind.NOT_FOUND, detail=_BODY_ELSEWHERE, status=404)
        return response or Failure(url=url, kind=FailureKind.PROTOCOL, detail="the record cannot be read")

    async def close(self) -> None:
        self.close_file()

    def close_file(self) -> None:
        """Close the file, for callers without an event loop."""
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


def open_decompressed(file: BinaryIO) -> BinaryIO:
    """Return a stream of the decompressed content of a gzip or zstd file."""
    file.seek(0)
    is_gzip = file.read(2) == _GZIP
    file.seek(0)
    if is_gzip:
        return cast("BinaryIO", gzip.GzipFile(fileobj=file))
    return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)

"""The response journal: a response that has arrived is not requested again after a kill.

The journal appends each response to a file before the crawl processes it. The crawl calls `settle` when it has
processed a response. Its next commit stores the settled results together with `state`: the numbers of the responses
that are not settled. After a kill, the frontier leases again every request whose end its last commit does not contain,
and the journal returns the recorded responses in their original order. So a 503 and the page that followed it are both
seen again. A response from the journal is marked as `recalled` and starts no politeness delay.

Files are short. Each commit starts a new one and deletes those without open responses, so the disk holds the responses
of one or two seconds. Subrequests (JSON-LD contexts, services) and HEAD requests are not part of a commit. Their
responses are kept in a ring of two files, and are recalled for a day, as often as they are requested.

One record is one `writev`: magic, lengths, checksum, head, body. A record that a kill has cut is ignored.
Nothing is synced: if the machine dies, the last seconds may be lost, and those requests are sent again.
"""

from __future__ import annotations

import asyncio
import os
import struct
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec
import xxhash

from motherlode.model import Failure, Fetched, Fetcher, Page, Request, RequestKind

_MAGIC = b"MLj1"
_FRAME = struct.Struct("<4sIIQ")
"""Magic, bytes of the head, bytes of the body, checksum of both."""
_RING_BYTES = 32 << 20
"""Size of one file of the ring. There are two."""
_LARGE_BODY_BYTES = 1 << 20
"""Size from which a body is written in a thread, because that takes milliseconds."""
_SUBREQUEST_LIFETIME_SECONDS = 86_400.0
"""The recorded response to a subrequest (a JSON-LD context, for example) is not used after this time, because a crawl
may be resumed much later."""
_RESPONSES, _SUBREQUESTS = "answers", "errands"
"""Prefixes of the names of journal files: those of pages and robots.txt, and those of subrequests."""
_SETTLED_KINDS = (RequestKind.PAGE, RequestKind.ROBOTS)
"""Requests whose responses are kept until a commit. Responses to other requests go to two files that are overwritten in
turn (a ring)."""


class _Head(msgspec.Struct, array_like=True, gc=False):
    """The first part of a record: everything about a response but the body of its page."""

    number: int
    key: str
    page: Page | None = None
    failure: Failure | None = None


class _State(msgspec.Struct, array_like=True):
    """The state of the journal in a commit."""

    last: int
    open: list[int]


_encode = msgspec.msgpack.Encoder().encode
_decode_head = msgspec.msgpack.Decoder(_Head).decode


class _Location(NamedTuple):
    """File and offset of a record."""

    number: int
    path: Path
    start: int


def request_key(request: Request) -> str:
    """Return a key that is equal for equal requests."""
    key = f"{request.kind.value} {request.url}"
    if request.kind in _SETTLED_KINDS:
        return key
    sent = b"" if request.posting is None else request.posting.body
    return f"{key} {request.accept} {xxhash.xxh3_128_hexdigest(sent)}"


class _Segment:
    """A file to which records are appended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.size = os.fstat(self._file).st_size
        self._error = ""

    def append(self, head: bytes, body: bytes) -> None:
        """Append a record. After an error all calls fail, because records after an incomplete one cannot be found."""
        if self._error:
            raise OSError(self._error)
        checksum = xxhash.xxh3_64_intdigest(body, seed=xxhash.xxh32_intdigest(head))
        parts = (_FRAME.pack(_MAGIC, len(head), len(body), checksum), head, body)
        try:
            written = os.writev(self._file, parts)
        except OSError as error:
            self._error = f"the response journal {self.path} could not be written: {error.strerror}"
            raise OSError(self._error) from error
        self.size += written
        if written < sum(map(len, parts)):
            self._error = f"the response journal {self.path} could not be written: is the disk full?"
            raise OSError(self._error)

    def close(self) -> None:
        os.close(self._file)


def _read_record(file: BinaryIO) -> tuple[_Head, bytes] | None:
    """Read the record at the file position. Return None at the end of the file, or if the record is cut."""
    frame = file.read(_FRAME.size)
    if len(frame) < _FRAME.size:
        return None
    magic, head_size, body_size, checksum = _FRAME.unpack(frame)
    if magic != _MAGIC:
        raise ValueError("no record starts here")
    head, body = file.read(head_size), file.read(body_size)
    if len(head) < head_size or len(body) < body_size:
        return None
    if xxhash.xxh3_64_intdigest(body, seed=xxhash.xxh32_intdigest(head)) != checksum:
        raise ValueError("wrong checksum")
    return _decode_head(head), body


class ResponseJournal:
    """A journal: its files, and its open responses (those that the crawl has not settled)."""

    def __init__(self, folder: Path, *, state: bytes | None, ring_bytes: int = _RING_BYTES) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._ring_bytes = ring_bytes
        self.problems: list[str] = []
        """Messages about records that could not be read. Those requests are sent again."""
        self.latest = 0.0
        """Time of the last unsettled response of earlier runs, or 0.0."""
        self._recalled: dict[str, deque[_Location]] = {}
        """Responses of earlier runs that were not recalled yet."""
        self._open_files: dict[int, Path] = {}
        """The file of each open response: not settled, or not recalled yet."""
        self._returned: dict[str, deque[int]] = {}
        """Responses that were returned and are not settled, by the key of their request."""
        self._subrequests: dict[str, _Location] = {}
        self._segment: _Segment | None = None
        self._ring: _Segment | None = None
        self._load_responses(state)
        self._load_subrequests()

    def _load_responses(self, state: bytes | None) -> None:
        known = _State(0, [])
        try:
            known = known if state is None else msgspec.msgpack.decode(state, type=_State)
        except msgspec.DecodeError as error:
            self.problems.append(f"journal: its state cannot be read ({error}); responses may be processed twice")
        self._last, still_open = known.last, set(known.open)
        for path in self._files(_RESPONSES):
            for location, head in self._records(path):
                self._last = max(self._last, head.number)
                if head.number > known.last or head.number in still_open:
                    self._recalled.setdefault(head.key, deque()).append(location)
                    self._open_files[head.number] = path
                    fetched = head.page or head.failure
                    self.latest = max(self.latest, fetched.fetched_at if fetched is not None else 0.0)

    def _load_subrequests(self) -> None:
        paths = self._files(_SUBREQUESTS)
        for path in paths:
            end = 0
            for location, head in self._records(path):
                self._subrequests[head.key] = location
                end = location.number
            if path == paths[-1] and end < path.stat().st_size:
                os.truncate(path, end)  # records after a cut one could not be found

    def _records(self, path: Path) -> Iterator[tuple[_Location, _Head]]:
        """Yield the records of a file up to the first unreadable one. Subrequests are numbered by their end offset."""
        with path.open("rb") as file:
            while True:
                start = file.tell()
                try:
                    found = _read_record(file)
                except (ValueError, msgspec.DecodeError) as error:
                    lost = os.fstat(file.fileno()).st_size - start
                    self.problems.append(f"journal: {lost} bytes of {path.name} cannot be read ({error})")
                    return
                if found is None:
                    return
                number = found[0].number or file.tell()
                yield _Location(number, path, start), found[0]

    def _files(self, kind: str) -> list[Path]:
        return sorted(self._folder.glob(f"{kind}-*.journal"))

    def _next_file(self, kind: str) -> Path:
        files = self._files(kind)
        number = int(files[-1].stem.rpartition("-")[2]) + 1 if files else 1
        return self._folder / f"{kind}-{number:08d}.journal"

    def recall(self, request: Request) -> Fetched | None:
        """Return the response that an earlier run received, if it stopped before the lease had ended, else None."""
        key = request_key(request)
        if request.kind not in _SETTLED_KINDS:
            return self._recall_subrequest(key)
        locations = self._recalled.get(key)
        if not locations:
            return None
        location = locations.popleft()
        if not locations:
            del self._recalled[key]
        found = _read_response(location)
        if found is None:
            self._open_files.pop(location.number, None)
        else:
            self._returned.setdefault(key, deque()).append(location.number)
        return found

    def _recall_subrequest(self, key: str) -> Fetched | None:
        location = self._subrequests.get(key)
        found = None if location is None else _read_response(location)
        return found if found is not None and time.time() - found.fetched_at < _SUBREQUEST_LIFETIME_SECONDS else None

    def add(self, request: Request, fetched: Fetched) -> None:
        """Append a response that has just arrived."""
        is_subrequest = request.kind not in _SETTLED_KINDS
        if is_subrequest and (fetched.status is None or fetched.status >= 500 or fetched.status == 429):
            return  # the response may be another one tomorrow
        record = _encode_record(0 if is_subrequest else self._last + 1, request, fetched)
        if record is None:
            return
        if is_subrequest:
            self._ring_segment().append(*record)
            return
        self._last += 1
        if self._segment is None:
            self._segment = _Segment(self._next_file(_RESPONSES))
        self._segment.append(*record)
        self._open_files[self._last] = self._segment.path
        self._returned.setdefault(request_key(request), deque()).append(self._last)

    async def add_large(self, request: Request, page: Page) -> None:
        """Append a large page in a thread, to a file of its own, so that other requests are not delayed."""
        record = _encode_record(self._last + 1, request, page)
        if record is None:
            return
        self._last += 1
        number = self._last
        self._end_file()  # later responses go to a later file
        segment = _Segment(self._next_file(_RESPONSES))
        self._open_files[number] = segment.path
        await asyncio.to_thread(_write_once, segment, record)
        self._returned.setdefault(request_key(request), deque()).append(number)

    def _ring_segment(self) -> _Segment:
        if self._ring is None:
            files = self._files(_SUBREQUESTS)
            self._ring = _Segment(files[-1] if files else self._next_file(_SUBREQUESTS))
        if self._ring.size >= self._ring_bytes:
            self._ring.close()
            self._ring = _Segment(self._next_file(_SUBREQUESTS))
            for path in self._files(_SUBREQUESTS)[:-2]:
                path.unlink()  # a location in it is no longer readable
        return self._ring

    def settle(self, kind: RequestKind, url: str) -> None:
        """Record that the next commit will contain the results of the oldest open response to this request."""
        key = f"{kind.value} {url}"
        numbers = self._returned.get(key)
        if numbers:
            self._open_files.pop(numbers.popleft(), None)
            if not numbers:
                del self._returned[key]

    def state(self) -> bytes:
        """Return the state to store in the same commit as the settled results."""
        return _encode(_State(self._last, sorted(self._open_files)))

    def finish_commit(self) -> None:
        """Record that the last `state` is durable: delete the files without open responses, and start a new one."""
        self._end_file()
        for path in set(self._files(_RESPONSES)).difference(self._open_files.values()):
            path.unlink()

    def _end_file(self) -> None:
        if self._segment is not None:
            self._segment.close()
            self._segment = None

    def close(self) -> None:
        for segment in (self._segment, self._ring):
            if segment is not None:
                segment.close()
        self._segment = self._ring = None


def _encode_record(number: int, request: Request, fetched: Fetched) -> tuple[bytes, bytes] | None:
    """Return head and body of a record. None if they cannot be encoded; such a response is not journalled."""
    head, body = _Head(number, request_key(request)), b""
    if isinstance(fetched, Page):
        body, head.page = fetched.body, replace(fetched, body=b"")
    else:
        head.failure = fetched
    try:
        return _encode(head), body
    except UnicodeEncodeError:  # in a header of the server
        return None


def _write_once(segment: _Segment, record: tuple[bytes, bytes]) -> None:
    """Write a file with one record and close it. The caller may have been cancelled meanwhile."""
    try:
        segment.append(*record)
    finally:
        segment.close()


def _read_response(location: _Location) -> Fetched | None:
    """Read the response at a location. None if the file has changed since the journal was opened."""
    try:
        with location.path.open("rb") as file:
            file.seek(location.start)
            found = _read_record(file)
    except (OSError, ValueError, msgspec.DecodeError):
        return None
    if found is None:
        return None
    head, body = found
    if head.page is not None:
        return replace(head.page, body=body, recalled=True)
    return None if head.failure is None else replace(head.failure, recalled=True)


class JournalledFetcher:
    """A fetcher that recalls responses from the journal, and appends every new response to it."""

    def __init__(self, inner: Fetcher, journal: ResponseJournal) -> None:
        self._inner = inner
        self._journal = journal

    async def fetch(self, request: Request) -> Fetched:
        known = self._journal.recall(request)
        if known is not None:
            return known
        fetched = await self._inner.fetch(request)
        is_large = isinstance(fetched, Page) and len(fetched.body) + len(fetched.wire) >= _LARGE_BODY_BYTES
        if isinstance(fetched, Page) and is_large and request.kind in _SETTLED_KINDS:
            await self._journal.add_large(request, fetched)
        else:
            self._journal.add(request, fetched)
        return fetched

    async def close(self) -> None:
        await self._inner.close()

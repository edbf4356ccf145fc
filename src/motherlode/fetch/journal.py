"""A journal of answers: what has come over the network is never asked for again because of a kill.

An answer is appended to a file as soon as it has come, before anybody acts on it. The crawl says when it has made
something of an answer (`settled`); what was settled is part of its next commit, together with `state`, the numbers of
those that were not. After a kill the frontier hands out again what its last commit does not know as ended, and the
journal gives the answers to those requests: in the order in which they came, so a 503 and the page behind it are both
met again. An answer from the journal is no request; it is marked as `recalled`, and no clock runs from it.

Files are short: every commit begins a new one and removes those of which nothing is open, so on disk there is what one
or two seconds brought. Errands (contexts, services) and HEADs have no commit of their own. They are kept apart, in a
ring of two files, and recalled as often as they are asked for, for a day.

One record is one `writev`: magic, lengths, checksum, head, body. A kill can cut the last record of a file, which is
recognised and left out. Nothing is synced: a process that dies loses nothing, a machine that dies may lose the last
seconds of the journal, and then those requests are made again. Bodies are not packed: they live for a second.
"""

from __future__ import annotations

import asyncio
import os
import struct
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import msgspec
import xxhash

from motherlode.model import Failure, Fetched, Fetcher, Page, Request, RequestKind

_MAGIC = b"MLj1"
_FRAME = struct.Struct("<4sIIQ")
"""Magic, bytes of the head, bytes of the body, checksum of both."""
_RING_BYTES = 32 << 20
"""Of errands in one file; there are two."""
_LARGE = 1 << 20
"""Bytes of a body that takes milliseconds to write."""
_ERRANDS_LAST = 86_400.0
"""Seconds after which a context is asked for again: a crawl may be resumed, or looked at again, much later."""
_ANSWERS, _ERRANDS = "answers", "errands"
_SETTLED = (RequestKind.PAGE, RequestKind.ROBOTS)
"""Kinds of requests whose answers a commit settles; the others go to the ring."""


class _Head(msgspec.Struct, array_like=True, gc=False):
    """A record but for the body of its page."""

    number: int
    key: str
    page: Page | None = None
    failure: Failure | None = None


class _State(msgspec.Struct, array_like=True):
    """What a commit says about the journal."""

    last: int
    open: list[int]


_encode = msgspec.msgpack.Encoder().encode
_decode_head = msgspec.msgpack.Decoder(_Head).decode


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a record lies."""

    number: int
    path: Path
    start: int


def key_of(request: Request) -> str:
    """What makes two requests the same request."""
    key = f"{request.kind.value} {request.url}"
    if request.kind in _SETTLED:
        return key
    sent = b"" if request.posting is None else request.posting.body
    return f"{key} {request.accept} {xxhash.xxh3_128_hexdigest(sent)}"


class _Segment:
    """A file that records are appended to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.size = os.fstat(self._file).st_size
        self._broken = ""

    def append(self, head: bytes, body: bytes) -> int:
        """Where the record begins. An error is for good: behind a torn record nothing could be found again."""
        if self._broken:
            raise OSError(self._broken)
        checksum = xxhash.xxh3_64_intdigest(body, seed=xxhash.xxh32_intdigest(head))
        parts = (_FRAME.pack(_MAGIC, len(head), len(body), checksum), head, body)
        start, wanted = self.size, sum(map(len, parts))
        try:
            written = os.writev(self._file, parts)
        except OSError as error:
            self._broken = f"the journal of answers {self.path} could not be written: {error.strerror}"
            raise OSError(self._broken) from error
        self.size += written
        if written < wanted:
            self._broken = f"the journal of answers {self.path} could not be written: is the disk full?"
            raise OSError(self._broken)
        return start

    def close(self) -> None:
        os.close(self._file)


def _read(file: BinaryIO) -> tuple[_Head, bytes] | None:
    """The record at which the file stands; None at the end, and where a kill has cut the record."""
    frame = file.read(_FRAME.size)
    if len(frame) < _FRAME.size:
        return None
    magic, head_size, body_size, checksum = _FRAME.unpack(frame)
    if magic != _MAGIC:
        raise ValueError("no record begins here")
    head, body = file.read(head_size), file.read(body_size)
    if len(head) < head_size or len(body) < body_size:
        return None
    if xxhash.xxh3_64_intdigest(body, seed=xxhash.xxh32_intdigest(head)) != checksum:
        raise ValueError("a checksum is wrong")
    return _decode_head(head), body


class ResponseJournal:
    """The files of a journal, and what of them is still open."""

    def __init__(self, folder: Path, *, state: bytes | None, ring_bytes: int = _RING_BYTES) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._ring_bytes = ring_bytes
        self.problems: list[str] = []
        """What could not be read, for a person. Those answers are asked for again."""
        self.latest = 0.0
        """When the last answer of earlier runs came, of those that were not settled; 0.0 if there is none."""
        self._recalled: dict[str, deque[_Place]] = {}
        """Answers of earlier runs that nobody has asked for yet."""
        self._where: dict[int, Path] = {}
        """The file of each answer that is open: not settled, or not asked for again yet."""
        self._handed: dict[str, deque[int]] = {}
        """Answers that were handed out and are not settled, by their request."""
        self._errands: dict[str, _Place] = {}
        self._answers: _Segment | None = None
        self._ring: _Segment | None = None
        known = self._known(state)
        self._last = known.last
        self._load(known)
        self._load_errands()

    def _known(self, state: bytes | None) -> _State:
        try:
            return msgspec.msgpack.decode(state, type=_State) if state is not None else _State(0, [])
        except msgspec.DecodeError as error:
            self.problems.append(f"journal: its state cannot be read ({error}); answers may be taken up twice")
            return _State(0, [])

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────

    def _load(self, known: _State) -> None:
        still_open = set(known.open)
        for path in self._files(_ANSWERS):
            for place, head in self._records(path):
                self._last = max(self._last, head.number)
                if head.number > known.last or head.number in still_open:
                    self._recalled.setdefault(head.key, deque()).append(place)
                    self._where[head.number] = path
                    fetched = head.page or head.failure
                    self.latest = max(self.latest, fetched.fetched_at if fetched is not None else 0.0)

    def _load_errands(self) -> None:
        paths = self._files(_ERRANDS)
        for path in paths:
            end = 0
            for place, head in self._records(path):
                self._errands[head.key] = place
                end = place.number
            if path == paths[-1] and end < path.stat().st_size:
                os.truncate(path, end)  # what follows a cut record could not be found

    def _records(self, path: Path) -> Iterator[tuple[_Place, _Head]]:
        """Every record of a file up to the first that cannot be read; errands are numbered by where they end."""
        with path.open("rb") as file:
            while True:
                start = file.tell()
                try:
                    found = _read(file)
                except (ValueError, msgspec.DecodeError) as error:
                    lost = os.fstat(file.fileno()).st_size - start
                    self.problems.append(f"journal: {lost} bytes of {path.name} cannot be read ({error})")
                    return
                if found is None:
                    return
                number = found[0].number or file.tell()
                yield _Place(number, path, start), found[0]

    def _files(self, kind: str) -> list[Path]:
        return sorted(self._folder.glob(f"{kind}-*.journal"))

    def _next_file(self, kind: str) -> Path:
        files = self._files(kind)
        number = int(files[-1].stem.rpartition("-")[2]) + 1 if files else 1
        return self._folder / f"{kind}-{number:08d}.journal"

    # ── answers ──────────────────────────────────────────────────────────────────────────────────────

    def recall(self, request: Request) -> Fetched | None:
        """The answer that an earlier run got to this request, if it could not make anything of it."""
        key = key_of(request)
        if request.kind not in _SETTLED:
            return self._recall_errand(key)
        places = self._recalled.get(key)
        if not places:
            return None
        place = places.popleft()
        if not places:
            del self._recalled[key]
        found = _fetched(place)
        if found is None:
            self._where.pop(place.number, None)
        else:
            self._handed.setdefault(key, deque()).append(place.number)
        return found

    def _recall_errand(self, key: str) -> Fetched | None:
        place = self._errands.get(key)
        found = None if place is None else _fetched(place)
        return found if found is not None and time.time() - found.fetched_at < _ERRANDS_LAST else None

    def add(self, request: Request, fetched: Fetched) -> None:
        """Keep an answer that has just come."""
        errand = request.kind not in _SETTLED
        if errand and not _is_final(fetched):
            return
        record = _record(0 if errand else self._last + 1, request, fetched)
        if record is None:
            return
        if errand:
            self._ring_segment().append(*record)
            return
        self._last += 1
        if self._answers is None:
            self._answers = _Segment(self._next_file(_ANSWERS))
        self._answers.append(*record)
        self._where[self._last] = self._answers.path
        self._handed.setdefault(key_of(request), deque()).append(self._last)

    async def add_large(self, request: Request, page: Page) -> None:
        """The same for a page whose writing would hold up others: a thread does it, to a file of its own."""
        record = _record(self._last + 1, request, page)
        if record is None:
            return
        self._last += 1
        number = self._last
        self._end_file()  # what comes later stands in a later file
        segment = _Segment(self._next_file(_ANSWERS))
        self._where[number] = segment.path
        await asyncio.to_thread(_write_once, segment, record)
        self._handed.setdefault(key_of(request), deque()).append(number)

    def _ring_segment(self) -> _Segment:
        if self._ring is None:
            files = self._files(_ERRANDS)
            self._ring = _Segment(files[-1] if files else self._next_file(_ERRANDS))
        if self._ring.size >= self._ring_bytes:
            self._ring.close()
            self._ring = _Segment(self._next_file(_ERRANDS))
            for path in self._files(_ERRANDS)[:-2]:
                path.unlink()
                self._errands = {key: place for key, place in self._errands.items() if place.path != path}
        return self._ring

    def settled(self, kind: RequestKind, url: str) -> None:
        """All that follows from the oldest open answer to this request will be in the next commit."""
        key = f"{kind.value} {url}"
        numbers = self._handed.get(key)
        if numbers:
            self._where.pop(numbers.popleft(), None)
            if not numbers:
                del self._handed[key]

    # ── what lasts ───────────────────────────────────────────────────────────────────────────────────

    def state(self) -> bytes:
        """To be kept by the same commit as what was settled."""
        return _encode(_State(self._last, sorted(self._where)))

    def committed(self) -> None:
        """The last `state` is lasting: remove the files of which nothing is open, and begin a new one."""
        self._end_file()
        needed = set(self._where.values())
        files = self._files(_ANSWERS)
        for path in files:
            if path not in needed:
                path.unlink()

    def _end_file(self) -> None:
        if self._answers is not None:
            self._answers.close()
            self._answers = None

    def close(self) -> None:
        for segment in (self._answers, self._ring):
            if segment is not None:
                segment.close()
        self._answers = self._ring = None


def _record(number: int, request: Request, fetched: Fetched) -> tuple[bytes, bytes] | None:
    """Head and body as they are written; None for what cannot be: such an answer is only less lasting."""
    head, body = _Head(number, key_of(request)), b""
    if isinstance(fetched, Page):
        body, head.page = fetched.body, replace(fetched, body=b"")
    else:
        head.failure = fetched
    try:
        return _encode(head), body
    except UnicodeEncodeError:  # of a server's own words
        return None


def _write_once(segment: _Segment, record: tuple[bytes, bytes]) -> None:
    """A whole file with one record. It is closed here, because nobody may be waiting any more."""
    try:
        segment.append(*record)
    finally:
        segment.close()


def _is_final(fetched: Fetched) -> bool:
    """Answers that would be the same tomorrow."""
    return fetched.status is not None and fetched.status < 500 and fetched.status != 429


def _fetched(place: _Place) -> Fetched | None:
    """The answer at a place, if it is still as it was when the journal was opened."""
    try:
        with place.path.open("rb") as file:
            file.seek(place.start)
            found = _read(file)
    except (OSError, ValueError, msgspec.DecodeError):
        return None
    if found is None:
        return None
    head, body = found
    if head.page is not None:
        return replace(head.page, body=body, recalled=True)
    return None if head.failure is None else replace(head.failure, recalled=True)


class JournalledFetcher:
    """A fetcher that asks the journal first, and tells it every answer."""

    def __init__(self, inner: Fetcher, journal: ResponseJournal) -> None:
        self._inner = inner
        self._journal = journal

    async def fetch(self, request: Request) -> Fetched:
        known = self._journal.recall(request)
        if known is not None:
            return known
        fetched = await self._inner.fetch(request)
        if isinstance(fetched, Page) and len(fetched.body) >= _LARGE and request.kind in _SETTLED:
            await self._journal.add_large(request, fetched)
        else:
            self._journal.add(request, fetched)
        return fetched

    async def close(self) -> None:
        await self._inner.close()

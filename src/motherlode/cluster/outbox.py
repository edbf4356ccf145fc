"""What one shard sends to another: links of its hosts, page by page, with what a policy may know of each page."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
import xxhash
import zstandard

from motherlode.cluster.partitioner import owner_of
from motherlode.crawler.engine.components import SaveEntry
from motherlode.frontier import FrontierStorage
from motherlode.model import Link, LinkSource, Outcome
from motherlode.www.urls import host_of

_LEVEL = 1
_MOST_BYTES = 256 << 20
"""Of a batch when unpacked; more is no batch of ours."""


_FORMAT = 2
"""Version of the batches in storage. In version 1 the page on which links were found was kept in two parts."""


class PageLinks(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Links that one page has for one shard. The parent is sent without its links and hashes."""

    links: Sequence[Link]
    parent: Outcome | None

    def unpacked_parent(self) -> Outcome | None:
        """Return the parent with the links of this message as its links."""
        return None if self.parent is None else msgspec.structs.replace(self.parent, links=self.links)


class LinkBatch(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A batch in the sender's storage, where it stays until the receiver has committed it."""

    to: int
    links: int
    batch: bytes
    format: int = 1


def page_links(links: Sequence[Link], parent: Outcome | None) -> PageLinks:
    """Return the message that carries links of one page to one shard."""
    if parent is not None:
        parent = msgspec.structs.replace(parent, links=(), statement_hashes=b"")
    return PageLinks(links, parent)


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[PageLinks])


def pack(parcels: Sequence[PageLinks]) -> bytes:
    """Return a compressed batch: the URLs of one page resemble each other."""
    return zstandard.compress(_encoder.encode(parcels), _LEVEL)


def unpack(batch: bytes) -> list[PageLinks]:
    return _decoder.decode(zstandard.decompress(batch, max_output_size=_MOST_BYTES))


class _OldPageLinks(msgspec.Struct, frozen=True, array_like=True):
    """The message of version 1."""

    links: Sequence[Link]
    parent: dict[str, Any] | None
    found_on: tuple[str, int, float, int] | None
    """URL, depth, score and redirects in a row."""


_old_decoder = msgspec.msgpack.Decoder(list[_OldPageLinks])


def batch_bytes(letter: LinkBatch) -> bytes:
    """Return the batch of a letter as this version sends it, whichever version stored it."""
    if letter.format >= _FORMAT:
        return letter.batch
    pages = _old_decoder.decode(zstandard.decompress(letter.batch, max_output_size=_MOST_BYTES))
    return pack([PageLinks(page.links, _upgraded_parent(page)) for page in pages])


def _upgraded_parent(page: _OldPageLinks) -> Outcome | None:
    if page.parent is None and page.found_on is None:
        return None
    fields = dict(page.parent or {})
    if "memo" in fields:
        fields["policy_state"] = fields.pop("memo")
    if page.found_on is not None:
        url, depth, score, hops = page.found_on
        fields = {"url": url, "host": host_of(url), **fields, "depth": depth, "score": score, "hops": hops}
    return msgspec.convert(fields, Outcome)


# ── The exchange: links for other shards, from the page on which they were found until their owner has made them …

Send = Callable[[int, bytes], Awaitable[bool]]
"""Give a batch to a shard; True once it is lasting there, False where it must be tried again."""
MAX_BATCH_LINKS = 1000
"""Links at which a letter is closed; see bench/results/cluster.md for what smaller ones cost."""
BATCHES_PER_SECOND = 10
"""Letters that a shard sends at most while none is full: with many shards each waits longer, and is fuller."""
LEAST_WAIT = 0.1
"""Seconds that a link waits for company."""
IN_FLIGHT = 4
"""Letters to one shard that are not acknowledged."""
MAX_BATCHES = 20_000
"""Letters on disk at which the shard stops beginning pages."""
_SENT_LATELY = 1 << 20
_RETRY_SECONDS = 0.5

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(LinkBatch).decode


class Outbox:
    """The `Peers` of a shard. `run` sends until it is cancelled."""

    def __init__(self, storage: FrontierStorage, *, own: int, shards: int, reason: Callable[[str], str]) -> None:
        self._ledger = storage
        self._own = own
        self._shards = shards
        self._reason = reason
        self._parcels: list[list[PageLinks]] = [[] for _ in range(shards)]
        self._links = [0] * shards
        """In each buffer."""
        self._since = [0.0] * shards
        self._drafts: list[int | None] = [None] * shards
        """The number under which an open letter lies in the ledger, once a commit has taken it there."""
        self._changed: set[int] = set()
        """Owners whose open letter has grown since the last commit."""
        self._lately: list[int] = [0] * _SENT_LATELY
        """Hashes of URLs by their last bits: a bounded set that forgets what was met longest ago, more or less."""
        self._waiting: list[deque[int]] = [deque() for _ in range(shards)]
        """Numbers of letters; the letters themselves lie in the ledger."""
        self._sending = [0] * shards
        self._number = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._commits: list[asyncio.Future[None]] = []
        self.letters = self.links_sent = self.bytes_sent = self.suppressed = 0
        self._open_letters = 0
        self.closed = False
        self._broken: BaseException | None = None
        for number, data in storage.batches():
            letter = _decode(data)
            self._waiting[letter.to].append(number)
            self._number = number + 1
            self._open_letters += 1
        self._wait = max(LEAST_WAIT, (shards - 1) / BATCHES_PER_SECOND)

    # ── the neighbours of the crawl ──────────────────────────────────────────────────────────────────

    def keep_own(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Link]:
        own: list[Link] = []
        others: dict[int, list[Link]] = {}
        for link in links:
            owner = owner_of(link.url, self._shards)
            if owner == self._own:
                own.append(link)
            elif link.source is LinkSource.SEED:
                continue  # every shard is given all seeds
            elif self._reason(link.url):
                own.append(link)  # the frontier refuses it as well, and counts it
            elif self._is_news(link.url):
                others.setdefault(owner, []).append(link)
        for owner, found in others.items():
            self._add(owner, page_links(found, parent))
        return own

    def _is_news(self, url: str) -> bool:
        key = xxhash.xxh3_64_intdigest(url.encode())
        place = key & (_SENT_LATELY - 1)
        if self._lately[place] == key:
            self.suppressed += 1
            return False
        self._lately[place] = key
        return True

    def _add(self, owner: int, parcel: PageLinks) -> None:
        if not self._parcels[owner]:
            self._since[owner] = time.monotonic()
        self._parcels[owner].append(parcel)
        self._links[owner] += len(parcel.links)
        self._changed.add(owner)
        if self._links[owner] >= MAX_BATCH_LINKS:
            self._close_letter(owner)

    def _write(self, owner: int) -> int:
        """Put the open letter into the ledger as it is now; its number."""
        number = self._drafts[owner]
        if number is None:
            number = self._drafts[owner] = self._number
            self._number += 1
        letter = LinkBatch(owner, self._links[owner], pack(self._parcels[owner]), _FORMAT)
        self._ledger.put_batch(number, _encode(letter))
        return number

    def _close_letter(self, owner: int) -> None:
        self._waiting[owner].append(self._write(owner))
        self._open_letters += 1
        self.links_sent += self._links[owner]
        self._parcels[owner], self._links[owner], self._drafts[owner] = [], 0, None
        self._changed.discard(owner)

    def prepare_commit(self, save: SaveEntry) -> None:
        """Write the open batches into the storage."""
        for owner in self._changed:
            self._write(owner)
        self._changed.clear()

    def committed(self) -> None:
        waiting, self._commits = self._commits, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    # ── what others want to know ─────────────────────────────────────────────────────────────────────

    @property
    def at_rest(self) -> bool:
        """Everything that was found for others is lasting with them."""
        return not self._open_letters and not any(self._links)

    @property
    def crowded(self) -> bool:
        return self._open_letters >= MAX_BATCHES

    async def lasting(self) -> None:
        """Return when all that the frontier knows now is in a commit."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._commits.append(future)
        await future

    def close(self) -> None:
        """The ledger is about to be closed: leave it alone, whatever is still to be sent or acknowledged."""
        self.closed = True

    # ── sending ──────────────────────────────────────────────────────────────────────────────────────

    async def run(self, send: Send, *, idle: Callable[[], bool] = lambda: True) -> None:
        """Send until closed or cancelled. An `idle` shard has nothing to fill its letters with, and sends them."""
        try:
            while not self.closed:
                if self._broken is not None:
                    raise self._broken
                now = time.monotonic()
                wait = LEAST_WAIT if idle() else self._wait
                for owner in range(self._shards):
                    if self._parcels[owner] and now - self._since[owner] >= wait:
                        self._close_letter(owner)
                    self._send_to(owner, send)
                await asyncio.sleep(LEAST_WAIT / 4)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _send_to(self, owner: int, send: Send) -> None:
        while self._waiting[owner] and self._sending[owner] < IN_FLIGHT:
            number = self._waiting[owner].popleft()
            data = self._ledger.batch(number)
            if data is None:
                raise ValueError(f"the letter {number} to shard {owner} is not in the ledger")
            self._sending[owner] += 1
            task = asyncio.create_task(self._deliver(owner, number, batch_bytes(_decode(data)), send))
            self._tasks.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._broken = task.exception()

    async def _deliver(self, owner: int, number: int, batch: bytes, send: Send) -> None:
        try:
            while True:
                self.letters += 1
                self.bytes_sent += len(batch)
                if await send(owner, batch):
                    break
                await asyncio.sleep(_RETRY_SECONDS)
            if not self.closed:
                self._ledger.drop_batch(number)
                self._open_letters -= 1
        finally:
            self._sending[owner] -= 1

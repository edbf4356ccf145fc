"""The outbox of a shard: links to hosts of other shards, in batches, until their owners have committed them.

A batch contains the links of several pages (`PageLinks`). Each has the page's `Outcome` for the receiver's policy.
Batches stay in the frontier storage until the receiver acknowledges them, so they survive a crash of the sender.
"""

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
from motherlode.cluster.shard_messages import Traffic
from motherlode.crawler.engine.components import SaveEntry
from motherlode.frontier import FrontierStorage
from motherlode.model import Link, LinkSource, Outcome
from motherlode.www.urls import host_of

Send = Callable[[int, bytes], Awaitable[bool]]
"""Send a batch to a shard. The result is True after the shard has committed it, and False if it must be sent again."""
MAX_BATCH_LINKS = 1000
"""Number of links at which a batch is closed. bench/results/cluster.md has the cost of smaller batches."""
BATCHES_PER_SECOND = 10
"""Maximum number of partly filled batches that a shard sends per second. With more shards, each batch waits longer."""
MIN_WAIT_SECONDS = 0.1
"""Minimum seconds that an open batch waits for further links."""
MAX_BATCHES_IN_FLIGHT = 4
"""Maximum number of batches in flight to one shard."""
MAX_STORED_BATCHES = 20_000
"""Number of stored batches at which the shard stops starting pages."""
_RECENT_URLS = 1 << 20
"""Number of recently sent URLs to remember; a power of two."""
_RETRY_SECONDS = 0.5
_COMPRESSION_LEVEL = 1
_MAX_BATCH_BYTES = 256 << 20
"""Maximum size of a decompressed batch. A larger one is refused as invalid."""
_FORMAT = 2
"""Version of the batches in storage. Version 1 stored the parent page of the links in two parts."""


class PageLinks(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Links from one page to hosts of one shard. The parent is sent without its links and statement hashes."""

    links: Sequence[Link]
    parent: Outcome | None

    def parent_with_links(self) -> Outcome | None:
        return None if self.parent is None else msgspec.structs.replace(self.parent, links=self.links)


class LinkBatch(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A batch in the sender's storage, where it stays until the receiver has committed it."""

    to: int
    links: int
    batch: bytes
    format: int = 1


def make_page_links(links: Sequence[Link], parent: Outcome | None) -> PageLinks:
    """Return the message that carries links of one page to one shard."""
    if parent is not None:
        parent = msgspec.structs.replace(parent, links=(), statement_hashes=b"")
    return PageLinks(links, parent)


_encode = msgspec.msgpack.Encoder().encode
_decode_pages = msgspec.msgpack.Decoder(list[PageLinks]).decode
_decode_batch = msgspec.msgpack.Decoder(LinkBatch).decode


def pack(pages: Sequence[PageLinks]) -> bytes:
    """Return a compressed batch. Compression is effective because the URLs of one page resemble each other."""
    return zstandard.compress(_encode(pages), _COMPRESSION_LEVEL)


def unpack(batch: bytes) -> list[PageLinks]:
    return _decode_pages(zstandard.decompress(batch, max_output_size=_MAX_BATCH_BYTES))


_OldPageLinks = tuple[list[Link], dict[str, Any] | None, tuple[str, int, float, int] | None]
"""The message of version 1: links, parent, and the parent's URL, depth, score and number of consecutive redirects."""


def encode_batch(stored: LinkBatch) -> bytes:
    """Return a stored batch in the format of this version."""
    if stored.format >= _FORMAT:
        return stored.batch
    data = zstandard.decompress(stored.batch, max_output_size=_MAX_BATCH_BYTES)
    pages = []
    for links, parent, found_on in msgspec.msgpack.decode(data, type=list[_OldPageLinks]):
        fields = dict(parent or {})
        if "memo" in fields:
            fields["policy_state"] = fields.pop("memo")
        if found_on is not None:
            url, depth, score, hops = found_on
            fields = {"url": url, "host": host_of(url), **fields, "depth": depth, "score": score, "hops": hops}
        pages.append(PageLinks(links, msgspec.convert(fields, Outcome) if fields else None))
    return pack(pages)


class Outbox:
    """Store and send links to hosts of other shards. This is the `Peers` component of a shard's engine."""

    def __init__(self, storage: FrontierStorage, *, own: int, shards: int, reason: Callable[[str], str]) -> None:
        self._storage = storage
        self._own = own
        self._shards = shards
        self._reason = reason
        self._pages: list[list[PageLinks]] = [[] for _ in range(shards)]
        self._links = [0] * shards
        """Number of links in the open batch of each owner."""
        self._opened_at = [0.0] * shards
        self._open_numbers: list[int | None] = [None] * shards
        """Number of each owner's open batch in the storage. None if no commit has stored it yet."""
        self._changed: set[int] = set()
        """Owners whose open batch has grown since the last commit."""
        self._recently_sent: list[int] = [0] * _RECENT_URLS
        """URL hashes, indexed by the last bits of the hash. A new URL overwrites the previous one in its slot."""
        self._waiting: list[deque[int]] = [deque() for _ in range(shards)]
        """Numbers of closed batches, by owner. The batches are in the storage."""
        self._sending = [0] * shards
        self._number = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._commits: list[asyncio.Future[None]] = []
        self.traffic = Traffic()
        self._unacknowledged = 0
        self.closed = False
        self._error: BaseException | None = None
        self._has_changed = asyncio.Event()
        """Set when links were added, after an error, and at the end."""
        for number, data in storage.batches():
            self._waiting[_decode_batch(data).to].append(number)
            self._number = number + 1
            self._unacknowledged += 1
        self._wait = max(MIN_WAIT_SECONDS, (shards - 1) / BATCHES_PER_SECOND)

    def keep_own(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Link]:
        """Return the links to own hosts, and add the others to the batches of their owners."""
        own: list[Link] = []
        others: dict[int, list[Link]] = {}
        for link in links:
            owner = owner_of(link.url, self._shards)
            if owner == self._own:
                own.append(link)
            elif link.source is LinkSource.SEED:
                continue  # every shard gets all seeds
            elif self._reason(link.url):
                own.append(link)  # the frontier refuses and counts it
            elif self._is_new(link.url):
                others.setdefault(owner, []).append(link)
        for owner, found in others.items():
            self._add(owner, make_page_links(found, parent))
        return own

    def _is_new(self, url: str) -> bool:
        """Return whether the URL was not sent recently, and remember it."""
        key = xxhash.xxh3_64_intdigest(url.encode())
        slot = key & (_RECENT_URLS - 1)
        if self._recently_sent[slot] == key:
            self.traffic.suppressed += 1
            return False
        self._recently_sent[slot] = key
        return True

    def _add(self, owner: int, page: PageLinks) -> None:
        if not self._pages[owner]:
            self._opened_at[owner] = time.monotonic()
        self._pages[owner].append(page)
        self._links[owner] += len(page.links)
        self._changed.add(owner)
        self._has_changed.set()
        if self._links[owner] >= MAX_BATCH_LINKS:
            self._close_batch(owner)

    def _store_batch(self, owner: int) -> int:
        """Write the open batch into the storage and return its number."""
        number = self._open_numbers[owner]
        if number is None:
            number = self._open_numbers[owner] = self._number
            self._number += 1
        batch = LinkBatch(owner, self._links[owner], pack(self._pages[owner]), _FORMAT)
        self._storage.put_batch(number, _encode(batch))
        return number

    def _close_batch(self, owner: int) -> None:
        self._waiting[owner].append(self._store_batch(owner))
        self._unacknowledged += 1
        self.traffic.links += self._links[owner]
        self._pages[owner], self._links[owner], self._open_numbers[owner] = [], 0, None
        self._changed.discard(owner)

    def prepare_commit(self, save: SaveEntry) -> None:
        """Write the open batches into the storage."""
        for owner in self._changed:
            self._store_batch(owner)
        self._changed.clear()

    def committed(self) -> None:
        """Wake up the callers of `wait_for_commit`."""
        waiting, self._commits = self._commits, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    @property
    def is_empty(self) -> bool:
        """Whether the owners have committed all links of this outbox."""
        return not self._unacknowledged and not any(self._links)

    @property
    def is_full(self) -> bool:
        """Whether the shard must not start pages because `MAX_STORED_BATCHES` batches are stored."""
        return self._unacknowledged >= MAX_STORED_BATCHES

    async def wait_for_commit(self) -> None:
        """Wait for the next commit, which contains all that the frontier contains now."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._commits.append(future)
        await future

    def close(self) -> None:
        """Stop all access to the storage, which is about to be closed. Unsent batches stay there."""
        self.closed = True
        self._has_changed.set()

    async def run(self, send: Send, *, idle: Callable[[], bool] = lambda: True) -> None:
        """Send batches until closed or cancelled. If the shard is `idle`, partly filled batches are sent sooner."""
        try:
            while not self.closed:
                if self._error is not None:
                    raise self._error
                now = time.monotonic()
                wait = MIN_WAIT_SECONDS if idle() else self._wait
                for owner in range(self._shards):
                    if self._pages[owner] and now - self._opened_at[owner] >= wait:
                        self._close_batch(owner)
                    self._send_to(owner, send)
                if any(self._links) or any(self._waiting):
                    await asyncio.sleep(MIN_WAIT_SECONDS / 4)
                else:
                    self._has_changed.clear()
                    await self._has_changed.wait()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _send_to(self, owner: int, send: Send) -> None:
        while self._waiting[owner] and self._sending[owner] < MAX_BATCHES_IN_FLIGHT:
            number = self._waiting[owner].popleft()
            data = self._storage.batch(number)
            if data is None:
                raise ValueError(f"internal error: batch {number} to shard {owner} is not in the frontier storage")
            self._sending[owner] += 1
            task = asyncio.create_task(self._deliver(owner, number, encode_batch(_decode_batch(data)), send))
            self._tasks.add(task)
            task.add_done_callback(self._finish_delivery)

    def _finish_delivery(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._error = task.exception()
            self._has_changed.set()

    async def _deliver(self, owner: int, number: int, batch: bytes, send: Send) -> None:
        try:
            while True:
                self.traffic.batches += 1
                self.traffic.bytes += len(batch)
                if await send(owner, batch):
                    break
                await asyncio.sleep(_RETRY_SECONDS)
            if not self.closed:
                self._storage.drop_batch(number)
                self._unacknowledged -= 1
        finally:
            self._sending[owner] -= 1

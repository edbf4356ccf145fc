"""A shard: the crawl of one machine, unchanged, with neighbours. No Ray in here.

It takes links from others (`deliver`), sends what it finds for them (exchange.py), and reports to the coordinator a few
times a second. All of that is beside the crawl, in the same event loop; nothing in the crawl waits for any of it.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import msgspec

from motherlode.cluster.checkpoint_storage import CheckpointStorage
from motherlode.cluster.coordinator import MERGE_SECONDS
from motherlode.cluster.grants import GrantClient
from motherlode.cluster.outbox import Outbox, Send, unpack
from motherlode.cluster.shard_messages import Orders, ShardReport, Traffic
from motherlode.crawler import CrawlFolder, Job, JobError
from motherlode.crawler.engine.components import Peers
from motherlode.crawler.engine.factory import Assembled, assemble
from motherlode.frontier import FrontierStorage, LmdbStorage
from motherlode.model import Mergeable

REPORTS_PER_SECOND = 500
"""That the coordinator gets from all shards together."""
_REPORT_SECONDS = 0.2
_LOCK_SECONDS = 60.0
"""How long the folder of a process that has just died may stay locked."""
_MOST_VISITS = 1000
"""In one report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardSpec:
    """Everything that a shard is told when it is started, and told again when it must be started again."""

    number: int
    shards: int
    job: Job
    folder: Path
    """Of the whole crawl."""
    nodes: int = 1
    """Machines that the shards are spread over."""
    cores: tuple[int, ...] = ()
    """Processor cores to stay on; empty for all. For measurements."""

    def place(self, node: str) -> Path:
        """Where this shard works: in the crawl's folder; where there are checkpoints, in a part of it for one node."""
        name = f"{self.number:04d}"
        return self.folder / "nodes" / node / name if self.job.state else self.folder / "shards" / name

    def own_job(self, processors: int) -> Job:
        """The job as the shard's crawl sees it: budgets are the coordinator's, words are indexed after the merge."""
        here = -(-self.shards // self.nodes)  # shards on one machine: each has its part of the cores for its readers
        workers = self.job.workers or max(1, processors // here - 1)
        return replace(self.job, pages=None, workers=workers, words=False, shards=1, ray="", state="")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardResult:
    """What a shard says at its end."""

    totals: bytes
    visits: list[bytes]
    """Those that no report has told."""


class Board(Protocol):
    """The coordinator, as a shard sees it."""

    async def joined(self, shard: int, totals: bytes) -> int: ...

    async def report(self, report: ShardReport) -> Orders: ...


class Shard:
    """`run` it once; `deliver` may be called at any time."""

    def __init__(self, spec: ShardSpec, *, node: str = "") -> None:
        self._spec = spec
        self._assembled: Assembled | None = None
        self._exchange: Outbox | None = None
        self._keeper: GrantClient | None = None
        self._checkpoints = CheckpointStorage(spec.job.state, spec.number) if spec.job.state else None
        self._folder = CrawlFolder(spec.place(node))
        self._visits: list[bytes] = []
        self._deliveries = 0
        self._incarnation = 0
        self._limit = 0
        self._round = 0
        self._delta_at = time.monotonic()
        self._merge_seconds = MERGE_SECONDS
        self._unsaved: list[asyncio.Future[None]] = []
        """Those who wait for a checkpoint."""
        self._saving = asyncio.Lock()
        self._over = asyncio.Event()

    # ── links come in ────────────────────────────────────────────────────────────────────────────────

    async def deliver(self, batch: bytes) -> bool:
        """Take links that others have found; True once they are lasting, False where they must be sent again."""
        if self._assembled is None or self._exchange is None or self._exchange.closed:
            return False
        for parcel in unpack(batch):
            self._assembled.frontier.add_links(parcel.links, parent=parcel.unpacked_parent())
        self._deliveries += 1
        self._assembled.engine.wake_up()
        return await self._is_lasting(self._exchange)

    async def _is_lasting(self, exchange: Outbox) -> bool:
        over = asyncio.create_task(self._over.wait())
        steps: list[Callable[[], Awaitable[None]]] = [exchange.lasting]
        if self._checkpoints is not None:
            steps.append(self._checkpointed)
        try:
            for step in steps:
                waiting = asyncio.ensure_future(step())
                done, _ = await asyncio.wait((waiting, over), return_when=asyncio.FIRST_COMPLETED)
                if waiting not in done:
                    waiting.cancel()
                    return False
            return True
        finally:
            over.cancel()

    async def _checkpointed(self) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._unsaved.append(future)
        await future

    # ── the crawl ────────────────────────────────────────────────────────────────────────────────────

    async def run(self, board: Board, send: Send) -> ShardResult:
        """Crawl until the coordinator says stop."""
        processors = len(os.sched_getaffinity(0))
        await self._open_folder(self._spec.own_job(processors))
        assembled = self._assembled = assemble(self._spec.own_job(processors), self._folder, join=self._join)
        exchange, crawl = self._exchange, assembled.engine
        if exchange is None:
            raise ValueError("the crawl was put together without its neighbours")
        self._keeper = GrantClient(assembled.frontier)
        self._limit = crawl.pages_started
        if self._spec.job.pages is not None:
            crawl.limit_pages(self._limit)
        beside: list[asyncio.Task[None]] = []
        encode = msgspec.msgpack.Encoder().encode
        try:
            self._incarnation = await board.joined(self._spec.number, encode(crawl.totals))
            beside = [
                asyncio.create_task(exchange.run(send, idle=lambda: crawl.is_idle)),
                asyncio.create_task(self._report(board, assembled)),
            ]
            if self._checkpoints is not None:
                beside.append(asyncio.create_task(self._save_often(self._checkpoints, assembled)))
            for task in beside:
                task.add_done_callback(lambda _: crawl.stop())  # they end when all is over, or because they broke
            async with aclosing(crawl.visits(assembled.seeds)) as visits:
                async for visit in visits:
                    self._visits.append(encode(visit))
        finally:
            self._over.set()
            exchange.close()
            for task in beside:
                task.cancel()
            ended = await asyncio.gather(*beside, return_exceptions=True)
            self._folder.unlock()
        for outcome in ended:
            if isinstance(outcome, Exception):
                raise outcome
        if self._checkpoints is not None:
            await asyncio.to_thread(self._save_at_end, self._checkpoints, assembled)
            self._checkpoints.clear(self._folder)
        return ShardResult(totals=encode(crawl.totals), visits=self._visits)

    def _join(self, storage: FrontierStorage, reason: Callable[[str], str]) -> Peers:
        self._exchange = Outbox(storage, own=self._spec.number, shards=self._spec.shards, reason=reason)
        return self._exchange

    async def _open_folder(self, job: Job) -> None:
        """Take the folder as it is, or its last checkpoint, or make a new one."""
        if self._checkpoints is not None and self._checkpoints.is_newer_than(self._folder):
            await asyncio.to_thread(self._checkpoints.restore, self._folder)
        until = time.monotonic() + _LOCK_SECONDS
        while True:
            try:
                if not self._folder.has_crawl:
                    self._folder.create(job)
                self._folder.lock()
                return
            except JobError:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(0.2)

    # ── reports ──────────────────────────────────────────────────────────────────────────────────────

    async def _report(self, board: Board, assembled: Assembled) -> None:
        pause = max(_REPORT_SECONDS, self._spec.shards / REPORTS_PER_SECOND)
        while True:
            orders = await board.report(self._made_report(assembled))
            self._obey(orders, assembled)
            if orders.stop:
                await self._saving.acquire()  # and keep it: the ledger must not be closed while it is being copied
                return
            await asyncio.sleep(pause)

    def _made_report(self, assembled: Assembled) -> ShardReport:
        crawl, frontier, exchange, keeper = assembled.engine, assembled.frontier, self._exchange, self._keeper
        if exchange is None or keeper is None:
            raise ValueError("a shard that has not begun has nothing to report")
        visits, self._visits = self._visits[-_MOST_VISITS:], []
        at_rest = crawl.is_idle and exchange.at_rest
        if crawl.is_idle and self._spec.job.pages is not None:
            self._limit = crawl.pages_started  # others may have what is left of ours
            crawl.limit_pages(self._limit)
        now = assembled.clock.now()
        return ShardReport(
            shard=self._spec.number,
            incarnation=self._incarnation,
            totals=msgspec.msgpack.encode(crawl.totals),
            hosts=frontier.host_count,
            waiting=frontier.waiting,
            in_flight=frontier.in_flight,
            pages_begun=crawl.pages_started,
            limit=self._limit,
            hungry=not frontier.exhausted,
            rest=(self._incarnation, self._deliveries) if at_rest else None,
            knows=self._round,
            visits=visits,
            delta=self._delta(assembled),
            returned=keeper.returned(now),
            wanted=keeper.wanted(),
            traffic=Traffic(
                letters=exchange.letters,
                links=exchange.links_sent,
                bytes=exchange.bytes_sent,
                suppressed=exchange.suppressed,
            ),
        )

    def _delta(self, assembled: Assembled) -> bytes:
        now, policy = time.monotonic(), assembled.policy
        if not isinstance(policy, Mergeable) or now - self._delta_at < self._merge_seconds:
            return b""
        self._delta_at = now
        return policy.delta()

    def _obey(self, orders: Orders, assembled: Assembled) -> None:
        exchange, keeper = self._exchange, self._keeper
        if exchange is None or keeper is None:
            raise ValueError("a shard that has not begun takes no orders")
        self._round = orders.round
        self._merge_seconds = orders.merge_seconds
        for delta in orders.deltas:
            assembled.policy.absorb(delta)  # type: ignore[attr-defined]  # who sends deltas is Mergeable, and so are we
        keeper.recalled(orders.recalls)
        keeper.granted(orders.leases, assembled.clock.now())
        if orders.limit is not None:
            self._limit = orders.limit
        if exchange.crowded:
            assembled.engine.limit_pages(assembled.engine.pages_started)
        elif orders.limit is not None:
            assembled.engine.limit_pages(orders.limit)
        else:
            assembled.engine.limit_pages(1 << 62)
        if orders.leases or orders.limit is not None:
            assembled.engine.wake_up()

    # ── checkpoints ──────────────────────────────────────────────────────────────────────────────────

    async def _save_often(self, checkpoints: CheckpointStorage, assembled: Assembled) -> None:
        saved_at = time.monotonic()
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            due = time.monotonic() - saved_at >= self._spec.job.checkpoint
            if not due and not (self._unsaved and assembled.engine.is_idle):
                continue  # an idle shard does not let others wait for its acknowledgement
            async with self._saving:
                waiting, self._unsaved = self._unsaved, []
                await asyncio.to_thread(checkpoints.make, self._folder, assembled.storage, assembled.store)
            saved_at = time.monotonic()
            for future in waiting:
                if not future.done():
                    future.set_result(None)

    def _save_at_end(self, checkpoints: CheckpointStorage, assembled: Assembled) -> None:
        ledger = LmdbStorage(self._folder.frontier, read_only=True)
        try:
            checkpoints.make(self._folder, ledger, assembled.store)
        finally:
            ledger.close()

"""A shard: an unchanged crawl that exchanges links with its peers and reports to the coordinator. It does not use Ray.

A shard receives links from its peers (`deliver`), sends links to them (`outbox`), and reports to the coordinator a few
times per second. These tasks run in the event loop of the crawl, and the crawl never waits for them.
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
from motherlode.cluster.coordinator import MIN_MERGE_SECONDS
from motherlode.cluster.outbox import Outbox, Send, unpack
from motherlode.cluster.shard_messages import Orders, ShardReport
from motherlode.crawler import CrawlFolder, Job, JobError
from motherlode.crawler.engine.components import Peers
from motherlode.crawler.engine.factory import Assembled, MakeParsers, assemble
from motherlode.crawler.recrawl.refresh_plan import RefreshPlan
from motherlode.crawler.url_rules import copy_filters
from motherlode.frontier import FrontierStorage, LmdbStorage
from motherlode.model import Mergeable
from motherlode.policies.extensions import AddedPolicy

REPORTS_PER_SECOND = 500
"""Maximum rate of reports of all shards together."""
_REPORT_SECONDS = 0.2
"""Seconds between two reports. A busy shard that needs nothing from the coordinator reports half as often."""
_GRANT_CHECK_SECONDS = 0.02
"""Seconds between two checks whether the granted pages are used up."""
_LOCK_SECONDS = 60.0
"""Maximum seconds to wait for the folder lock of a process that has just died."""
_MAX_REPORT_VISITS = 1000
"""Maximum number of visits in one report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardSpec:
    """Parameters of a shard. A restarted shard gets the same parameters."""

    number: int
    shards: int
    job: Job
    folder: Path
    """Folder of the whole crawl."""
    nodes: int = 1
    """Number of machines that run shards."""
    cores: tuple[int, ...] = ()
    """Processor cores that the shard may use; empty for all. Used for measurements."""
    policies: tuple[AddedPolicy, ...] = ()
    """Policies that the program has added, which the process of the shard must know as well."""
    refresh: RefreshPlan | None = None
    """Which known pages the shard revisits; None if the run is no refresh."""

    def work_folder(self, node: str) -> Path:
        """Return the folder of this shard. If there are checkpoints, it is a different folder on each node."""
        name = f"{self.number:04d}"
        return self.folder / "nodes" / node / name if self.job.state else self.folder / "shards" / name

    def make_shard_job(self, processors: int) -> Job:
        """Return the job of the shard's crawl, without page budget and full-text index.

        The coordinator keeps the page budget, and the full-text index is made after the merge.
        """
        shards_per_node = -(-self.shards // self.nodes)
        workers = self.job.workers or max(1, processors // shards_per_node - 1)
        return replace(self.job, pages=None, workers=workers, words=False, shards=1, ray="", state="")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardResult:
    """Final totals and visits of a shard."""

    totals: bytes
    visits: list[bytes]
    """Visits after the last report."""


class CoordinatorClient(Protocol):
    """The calls of a shard to the coordinator."""

    async def join(self, shard: int, totals: bytes) -> int: ...

    async def report(self, report: ShardReport) -> Orders: ...


class Shard:
    """One shard. Call `run` once; `deliver` may be called at any time."""

    def __init__(self, spec: ShardSpec, *, node: str = "", make_parsers: MakeParsers | None = None) -> None:
        self._spec = spec
        self._make_parsers = make_parsers
        self._assembled: Assembled | None = None
        self._outbox: Outbox | None = None
        self._checkpoints = CheckpointStorage(spec.job.state, spec.number) if spec.job.state else None
        self._folder = CrawlFolder(spec.work_folder(node))
        self._visits: list[bytes] = []
        self._deliveries = 0
        self._incarnation = 0
        self._limit = 0
        self._round = 0
        self._delta_at = time.monotonic()
        self._merge_seconds = MIN_MERGE_SECONDS
        self._checkpoint_waiters: list[asyncio.Future[None]] = []
        """Deliveries that wait for the next checkpoint."""
        self._saving = asyncio.Lock()
        self._ended = asyncio.Event()

    async def deliver(self, batch: bytes) -> bool:
        """Add links from a peer. Return True once they are durable, or False if the peer must send them again."""
        if self._assembled is None or self._outbox is None or self._outbox.closed:
            return False
        for page in unpack(batch):
            self._assembled.frontier.add_links(page.links, parent=page.parent_with_links())
        self._deliveries += 1
        self._assembled.engine.wake_up()
        return await self._wait_until_durable(self._outbox)

    async def _wait_until_durable(self, outbox: Outbox) -> bool:
        ended = asyncio.create_task(self._ended.wait())
        steps: list[Callable[[], Awaitable[None]]] = [outbox.wait_for_commit]
        if self._checkpoints is not None:
            steps.append(self._wait_for_checkpoint)
        try:
            for step in steps:
                waiting = asyncio.ensure_future(step())
                done, _ = await asyncio.wait((waiting, ended), return_when=asyncio.FIRST_COMPLETED)
                if waiting not in done:
                    waiting.cancel()
                    return False
            return True
        finally:
            ended.cancel()

    async def _wait_for_checkpoint(self) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._checkpoint_waiters.append(future)
        await future

    async def run(self, coordinator: CoordinatorClient, send: Send) -> ShardResult:
        """Crawl until the coordinator orders the shard to stop."""
        job = self._spec.make_shard_job(processors=len(os.sched_getaffinity(0)))
        await self._open_folder(job)
        begin = None if self._spec.refresh is None else self._spec.refresh.begin
        assembled = self._assembled = assemble(
            job, self._folder, join=self._make_outbox, refresh=begin, make_parsers=self._make_parsers
        )
        outbox, crawl = self._outbox, assembled.engine
        if outbox is None:
            raise ValueError("internal error: the crawl was assembled without its outbox")
        crawl.add_seeds(assembled.seeds)  # now, because a link of a peer to a seed must not come first
        self._limit = crawl.pages_started
        if self._spec.job.pages is not None:
            crawl.limit_pages(self._limit)
        tasks: list[asyncio.Task[None]] = []
        encode = msgspec.msgpack.Encoder().encode
        try:
            self._incarnation = await coordinator.join(self._spec.number, encode(crawl.totals))
            tasks = [
                asyncio.create_task(outbox.run(send, idle=lambda: crawl.is_idle)),
                asyncio.create_task(self._report_periodically(coordinator, assembled, outbox)),
            ]
            if self._checkpoints is not None:
                tasks.append(asyncio.create_task(self._save_periodically(self._checkpoints, assembled)))
            for task in tasks:
                task.add_done_callback(lambda _: crawl.stop())  # a task ends when the crawl is over, or with an error
            async with aclosing(crawl.visits()) as visits:
                async for visit in visits:
                    self._visits.append(encode(visit))
        finally:
            self._ended.set()
            outbox.close()
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            self._folder.unlock()
        for outcome in ended:
            if isinstance(outcome, Exception):
                raise outcome
        if self._checkpoints is not None:
            await asyncio.to_thread(self._save_at_end, self._checkpoints, assembled)
            self._checkpoints.clear(self._folder)
        return ShardResult(totals=encode(crawl.totals), visits=self._visits)

    def _make_outbox(self, storage: FrontierStorage, reason: Callable[[str], str]) -> Peers:
        self._outbox = Outbox(storage, own=self._spec.number, shards=self._spec.shards, reason=reason)
        return self._outbox

    async def _open_folder(self, job: Job) -> None:
        """Lock the folder. Restore it first if its last checkpoint is newer, and create it if it is missing."""
        if self._checkpoints is not None and self._checkpoints.is_newer_than(self._folder):
            await asyncio.to_thread(self._checkpoints.restore, self._folder)
        deadline = time.monotonic() + _LOCK_SECONDS
        while True:
            try:
                if not self._folder.has_crawl:
                    self._folder.create(job)
                self._folder.lock()
                copy_filters(self._spec.folder / self._folder.filters.name, self._folder.filters)
                return
            except JobError:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.2)

    async def _report_periodically(self, coordinator: CoordinatorClient, assembled: Assembled, outbox: Outbox) -> None:
        pause = max(_REPORT_SECONDS, self._spec.shards / REPORTS_PER_SECOND)
        while True:
            report = self._make_report(assembled, outbox)
            orders = await coordinator.report(report)
            self._apply_orders(orders, assembled, outbox)
            if orders.stop:
                await self._saving.acquire()  # never released: the storage must stay open while a checkpoint copies it
                return
            has_requests = report.wanted or report.returned or orders.grants or orders.recalls
            engine = assembled.engine
            is_calm = not has_requests and not engine.is_idle and not engine.is_early_stopped
            has_more_pages = orders.limit is not None and orders.limit > report.limit
            await self._wait_to_report(2 * pause if is_calm else pause, assembled, has_more_pages=has_more_pages)

    async def _wait_to_report(self, seconds: float, assembled: Assembled, *, has_more_pages: bool) -> None:
        """Wait until the next report: some time, or until the granted pages are used up if there may be more."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if has_more_pages and assembled.engine.pages_started >= self._limit:
                return
            await asyncio.sleep(min(_GRANT_CHECK_SECONDS, left) if has_more_pages else left)

    def _make_report(self, assembled: Assembled, outbox: Outbox) -> ShardReport:
        crawl, frontier = assembled.engine, assembled.frontier
        visits, self._visits = self._visits[-_MAX_REPORT_VISITS:], []
        # a shard whose policy has stopped counts as idle: the crawl ends when every shard is idle or has stopped
        is_crawl_idle = crawl.is_idle or crawl.is_early_stopped
        is_idle = is_crawl_idle and outbox.is_empty
        if is_crawl_idle and self._spec.job.pages is not None:
            self._limit = crawl.pages_started  # returns the unused part of the grant
            crawl.limit_pages(self._limit)
        return ShardReport(
            shard=self._spec.number,
            incarnation=self._incarnation,
            totals=msgspec.msgpack.encode(crawl.totals),
            hosts=frontier.host_count,
            waiting=frontier.waiting,
            in_flight=frontier.in_flight,
            pages_started=crawl.pages_started,
            limit=self._limit,
            wants_more=not frontier.exhausted and not crawl.is_early_stopped,
            idle_mark=(self._incarnation, self._deliveries) if is_idle else None,
            known_round=self._round,
            visits=visits,
            delta=self._take_delta(assembled),
            returned=frontier.host_queue.take_returned_grants(assembled.clock.now()),
            wanted=frontier.host_queue.take_needed_grants(),
            traffic=replace(outbox.traffic),
        )

    def _take_delta(self, assembled: Assembled) -> bytes:
        now, policy = time.monotonic(), assembled.policy
        if now - self._delta_at < self._merge_seconds or not isinstance(policy, Mergeable):
            return b""
        self._delta_at = now
        return policy.delta()

    def _apply_orders(self, orders: Orders, assembled: Assembled, outbox: Outbox) -> None:
        crawl, host_queue = assembled.engine, assembled.frontier.host_queue
        self._round = orders.round
        self._merge_seconds = orders.merge_seconds
        for delta in orders.deltas:
            assembled.policy.absorb(delta)  # type: ignore[attr-defined]  # only a `Mergeable` policy gets deltas
        host_queue.add_grants(orders.grants, assembled.clock.now())
        host_queue.recall_grants(orders.recalls)  # after the grants, because a recall may be of a grant in these orders
        if orders.limit is not None:
            self._limit = orders.limit
        no_limit = 1 << 62
        crawl.limit_pages(crawl.pages_started if outbox.is_full else no_limit if orders.limit is None else orders.limit)
        if orders.grants or orders.limit is not None:
            crawl.wake_up()

    async def _save_periodically(self, checkpoints: CheckpointStorage, assembled: Assembled) -> None:
        saved_at = time.monotonic()
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            due = time.monotonic() - saved_at >= self._spec.job.checkpoint
            if not due and not (self._checkpoint_waiters and assembled.engine.is_idle):
                continue  # an idle shard saves at once, because its peers wait for the acknowledgement
            async with self._saving:
                waiting, self._checkpoint_waiters = self._checkpoint_waiters, []
                await asyncio.to_thread(checkpoints.save, self._folder, assembled.storage, assembled.store)
            saved_at = time.monotonic()
            for future in waiting:
                if not future.done():
                    future.set_result(None)

    def _save_at_end(self, checkpoints: CheckpointStorage, assembled: Assembled) -> None:
        storage = LmdbStorage(self._folder.frontier, read_only=True)
        try:
            checkpoints.save(self._folder, storage, assembled.store)
        finally:
            storage.close()

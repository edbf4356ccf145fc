"""Shards without Ray: several shards and the coordinator in one event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from motherlode.cluster import merge_shards
from motherlode.cluster.coordinator import Coordinator
from motherlode.cluster.outbox import make_page_links, pack
from motherlode.cluster.shard import Shard, ShardSpec
from motherlode.cluster.shard_messages import Orders, ShardReport
from motherlode.crawler import CrawlFolder, Job, read_stats
from motherlode.crawler.engine import recovery
from motherlode.model import Link, LinkSource, Outcome
from motherlode.policies import policy_from
from tests.cluster.conftest import RecordedSite, pages_of, quads_of

DEADLINE_SECONDS = 300
"""Time limit of a crawl: generous, for a loaded machine."""


class RecordingCoordinator:
    """The coordinator in this process. It records all deltas, and withholds the order to stop until `may_stop`."""

    def __init__(self, job: Job, may_stop: Callable[[RecordingCoordinator], bool]) -> None:
        self._coordinator = Coordinator(shards=job.shards, job=job)
        self._may_stop = may_stop
        self.sent: list[tuple[int, bytes]] = []
        """Deltas with the shard that sent them."""
        self.received: list[tuple[int, bytes]] = []
        """Deltas with the shard that received them."""

    async def join(self, shard: int, totals: bytes) -> int:
        return self._coordinator.join(shard, totals, time.monotonic())

    async def report(self, report: ShardReport) -> Orders:
        orders = self._coordinator.report(report, time.monotonic())
        if report.delta:
            self.sent.append((report.shard, report.delta))
        self.received.extend((report.shard, delta) for delta in orders.deltas)
        return replace(orders, stop=orders.stop and self._may_stop(self))

    def has_shared_deltas(self) -> bool:
        """Return whether both of two shards have received a delta."""
        return {shard for shard, _ in self.received} == {0, 1}


async def run_shards(
    job: Job, path: Path, *, may_stop: Callable[[RecordingCoordinator], bool] = lambda _: True
) -> RecordingCoordinator:
    folder = CrawlFolder(path)
    folder.create(job)
    folder.unlock()
    coordinator = RecordingCoordinator(job, may_stop)
    shards = [Shard(ShardSpec(number=n, shards=job.shards, job=job, folder=path)) for n in range(job.shards)]

    async def send(to: int, batch: bytes) -> bool:
        return await shards[to].deliver(batch)

    async with asyncio.timeout(DEADLINE_SECONDS):
        await asyncio.gather(*(shard.run(coordinator, send) for shard in shards))
    return coordinator


async def test_three_shards_find_the_same_pages_and_quads_as_one_crawl(site: RecordedSite, tmp_path: Path) -> None:
    await run_shards(site.job(shards=3), tmp_path / "crawl")
    folder = CrawlFolder(tmp_path / "crawl")
    assert merge_shards(folder, words=False)
    assert not merge_shards(folder, words=False), "an up-to-date folder is not merged again"
    assert pages_of(folder) == site.pages
    assert quads_of(folder) == site.quads


class _EagerPeer(RecordingCoordinator):
    """A coordinator in whose `join` links to the seeds arrive from a peer that has started earlier."""

    def __init__(self, job: Job, shards: list[Shard]) -> None:
        super().__init__(job, lambda _: True)
        links = [Link(url=url, source=LinkSource.ANCHOR) for url in job.seeds]
        self._batch, self._shards = pack([make_page_links(links, None)]), shards
        self.deliveries: list[asyncio.Task[bool]] = []

    async def join(self, shard: int, totals: bytes) -> int:
        self.deliveries.append(asyncio.create_task(self._shards[shard].deliver(self._batch)))
        await asyncio.sleep(0)  # the delivery runs up to its first wait
        return await super().join(shard, totals)


async def test_seeds_to_which_peers_link_before_the_crawl_begins_count_as_seeds(
    site: RecordedSite, tmp_path: Path
) -> None:
    folder, job = CrawlFolder(tmp_path / "crawl"), site.job(shards=1)
    folder.create(job)
    folder.unlock()
    shard = Shard(ShardSpec(number=0, shards=1, job=job, folder=folder.path))
    coordinator = _EagerPeer(job, [shard])

    async def send(to: int, batch: bytes) -> bool:
        raise AssertionError("there is one shard")

    async with asyncio.timeout(DEADLINE_SECONDS):
        await shard.run(coordinator, send)
        assert await asyncio.gather(*coordinator.deliveries) == [True]
    merge_shards(folder, words=False)
    assert quads_of(folder) == site.quads


async def test_deltas_of_a_mergeable_policy_reach_the_other_shard(site: RecordedSite, tmp_path: Path) -> None:
    """The shards run until both have received a delta, so that the test does not depend on the speed of the crawl."""
    job = site.job(shards=2, policy="bandit:success-rate")
    coordinator = await run_shards(job, tmp_path / "crawl", may_stop=RecordingCoordinator.has_shared_deltas)
    assert {shard for shard, _ in coordinator.sent} == {0, 1}
    for shard, delta in coordinator.received:
        assert (1 - shard, delta) in coordinator.sent


async def test_time_limit_ends_all_shards_while_urls_wait(site: RecordedSite, tmp_path: Path) -> None:
    await run_shards(site.job(shards=2, time=2.0, delay=600.0), tmp_path / "crawl")
    assert read_stats(CrawlFolder(tmp_path / "crawl")).totals.fetched < len(site.pages)


class _StopsAfter:
    """Breadth-first order that ends the crawl of its shard after some outcomes."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._policy = policy_from("bfs")
        for name in ("rate", "arm_ready", "arm_snoozed", "pick", "dump", "load"):
            setattr(self, name, getattr(self._policy, name))

    def learn(self, outcome: Outcome) -> None:
        self._left -= 1
        self._policy.learn(outcome)

    @property
    def stop_reason(self) -> str:
        return "enough" if self._left <= 0 else ""


async def test_sharded_crawl_ends_if_the_policy_of_every_shard_stops(
    site: RecordedSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "policy_from", lambda *_, **__: _StopsAfter(2))
    await run_shards(site.job(shards=2, delay=0.0), tmp_path / "crawl")
    fetched = read_stats(CrawlFolder(tmp_path / "crawl")).totals.fetched
    assert 0 < fetched < len(site.pages), "URLs wait, and yet the crawl has ended"


async def test_shard_that_was_not_started_refuses_a_batch(site: RecordedSite, tmp_path: Path) -> None:
    shard = Shard(ShardSpec(number=0, shards=2, job=site.job(shards=2), folder=tmp_path / "crawl"))
    batch = pack([make_page_links([Link(url="http://a.example/", source=LinkSource.ANCHOR)], None)])
    assert not await shard.deliver(batch), "the sender keeps the batch and sends it again"


def test_shard_job_divides_the_cores_of_a_machine_among_its_shards(tmp_path: Path) -> None:
    job = Job(seeds=("http://a.example/",), pages=10, state="file:///nowhere", shards=8)
    spec = ShardSpec(number=0, shards=8, job=job, folder=tmp_path, nodes=2)
    assert spec.make_shard_job(16).workers == 3, "four shards on 16 cores: one core for the engine, three for workers"
    assert spec.make_shard_job(2).workers == 1
    assert spec.make_shard_job(16).pages is None, "the coordinator keeps the page budget"


async def test_shard_reports_at_once_if_its_granted_pages_are_used_up(site: RecordedSite, tmp_path: Path) -> None:
    shard = Shard(ShardSpec(number=0, shards=2, job=site.job(shards=2), folder=tmp_path))
    shard._limit = 5
    assembled = SimpleNamespace(engine=SimpleNamespace(pages_started=4))
    waiting = asyncio.create_task(shard._wait_to_report(10_000, assembled, has_more_pages=True))  # type: ignore[arg-type]
    done, _ = await asyncio.wait([waiting], timeout=0.1)
    assert not done, "a page may still be started"
    assembled.engine.pages_started = 5
    async with asyncio.timeout(DEADLINE_SECONDS):
        await waiting

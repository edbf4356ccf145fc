"""Shards without Ray: in one event loop, with the same coordinator, so that what happens between them can be seen."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from motherlode.cluster import merge_shards
from motherlode.cluster.coordinator import Coordinator
from motherlode.cluster.outbox import make_page_links, pack
from motherlode.cluster.shard import Shard, ShardResult, ShardSpec
from motherlode.cluster.shard_messages import Orders, ShardReport
from motherlode.crawler import CrawlFolder, Job
from motherlode.model import Link, LinkSource
from tests.cluster.conftest import RecordedSite, pages_of, quads_of


class CoordinatorClient:
    """The coordinator, without a process of its own; it remembers what was reported."""

    def __init__(self, job: Job) -> None:
        self.coordinator = Coordinator(shards=job.shards, job=job)
        self.deltas: list[tuple[int, bytes]] = []
        self.absorbed: list[tuple[int, bytes]] = []

    async def join(self, shard: int, totals: bytes) -> int:
        return self.coordinator.join(shard, totals, time.monotonic())

    async def report(self, report: ShardReport) -> Orders:
        orders = self.coordinator.report(report, time.monotonic())
        if report.delta:
            self.deltas.append((report.shard, report.delta))
        self.absorbed.extend((report.shard, delta) for delta in orders.deltas)
        return orders


async def run(job: Job, path: Path) -> tuple[CoordinatorClient, list[ShardResult]]:
    folder = CrawlFolder(path)
    folder.create(job)
    folder.unlock()
    board = CoordinatorClient(job)
    shards = [Shard(ShardSpec(number=n, shards=job.shards, job=job, folder=path)) for n in range(job.shards)]

    async def send(to: int, batch: bytes) -> bool:
        return await shards[to].deliver(batch)

    async with asyncio.timeout(120):
        return board, list(await asyncio.gather(*(shard.run(board, send) for shard in shards)))


async def test_shards_find_together_what_one_crawl_finds(site: RecordedSite, tmp_path: Path) -> None:
    await run(site.job(shards=3), tmp_path / "crawl")
    folder = CrawlFolder(tmp_path / "crawl")
    assert merge_shards(folder, words=False)
    assert not merge_shards(folder, words=False), "what is merged is not merged again"
    assert pages_of(folder) == site.pages
    assert quads_of(folder) == site.quads


async def test_what_is_learned_is_shared(site: RecordedSite, tmp_path: Path) -> None:
    job = site.job(shards=2, policy="bandit:success-rate", delay=0.1)
    board, _ = await run(job, tmp_path / "crawl")
    assert {shard for shard, _ in board.deltas} == {0, 1}
    assert board.absorbed, "and reaches the other"
    for shard, delta in board.absorbed:
        assert (1 - shard, delta) in board.deltas


async def test_a_shard_that_has_not_begun_or_has_ended_takes_nothing(site: RecordedSite, tmp_path: Path) -> None:
    shard = Shard(ShardSpec(number=0, shards=2, job=site.job(shards=2), folder=tmp_path / "crawl"))
    batch = pack([make_page_links([Link(url="http://a.example/", source=LinkSource.ANCHOR)], None)])
    assert not await shard.deliver(batch), "the sender keeps it, and tries again"


def test_a_machine_s_cores_are_shared_between_its_shards(tmp_path: Path) -> None:
    job = Job(seeds=("http://a.example/",), pages=10, state="file:///nowhere", shards=8)
    spec = ShardSpec(number=0, shards=8, job=job, folder=tmp_path, nodes=2)
    assert spec.make_shard_job(16).workers == 3, (
        "four shards on a machine of 16 cores: a core for the crawl, three to read"
    )
    assert spec.make_shard_job(2).workers == 1
    assert spec.make_shard_job(16).pages is None, "budgets are the coordinator's"

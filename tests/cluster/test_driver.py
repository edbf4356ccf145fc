"""Sharded crawls on real Ray nodes: the same result as one process, whoever dies on the way."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import uvloop

from motherlode.cluster import merge_shards
from motherlode.cluster.driver import ShardedCrawl
from motherlode.cluster.ray_runtime import check_cluster, running_ray
from motherlode.crawler import CrawlFolder, Job, read_stats, read_visits
from tests.cluster.conftest import Nodes, RecordedSite, pages_of, quads_of

Accident = Callable[[ShardedCrawl], Awaitable[None]]
FROM_PAGE = re.compile(r"died and was restarted at page ([\d,]+)")
SLOW = 0.08
"""Seconds between two requests to a host: a crawl that takes long enough for an accident."""


@pytest.fixture(scope="module", autouse=True)
def connected(nodes: Nodes) -> Iterator[None]:
    with running_ray(nodes.address, shards=4):
        yield


def crawl(job: Job, path: Path, *, accident: Accident | None = None, after: int = 0) -> tuple[CrawlFolder, list[str]]:
    """Run a sharded crawl to its end, with an accident after so many visits; its folder and its warnings."""
    folder = CrawlFolder(path)
    if not folder.has_crawl:
        folder.create(job)
    warnings: list[str] = []
    sharded = ShardedCrawl(job, folder, warn=warnings.append)

    async def run() -> None:
        count = 0
        async for visit in sharded.visits():
            count += 1
            assert visit.number == count
            if accident is not None and count == after:
                await accident(sharded)
        assert count >= after, "the crawl was over before the accident"

    uvloop.run(run())
    merge_shards(folder, words=False)
    folder.unlock()
    return folder, warnings


def test_a_cluster_that_runs_is_found_at_its_address(nodes: Nodes) -> None:
    check_cluster(nodes.address)


@pytest.mark.parametrize("shards", [1, 2, 4])
def test_any_number_of_shards_gives_the_same_pages_and_quads(shards: int, site: RecordedSite, tmp_path: Path) -> None:
    folder, warnings = crawl(site.job(shards=shards), tmp_path / "crawl")
    assert pages_of(folder) == site.pages
    assert quads_of(folder) == site.quads
    assert not warnings
    assert len(folder.shard_folders()) == shards
    fetched = [read_stats(part).totals.fetched for part in folder.shard_folders()]
    assert all(fetched), "every shard had something to do"
    assert read_stats(folder).totals.fetched == sum(fetched)


def test_a_budget_of_pages_is_kept_and_the_crawl_goes_on_from_there(site: RecordedSite, tmp_path: Path) -> None:
    folder, _ = crawl(site.job(shards=2, pages=150), tmp_path / "crawl")
    assert read_stats(folder).totals.fetched == 150
    folder, _ = crawl(site.job(shards=2), tmp_path / "crawl")
    assert pages_of(folder) == site.pages
    assert quads_of(folder) == site.quads
    assert len(list(read_visits(folder))) == read_stats(folder).totals.fetched


def test_a_killed_process_costs_nothing(site: RecordedSite, tmp_path: Path) -> None:
    async def kill(sharded: ShardedCrawl) -> None:
        os.kill((await sharded.process_ids())[0], signal.SIGKILL)

    folder, warnings = crawl(site.job(shards=2, delay=SLOW), tmp_path / "crawl", accident=kill, after=100)
    assert any("shard 0 died" in text for text in warnings)
    assert pages_of(folder) == site.pages
    assert quads_of(folder) == site.quads


def lose_a_node(nodes: Nodes) -> Accident:
    async def lose(sharded: ShardedCrawl) -> None:
        nodes.remove(nodes.node_ids()[0])

    return lose


def test_a_lost_node_costs_nothing_where_folders_are_shared(site: RecordedSite, tmp_path: Path, nodes: Nodes) -> None:
    nodes.ensure(2)
    job = site.job(shards=2, delay=SLOW)
    folder, warnings = crawl(job, tmp_path / "crawl", accident=lose_a_node(nodes), after=100)
    assert any("died" in text for text in warnings)
    assert pages_of(folder) == site.pages
    assert quads_of(folder) == site.quads


def number_of(state: Path, shard: int) -> int:
    """Of a shard's last checkpoint."""
    latest = state / f"shard-{shard:04d}" / "latest.json"
    return int(json.loads(latest.read_text())["number"]) if latest.exists() else 0


def test_a_lost_node_goes_on_elsewhere_from_its_checkpoint(site: RecordedSite, tmp_path: Path, nodes: Nodes) -> None:
    nodes.ensure(2)
    state = tmp_path / "state"

    async def lose_after_checkpoints(sharded: ShardedCrawl) -> None:
        before = [number_of(state, shard) for shard in range(2)]
        async with asyncio.timeout(60):
            while any(number_of(state, shard) < before[shard] + 2 for shard in range(2)):  # noqa: ASYNC110 - a file tells
                await asyncio.sleep(0.1)
        nodes.remove(nodes.node_ids()[0])

    job = site.job(shards=2, delay=6 * SLOW, state=f"file://{state}", checkpoint=1.0)
    folder, warnings = crawl(job, tmp_path / "crawl", accident=lose_after_checkpoints, after=60)
    went_on = [int(found[1].replace(",", "")) for text in warnings if (found := FROM_PAGE.search(text))]
    assert went_on and min(went_on) > 0, "it began from its checkpoint, and not from nothing"
    assert pages_of(folder) == site.pages
    assert quads_of(folder) == site.quads

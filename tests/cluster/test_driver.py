"""Sharded crawls on real Ray nodes: the same result as one process, also if a process or node dies."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

import pytest
import uvloop

from motherlode.cluster import merge_shards
from motherlode.cluster.driver import ShardedCrawl
from motherlode.cluster.ray_runtime import check_cluster, running_ray
from motherlode.crawler import CrawlFolder, Job, read_stats, read_visits
from motherlode.crawler.control import Control, write_control
from motherlode.crawler.recrawl.refresh_plan import RefreshKind, RefreshPlan, plan_shards
from motherlode.crawler.recrawl.revisits import DAY_SECONDS
from motherlode.crawler.stats.reader import count_waiting_revisits
from tests.cluster.conftest import Nodes, RecordedSite, pages_of, quads_of

Fault = Callable[[ShardedCrawl], Awaitable[None]]
FROM_PAGE = re.compile(r"died and was restarted at page ([\d,]+)")
SLOW_DELAY = 0.8
"""Seconds between two requests to a host. The largest hosts have ten pages, so a crawl lasts seven seconds on any
machine, which is long enough for a fault after two or three pages of each host."""


@pytest.fixture(scope="module", autouse=True)
def connected(nodes: Nodes) -> Iterator[None]:
    with running_ray(nodes.address, shards=4):
        yield


def crawl(
    job: Job, path: Path, *, fault: Fault | None = None, after: int = 0, refresh: Sequence[RefreshPlan] = ()
) -> tuple[CrawlFolder, list[str]]:
    """Run a sharded crawl to its end, with a fault after `after` visits. Return its folder and its warnings."""
    folder = CrawlFolder(path)
    if not folder.has_crawl:
        folder.create(job)
    warnings: list[str] = []
    sharded = ShardedCrawl(job, folder, refresh=refresh, warn=warnings.append)

    async def run() -> None:
        count = 0
        async for visit in sharded.visits():
            count += 1
            assert visit.number == count
            if fault is not None and count == after:
                await fault(sharded)
        assert count >= after, "the crawl ended before the fault"

    uvloop.run(run())
    merge_shards(folder, words=False)
    folder.unlock()
    return folder, warnings


def test_check_cluster_accepts_a_running_cluster(nodes: Nodes) -> None:
    check_cluster(nodes.address)


@pytest.mark.parametrize("shards", [1, 2, 4])
def test_sharded_crawl_finds_the_same_pages_and_quads_as_one_process(
    shards: int, site: RecordedSite, tmp_path: Path
) -> None:
    folder, warnings = crawl(site.job(shards=shards), tmp_path / "crawl")
    assert pages_of(folder) == site.pages
    assert quads_of(folder) == site.quads
    assert not warnings
    assert len(folder.shard_folders()) == shards
    fetched = [read_stats(part).totals.fetched for part in folder.shard_folders()]
    assert all(fetched), "every shard fetched pages"
    assert read_stats(folder).totals.fetched == sum(fetched)


def test_sharded_crawl_keeps_page_budget_and_resumes_after_it(site: RecordedSite, tmp_path: Path) -> None:
    folder, _ = crawl(site.job(shards=2, pages=150), tmp_path / "crawl")
    assert read_stats(folder).totals.fetched == 150
    folder, _ = crawl(site.job(shards=2), tmp_path / "crawl")
    assert pages_of(folder) == site.pages
    assert quads_of(folder) == site.quads
    assert len(list(read_visits(folder))) == read_stats(folder).totals.fetched


def test_sharded_crawl_with_a_killed_process_loses_no_page(site: RecordedSite, tmp_path: Path) -> None:
    async def kill(sharded: ShardedCrawl) -> None:
        os.kill((await sharded.process_ids())[0], signal.SIGKILL)

    folder, warnings = crawl(site.job(shards=2, delay=SLOW_DELAY), tmp_path / "crawl", fault=kill, after=100)
    assert any("shard 0 died" in text for text in warnings)
    assert pages_of(folder) == site.pages
    assert quads_of(folder) == site.quads


def test_refresh_with_a_killed_process_revisits_each_page_once(site: RecordedSite, tmp_path: Path) -> None:
    folder, _ = crawl(site.job(shards=2), tmp_path / "crawl")
    plans = plan_shards(folder, 2, RefreshKind.ALL, time.time() + 40 * DAY_SECONDS)

    async def kill(sharded: ShardedCrawl) -> None:
        os.kill((await sharded.process_ids())[0], signal.SIGKILL)

    job = site.job(shards=2, delay=SLOW_DELAY)
    folder, warnings = crawl(job, folder.path, fault=kill, after=60, refresh=plans)
    assert any("shard 0 died" in text for text in warnings)
    revisits = Counter(visit.url for visit in read_visits(folder) if visit.refresh)
    assert set(revisits) == site.pages
    assert sum(revisits.values()) == len(site.pages), "a restarted shard does not begin the refresh again"
    assert count_waiting_revisits(folder) == 0


@pytest.mark.parametrize("control", [Control(pages=80), Control(is_stopped=True)])
def test_running_shards_follow_the_control_file(control: Control, site: RecordedSite, tmp_path: Path) -> None:
    async def act(sharded: ShardedCrawl) -> None:
        write_control(CrawlFolder(tmp_path / "crawl"), control)

    job = site.job(shards=2, delay=4 * SLOW_DELAY)  # the file is read once per second
    folder, _ = crawl(job, tmp_path / "crawl", fault=act, after=30)
    fetched = read_stats(folder).totals.fetched
    assert 30 <= fetched < len(site.pages)
    assert control.pages is None or fetched >= control.pages
    folder, _ = crawl(site.job(shards=2), tmp_path / "crawl")
    assert pages_of(folder) == site.pages, "a wish is for one run"


def make_node_loss(nodes: Nodes) -> Fault:
    async def lose(sharded: ShardedCrawl) -> None:
        nodes.remove(nodes.node_ids()[0])

    return lose


def test_sharded_crawl_in_a_shared_folder_loses_no_page_with_a_lost_node(
    site: RecordedSite, tmp_path: Path, nodes: Nodes
) -> None:
    nodes.ensure(2)
    job = site.job(shards=2, delay=SLOW_DELAY)
    folder, warnings = crawl(job, tmp_path / "crawl", fault=make_node_loss(nodes), after=100)
    assert any("died" in text for text in warnings)
    assert pages_of(folder) == site.pages
    assert quads_of(folder) == site.quads


def checkpoint_number(state: Path, shard: int) -> int:
    """Return the number of a shard's last checkpoint, or 0."""
    latest = state / f"shard-{shard:04d}" / "latest.json"
    return int(json.loads(latest.read_text())["number"]) if latest.exists() else 0


def test_shard_of_a_lost_node_continues_from_its_checkpoint(site: RecordedSite, tmp_path: Path, nodes: Nodes) -> None:
    nodes.ensure(2)
    state = tmp_path / "state"

    async def lose_after_checkpoints(sharded: ShardedCrawl) -> None:
        before = [checkpoint_number(state, shard) for shard in range(2)]
        async with asyncio.timeout(300):
            while any(checkpoint_number(state, shard) < before[shard] + 2 for shard in range(2)):  # noqa: ASYNC110 - polls a file
                await asyncio.sleep(0.1)
        nodes.remove(nodes.node_ids()[0])

    job = site.job(shards=2, delay=2.5 * SLOW_DELAY, state=f"file://{state}", checkpoint=1.0)
    folder, warnings = crawl(job, tmp_path / "crawl", fault=lose_after_checkpoints, after=60)
    restart_pages = [int(found[1].replace(",", "")) for text in warnings if (found := FROM_PAGE.search(text))]
    assert restart_pages and min(restart_pages) > 0, "the shard continued from its checkpoint"
    assert pages_of(folder) == site.pages
    assert quads_of(folder) == site.quads

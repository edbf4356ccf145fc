"""The memory ceiling with made-up measurements: when it sheds, what it sheds first, and what it refuses."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Mapping

import pytest

from motherlode.crawler import Counters, Job, JobError, check
from motherlode.crawler.engine import memory_limit
from motherlode.crawler.engine.memory_limit import REFUSAL, MemoryCeiling, measure_processes, min_ceiling
from motherlode.crawler.parsing.messages import PageBody, ParsedPage
from motherlode.frontier import Frontier, MemoryStorage, Politeness
from motherlode.model import Link, LinkSource
from motherlode.policies import policy_from
from motherlode.runtime import Clock
from tests.frontier.fakes import offer

LIMIT = 1_000_000_000
HOSTS = 100


class NoParsers:
    async def read(self, page: PageBody) -> ParsedPage:
        raise AssertionError("these tests parse no page")

    async def close(self) -> None: ...


class Crawl:
    """A frontier under a ceiling whose measurements the test sets."""

    def __init__(self) -> None:
        self.frontier = Frontier(
            storage=MemoryStorage(),
            policy=policy_from("bfs"),
            scope=lambda url: "",
            read_rules=None,
            politeness=Politeness(delay=0.0),
        )
        self.used = self.blocks = 0
        self.steps: list[str] = []
        self.frees: Callable[[], None] = lambda: None
        self.ceiling = MemoryCeiling(
            LIMIT,
            self.frontier.shedder,
            parsers=NoParsers(),
            workers=1,
            caches=[self.drop_caches],
            forget=self.forget,
            clock=Clock(),
            measure=self.measure,
            count_blocks=lambda: self.blocks,
        )
        self.frontier.refuse_also(self.ceiling.refusal)
        offer(self.frontier, *(f"http://h{number:03}.example/" for number in range(HOSTS)))

    def measure(self) -> Mapping[int, int]:
        return {1: self.used}

    def drop_caches(self) -> None:
        self.steps.append("caches")
        self.frees()

    def forget(self, is_needed: Callable[[str], bool]) -> int:
        assert not is_needed("unknown.example")
        self.steps.append("policy")
        return 0

    async def check(self, used: float) -> Counters:
        """Run a check at a share of the limit. Return the counters of this check."""
        self.used = int(used * LIMIT)
        self.ceiling.counters = Counters()
        await self.ceiling.check()
        return self.ceiling.counters


async def test_nothing_is_shed_below_the_level() -> None:
    crawl = Crawl()
    counters = await crawl.check(0.74)
    assert (counters.memory, counters.memory_peak, counters.shed) == (crawl.used, crawl.used, {})
    assert crawl.steps == [] and not crawl.ceiling.is_full


async def test_caches_alone_are_dropped_if_that_is_enough() -> None:
    crawl = Crawl()

    def free() -> None:
        crawl.used = LIMIT // 2

    crawl.frees = free
    counters = await crawl.check(0.85)
    assert (crawl.steps, counters.shed) == (["caches"], {})
    assert crawl.frontier.waiting == HOSTS


async def test_newest_arms_of_least_value_are_set_aside(caplog: pytest.LogCaptureFixture) -> None:
    crawl = Crawl()
    counters = await crawl.check(0.85)
    assert crawl.steps == ["caches", "policy"]
    assert counters.shed["arms"] == counters.shed["links"] == HOSTS - crawl.frontier.waiting
    assert 0.1 * HOSTS <= counters.shed["arms"] <= 0.3 * HOSTS
    left = set(crawl.frontier.shedder.arms())
    assert left == {f"h{number:03}.example" for number in range(len(left))}, "bfs prefers the oldest"
    assert "shed" in caplog.text and "links" in caplog.text


async def test_next_shedding_comes_when_memory_has_grown() -> None:
    crawl = Crawl()
    await crawl.check(0.85)
    waiting = crawl.frontier.waiting
    await crawl.check(0.855)
    assert crawl.frontier.waiting == waiting, "freed memory is used again first"
    await crawl.check(0.87)
    assert crawl.frontier.waiting < waiting


async def test_hosts_of_seeds_are_never_shed() -> None:
    crawl = Crawl()
    crawl.frontier.add_links([Link(url="http://seed.example/", source=LinkSource.SEED)], parent=None)
    for step in range(60):
        await crawl.check(0.9 + step / 1000 * 2)
    assert crawl.frontier.shedder.arms() == ["seed.example"]


async def test_links_to_unknown_hosts_are_refused_near_the_ceiling() -> None:
    crawl = Crawl()
    await crawl.check(0.92)
    assert offer(crawl.frontier, "http://new.example/") == 1
    counters = await crawl.check(0.96)
    assert offer(crawl.frontier, "http://other.example/", "http://h000.example/more") == 1
    assert crawl.frontier.refused[REFUSAL] == counters.shed["refused links"] == 1
    await crawl.check(0.5)
    assert offer(crawl.frontier, "http://other.example/") == 1, "it was not stored, so it can be found again"


async def test_full_memory_holds_requests_and_ends_the_crawl_if_it_stays_full() -> None:
    crawl = Crawl()
    counters = await crawl.check(0.98)
    assert crawl.ceiling.is_full and not crawl.ceiling.is_exhausted()
    await crawl.check(0.9)
    assert not crawl.ceiling.is_full
    for _ in range(memory_limit._MAX_FULL_CHECKS):
        counters = await crawl.check(0.98)
        if crawl.ceiling.is_exhausted():
            break
    assert crawl.ceiling.is_exhausted()
    assert any("nothing was left to shed" in problem for problem in counters.problems)


async def test_freed_blocks_count_as_memory_for_requests() -> None:
    crawl = Crawl()
    crawl.blocks = 2_000_000
    await crawl.check(0.98)
    assert crawl.ceiling.is_full
    crawl.blocks = 1_000_000
    await crawl.check(0.98)
    assert not crawl.ceiling.is_full, "64 MB can be used again before the memory grows"
    assert offer(crawl.frontier, "http://new.example/") == 1


async def test_failing_check_is_logged_and_tried_again(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_limit, "_CHECK_SECONDS", 0.0)
    crawl, counters = Crawl(), Counters()

    def fail() -> None:
        if len(crawl.steps) < 3:
            raise ValueError("a cache that cannot be dropped")

    crawl.frees, crawl.used = fail, int(0.85 * LIMIT)
    async with crawl.ceiling.running(counters):
        while "arms" not in counters.shed:  # noqa: ASYNC110 - there is no event for a check
            await asyncio.sleep(0)
    assert caplog.text.count("cannot be dropped") >= 2
    assert not crawl.ceiling.is_full, "requests may start again"


def test_too_small_ceiling_is_refused_with_the_minimum() -> None:
    job = Job(seeds=("http://a.example/",), workers=2, memory="499MB")
    with pytest.raises(JobError, match=r"at least 500.0 MB for 2 parser processes; got 499.0 MB"):
        check(job)
    check(Job(seeds=("http://a.example/",), workers=2, memory=min_ceiling(2)))


def test_ceiling_of_shards_is_for_all_of_them() -> None:
    job = Job(seeds=("http://a.example/",), workers=1, shards=3, memory="1GB")
    with pytest.raises(JobError, match=r"at least 1.2 GB for 3 shards, each with 1 parser processes"):
        check(job)


def test_measured_processes_are_this_one_and_its_descendants() -> None:
    code = "import sys; data = b'x' * 50_000_000; print(len(data), flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        used = measure_processes()
        child.communicate()
    assert used[child.pid] > 50_000_000
    assert used[os.getpid()] > 0
    assert child.pid not in measure_processes()

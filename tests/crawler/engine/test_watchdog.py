"""The watchdog: a crawl that stands still says what it waits for."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import pytest

from motherlode.cli.stats import describe_stall
from motherlode.crawler import Counters, CrawlFolder, Job
from motherlode.crawler.engine.factory import Assembled, assemble
from motherlode.crawler.engine.watchdog import Watchdog
from motherlode.crawler.stats.counters import sum_of
from motherlode.fetch.warc.reader import RecordedWeb
from motherlode.model import Fetched, Request, Visit
from tests.crawler.small_web import HOME, small_web


class FakeClock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def make(waits_for: list[str]) -> tuple[Watchdog, Counters, FakeClock]:
    counters, clock = Counters(), FakeClock()
    return Watchdog(counters, lambda: waits_for[0], clock=clock), counters, clock


def pass_time(watchdog: Watchdog, clock: FakeClock, seconds: int) -> None:
    for _ in range(seconds // 5):
        clock.now += 5.0
        watchdog.check()


def test_watchdog_without_settled_page_reports_what_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    watchdog, counters, clock = make(["1 response"])
    with caplog.at_level(logging.WARNING, "motherlode.crawler"):
        pass_time(watchdog, clock, 55)
        assert (counters.stalled_since, caplog.messages) == (None, [])
        pass_time(watchdog, clock, 65)
    assert caplog.messages == [f"no page was settled for {seconds} s: waiting for 1 response" for seconds in (60, 120)]
    assert (counters.stalls, counters.stalled_for) == (1, "1 response")
    assert "waiting for 1 response" in describe_stall(counters)


def test_watchdog_after_settled_page_ends_stall_and_keeps_count() -> None:
    watchdog, counters, clock = make(["1 response"])
    pass_time(watchdog, clock, 60)
    counters.fetched += 1
    pass_time(watchdog, clock, 5)
    assert (counters.stalls, counters.stalled_since, counters.stalled_for) == (1, None, "")
    assert describe_stall(counters).startswith("once")
    pass_time(watchdog, clock, 60)
    assert counters.stalls == 2


def test_watchdog_with_planned_wait_reports_nothing() -> None:
    waits_for = [""]
    watchdog, counters, clock = make(waits_for)
    pass_time(watchdog, clock, 600)
    waits_for[0] = "1 response"
    pass_time(watchdog, clock, 50)
    assert counters.stalls == 0, "the time of the planned wait does not count"


def test_watchdog_after_pause_of_process_says_so() -> None:
    watchdog, counters, clock = make(["1 response"])
    clock.now += 300.0
    watchdog.check()
    assert "did not run for 300 s" in counters.stalled_for


def test_sum_of_shards_has_stalls_of_each() -> None:
    whole = sum_of([Counters(stalls=1), Counters(stalls=2, stalled_since=7.0, stalled_for="1 response")])
    assert (whole.stalls, whole.stalled_since, whole.stalled_for) == (3, 7.0, "1 response")


@pytest.fixture
async def assembled(tmp_path: Path) -> AsyncIterator[Assembled]:
    job = Job(seeds=(HOME,), web=str(small_web(tmp_path / "web.warc.gz")), delay=0.0, workers=1, words=False)
    folder = CrawlFolder(tmp_path / "crawl")
    folder.create(job)
    yield assemble(job, folder)
    folder.unlock()


async def until_stalled_for(text: str, counters: Counters) -> None:
    """Wait until the counters say that the crawl waits for this. The parser's start may be reported before."""
    async with asyncio.timeout(120):
        while text not in counters.stalled_for:  # noqa: ASYNC110 - the watchdog sets it from a timer
            await asyncio.sleep(0.01)


async def collect(visits: AsyncGenerator[Visit, None]) -> list[Visit]:
    return [visit async for visit in visits]


async def test_engine_without_response_is_reported_and_continues(
    assembled: Assembled, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered, real = asyncio.Event(), RecordedWeb.fetch

    async def fetch(self: RecordedWeb, request: Request) -> Fetched:
        if request.url == HOME:
            await answered.wait()
        return await real(self, request)

    monkeypatch.setattr(RecordedWeb, "fetch", fetch)
    engine = assembled.engine
    engine.stall_seconds = 0.2
    crawl = asyncio.create_task(collect(engine.visits(assembled.seeds)))
    await until_stalled_for(f"1 response (the oldest: {HOME}", engine.totals)
    answered.set()
    assert len(await crawl) > 10
    assert engine.totals.stalled_since is None
    assert engine.totals.stalls >= 1
    assembled.store.close()


async def test_engine_whose_visits_are_not_read_says_so(assembled: Assembled) -> None:
    engine = assembled.engine
    engine.stall_seconds = 0.2
    visits = engine.visits(assembled.seeds)
    try:
        await anext(visits)
        await until_stalled_for("the program that reads the visits", engine.totals)
    finally:
        await visits.aclose()
        assembled.store.close()

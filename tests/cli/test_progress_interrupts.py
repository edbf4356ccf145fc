"""Interrupts of a crawl: the first stops it, the second cancels it, and its generator is always closed."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Iterator
from types import SimpleNamespace

import pytest

from motherlode.cli import progress as watching
from motherlode.cli.progress import CrawlProgress, watch
from motherlode.crawler import Job
from motherlode.crawler.stats.counters import Counters
from motherlode.model import Visit


def visit_of(number: int) -> Visit:
    url = "http://a.example/"
    return Visit(number=number, url=url, host="a.example", arm="", depth=0, parent_url="", score=0, at=0.0)


@pytest.fixture(autouse=True)
def terminal() -> Iterator[None]:
    """Restore stdout and stderr, which a hang-up redirects."""
    kept = [(number, os.dup(number)) for number in (1, 2)]
    yield
    for number, copy in kept:
        os.dup2(copy, number)
        os.close(copy)


class Endless:
    """A crawl that runs until it is stopped, and then ends when the test allows it."""

    def __init__(self, *, obeys: bool, by: signal.Signals = signal.SIGINT) -> None:
        self.stopped = self.closed = False
        self.shown = 0
        self.went_on = asyncio.Event()
        """Set long after the signals."""
        self._obeys = obeys
        self._by = by

    def stop(self) -> None:
        self.stopped = True

    async def visits(self) -> AsyncGenerator[Visit, None]:
        try:
            while not (self.stopped and self._obeys):
                self.shown += 1
                if self.shown == 3 or (self.stopped and self.shown == 6):
                    os.kill(os.getpid(), self._by)
                if self.shown == 12:
                    self.went_on.set()
                await asyncio.sleep(0.01)
                yield visit_of(self.shown)
        finally:
            self.closed = True


async def watched(crawl: Endless) -> bool:
    waiting = SimpleNamespace(waiting=0, known_urls=0, hosts_known=0)
    progress = CrawlProgress(Job(seeds=("http://a.example/",)), Counters(), waiting, quiet=True)  # type: ignore[arg-type]
    return await watch(crawl.visits(), progress, stop=crawl.stop)


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_first_interrupt_waits_for_requests_in_flight(by: signal.Signals) -> None:
    crawl = Endless(obeys=True, by=by)
    assert await watched(crawl)
    assert crawl.stopped and crawl.closed
    assert crawl.shown < 6


async def test_second_interrupt_cancels_requests_in_flight() -> None:
    crawl = Endless(obeys=False)
    assert await watched(crawl)
    assert crawl.closed
    assert crawl.shown >= 6


async def test_watch_returns_false_if_the_crawl_ends_by_itself() -> None:
    crawl = Endless(obeys=True)
    crawl.stopped = True
    assert not await watched(crawl)
    assert crawl.closed


async def test_progress_ticks_without_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_TICK_SECONDS", 0.01)
    ticks, ticked = 0, asyncio.Event()

    class Counting(CrawlProgress):
        def tick(self) -> None:
            nonlocal ticks
            ticks += 1
            if ticks == 3:
                ticked.set()

    async def nothing() -> AsyncGenerator[Visit, None]:
        await asyncio.wait_for(ticked.wait(), 60)
        return
        yield visit_of(1)

    waiting = SimpleNamespace(waiting=0, known_urls=0, hosts_known=0)
    progress = Counting(Job(seeds=("http://a.example/",)), Counters(), waiting, quiet=True)  # type: ignore[arg-type]
    assert not await watch(nothing(), progress, stop=lambda: None)
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}, "ticks end with the crawl"


async def test_second_hang_up_does_not_cancel_requests() -> None:
    crawl = Endless(obeys=False, by=signal.SIGHUP)
    visits = asyncio.create_task(watched(crawl))
    await crawl.went_on.wait()
    assert crawl.stopped and not visits.done()
    os.kill(os.getpid(), signal.SIGINT)
    assert await visits


async def test_hang_up_under_nohup_is_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        crawl = Endless(obeys=True, by=signal.SIGHUP)
        visits = asyncio.create_task(watched(crawl))
        await crawl.went_on.wait()
        assert not crawl.stopped and not visits.done()
        os.kill(os.getpid(), signal.SIGTERM)
        assert await visits
    finally:
        signal.signal(signal.SIGHUP, before)

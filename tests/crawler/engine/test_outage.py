"""Results that are held until it is known whether the network is down, and the counters of outages."""

from __future__ import annotations

import asyncio

import pytest

from motherlode.crawler.engine.limits import LeaseResult
from motherlode.crawler.engine.outage import (
    MIN_RESPONDING_HOSTS,
    MonitoredFetcher,
    OutageDetector,
    OutageMonitor,
    Verdict,
)
from motherlode.crawler.stats.counters import Counters
from motherlode.frontier import Entry, Lease
from motherlode.model import Failure, FailureKind, Fetched, Page, Request, RequestKind
from tests.frontier.fakes import frontier_on

URL = "http://a.example/"
LEASE = Lease(url=URL, host="a.example", kind=RequestKind.PAGE, entry=Entry(url=URL, arm="a", score=0.0, sequence=1))
SILENT = Failure(url=URL, kind=FailureKind.CONNECT, silent=True)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def now(self) -> float:
        return self.seconds


class Silence:
    """A network in which no host answers."""

    async def fetch(self, request: Request) -> Fetched:
        return Failure(url=request.url, kind=FailureKind.CONNECT, silent=True)

    async def close(self) -> None: ...


async def resolve(url: str) -> str:
    return "198.51.100.1"


class Crawl:
    def __init__(self, *, counters: Counters | None = None) -> None:
        self.clock, self.counters, self.is_ending = Clock(), counters or Counters(), False
        self.detector = OutageDetector(unit=15.0)
        fetcher = MonitoredFetcher(Silence(), self.detector, clock=self.clock)  # type: ignore[arg-type]
        self.monitor = OutageMonitor(
            self.detector,
            fetcher,
            frontier_on(),
            resolve=resolve,
            clock=self.clock,  # type: ignore[arg-type]
        )
        self.monitor.start(self.counters, wake_up=lambda: None, is_ending=lambda: self.is_ending)

    def result(self, response: Page | Failure = SILENT) -> LeaseResult:
        now = self.clock.now()
        return LeaseResult(LEASE, began=now, ended=now, response=response)

    async def lose_network(self) -> None:
        """Let hosts in several networks not respond until a round of requests has ended without a response."""
        for number in range(MIN_RESPONDING_HOSTS):
            self.detector.record_silence(f"198.51.{number}", self.clock.now())
        while self.detector.since is None:
            self.clock.seconds += 1.0
            self.monitor.tick()
            await asyncio.sleep(0)

    def find_network(self) -> None:
        self.clock.seconds += 100.0
        self.detector.record_response(self.clock.now())
        self.monitor.tick()


@pytest.mark.parametrize(
    "response",
    [Page(url=URL, status=200), Failure(url=URL, kind=FailureKind.CONNECT, silent=True, has_other_address=True)],
)
def test_page_and_failure_with_another_address_are_never_held(response: Page | Failure) -> None:
    crawl = Crawl()
    assert crawl.monitor.verdict(crawl.result(response)) is Verdict.COUNTS


def test_held_results_are_released_when_another_host_answers() -> None:
    crawl = Crawl()
    first, second = crawl.result(), crawl.result()
    for result in (first, second):
        crawl.monitor.observe(result)
        assert crawl.monitor.verdict(result) is Verdict.WAITS
        crawl.monitor.hold(result)
    assert crawl.monitor.next_released() is None
    crawl.find_network()
    assert [crawl.monitor.next_released() for _ in range(3)] == [first, second, None]
    assert crawl.monitor.verdict(first) is Verdict.COUNTS


def test_held_result_is_released_uncounted_when_the_crawl_is_ending() -> None:
    crawl = Crawl()
    result = crawl.result()
    crawl.monitor.hold(result)
    crawl.is_ending = True
    assert crawl.monitor.verdict(result) is Verdict.UNCOUNTED
    assert crawl.monitor.next_released() is result


async def test_counters_add_the_outages_of_this_run_to_those_before() -> None:
    crawl = Crawl(counters=Counters(outages=2, outage_seconds=100.0, no_network_since=5.0))
    assert crawl.counters.no_network_since is None, "the state of an earlier run says nothing about this one"
    await crawl.lose_network()
    crawl.monitor.tick()
    assert crawl.counters.no_network_since == 1000.0
    assert crawl.monitor.is_stalled
    crawl.find_network()
    assert crawl.counters.no_network_since is None
    assert crawl.counters.outages == 3
    assert crawl.counters.outage_seconds == 100.0 + crawl.clock.now() - 1000.0
    assert sum(crawl.counters.problems.values()) == 1
    await crawl.monitor.close()

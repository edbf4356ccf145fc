"""Outage monitor with a real frontier and a simulated network: reference hosts, rounds and delays."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from motherlode.crawler.engine.limits import LeaseResult
from motherlode.crawler.engine.outage import (
    MonitoredFetcher,
    OutageDetector,
    OutageMonitor,
    ReferenceHosts,
    Verdict,
    shows_network_is_up,
)
from motherlode.fetch import RobotsRules
from motherlode.frontier import End, Entry, Frontier, Lease, MemoryStorage, Politeness
from motherlode.model import Failure, FailureKind, Fetched, Link, LinkSource, Page, Request, RequestKind
from motherlode.policies import policy_from
from motherlode.runtime import SYSTEM_CLOCK

UNIT = 0.05
DEADLINE_SECONDS = 120.0
"""Time limit of every wait: generous, for a loaded machine."""
ENTRY = Entry(url="http://h1.example/", arm="", score=0.0, sequence=1)


class Network:
    """Hosts `h0.example` at 198.51.0.1, `h1.example` at 198.51.1.1 and so on, which can go away."""

    def __init__(self) -> None:
        self.is_up = True
        self.dead: set[str] = set()
        self.log: list[tuple[float, str]] = []

    async def fetch(self, request: Request) -> Fetched:
        self.log.append((time.monotonic(), request.url))
        await asyncio.sleep(0)
        host = request.url.split("/")[2]
        if not self.is_up or host in self.dead:
            return Failure(url=request.url, kind=FailureKind.CONNECT, detail="no route", silent=True)
        return Page(url=request.url, status=200, address=address_of(host), body=b"", fetched_at=time.time())

    async def close(self) -> None: ...


def address_of(host: str) -> str:
    return f"198.51.{host.partition('.')[0].removeprefix('dead').removeprefix('h')}.1"


class Crawl:
    """The parts of a crawl that the outage monitor uses."""

    def __init__(self, *, delay: float = 0.0) -> None:
        self.network = Network()
        self.detector = OutageDetector(unit=UNIT)
        self.listener = MonitoredFetcher(self.network, self.detector)
        self.frontier = Frontier(
            storage=MemoryStorage(),
            policy=policy_from("bfs"),
            scope=lambda url: "",
            read_rules=RobotsRules,
            politeness=Politeness(delay=delay, by_address=True, retry_wait=UNIT),
        )
        self.outage_monitor = OutageMonitor(self.detector, self.listener, self.frontier, resolve=self.resolve)

    async def resolve(self, url: str) -> str:
        return address_of(url.split("/")[2])

    def add_links(self, *hosts: str) -> None:
        links = [Link(url=f"http://{host}/1", source=LinkSource.SEED) for host in hosts]
        self.frontier.add_links(links, parent=None)

    async def turn(self) -> tuple[Lease, Fetched]:
        """A request for what the frontier hands out next, all but settled."""
        while (lease := self.frontier.lease(time.time())) is None or lease.kind is RequestKind.RESOLVE:
            if lease is None:
                await asyncio.sleep(0.005)
            else:
                self.frontier.end(lease, End.RESOLVED, 0.0, address=await self.resolve(lease.url))
        fetched = await self.listener.fetch(Request(url=lease.url, kind=lease.kind))
        self.frontier.response_received(lease, time.time(), address=fetched.address)
        self.outage_monitor.observe(LeaseResult(lease, response=fetched))
        return lease, fetched

    async def fail(self, *hosts: str) -> list[tuple[Lease, Failure]]:
        self.add_links(*hosts)
        found = []
        for _ in hosts:
            lease, fetched = await self.turn()
            assert isinstance(fetched, Failure)
            found.append((lease, fetched))
        return found

    async def tended_until(self, true: Callable[[], bool]) -> None:
        ends = time.monotonic() + DEADLINE_SECONDS
        while not true():
            assert time.monotonic() < ends
            self.outage_monitor.tick()
            await asyncio.sleep(0.002)

    def verdict(self, failure: Failure, *, began: float, ended: float) -> Verdict:
        lease = Lease(url=failure.url, host="", kind=RequestKind.PAGE, entry=ENTRY)
        return self.outage_monitor.verdict(LeaseResult(lease, began=began, ended=ended, response=failure))

    def asked(self) -> list[str]:
        return [url for _, url in self.network.log]


async def met(crawl: Crawl, *hosts: str) -> float:
    """Let hosts respond, so that they become reference hosts. Return when the last request was sent."""
    crawl.add_links(*hosts)
    for _ in range(2 * len(hosts)):
        lease, fetched = await crawl.turn()
        assert isinstance(fetched, Page)
        if lease.kind is RequestKind.ROBOTS:
            crawl.frontier.end(lease, End.ROBOTS_READ, time.time(), robots=b"User-agent: *\nDisallow: /2")
        else:
            crawl.frontier.end(lease, End.FETCHED, 0.0)
    last, _ = crawl.network.log[-1]
    crawl.network.log.clear()
    return last


@pytest.mark.parametrize(
    ("fetched", "alive"),
    [
        (Page(url="u", status=200), True),
        (Failure(url="u", kind=FailureKind.SERVER_ERROR, status=500), True),
        (Failure(url="u", kind=FailureKind.CONNECT), True),
        (Failure(url="u", kind=FailureKind.RESET), True),
        (Failure(url="u", kind=FailureKind.CONNECT, silent=True), False),
        (Failure(url="u", kind=FailureKind.TIMEOUT, silent=True), False),
        (Failure(url="u", kind=FailureKind.DNS), False),
        (Failure(url="u", kind=FailureKind.GUARD), False),
    ],
)
def test_network_is_up_if_a_response_came_over_it(*, fetched: Fetched, alive: bool) -> None:
    assert shows_network_is_up(fetched) is alive


def test_reference_hosts_keep_the_last_origin_of_each_recent_network() -> None:
    origins = ReferenceHosts()
    for number in range(100):
        origins.keep(str(number % 50), f"http://h{number}.example")
    assert len(origins) == 32
    assert origins.choose(2) == ["http://h99.example", "http://h98.example"]
    assert origins.choose(1) == ["http://h97.example"], "each once before one is asked twice"
    every = {str(number) for number in range(50)}
    assert len(origins.choose(3, unless=every)) == 3, "they are used if there are no others"
    assert ReferenceHosts().choose(3) == []


async def test_responding_reference_host_makes_silence_count() -> None:
    crawl = Crawl()
    await met(crawl, "h1.example")
    crawl.network.dead = {"dead5.example", "dead6.example", "dead7.example"}
    began = SYSTEM_CLOCK.now()
    failed = await crawl.fail(*sorted(crawl.network.dead))
    ended = SYSTEM_CLOCK.now()
    assert crawl.verdict(failed[0][1], began=began, ended=ended) is Verdict.WAITS
    crawl.network.log.clear()
    await crawl.tended_until(lambda: len(crawl.network.log) > 0)
    await crawl.tended_until(lambda: not crawl.outage_monitor.is_stalled)
    assert crawl.asked() == ["http://h1.example/robots.txt"]
    assert crawl.verdict(failed[0][1], began=began, ended=ended) is Verdict.COUNTS
    assert crawl.detector.outages == 0


async def test_reference_hosts_get_requests_in_turn_until_one_responds() -> None:
    crawl = Crawl()
    await met(crawl, *(f"h{number}.example" for number in range(8)))
    crawl.network.is_up = False
    failed = await crawl.fail("new20.example", "new21.example", "new22.example")
    crawl.network.log.clear()
    await crawl.tended_until(lambda: crawl.detector.since is not None)
    assert crawl.outage_monitor.is_stalled
    assert len(crawl.network.log) == 3
    assert crawl.verdict(failed[0][1], began=0.0, ended=SYSTEM_CLOCK.now()) is Verdict.UNCOUNTED
    no_name = Failure(url="http://x.example/", kind=FailureKind.DNS)
    assert crawl.verdict(no_name, began=0.0, ended=SYSTEM_CLOCK.now()) is Verdict.UNCOUNTED
    await crawl.tended_until(lambda: len(crawl.network.log) >= 7)
    assert len(set(crawl.asked())) >= 7, "no host twice"
    assert all(url.endswith("/robots.txt") for url in crawl.asked())
    since = crawl.detector.since
    assert since is not None and abs(since - time.time()) < 60
    crawl.network.is_up = True
    await crawl.tended_until(lambda: crawl.detector.since is None)
    assert not crawl.outage_monitor.is_stalled
    assert (crawl.detector.outages, crawl.detector.seconds(SYSTEM_CLOCK.now()) > 0) == (1, True)
    await crawl.outage_monitor.close()


async def test_request_to_a_reference_host_obeys_its_delay() -> None:
    crawl = Crawl(delay=0.08)
    met_at = await met(crawl, "h1.example")
    crawl.network.dead = {"dead5.example", "dead6.example", "dead7.example"}
    await crawl.fail(*sorted(crawl.network.dead))
    crawl.network.log.clear()
    await crawl.tended_until(lambda: len(crawl.network.log) > 0)
    assert crawl.network.log[0][0] - met_at >= 0.079, "0.08 from when it answered"
    await crawl.outage_monitor.close()


async def test_reference_host_with_a_held_page_gets_a_request() -> None:
    crawl = Crawl()
    crawl.add_links("h1.example")
    lease, _ = await crawl.turn()
    crawl.frontier.end(lease, End.ROBOTS_READ, time.time())
    request = Request(url="http://h1.example/robots.txt", kind=RequestKind.SUBREQUEST)
    answer = await crawl.outage_monitor._polite.fetch(request, wait_until=time.time() + DEADLINE_SECONDS)
    assert isinstance(answer, Page)
    page, _ = await crawl.turn()
    assert page.url == "http://h1.example/1", "the page that was held goes next"


async def test_silent_hosts_get_requests_and_count_as_dead_if_none_has_ever_responded() -> None:
    crawl = Crawl()
    crawl.network.is_up = False
    failed = await crawl.fail("h1.example", "h2.example", "h3.example")
    await crawl.tended_until(lambda: crawl.detector.since is not None)
    for lease, failure in failed:
        crawl.frontier.end(lease, End.NETWORK_DOWN, time.time(), failure=Failure(url="", kind=failure.kind))
    crawl.network.log.clear()
    await crawl.tended_until(lambda: crawl.detector.since is None)
    assert 0 < len(crawl.network.log) < 20
    assert crawl.verdict(failed[0][1], began=0.0, ended=SYSTEM_CLOCK.now()) is Verdict.COUNTS
    assert not crawl.outage_monitor.is_exhausted()


async def test_resumed_crawl_uses_hosts_that_responded_before_as_reference_hosts() -> None:
    crawl = Crawl()
    await met(crawl, "h1.example", "h2.example", "h3.example")
    crawl.detector.reference_hosts.__init__()  # type: ignore[misc]
    crawl.network.is_up = False
    await crawl.fail("new20.example", "new21.example", "new22.example")
    crawl.network.log.clear()
    await crawl.tended_until(lambda: crawl.detector.since is not None)
    assert set(crawl.asked()) == {f"http://h{number}.example/robots.txt" for number in (1, 2, 3)}
    await crawl.outage_monitor.close()


async def test_silence_in_the_journal_of_a_killed_run_does_not_count() -> None:
    crawl = Crawl()
    crawl.add_links("h1.example")
    lease, _ = await crawl.turn()
    recalled = Failure(url=lease.url, kind=FailureKind.CONNECT, silent=True, recalled=True)
    for _ in range(5):
        crawl.outage_monitor.observe(LeaseResult(lease, response=recalled))
    assert not crawl.detector.silent_networks
    assert crawl.verdict(recalled, began=0.0, ended=0.0) is Verdict.UNCOUNTED


async def test_close_ends_a_waiting_round() -> None:
    crawl = Crawl(delay=0.02)
    await met(crawl, "h1.example")
    crawl.frontier.end(
        Lease(
            url="http://h1.example/",
            host="h1.example",
            kind=RequestKind.SUBREQUEST,
            entry=ENTRY,
            is_subrequest=True,
        ),
        End.SUBREQUEST_DONE,
        time.time(),
        failure=Failure(url="", kind=FailureKind.TOO_MANY, retry_after=2 * DEADLINE_SECONDS),
    )
    crawl.network.dead = {"dead5.example", "dead6.example", "dead7.example"}
    await crawl.fail(*sorted(crawl.network.dead))
    crawl.outage_monitor._wait = 2 * DEADLINE_SECONDS
    await crawl.tended_until(lambda: crawl.outage_monitor.is_stalled)
    await asyncio.wait_for(crawl.outage_monitor.close(), DEADLINE_SECONDS)

"""Politeness audit of a crawl over real connections, from the log of the servers.

There are 200 hosts on 20 loopback addresses. Some have a Crawl-delay, some redirect their robots.txt or a page to other
hosts, and some respond with 429 and Retry-After. The log has the start time of each request's handler.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from aiohttp import web

from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.engine.factory import assemble
from tests.servers import serving

HOSTS = 200
ADDRESSES = [f"127.0.0.{number}" for number in range(2, 22)]
DELAY, ADDRESS_DELAY, CRAWL_DELAY, RETRY_AFTER = 1.0, 0.5, 2.0, 3
SECONDS = 16.0


@dataclass
class Line:
    at: float
    host: int
    address: str
    path: str
    status: int


@dataclass
class Servers:
    """Servers of all 200 hosts. The number of a host selects its behaviour."""

    log: list[Line] = field(default_factory=list)
    port: int = 0

    def name(self, number: int) -> str:
        return f"h{number % HOSTS}.example"

    def address(self, number: int) -> str:
        return ADDRESSES[number % len(ADDRESSES)]

    def table(self) -> dict[str, str]:
        return {self.name(number): f"{self.address(number)}:{self.port}" for number in range(HOSTS)}

    async def answer(self, request: web.BaseRequest) -> web.Response:
        at = time.monotonic()
        number = int(request.host.partition(".")[0].removeprefix("h"))
        assert request.transport is not None
        address = request.transport.get_extra_info("sockname")[0]
        response = self.page(number, request.path)
        self.log.append(Line(at, number, address, request.path, response.status))
        return response

    def page(self, number: int, path: str) -> web.Response:
        if path == "/robots.txt":
            return self.robots(number)
        if path == "/rules-of-all.txt":
            return web.Response(text="User-agent: *\nDisallow: /private\n")
        if path == "/go":
            return web.Response(status=302, headers={"Location": f"http://{self.name(number + 7)}/landing"})
        if path == "/busy" and not any(line.host == number and line.path == "/busy" for line in self.log):
            return web.Response(status=429, headers={"Retry-After": str(RETRY_AFTER)})
        links = "".join(f'<a href="/{place}">x</a>' for place in ("private/1", "go", "busy", *map(str, range(20))))
        return web.Response(text=f"<html><body>{links}</body></html>", content_type="text/html")

    def robots(self, number: int) -> web.Response:
        if number % 4 == 0:
            return web.Response(text=f"User-agent: *\nCrawl-delay: {CRAWL_DELAY}\nDisallow: /private\n")
        if number % 4 == 1:
            return web.Response(text="User-agent: *\nDisallow: /private\n")
        if number % 4 == 2:
            return web.Response(status=404)
        return web.Response(status=301, headers={"Location": f"http://{self.name(number + 9)}/rules-of-all.txt"})

    def delay(self, number: int) -> float:
        return CRAWL_DELAY if number % 4 == 0 else DELAY

    def seeds(self) -> tuple[str, ...]:
        special = {0: "/busy", 1: "/go", 2: "/busy"}
        early = [f"http://{self.name(n)}{special[n // 20]}" for n in range(60)]
        return (*early, *(f"http://{self.name(n)}/" for n in range(HOSTS)))


def check_gaps(servers: Servers) -> None:
    for number in range(HOSTS):
        lines = [line for line in servers.log if line.host == number]
        for before, after in pairwise(lines):
            waited = after.at - before.at
            assert waited >= servers.delay(number) or before.path == "/rules-of-all.txt", (number, waited)
            assert waited >= DELAY, (number, waited)
            if before.status == 429:
                assert waited >= RETRY_AFTER, (number, waited)
    for address in ADDRESSES:
        times = [line.at for line in servers.log if line.address == address]
        assert min(after - before for before, after in pairwise(times)) >= ADDRESS_DELAY


def check_rules(servers: Servers) -> None:
    forbidden = [line for line in servers.log if line.path.startswith("/private") and line.host % 4 != 2]
    assert not forbidden
    for number in range(HOSTS):
        asked = [line.path for line in servers.log if line.host == number and line.path != "/rules-of-all.txt"]
        assert not asked or asked[0] == "/robots.txt", "robots.txt is requested first"


def rate_reached(servers: Servers) -> float:
    """Return the ratio of requests to the number that the delays of the addresses allow."""
    made = allowed = 0.0
    for address in ADDRESSES:
        times = [line.at for line in servers.log if line.address == address]
        made += len(times) - 1
        allowed += (times[-1] - times[0]) / ADDRESS_DELAY
    return made / allowed


async def test_crawl_keeps_all_delays_without_idle_time(tmp_path: Path) -> None:
    servers = Servers()
    async with serving(servers, ADDRESSES):
        job = Job(
            seeds=servers.seeds(),
            hosts=servers.table(),
            allow=("127.0.0.0/8",),
            policy="bfs",
            time=SECONDS,
            delay=DELAY,
            retry_wait=1.0,
            workers=1,
        )
        folder = CrawlFolder(tmp_path / "crawl")
        folder.create(job)
        assembled = assemble(job, folder)
        visits = [visit async for visit in assembled.engine.visits(assembled.seeds)]
        folder.unlock()
    assert len(visits) > 200
    servers.log.sort(key=lambda line: line.at)
    check_gaps(servers)
    check_rules(servers)
    paths = [line.path for line in servers.log]
    assert paths.count("/landing") >= 10, "redirects between hosts were followed"
    assert sum(line.status == 429 for line in servers.log) >= 20
    assert paths.count("/rules-of-all.txt") >= 20
    assert rate_reached(servers) >= 0.9

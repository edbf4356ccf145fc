"""Hosts whose robots.txt fails: it is requested again after Retry-After, and the host is not crawled without rules."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web

from motherlode.crawler import CrawlFolder, read_stats
from motherlode.crawler.explain.explanation import explain_url
from motherlode.frontier import leases
from motherlode.frontier.leases import HOST_GIVEN_UP_AFTER, NO_RULES
from tests.crawler.served_crawl import crawl_servers

HOSTS = {"quick.example": "127.0.0.2", "waits.example": "127.0.0.3", "never.example": "127.0.0.4"}
BUSY_TIMES = HOST_GIVEN_UP_AFTER
UNIT = 0.01


@dataclass
class Servers:
    """Host `quick` has rules, `waits` fails or alternates between 503 and 429 at first, `never` always fails."""

    retry_after: str = ""
    log: list[tuple[float, str, str]] = field(default_factory=list)
    port: int = 0

    def times(self, host: str, path: str = "/robots.txt") -> list[float]:
        return [at for at, name, asked in self.log if (name, asked) == (host, path)]

    async def answer(self, request: web.BaseRequest) -> web.Response:
        self.log.append((time.monotonic(), request.host, request.path))
        if request.path != "/robots.txt":
            return web.Response(text="<p>a page", content_type="text/html")
        tries = len(self.times(request.host))
        if request.host == "never.example":
            return web.Response(status=500)
        if request.host == "waits.example" and tries <= BUSY_TIMES:
            if not self.retry_after:
                return web.Response(status=502)
            return web.Response(status=503 if tries % 2 else 429, headers={"Retry-After": self.retry_after})
        return web.Response(text="User-agent: *\nDisallow: /private\n")


async def crawled(servers: Servers, folder: CrawlFolder, *names: str, seconds: float | None = None) -> set[str]:
    """Crawl the hosts. Return the fetched pages."""
    seeds = [f"http://{name}/page" for name in names]
    visits, _ = await crawl_servers(folder, servers, HOSTS, seeds, retry_wait=UNIT, time=seconds)
    return {visit.host for visit in visits if visit.failure is None}


@pytest.fixture
def folder(tmp_path: Path) -> CrawlFolder:
    return CrawlFolder(tmp_path / "crawl")


@pytest.fixture
def _short_robots_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "MAX_UNREADABLE_RULES_UNITS", 100.0)


async def test_host_with_many_robots_txt_failures_is_crawled_in_the_end(folder: CrawlFolder) -> None:
    servers = Servers()
    assert await crawled(servers, folder, "waits.example", "quick.example") == {"waits.example", "quick.example"}
    asked = servers.times("waits.example")
    assert len(asked) == BUSY_TIMES + 1
    assert servers.times("waits.example", "/page")[0] > asked[-1], "no page is requested before robots.txt"
    assert read_stats(folder).unread_rules == {}


async def test_retry_after_of_robots_txt_is_obeyed(folder: CrawlFolder) -> None:
    servers = Servers(retry_after="1")
    await crawled(servers, folder, "waits.example", seconds=4.5)
    gaps = [after - before for before, after in pairwise(servers.times("waits.example"))]
    assert len(gaps) >= 2
    assert all(gap >= 1.0 for gap in gaps)
    assert servers.times("waits.example", "/page") == []
    assert read_stats(folder).unread_rules.keys() <= {"unavailable", "too-many-requests"}


@pytest.mark.usefixtures("_short_robots_timeout")
async def test_crawl_ends_with_a_reason_if_only_hosts_without_robots_txt_remain(folder: CrawlFolder) -> None:
    servers = Servers()
    began = time.monotonic()
    assert await crawled(servers, folder, "never.example", "quick.example") == {"quick.example"}
    assert time.monotonic() - began < 100 * UNIT + 20
    assert servers.times("never.example", "/page") == []
    stats = read_stats(folder)
    assert stats.refused == {NO_RULES: 1}
    assert stats.unread_rules == {"server-error": 1}
    told = explain_url(folder, "http://never.example/page")
    assert told.because.startswith(
        f"refused, no request was made: {NO_RULES}; the robots.txt of its host could not be read"
    )
    assert any(check.name == "robots" and "(server-error)" in check.detail for check in told.checks)

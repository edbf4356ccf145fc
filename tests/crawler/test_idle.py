"""Crawls that have nothing left but retries: they say until when they wait, and end after `idle_timeout`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from aiohttp import web

from motherlode.crawler import Counters, CrawlFolder, Job, read_stats
from motherlode.crawler.engine.factory import assemble
from motherlode.frontier import LmdbStorage
from motherlode.model import FailureKind, Visit
from tests.crawler.served_crawl import crawl_servers
from tests.servers import serving

HOSTS = {"a.example": "127.0.0.2", "b.example": "127.0.0.3"}


class Servers:
    """Answer every path by its name: a status, with Retry-After if it has one. Host b has a Crawl-delay."""

    def __init__(self, *, robots: int = 404) -> None:
        self.port = 0
        self.robots = robots
        self.asked: list[str] = []

    async def answer(self, request: web.BaseRequest) -> web.Response:
        if request.path == "/robots.txt":
            if request.host == "b.example":
                return web.Response(text="User-agent: *\nCrawl-delay: 1\n")
            return web.Response(status=self.robots)
        self.asked.append(request.path)
        status, _, seconds = request.path.strip("/").partition("-")
        headers = {"Retry-After": seconds} if seconds else {}
        return web.Response(status=int(status), headers=headers, text="<p>x", content_type="text/html")


async def crawl(folder: CrawlFolder, servers: Servers, *urls: str, **more: object) -> tuple[list[Visit], Counters]:
    return await crawl_servers(folder, servers, HOSTS, urls, address_delay=0.0, **more)


def ends(folder: CrawlFolder) -> dict[str, tuple[str, str]]:
    """Return state and reason of each URL."""
    storage = LmdbStorage(folder.frontier, read_only=True)
    found = {entry.url.partition("example")[2]: (state.name, reason) for entry, state, reason in storage.entries()}
    storage.close()
    return found


@pytest.mark.parametrize("path", ["/500", "/503-3600", "/429-3600"])
async def test_crawl_with_one_far_retry_ends_with_a_recorded_failure(tmp_path: Path, path: str) -> None:
    folder, servers = CrawlFolder(tmp_path / "out"), Servers()
    visits, totals = await crawl(folder, servers, f"http://a.example{path}", idle_timeout=0.5)
    assert servers.asked == [path]  # the retry is given up, not sent early
    kind = {"/500": FailureKind.SERVER_ERROR, "/503-3600": FailureKind.UNAVAILABLE, "/429-3600": FailureKind.TOO_MANY}
    assert [visit.failure for visit in visits] == [kind[path]]
    assert ends(folder) == {path: ("FAILED", kind[path].value)}
    assert totals.problems == {"retries given up, because nothing else was left: see idle_timeout": 1}
    assert totals.waits_until is None


async def test_retries_within_the_timeout_are_sent(tmp_path: Path) -> None:
    folder, servers = CrawlFolder(tmp_path / "out"), Servers()
    visits, _ = await crawl(folder, servers, "http://a.example/500", idle_timeout=60.0, retry_wait=0.02)
    assert servers.asked == ["/500"] * 3
    assert len(visits) == 3


async def test_crawl_whose_robots_txt_stays_unreadable_ends_and_refuses_its_urls(tmp_path: Path) -> None:
    folder, servers = CrawlFolder(tmp_path / "out"), Servers(robots=500)
    await crawl(folder, servers, "http://a.example/200", "http://b.example/200-x", idle_timeout=0.5)
    assert servers.asked == ["/200-x"]
    assert ends(folder)["/200"] == ("REFUSED", "the host's robots.txt could not be read")


async def test_delay_of_a_host_is_never_given_up(tmp_path: Path) -> None:
    folder, servers = CrawlFolder(tmp_path / "out"), Servers()
    urls = [f"http://b.example/{path}" for path in ("200", "200-x")]
    visits, totals = await crawl(folder, servers, *urls, idle_timeout=0.0)
    assert servers.asked == ["/200", "/200-x"]
    assert [visit.failure for visit in visits] == [None, None]
    assert totals.problems == {}


async def test_wait_is_shown_in_the_counters_and_the_statistics(tmp_path: Path) -> None:
    folder, servers = CrawlFolder(tmp_path / "out"), Servers()
    async with serving(servers, list(HOSTS.values())):
        job = Job(
            seeds=("http://a.example/503-3600",),
            hosts={"a.example": f"127.0.0.2:{servers.port}"},
            allow=("127.0.0.0/8",),
            workers=1,
            idle_timeout=7200.0,
        )
        folder.create(job)
        assembled = assemble(job, folder)
        engine = assembled.engine

        async def run() -> None:
            async for _ in engine.visits(assembled.seeds):
                pass

        running = asyncio.create_task(run())
        command = [sys.executable, "-m", "motherlode", "stats", str(folder.path)]
        shown = ""
        while "waits" not in shown:  # with the next checkpoint
            assert not running.done()
            process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
            shown = (await process.communicate())[0].decode()
        until, reason = engine.totals.waits_until, engine.totals.waits_for
        engine.stop()
        await running
        assembled.store.close()
        folder.unlock()
    now = assembled.clock.now()
    assert now + 3000 < (until or 0.0) < now + 1.3 * 3600  # the Retry-After and some jitter
    assert reason in (
        "http://a.example/503-3600 will be tried again after unavailable",
        "a.example asked for fewer requests",
    )
    assert "nothing may be fetched until " in shown
    assert read_stats(folder).summary()["waits_until"] is None

"""Crawls of sites that answer with challenge and block pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from aiohttp import web

from motherlode.crawler import CrawlFolder, read_stats
from motherlode.crawler.engine.engine import Engine
from motherlode.frontier.leases import TREATMENTS
from motherlode.model import FailureKind, Outcome, Visit
from tests.crawler.served_crawl import crawl_servers
from tests.www.challenge_pages import CHALLENGES

HOSTS = {"open.example": "127.0.0.2", "walled.example": "127.0.0.3", "wary.example": "127.0.0.4"}
NAMES = ("cloudflare-managed", "anubis-page", "akamai-denial")


class Servers:
    """Host `open` has pages and one plain 403, `walled` only challenges, `wary` a challenge in place of robots.txt."""

    def __init__(self) -> None:
        self.port = 0
        self.asked: list[tuple[str, str]] = []

    async def answer(self, request: web.BaseRequest) -> web.Response:
        self.asked.append((request.host, request.path))
        if request.path == "/robots.txt" and request.host != "wary.example":
            return web.Response(text="User-agent: *\nDisallow: /private\n")
        if request.host == "walled.example":
            return _challenge(request.path.strip("/"))
        if request.host == "wary.example":
            return _challenge("cloudflare-managed")
        if request.path == "/forbidden":
            return web.Response(status=403, text="<title>403 Forbidden</title>", content_type="text/html")
        return web.Response(text="<p>a page", content_type="text/html")


def _challenge(name: str) -> web.Response:
    _, status, headers, body = CHALLENGES[name]
    return web.Response(status=status, headers=headers, body=body)


class Learned:
    """Records what a policy learns from."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []


async def crawl(servers: Servers, folder: CrawlFolder, learned: Learned, *seeds: str, **more: object) -> list[Visit]:
    def prepare(engine: Engine) -> None:
        engine._parts.policy.learn = learned.outcomes.append  # type: ignore[method-assign]

    visits, _ = await crawl_servers(folder, servers, HOSTS, seeds, prepare=prepare, retry_wait=0.001, **more)
    return visits


@pytest.fixture
def folder(tmp_path: Path) -> CrawlFolder:
    return CrawlFolder(tmp_path / "crawl")


async def test_crawl_of_challenge_pages_records_failures_and_learns_nothing(folder: CrawlFolder) -> None:
    servers, learned = Servers(), Learned()
    walled = [f"http://walled.example/{name}" for name in NAMES]
    others = ("http://open.example/page", "http://open.example/forbidden")
    visits = await crawl(servers, folder, learned, *walled, *others)
    kinds = {visit.url: visit.failure for visit in visits}
    assert kinds == {
        **dict.fromkeys(walled, FailureKind.CHALLENGED),
        "http://open.example/page": None,
        "http://open.example/forbidden": FailureKind.FORBIDDEN,
    }
    attempts = 1 + TREATMENTS[FailureKind.CHALLENGED].retries
    assert [servers.asked.count(("walled.example", f"/{name}")) for name in NAMES] == [attempts] * len(NAMES)
    assert {outcome.url for outcome in learned.outcomes} == set(others)
    stats = read_stats(folder)
    assert stats.totals.challenged_by == {"cloudflare": attempts, "anubis": attempts, "akamai": attempts}
    assert json.loads(json.dumps(stats.summary()))["challenged_by"]["anubis"] == attempts
    (host,) = (host for host in stats.hosts if host.name == "walled.example")
    assert host.failures == attempts * len(NAMES)


async def test_host_with_a_challenge_in_place_of_robots_txt_is_not_crawled(folder: CrawlFolder) -> None:
    servers, learned = Servers(), Learned()
    assert await crawl(servers, folder, learned, "http://wary.example/page") == []
    assert {path for _, path in servers.asked} == {"/robots.txt"}
    stats = read_stats(folder)
    assert stats.unread_rules == {"challenged": 1}
    assert stats.totals.challenged_by["cloudflare"] == len(servers.asked)

"""Single requests obey robots.txt, delays and back-off like the requests of a crawl."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from motherlode.crawler.engine.robots_and_dns import PoliteFetcher
from motherlode.fetch import HttpFetcher, HttpOptions, RobotsRules
from motherlode.frontier import Frontier, MemoryStorage, Politeness
from motherlode.model import Failure, FailureKind, Fetched, Page, Request
from motherlode.policies import policy_from
from tests.fetch.fake_names import use_names
from tests.servers import serving

NAMES = {"a.example": "127.0.0.2", "b.example": "127.0.0.3", "c.example": "127.0.0.2"}
X = "http://a.example/x"
Answer = tuple[int, str]
"""A status, and the body or, with a 3xx, the redirect target; with some, the seconds of Retry-After."""
_WAITS = (429, 502)


class Site:
    """Responds by host and path, with 404 to other URLs, and logs when each request came."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self.port = 0
        self._answers = answers
        self.log: list[tuple[str, float]] = []

    async def answer(self, request: web.BaseRequest) -> web.Response:
        asked = f"{request.host}{request.path}"
        self.log.append((asked, asyncio.get_running_loop().time()))
        status, text = self._answers.get(asked, (404, ""))
        headers = {"Location": text} if status // 100 == 3 else {"Retry-After": text} if status in _WAITS else {}
        return web.Response(status=status, text=text, headers=headers)

    def asked(self) -> list[str]:
        return [asked for asked, _ in self.log]


@asynccontextmanager
async def politely(site: Site, *, delay: float, retry_wait: float, waits: list[str]) -> AsyncIterator[PoliteFetcher]:
    async with serving(site, sorted(set(NAMES.values()))):
        table = {name: (address, site.port) for name, address in NAMES.items()}
        http = HttpFetcher(HttpOptions(user_agent="Motherlode/test", allow=("127.0.0.0/8",), hosts=table))
        frontier = Frontier(
            storage=MemoryStorage(),
            policy=policy_from("bfs"),
            scope=lambda url: "",
            read_rules=RobotsRules,
            politeness=Politeness(delay=delay, by_address=True, retry_wait=retry_wait),
        )
        polite = PoliteFetcher(frontier, http, resolve=http.resolve, tell_wait=lambda host, seconds: waits.append(host))
        try:
            yield polite
        finally:
            await polite.close()


async def ask(site: Site, *urls: str, delay: float = 0.0, retry_wait: float = 30.0) -> tuple[list[Fetched], list[str]]:
    """Return the responses to requests that are sent one after the other, and the hosts that were waited for."""
    waits: list[str] = []
    async with politely(site, delay=delay, retry_wait=retry_wait, waits=waits) as polite:
        return [await polite.fetch(Request(url=url)) for url in urls], waits


def failure(fetched: Fetched) -> Failure:
    assert isinstance(fetched, Failure)
    return fetched


async def test_robots_txt_is_fetched_once_before_the_first_page() -> None:
    site = Site({"a.example/robots.txt": (200, "User-agent: *\nDisallow: /no"), "a.example/1": (200, "one")})
    (one, none, forbidden), _ = await ask(site, *(f"http://a.example/{path}" for path in ("1", "2", "no/3")))
    assert isinstance(one, Page)
    assert failure(none).kind is FailureKind.NOT_FOUND
    assert failure(forbidden).kind is FailureKind.ROBOTS
    assert failure(forbidden).detail == "http://a.example/robots.txt disallows it"
    assert site.asked() == ["a.example/robots.txt", "a.example/1", "a.example/2"]


@pytest.mark.parametrize("status", [500, 503, 429])
async def test_unreadable_robots_txt_disallows_everything_for_now(status: int) -> None:
    site = Site({"a.example/robots.txt": (status, ""), "a.example/1": (200, "one")})
    (refused,), _ = await ask(site, "http://a.example/1")
    assert failure(refused).kind is FailureKind.ROBOTS
    assert failure(refused).url == "http://a.example/1"
    assert "http://a.example/robots.txt cannot be read now" in failure(refused).detail
    assert f"answered {status}" in failure(refused).detail
    assert site.asked() == ["a.example/robots.txt"]


async def test_unreadable_robots_txt_is_not_fetched_again_for_every_page() -> None:
    site = Site({"a.example/robots.txt": (500, ""), "a.example/1": (200, "one")})
    async with politely(site, delay=0.0, retry_wait=30.0, waits=[]) as polite:
        answers = [
            await polite.fetch(Request(url=f"http://a.example/{number}"), wait_until=time.time() + 1)
            for number in (1, 2)
        ]
    assert [failure(answer).kind for answer in answers] == [FailureKind.ROBOTS, FailureKind.TIMEOUT]
    assert site.asked() == ["a.example/robots.txt"]


async def test_robots_txt_may_redirect_to_another_host() -> None:
    site = Site(
        {
            "a.example/robots.txt": (301, "http://b.example/rules"),
            "b.example/rules": (200, "User-agent: *\nDisallow: /no"),
            "a.example/1": (200, "one"),
        }
    )
    (one, forbidden), _ = await ask(site, "http://a.example/1", "http://a.example/no")
    assert isinstance(one, Page)
    assert failure(forbidden).kind is FailureKind.ROBOTS
    assert site.asked() == ["a.example/robots.txt", "b.example/rules", "a.example/1"]


async def test_robots_txt_with_endless_redirects_allows_everything() -> None:
    hops = {f"a.example/{n}": (302, f"/{n + 1}") for n in range(20)}
    (found,), _ = await ask(Site({"a.example/robots.txt": (302, "/0"), **hops, "a.example/x": (200, "")}), X)
    assert isinstance(found, Page)


@pytest.mark.parametrize(("other", "least"), [("a.example", 0.5), ("c.example", 0.25), ("b.example", 0.0)])
async def test_delays_hold_by_host_and_by_address(other: str, least: float) -> None:
    """Two names at one address are at least half a delay apart, two addresses not at all."""
    site = Site({"a.example/x": (200, "")})
    _, waits = await ask(site, X, f"http://{other}/y", delay=0.5)
    times = dict(site.log)
    first = next(asked for asked in site.asked() if not asked.startswith("a.example/") or asked == "a.example/y")
    assert times["a.example/x"] - times["a.example/robots.txt"] >= 0.5
    assert times[first] - times["a.example/x"] >= least
    assert waits[0] == "a.example"


@pytest.mark.parametrize(("status", "kind"), [(429, FailureKind.TOO_MANY), (502, FailureKind.SERVER_ERROR)])
async def test_rate_limited_host_is_snoozed(status: int, kind: FailureKind) -> None:
    site = Site({"a.example/x": (status, "3"), "b.example/x": (200, "")})
    (first, other, _), waits = await ask(site, X, "http://b.example/x", "http://a.example/y", retry_wait=0.01)
    assert failure(first).kind is kind
    assert isinstance(other, Page)
    assert waits == ["a.example"]
    times = dict(site.log)
    assert times["a.example/y"] - times["a.example/x"] >= 3.0


async def test_unknown_host_name_is_a_dns_failure() -> None:
    (lost,), _ = await ask(Site({}), "http://127.0.0.9:9/x")
    assert failure(lost).kind is FailureKind.CONNECT
    assert failure(lost).url == "http://127.0.0.9:9/x"
    (private,), _ = await ask(Site({}), "http://10.0.0.1/x")
    assert failure(private).kind is FailureKind.GUARD


async def test_failed_connection_is_tried_at_the_next_address(monkeypatch: pytest.MonkeyPatch) -> None:
    use_names(monkeypatch, ["127.0.0.9", "127.0.0.2"])
    site = Site({})
    async with politely(site, delay=0.0, retry_wait=30.0, waits=[]) as polite:
        found = await polite.fetch(Request(url=f"http://two.example:{site.port}/x"))
    assert failure(found).kind is FailureKind.NOT_FOUND
    assert site.asked() == [f"two.example:{site.port}/robots.txt", f"two.example:{site.port}/x"]


@pytest.mark.parametrize(("delay", "context"), [(1, b"{}"), (3600, None)])
async def test_context_of_a_host_with_a_long_delay_is_not_waited_for(delay: int, context: bytes | None) -> None:
    site = Site(
        {
            "a.example/robots.txt": (200, f"User-agent: *\nCrawl-delay: {delay}"),
            "a.example/c": (302, "http://b.example/c"),
            "b.example/c": (200, "{}"),
        }
    )
    async with asyncio.timeout(120), politely(site, delay=0.0, retry_wait=30.0, waits=[]) as polite:
        assert await polite.context("http://a.example/c", wait_until=time.time() + 600) == context

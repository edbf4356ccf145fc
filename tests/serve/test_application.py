"""Tests of the application: routes, response headers, and error pages."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import AbstractAsyncContextManager
from math import inf
from pathlib import Path

import aiohttp
import pytest

from motherlode.crawler import CrawlFolder, Job
from motherlode.index.fulltext import Hit, Search
from motherlode.index.query.query_pool import QueryPool
from motherlode.serve import application as module
from motherlode.serve.application import HEADERS, application, serve
from motherlode.serve.crawl_view import CrawlState, CrawlView
from motherlode.serve.sparql import QueryLimits
from tests.serve.site import HOME, client_of

LIMITS = QueryLimits(seconds=120.0, workers=1)
ADDRESSES = [
    "/",
    "/pages?failed=1",
    "/hosts",
    "/host?name=evil.test",
    f"/explain?url={HOME}",
    "/healthz",
    "/metrics",
    *(
        f"/api/{name}"
        for name in ("stats", "curve", "hosts", "syntaxes", "failures", "policy", "log", "types", "pages")
    ),
    f"/api/explain?url={HOME}",
    "/search?q=tomato",
    "/search?q=tomato&format=json",
    "/query?q=SELECT%20%2A%20%7B%7D",
    f"/entity?iri={HOME}thing/0",
    f"/page?url={HOME}",
    "/sparql?query=ASK%20%7B%7D",
    "/style.css",
    "/script.js",
    "/icon.svg",
]


def asked(folder: Path, limits: QueryLimits = LIMITS) -> AbstractAsyncContextManager[aiohttp.ClientSession]:
    return client_of(application(CrawlFolder(folder), limits))


async def test_every_response_has_security_headers(folder: Path) -> None:
    async with asked(folder) as session:
        for address in [*ADDRESSES, "/nothing", "/search?limit=none", "/sparql?query=SELECT"]:
            async with session.get(address) as answer:
                missing = {name: value for name, value in HEADERS.items() if answer.headers.get(name) != value}
                assert not missing, address
                assert "Server" not in answer.headers, address
                assert (answer.status == 200) is (address in ADDRESSES), (address, answer.status)


async def test_unknown_path_is_page_and_wrong_method_is_refused(folder: Path) -> None:
    async with asked(folder) as session:
        async with session.get("/style.css/../../etc/passwd<script>") as answer:
            assert (answer.status, answer.content_type) == (404, "text/html")
            assert "There is no such page" in await answer.text()
        async with session.post("/") as answer:
            assert answer.status == 405


async def test_search_format_follows_accept_header_and_parameter(folder: Path) -> None:
    async with asked(folder) as session:
        async with session.get("/search?q=tomato", headers={"Accept": "application/json"}) as answer:
            found = await answer.json()
            assert found["count"] == len(found["results"]) > 0
        async with session.get("/search?q=tomato", headers={"Accept": "text/html"}) as answer:
            assert answer.content_type == "text/html"


async def test_search_without_word_index_explains_how_to_build_it(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "out")
    folder.create(Job(seeds=("http://a.test/",), words=False))
    folder.unlock()
    async with asked(folder.path) as session, session.get("/search?q=x&format=json") as answer:
        assert answer.status == 404
        assert "--rebuild" in (await answer.json())["error"]


async def test_unknown_host_is_error_page(folder: Path) -> None:
    async with asked(folder) as session, session.get("/host?name=<b>") as answer:
        assert answer.status == 404
        assert "has not contacted the host" in await answer.text()


async def test_page_of_unknown_url_says_why_it_was_not_crawled(folder: Path) -> None:
    async with asked(folder) as session, session.get(f"/page?url={HOME}nowhere") as answer:
        assert answer.status == 404
        assert "unknown: no fetched page links to it" in await answer.text()


async def test_types_of_finished_crawl_are_counted_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []
    select = module.select

    async def counting(pool: QueryPool, query: str, *, seconds: float) -> object:
        counted.append(query)
        return await select(pool, query, seconds=seconds)

    monkeypatch.setattr(module, "select", counting)
    async with asked(folder) as session:
        for _ in range(3):
            async with session.get("/") as answer:
                assert "schema:Recipe" in await answer.text()
    assert len(counted) == 1


async def test_concurrent_overview_requests_share_reads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []
    count = module.select

    async def counting(pool: QueryPool, query: str, *, seconds: float) -> object:
        counted.append(query)
        return await count(pool, query, seconds=seconds)

    monkeypatch.setattr(module, "select", counting)

    async def status(session: aiohttp.ClientSession) -> int:
        async with session.get("/") as answer:
            return answer.status

    async with asked(folder) as session:
        found = await asyncio.gather(*(status(session) for _ in range(8)))
    assert found == [200] * 8
    assert len(counted) == 1


async def test_query_timeout_is_shown_as_page(folder: Path) -> None:
    async with (
        asked(folder, QueryLimits(seconds=0.001, workers=1)) as session,
        session.get(f"/entity?iri={HOME}") as answer,
    ):
        assert answer.status in (503, 504), "the query could not start or end in time"
        assert "the query" in await answer.text()


async def test_serve_listens_on_loopback_until_event(folder: Path) -> None:
    until, ready = asyncio.Event(), asyncio.get_running_loop().create_future()
    running = asyncio.create_task(
        serve(CrawlFolder(folder), port=0, limits=LIMITS, until=until, ready=ready.set_result)
    )
    address = await ready
    assert address.startswith("http://127.0.0.1:")
    async with aiohttp.ClientSession() as session, session.get(f"{address}healthz") as answer:
        assert answer.status == 200
    until.set()
    await running
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectionError):
            await session.get(f"{address}healthz")


async def test_serve_port_in_use_raises(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="address already in use"):
        await serve(CrawlFolder(folder), port=taken.getsockname()[1], limits=LIMITS, until=asyncio.Event())


async def test_search_beyond_the_queue_is_refused_with_a_time_to_try_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_begun, may_end = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def search(view: CrawlView, asked: Search) -> list[Hit]:
        loop.call_soon_threadsafe(has_begun.set)
        may_end.wait()
        return []

    monkeypatch.setattr(CrawlView, "search", search)
    async with asked(folder, QueryLimits(seconds=600.0, workers=1, waiting=0)) as session:
        first = asyncio.create_task(session.get("/search?q=tomato&format=json"))
        await has_begun.wait()
        async with session.get("/search?q=soup") as answer:
            assert (answer.status, int(answer.headers["Retry-After"]) >= 1) == (503, True)
        may_end.set()
        assert await (await first).json() == {"words": "tomato", "count": 0, "results": []}
        async with session.get("/search?q=soup") as answer:
            assert answer.status == 200


@pytest.mark.parametrize("error", [ValueError("bad footer"), OSError("bad log")])
async def test_search_in_files_that_cannot_be_read_says_why(
    folder: Path, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(view: CrawlView, asked: Search) -> list[Hit]:
        raise error

    monkeypatch.setattr(CrawlView, "search", search)
    async with asked(folder) as session, session.get("/search?q=tomato") as answer:
        assert answer.status == 500
        assert str(error) in await answer.text()


async def test_overview_is_made_once_for_requests_at_the_same_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end, calls, read = threading.Event(), [0], CrawlView.read_state

    def read_state(view: CrawlView) -> CrawlState:
        calls[0] += 1
        may_end.wait()
        return read(view)

    monkeypatch.setattr(CrawlView, "read_state", read_state)
    monkeypatch.setattr(module, "_OVERVIEW_FRESH_SECONDS", inf)
    async with asked(folder) as session:
        answers = [asyncio.create_task(session.get("/")) for _ in range(8)]
        may_end.set()
        texts = {await (await answer).text() for answer in answers}
    assert (len(texts), calls[0]) == (1, 1)

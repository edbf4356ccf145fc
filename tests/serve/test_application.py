"""Tests of the application: routes, response headers, and error pages."""

from __future__ import annotations

import asyncio
import socket
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import aiohttp
import pytest

from motherlode.crawler import CrawlFolder, Job
from motherlode.index.query.query_pool import QueryPool
from motherlode.serve import application as module
from motherlode.serve.application import HEADERS, _is_loopback, _parse_host, _parse_origin, application, serve
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


def test_is_loopback_on_examples_gives_expected_values() -> None:
    assert [
        _is_loopback(name) for name in ("localhost", "a.localhost", "127.0.0.9", "::1", "127.0.0.1.evil.test", "")
    ] == [True, True, True, True, False, False]


def test_parse_host_on_examples_gives_expected_values() -> None:
    assert (_parse_host("Crawl.Example.ORG"), _parse_host("bücher.example")) == (
        "crawl.example.org",
        "xn--bcher-kva.example",
    )


def test_parse_origin_on_examples_gives_expected_values() -> None:
    assert (
        _parse_origin("HTTPS://App.example.org:443/"),
        _parse_origin("http://localhost:3000"),
        _parse_origin("*"),
    ) == ("https://app.example.org", "http://localhost:3000", "*")

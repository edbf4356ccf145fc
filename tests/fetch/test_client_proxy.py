"""Requests through a proxy, and the address guard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from motherlode.fetch import HttpFetcher, HttpOptions
from motherlode.model import Failure, FailureKind, Page, Request

from .conftest import LIMITS
from .servers import RawServer, answer

NAMES = {"inside.example": ("10.1.2.3", 80), "outside.example": ("93.184.215.14", 80)}


@pytest.fixture
async def proxied(server: RawServer) -> AsyncIterator[HttpFetcher]:
    """Return a fetcher whose proxy is on loopback. The guard does not check it, because the user chose it."""
    options = HttpOptions(user_agent="Motherlode/test", limits=LIMITS, hosts=NAMES, proxy=server.url(""))
    made = HttpFetcher(options)
    yield made
    await made.close()


async def test_proxy_gets_absolute_url(server: RawServer, proxied: HttpFetcher) -> None:
    server.routes["http://outside.example/x"] = answer(b"<html>hello</html>", "Content-Type: text/html")
    page = await proxied.fetch(Request(url="http://outside.example/x"))
    assert isinstance(page, Page)
    assert page.body == b"<html>hello</html>"
    assert page.address == "", "the proxy's own address says nothing about the host"
    assert server.heads[0].startswith("GET http://outside.example/x HTTP/1.1\r\nHost: outside.example\r\n")


@pytest.mark.parametrize("url", ["http://inside.example/", "http://10.0.0.1/", "http://[::ffff:127.0.0.1]/"])
async def test_proxy_private_host_is_refused_before_request(server: RawServer, proxied: HttpFetcher, url: str) -> None:
    refused = await proxied.fetch(Request(url=url))
    assert isinstance(refused, Failure)
    assert refused.kind is FailureKind.GUARD
    assert server.heads == []


async def test_proxy_resolves_name_that_we_cannot(server: RawServer, proxied: HttpFetcher) -> None:
    server.routes["http://far.invalid/"] = answer(b"<html></html>", "Content-Type: text/html")
    assert isinstance(await proxied.fetch(Request(url="http://far.invalid/")), Page)
    assert await proxied.resolve("http://far.invalid/") == "far.invalid", (
        "politeness counts per name if there is no address"
    )
    refused = await proxied.resolve("http://inside.example/")
    assert isinstance(refused, Failure)
    assert refused.kind is FailureKind.GUARD


async def test_proxy_down_is_silent_failure() -> None:
    gone = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = gone.sockets[0].getsockname()[1]
    gone.close()
    await gone.wait_closed()
    url = f"http://127.0.0.1:{port}"
    fetcher = HttpFetcher(HttpOptions(user_agent="Motherlode/test", limits=LIMITS, hosts=NAMES, proxy=url))
    failed = await fetcher.fetch(Request(url="http://outside.example/x"))
    await fetcher.close()
    assert isinstance(failed, Failure) and failed.kind is FailureKind.CONNECT
    assert failed.silent

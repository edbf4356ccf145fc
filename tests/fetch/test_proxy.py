"""Requests through a proxy: where they go, and what the address guard can still see."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from motherlode.fetch import HttpFetcher, HttpOptions
from motherlode.model import Failure, FailureKind, Page, Request

from .conftest import LIMITS
from .servers import RawServer, answer

NAMES = {"inside.example": ("10.1.2.3", 80), "outside.example": ("93.184.215.14", 80)}


@pytest.fixture
async def proxied(server: RawServer) -> AsyncIterator[HttpFetcher]:
    """The proxy is on loopback, which the guard would refuse; the user named it."""
    options = HttpOptions(user_agent="Motherlode/test", limits=LIMITS, hosts=NAMES, proxy=server.url(""))
    made = HttpFetcher(options)
    yield made
    await made.close()


async def test_the_proxy_gets_the_whole_address(server: RawServer, proxied: HttpFetcher) -> None:
    server.routes["http://outside.example/x"] = answer(b"<html>hello</html>", "Content-Type: text/html")
    page = await proxied.fetch(Request(url="http://outside.example/x"))
    assert isinstance(page, Page)
    assert page.body == b"<html>hello</html>"
    assert page.address == "", "the proxy's own address says nothing about the host"
    assert server.heads[0].startswith("GET http://outside.example/x HTTP/1.1\r\nHost: outside.example\r\n")


@pytest.mark.parametrize("url", ["http://inside.example/", "http://10.0.0.1/", "http://[::ffff:127.0.0.1]/"])
async def test_what_is_known_to_lie_inside_is_refused_before_the_proxy_hears_of_it(
    server: RawServer, proxied: HttpFetcher, url: str
) -> None:
    refused = await proxied.fetch(Request(url=url))
    assert isinstance(refused, Failure)
    assert refused.kind is FailureKind.GUARD
    assert server.heads == []


async def test_a_name_that_only_the_proxy_knows_is_left_to_it(server: RawServer, proxied: HttpFetcher) -> None:
    server.routes["http://far.invalid/"] = answer(b"<html></html>", "Content-Type: text/html")
    assert isinstance(await proxied.fetch(Request(url="http://far.invalid/")), Page)
    assert await proxied.resolve("http://far.invalid/") == "far.invalid", "its own clock, for want of an address"
    refused = await proxied.resolve("http://inside.example/")
    assert isinstance(refused, Failure)
    assert refused.kind is FailureKind.GUARD

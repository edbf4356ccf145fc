"""Bodies that come too slowly, and bodies that are slow to decode."""

from __future__ import annotations

import asyncio
import gzip
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from motherlode.fetch import HttpFetcher, HttpOptions
from motherlode.fetch.http.decoding import MemberDecoder
from motherlode.model import Failure, FailureKind, Page, Request

from ..conftest import LIMITS
from ..servers import RawServer, Script, answer, endless

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def new_fetcher(*, min_rate: float, keep_wire: bool = False, body: int = LIMITS.body) -> HttpFetcher:
    limits = replace(LIMITS, first_byte=0.5, whole=60.0, min_rate=min_rate, body=body)
    return HttpFetcher(HttpOptions(user_agent="x", limits=limits, allow=("127.0.0.0/8",), keep_wire=keep_wire))


@pytest.fixture
async def dripping() -> AsyncIterator[HttpFetcher]:
    made = new_fetcher(min_rate=1000.0)
    yield made
    await made.close()


async def test_body_below_the_minimum_rate_is_a_timeout_with_both_rates(
    server: RawServer, dripping: HttpFetcher
) -> None:
    server.routes["/"] = endless(HEAD, b"x", pause=0.02)
    found = await dripping.fetch(Request(url=server.url("/")))
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.TIMEOUT
    assert "bytes per second, less than min_rate (1000)" in found.detail
    assert not found.silent


async def test_body_that_becomes_too_slow_later_is_a_timeout(server: RawServer, dripping: HttpFetcher) -> None:
    server.routes["/"] = endless(HEAD + b"y" * 50_000, b"x", pause=0.02)
    found = await dripping.fetch(Request(url=server.url("/")))
    assert isinstance(found, Failure)
    assert "min_rate" in found.detail


def some_pieces(piece: bytes, *, count: int, pause: float) -> Script:
    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD)
        for _ in range(count):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return send


@pytest.mark.parametrize(("piece", "min_rate"), [(b"z" * 500, 1000.0), (b"z", 0.0)])
async def test_body_above_the_minimum_rate_or_without_one_is_a_page(
    server: RawServer, piece: bytes, min_rate: float
) -> None:
    fetcher = new_fetcher(min_rate=min_rate)
    server.routes["/"] = some_pieces(piece, count=60, pause=0.02)
    found = await fetcher.fetch(Request(url=server.url("/")))
    await fetcher.close()
    assert isinstance(found, Page)
    assert found.body == piece * 60


async def test_slow_body_of_an_archived_failure_keeps_its_status(server: RawServer) -> None:
    fetcher = new_fetcher(min_rate=1000.0, keep_wire=True)
    server.routes["/"] = endless(HEAD.replace(b"200 OK", b"404 Not Found"), b"x", pause=0.02)
    found = await fetcher.fetch(Request(url=server.url("/")))
    await fetcher.close()
    assert isinstance(found, Failure)
    assert found.status == 404


@pytest.mark.parametrize("framing", ["length", "close"])
async def test_many_gzip_members_give_way_to_the_event_loop(
    server: RawServer, monkeypatch: pytest.MonkeyPatch, framing: str
) -> None:
    data = b"".join(gzip.compress(text, mtime=0) for text in (b"<p>", *[b""] * 10_000, b"end"))
    lines = "Content-Type: text/html", "Content-Encoding: gzip"
    server.routes["/"] = (
        answer(data, *lines) if framing == "length" else HEAD[:-2] + b"Content-Encoding: gzip\r\n\r\n" + data
    )
    turn, is_over = 0, False
    fed: Counter[int] = Counter()
    feed = MemberDecoder.feed

    def record(decoder: MemberDecoder, piece: bytes, max_bytes: int) -> bytes:
        fed[turn] += len(piece)
        return feed(decoder, piece, max_bytes)

    async def count_turns() -> None:
        nonlocal turn
        while not is_over:
            turn += 1
            await asyncio.sleep(0)

    monkeypatch.setattr(MemberDecoder, "feed", record)
    counter = asyncio.create_task(count_turns())
    fetcher = new_fetcher(min_rate=0.0, body=1 << 20)
    found = await fetcher.fetch(Request(url=server.url("/")))
    is_over = True
    await counter
    await fetcher.close()
    assert isinstance(found, Page), found
    assert (found.body, found.truncated) == (b"<p>end", False)
    assert sum(fed.values()) == len(data)
    assert max(fed.values()) <= 1 << 16, "other connections wait for the decoder"

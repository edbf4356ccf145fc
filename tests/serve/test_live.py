"""Tests of the live stream: all parts first, then changed ones; several clients share one reader."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from motherlode.serve import live
from motherlode.serve.live import LiveFeed
from tests.serve.site import client_of


class Source:
    """Parts that a test changes, and how many readers rendered them at the same time."""

    def __init__(self) -> None:
        self.parts = {"a": "<p>1\n2</p>", "b": "<p>x</p>"}
        self.running = self.most_running = 0
        self.is_broken = False
        self.failed = asyncio.Event()

    async def render(self) -> dict[str, str]:
        self.running += 1
        self.most_running = max(self.running, self.most_running)
        await asyncio.sleep(0)
        self.running -= 1
        if self.is_broken:
            self.failed.set()
            raise OSError("the disk is gone")
        return dict(self.parts)


@asynccontextmanager
async def served(source: Source) -> AsyncIterator[tuple[aiohttp.ClientSession, LiveFeed]]:
    feed = LiveFeed(source.render)
    application = web.Application()
    application.add_routes([web.get("/events", feed.handle)])
    application.on_shutdown.append(lambda _: feed.close())
    async with client_of(application) as session:
        yield session, feed


async def next_parts(response: aiohttp.ClientResponse) -> Any:
    async for line in response.content:
        if line.startswith(b"data: "):
            return json.loads(line.removeprefix(b"data: "))
    return None


@pytest.fixture(autouse=True)
def short_period(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_PERIOD_SECONDS", 0.01)


async def test_stream_sends_all_parts_then_changed_ones() -> None:
    source = Source()
    async with served(source) as (session, _), session.get("/events") as response:
        assert response.content_type == "text/event-stream"
        assert await next_parts(response) == source.parts
        source.parts["b"] = "<p>y</p>"
        assert await next_parts(response) == {"b": "<p>y</p>"}


async def test_stream_after_reconnect_sends_all_parts_again() -> None:
    source = Source()
    async with served(source) as (session, _):
        for _ in range(2):
            async with session.get("/events") as response:
                assert await next_parts(response) == source.parts


async def test_clients_share_one_reader() -> None:
    source = Source()
    async with served(source) as (session, _):
        responses = [await session.get("/events") for _ in range(5)]
        assert [await next_parts(response) for response in responses] == [source.parts] * 5
        source.parts = {"a": "end"}
        assert [await next_parts(response) for response in responses] == [{"a": "end"}] * 5
        for response in responses:
            response.close()
    assert source.most_running == 1


async def test_stream_survives_error_of_reader() -> None:
    source = Source()
    async with served(source) as (session, _), session.get("/events") as response:
        await next_parts(response)
        source.is_broken = True
        await source.failed.wait()
        source.is_broken, source.parts["a"] = False, "again"
        assert await next_parts(response) == {"a": "again"}


async def test_stream_above_limit_of_clients_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MAX_CLIENTS", 1)
    async with served(Source()) as (session, _), session.get("/events") as first:
        await next_parts(first)
        async with session.get("/events") as second:
            assert second.status == 503


async def test_close_ends_streams() -> None:
    async with served(Source()) as (session, feed), session.get("/events") as response:
        await next_parts(response)
        await feed.close()
        assert await next_parts(response) is None

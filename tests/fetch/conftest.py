"""Fixtures: a raw server, and a fetcher that may connect to it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from motherlode.fetch import HttpFetcher, HttpLimits, HttpOptions

from .servers import RawServer

LIMITS = HttpLimits(connect=10.0, first_byte=1.0, whole=3.0, body=100_000)


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    made = RawServer()
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def fetcher() -> AsyncIterator[HttpFetcher]:
    """A fetcher with small limits that may connect to loopback."""
    made = HttpFetcher(
        HttpOptions(user_agent="Motherlode/test (+http://ex.org/)", limits=LIMITS, allow=("127.0.0.0/8",))
    )
    yield made
    await made.close()

"""A raw server and a fetcher that may talk to it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from motherlode.fetch import HttpFetcher, HttpLimits, HttpOptions

from .servers import RawServer

LIMITS = HttpLimits(connect=2.0, first_byte=0.3, whole=1.0, body=100_000)


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    made = RawServer()
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def fetcher() -> AsyncIterator[HttpFetcher]:
    """Loopback allowed, small limits."""
    made = HttpFetcher(
        HttpOptions(user_agent="Motherlode/test (+http://ex.org/)", limits=LIMITS, allow=("127.0.0.0/8",))
    )
    yield made
    await made.close()

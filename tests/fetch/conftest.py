"""Fixtures: a raw server, a fetcher that may connect to it, and an authority of certificates."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from motherlode.fetch import HttpFetcher, HttpLimits, HttpOptions

from .certificates import Identity, issued
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


@pytest.fixture(scope="module")
def root() -> Identity:
    return issued(is_authority=True)


@pytest.fixture
def trusted_root(root: Identity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the machine trust one authority."""
    path = tmp_path / "root.pem"
    path.write_bytes(root.public)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))

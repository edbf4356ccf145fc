"""Fixtures: one hostile crawl and one server for all tests of this package; query processes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from motherlode.index.query.query_pool import QueryPool
from tests.serve.site import crawl, served


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return crawl(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="session")
def site(folder: Path) -> Iterator[str]:
    with served(folder, "--timeout", "120", "--bytes", "500kB") as address:
        yield address


@pytest.fixture
async def pool(store: Path) -> AsyncIterator[QueryPool]:
    """Yield query processes for the fixture `store` of the module."""
    made = QueryPool(store, store.parent / "words", workers=1)
    yield made
    await made.close()

"""The frontier storages under test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from motherlode.frontier import FrontierStorage, LmdbStorage, MemoryStorage


@pytest.fixture(params=["memory", "disk"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FrontierStorage]:
    """Return one storage of each kind: every test of the contract runs on both."""
    made: FrontierStorage = MemoryStorage() if request.param == "memory" else LmdbStorage(tmp_path / "frontier")
    yield made
    made.close()

"""The ledgers under test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from motherlode.frontier import DiskLedger, Ledger, MemoryLedger


@pytest.fixture(params=["memory", "disk"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    """One of each kind; every test of the contract runs on both."""
    made: Ledger = MemoryLedger() if request.param == "memory" else DiskLedger(tmp_path / "frontier")
    yield made
    made.close()

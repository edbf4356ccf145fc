from __future__ import annotations

import pytest

from motherlode.sim.synthetic import SyntheticWeb


@pytest.fixture(scope="session")
def web() -> SyntheticWeb:
    """A web of the demo's size."""
    return SyntheticWeb(pages=5000, seed=1)


@pytest.fixture(scope="session")
def small() -> SyntheticWeb:
    return SyntheticWeb(pages=1500, seed=11)

"""Fixtures: one hostile crawl and one server for all tests of this package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.site import crawl, served


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return crawl(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="session")
def site(folder: Path) -> Iterator[str]:
    with served(folder, "--timeout", "120", "--bytes", "500kB") as address:
        yield address

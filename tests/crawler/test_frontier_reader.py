"""Opening of a frontier for reading, whole and damaged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.frontier_reader import frontier_advice, open_to_read
from motherlode.frontier import LmdbStorage
from motherlode.index.snapshot import DamagedError


@pytest.fixture
def folder(tmp_path: Path) -> CrawlFolder:
    """A folder whose frontier has one note and enough pages of LMDB to be cut."""
    storage = LmdbStorage(tmp_path / "frontier")
    storage.put_note("name", b"x" * 100_000)
    storage.commit()
    storage.close()
    return CrawlFolder(tmp_path)


def test_open_to_read_whole_frontier_returns_its_notes(folder: CrawlFolder) -> None:
    storage = open_to_read(folder)
    assert storage.note("name") == b"x" * 100_000
    storage.close()


def test_open_to_read_truncated_frontier_raises_error_with_advice(folder: CrawlFolder) -> None:
    file = folder.frontier / "data.mdb"
    os.truncate(file, file.stat().st_size // 2 // 4096 * 4096)
    with pytest.raises(DamagedError, match=r"is damaged.*resume"):
        open_to_read(folder)


def test_frontier_advice_names_folder_reason_and_command(folder: CrawlFolder) -> None:
    text = frontier_advice(folder, "a page is missing")
    assert str(folder.frontier) in text
    assert "a page is missing" in text
    assert f"motherlode resume {folder.path}" in text

"""The integrity check finds damage to the frontier's file in a child process."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from motherlode.frontier import LmdbStorage, damage

from ..fakes import entry


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    storage = LmdbStorage(tmp_path / "frontier")
    for number in range(2000):
        storage.add(entry(f"http://a.example/{number}", sequence=number))
    storage.commit()
    storage.close()
    return tmp_path / "frontier"


def test_damage_of_intact_file_is_empty(folder: Path) -> None:
    assert damage(folder) == ""


def test_damage_of_missing_file_is_empty(tmp_path: Path) -> None:
    assert damage(tmp_path / "nothing") == ""


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6])
def test_damage_finds_truncated_file(folder: Path, share: float) -> None:
    path = folder / "data.mdb"
    os.truncate(path, int(path.stat().st_size * share) // 4096 * 4096)
    assert damage(folder)


def test_damage_finds_random_bytes(folder: Path) -> None:
    path = folder / "data.mdb"
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(random.Random(1).randbytes(size - 8192))
    assert damage(folder)


def test_damage_finds_zeroed_pages(folder: Path) -> None:
    path = folder / "data.mdb"
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(bytes(path.stat().st_size - 8192))
    assert damage(folder)

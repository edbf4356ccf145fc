"""The resident memory of the mapped file is bounded, and releasing it does not affect reads."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import lmdb
import pytest

from motherlode.frontier import LmdbStorage
from motherlode.frontier.storage import tables as mapped_module
from motherlode.frontier.storage.tables import FileMapping, resident_bytes, unwrap, wrap

from ..fakes import entry

MEGABYTES = 48
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what of a map is held")


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[lmdb.Environment]:
    with lmdb.open(str(tmp_path), map_size=1 << 30) as environment:
        with environment.begin(write=True) as writing:
            for number in range(MEGABYTES):
                writing.put(b"%4d" % number, bytes([number]) * (1 << 20))
        yield environment


def _read(environment: lmdb.Environment) -> list[int]:
    with environment.begin(buffers=True) as reading:
        return [sum(value[::4096]) for _, value in reading.cursor()]


def test_trim_releases_the_mapping_and_reads_still_work(filled: lmdb.Environment, tmp_path: Path) -> None:
    before = resident_bytes()
    first = _read(filled)
    touched = resident_bytes()
    assert touched - before > (MEGABYTES - 8) << 20
    assert FileMapping(tmp_path / "data.mdb", max_resident_bytes=touched - (1 << 20)).trim()
    assert touched - resident_bytes() > (MEGABYTES - 8) << 20
    assert _read(filled) == first


def test_trim_below_the_limit_releases_nothing(filled: lmdb.Environment, tmp_path: Path) -> None:
    _read(filled)
    touched = resident_bytes()
    assert not FileMapping(tmp_path / "data.mdb", max_resident_bytes=touched + (1 << 20)).trim()
    assert resident_bytes() >= touched


def test_count_reads_trims_after_many_reads(filled: lmdb.Environment, tmp_path: Path) -> None:
    mapping = FileMapping(tmp_path / "data.mdb", max_resident_bytes=0)
    _read(filled)
    touched = resident_bytes()
    mapping.count_reads(mapped_module._READS_PER_CHECK - 1)
    assert resident_bytes() >= touched
    mapping.count_reads(1)
    assert touched - resident_bytes() > (MEGABYTES - 8) << 20


def test_trim_without_mapping_does_nothing(tmp_path: Path) -> None:
    assert not FileMapping(tmp_path / "data.mdb", max_resident_bytes=0).trim()


def test_storage_releases_memory_on_lookups_and_commits(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path / "f")
    storage._mapping = FileMapping(tmp_path / "f" / "data.mdb", max_resident_bytes=0)
    for number in range(3000):
        storage.add(entry(f"http://a.example/{number}/{'x' * 4000}", sequence=number))
    storage.commit()
    after_commit = resident_bytes()
    assert len(list(storage.entries())) == 3000
    assert resident_bytes() - after_commit > 8 << 20
    assert storage.known_of(["http://a.example/none"] * mapped_module._READS_PER_CHECK)[0] is False
    assert resident_bytes() - after_commit < 4 << 20, "looks count"
    assert len(list(storage.entries())) == 3000
    storage.commit()
    assert resident_bytes() - after_commit < 4 << 20, "so does a commit"
    storage.close()


def test_wrap_on_examples_gives_expected_values() -> None:
    assert (unwrap("totals", wrap("totals", b"content")), unwrap("totals", b"content")) == (b"content", b"content")

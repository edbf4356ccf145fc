"""Batches come back as they were appended, from any place on, and what a kill cut off never does."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.index.segments import Segments, segment_files, whole_members

BATCHES = [b"one\n", b"two\n" * 500_000, b"three\n"]


def _written(folder: Path) -> Path:
    segments = Segments(folder, size=10**9)
    for batch in BATCHES:
        segments.append(batch)
    segments.close()
    ((_, path),) = segment_files(folder)
    return path


def test_batches_come_back_from_any_place_on(tmp_path: Path) -> None:
    path = _written(tmp_path)
    found = list(whole_members(path))
    assert [text for text, _ in found] == BATCHES
    assert found[-1][1] == path.stat().st_size
    for number, (_, end) in enumerate(found, 1):
        assert [text for text, _ in whole_members(path, end)] == BATCHES[number:]


@pytest.mark.parametrize("damage", ["cut", "garbled"])
def test_reading_stops_before_what_is_not_whole(tmp_path: Path, damage: str) -> None:
    path = _written(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[:-3] if damage == "cut" else data[:-8] + b"\xff" * 8)
    assert [text for text, _ in whole_members(path)] == BATCHES[:2]


def test_files_are_told_by_number_with_the_one_that_is_being_written(tmp_path: Path) -> None:
    segments = Segments(tmp_path, size=1)
    segments.append(b"a\n")
    open_one = Segments(tmp_path, size=10**6)
    open_one.append(b"b\n")
    (tmp_path / "lock").touch()
    assert [(number, path.name) for number, path in segment_files(tmp_path)] == [
        (1, "segment-000001.nq.gz"),
        (2, "segment-000002.nq.gz.part"),
    ]


def test_a_file_may_get_its_final_name_before_it_is_opened(tmp_path: Path) -> None:
    path = _written(tmp_path)
    assert [text for text, _ in whole_members(path.with_name(path.name + ".part"))] == BATCHES
    with pytest.raises(FileNotFoundError):
        list(whole_members(tmp_path / "segment-000009.nq.gz.part"))

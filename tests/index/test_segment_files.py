"""Batches come back as they were appended, from any place on, and what a kill cut off never does."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.index.segment_files import (
    ManifestEntry,
    SegmentWriter,
    describe_segment,
    entry_damage,
    list_segments,
    readable_members,
    whole_members,
)

BATCHES = [b"one\n", b"two\n" * 500_000, b"three\n"]


def _written(folder: Path) -> Path:
    segments = SegmentWriter(folder, size=10**9)
    for batch in BATCHES:
        segments.append(batch)
    segments.close()
    ((_, path),) = list_segments(folder)
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
    segments = SegmentWriter(tmp_path, size=1)
    segments.append(b"a\n")
    open_one = SegmentWriter(tmp_path, size=10**6)
    open_one.append(b"b\n")
    (tmp_path / "lock").touch()
    assert [(number, path.name) for number, path in list_segments(tmp_path)] == [
        (1, "segment-000001.nq.gz"),
        (2, "segment-000002.nq.gz.part"),
    ]


def test_a_file_may_get_its_final_name_before_it_is_opened(tmp_path: Path) -> None:
    path = _written(tmp_path)
    assert [text for text, _ in whole_members(path.with_name(path.name + ".part"))] == BATCHES
    with pytest.raises(FileNotFoundError):
        list(whole_members(tmp_path / "segment-000009.nq.gz.part"))


def test_batches_behind_a_damaged_one_can_be_read(tmp_path: Path) -> None:
    path = _written(tmp_path)
    ends = [end for _, end in whole_members(path)]
    data = bytearray(path.read_bytes())
    data[(ends[0] + ends[1]) // 2] ^= 0xFF
    path.write_bytes(data)
    assert [text for text, _ in whole_members(path)] == BATCHES[:1]
    assert list(readable_members(path)) == [(BATCHES[0], ends[0]), (BATCHES[2], ends[2])]
    assert list(readable_members(path, ends[0])) == [(BATCHES[2], ends[2])]


def test_a_file_without_one_whole_batch_gives_none(tmp_path: Path) -> None:
    path = tmp_path / "segment-000001.nq.gz"
    path.write_bytes(b"\0" * 3_000_000)
    assert list(readable_members(path)) == []
    path.write_bytes(b"")
    assert list(readable_members(path)) == []


def test_a_manifest_counts_what_was_appended_also_to_the_open_file(tmp_path: Path) -> None:
    segments = SegmentWriter(tmp_path, size=10**5)
    assert segments.manifest() == []
    segments.append(bytes(range(256)) * 4)
    (first,) = segments.manifest()
    assert first == describe_segment(tmp_path / "segment-000001.nq.gz.part")
    segments.append(b"more\n")
    assert entry_damage(tmp_path, first) == "", "a file may grow"
    segments.close()
    segments.append(b"next\n")
    assert segments.manifest() == [describe_segment(path) for _, path in list_segments(tmp_path)]
    assert [entry.number for entry in segments.manifest()] == [1, 2]
    assert all(entry_damage(tmp_path, entry) == "" for entry in segments.manifest())


def test_damage_of_a_file_is_told_in_words(tmp_path: Path) -> None:
    path = _written(tmp_path)
    entry, data = describe_segment(path), path.read_bytes()
    assert (
        entry_damage(tmp_path, ManifestEntry("segment-000009.nq.gz", 5, "")) == "is missing: 5 bytes were written to it"
    )
    path.write_bytes(data[:-1])
    assert entry_damage(tmp_path, entry, contents=False).startswith(f"has only {len(data) - 1:,} of the {len(data):,}")
    path.write_bytes(data[:-1] + b"x")
    assert entry_damage(tmp_path, entry, contents=False) == ""
    assert "SHA-256" in entry_damage(tmp_path, entry)


def test_numbers_of_files_that_are_gone_are_not_given_again(tmp_path: Path) -> None:
    segments = SegmentWriter(tmp_path, size=1, after=7)
    segments.append(b"a\n")
    assert [number for number, _ in list_segments(tmp_path)] == [8]

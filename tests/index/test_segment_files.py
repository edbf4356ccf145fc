"""Tests of segments: reading batches from any offset, truncated files, and manifests."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.index import segment_files
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


def test_whole_members_reads_from_any_batch_offset(tmp_path: Path) -> None:
    path = _written(tmp_path)
    found = list(whole_members(path))
    assert [text for text, _ in found] == BATCHES
    assert found[-1][1] == path.stat().st_size
    for number, (_, end) in enumerate(found, 1):
        assert [text for text, _ in whole_members(path, end)] == BATCHES[number:]


@pytest.mark.parametrize("damage", ["cut", "garbled"])
def test_whole_members_stops_before_incomplete_batch(tmp_path: Path, damage: str) -> None:
    path = _written(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[:-3] if damage == "cut" else data[:-8] + b"\xff" * 8)
    assert [text for text, _ in whole_members(path)] == BATCHES[:2]


def test_list_segments_is_sorted_and_has_unfinished_file(tmp_path: Path) -> None:
    segments = SegmentWriter(tmp_path, size=1)
    segments.append(b"a\n")
    open_one = SegmentWriter(tmp_path, size=10**6)
    open_one.append(b"b\n")
    (tmp_path / "lock").touch()
    assert [(number, path.name) for number, path in list_segments(tmp_path)] == [
        (1, "segment-000001.nq.gz"),
        (2, "segment-000002.nq.gz.part"),
    ]


def test_open_segment_finds_renamed_file(tmp_path: Path) -> None:
    path = _written(tmp_path)
    assert [text for text, _ in whole_members(path.with_name(path.name + ".part"))] == BATCHES
    with pytest.raises(FileNotFoundError):
        list(whole_members(tmp_path / "segment-000009.nq.gz.part"))


def test_readable_members_skips_damaged_batch(tmp_path: Path) -> None:
    path = _written(tmp_path)
    ends = [end for _, end in whole_members(path)]
    data = bytearray(path.read_bytes())
    data[(ends[0] + ends[1]) // 2] ^= 0xFF
    path.write_bytes(data)
    assert [text for text, _ in whole_members(path)] == BATCHES[:1]
    assert list(readable_members(path)) == [(BATCHES[0], ends[0]), (BATCHES[2], ends[2])]
    assert list(readable_members(path, ends[0])) == [(BATCHES[2], ends[2])]


def test_readable_members_of_garbage_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "segment-000001.nq.gz"
    path.write_bytes(b"\0" * 3_000_000)
    assert list(readable_members(path)) == []
    path.write_bytes(b"")
    assert list(readable_members(path)) == []


def test_manifest_counts_appended_bytes_of_open_file(tmp_path: Path) -> None:
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


def test_entry_damage_describes_damage(tmp_path: Path) -> None:
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


def test_segment_writer_does_not_reuse_numbers_of_missing_files(tmp_path: Path) -> None:
    segments = SegmentWriter(tmp_path, size=1, after=7)
    segments.append(b"a\n")
    assert [number for number, _ in list_segments(tmp_path)] == [8]


def test_list_segments_reads_again_if_a_file_was_renamed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, second = tmp_path / "segment-000001.nq.gz.part", tmp_path / "segment-000002.nq.gz.part"
    part.touch()
    names = iter([[(2, second)]])
    read_names = segment_files._read_names
    monkeypatch.setattr(segment_files, "_read_names", lambda folder: next(names, None) or read_names(folder))
    assert list_segments(tmp_path) == [(1, part)]

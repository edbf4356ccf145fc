"""Iteration over the members of a gzip file."""

from __future__ import annotations

import gzip
import io
import os

import pytest

from motherlode.www.gzip_members import gzip_members

LARGE = os.urandom(600_000)
PARTS = [b"one", b"", LARGE, b"four"]
FILE = b"".join(gzip.compress(part) for part in PARTS)


def test_gzip_members_yields_data_and_adjacent_offsets() -> None:
    members = list(gzip_members(io.BytesIO(FILE)))
    assert [member.data for member in members] == PARTS
    assert [member.start for member in members] == [0, *(member.end for member in members[:-1])]
    assert members[-1].end == len(FILE)
    assert all(gzip.decompress(FILE[member.start : member.end]) == member.data for member in members)


def test_gzip_members_from_offset_skips_earlier_members() -> None:
    first, *others = gzip_members(io.BytesIO(FILE))
    assert list(gzip_members(io.BytesIO(FILE), first.end)) == others


@pytest.mark.parametrize("cut", [1, 8, 25, 100_000])
def test_gzip_members_cut_member_is_left_out(cut: int) -> None:
    members = list(gzip_members(io.BytesIO(FILE[:-cut])))
    assert [member.data for member in members] == PARTS[: 3 if cut < 25 else 2]


@pytest.mark.parametrize("garbage", [b"x", b"not gzip at all", b"\0" * 20, b"\x1f\x8b\x08\0garbage of some length"])
def test_gzip_members_garbage_ends_iteration(garbage: bytes) -> None:
    assert [member.data for member in gzip_members(io.BytesIO(FILE + garbage + FILE))] == PARTS


def test_gzip_members_limit_bounds_kept_data_and_not_offsets() -> None:
    zeros = gzip.compress(bytes(50_000_000))
    members = list(gzip_members(io.BytesIO(FILE + zeros), max_data_bytes=0))
    assert [member.data for member in members] == [b""] * 5
    assert members[-1].end == len(FILE + zeros)

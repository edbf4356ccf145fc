"""Repair of files that a kill has cut."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random

import pytest

from motherlode.fetch.warc import writer as warc_tail
from motherlode.fetch.warc.writer import WarcResponse, new_id, repair_tail, request_record, response_record


def members(count: int) -> list[bytes]:
    random = Random(count)
    answers = [
        WarcResponse(url=f"http://ex.org/{number}", at=number, status=200, body=random.randbytes(3000))
        for number in range(count)
    ]
    return [response_record(one, new_id()) + request_record(one, b"GET /", new_id()) for one in answers]


KEPT = [(f"http://ex.org/{number}", f"1970-01-01T00:00:0{number}Z") for number in range(5)]


@pytest.mark.parametrize("window", [5_000, 1 << 20])
@pytest.mark.parametrize("cut", [1, 12, 500, 3000])
def test_repair_tail_cuts_incomplete_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: int, window: int
) -> None:
    monkeypatch.setattr(warc_tail, "_TAIL_BYTES", window)
    path, whole = tmp_path / "a.warc.gz", members(4)
    path.write_bytes(b"".join(whole)[:-cut])
    kept = repair_tail(path)
    left = path.read_bytes()
    assert b"".join(whole).startswith(left)
    assert len(left) >= len(b"".join(whole[:3]))
    assert gzip.decompress(left).count(b"WARC/1.1\r\n") in (6, 7), "the rest can be read completely"
    assert kept <= set(KEPT[:4])
    assert repair_tail(path) >= kept, "a second repair changes nothing"
    assert path.read_bytes() == left


def test_repair_tail_complete_file_is_unchanged_and_responses_returned(tmp_path: Path) -> None:
    path, data = tmp_path / "a.warc.gz", b"".join(members(3))
    path.write_bytes(data)
    assert repair_tail(path) == set(KEPT[:3])
    assert path.read_bytes() == data


def test_repair_tail_file_without_records_is_deleted(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(members(1)[0][:200])
    assert repair_tail(path) == frozenset()
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"notes of mine", gzip.compress(b"notes of mine", mtime=0)])
def test_repair_tail_other_file_is_unchanged(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(content)
    assert repair_tail(path) == frozenset()
    assert path.read_bytes() == content


@pytest.mark.parametrize("broken", [1, 2, 3])
def test_repair_tail_record_broken_after_the_synced_length_is_cut_with_all_later_ones(
    tmp_path: Path, broken: int
) -> None:
    path, whole = tmp_path / "a.warc.gz", members(4)
    torn = bytearray(b"".join(whole))
    start = len(b"".join(whole[:broken]))
    torn[start + 512 : start + 1024] = bytes(512)
    path.write_bytes(torn)
    assert repair_tail(path, durable_bytes=len(whole[0])) == set(KEPT[:broken])
    assert path.read_bytes() == b"".join(whole[:broken])


def test_repair_tail_record_broken_before_the_synced_length_is_kept(tmp_path: Path) -> None:
    path, whole = tmp_path / "a.warc.gz", members(4)
    torn = bytearray(b"".join(whole))
    torn[512:1024] = bytes(512)
    path.write_bytes(torn)
    repair_tail(path, durable_bytes=len(whole[0]))
    assert path.read_bytes() == torn, "the records after the damaged one can still be read"

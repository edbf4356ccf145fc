from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from motherlode.model import Page
from motherlode.sim.trace.recorder import Responses


def warc_record(number: int, *, kind: str = "response", body: bytes = b"<p>hello" * 100, headers: str = "") -> bytes:
    block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{headers}\r\n".encode() + body
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a.example/{number}\r\n"
        f"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:{number}>\r\n"
        f"Content-Type: application/http; msgtype={kind}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


MEMBERS = [gzip.compress(warc_record(number)) for number in range(5)]


def garbled(data: bytes, at: int) -> bytes:
    return data[:at] + b"\xff" * 30 + data[at + 30 :]


def read(tmp_path: Path, data: bytes) -> tuple[list[int], int]:
    path = tmp_path / "some.warc.gz"
    path.write_bytes(data)
    responses = Responses(path)
    return [int(answer.url.rpartition("/")[2]) for answer in responses], responses.broken


@pytest.mark.parametrize(
    ("data", "found", "broken"),
    [
        (b"".join(MEMBERS), [0, 1, 2, 3, 4], 0),
        (gzip.compress(b"".join(warc_record(n) for n in range(3))), [0, 1, 2], 0),
        (b"".join(warc_record(n) for n in range(3)), [0, 1, 2], 0),
        (b"", [], 0),
        (b"this is no WARC file\n" * 50, [], 1),
        (gzip.compress(b"nor is this" * 50), [], 1),
    ],
    ids=["members", "one member", "not packed", "empty", "text", "packed text"],
)
def test_responses_of_whole_files_are_read(tmp_path: Path, data: bytes, found: list[int], broken: int) -> None:
    assert read(tmp_path, data) == (found, broken)


def test_other_record_types_are_skipped(tmp_path: Path) -> None:
    others = [gzip.compress(warc_record(9, kind=kind)) for kind in ("request", "metadata", "warcinfo")]
    assert read(tmp_path, others[2] + others[0] + MEMBERS[0] + others[1] + MEMBERS[1]) == ([0, 1], 0)


@pytest.mark.parametrize("cut", [40, 150, len(MEMBERS[4]) - 30])
def test_truncated_gzip_file_loses_only_last_record(tmp_path: Path, cut: int) -> None:
    assert read(tmp_path, b"".join(MEMBERS)[:-cut]) == ([0, 1, 2, 3], 1)


def test_truncated_plain_file_loses_only_last_record(tmp_path: Path) -> None:
    assert read(tmp_path, b"".join(warc_record(n) for n in range(3))[:-300]) == ([0, 1], 1)


def test_reading_continues_after_broken_records(tmp_path: Path) -> None:
    data = garbled(b"".join(MEMBERS), 60)
    assert read(tmp_path, data) == ([1, 2, 3, 4], 1)
    data = garbled(data, sum(map(len, MEMBERS[:3])) + 60)
    assert read(tmp_path, data) == ([1, 2, 4], 2)


def test_response_encodings_are_decoded(tmp_path: Path) -> None:
    chunked = warc_record(0, body=b"5\r\nhello\r\n0\r\n\r\n", headers="Transfer-Encoding: chunked\r\n")
    packed = warc_record(1, body=gzip.compress(b"hello"), headers="Content-Encoding: gzip\r\n")
    lied = warc_record(2, body=b"hello", headers="Content-Encoding: gzip\r\n")
    unknown = warc_record(3, body=b"hello", headers="Content-Encoding: morse\r\n")
    path = tmp_path / "encoded.warc"
    path.write_bytes(chunked + packed + lied + unknown)
    pages = list(Responses(path))
    assert [page.body for page in pages if isinstance(page, Page)] == [b"hello"] * 4


def test_record_without_url_counts_as_broken(tmp_path: Path) -> None:
    nameless = gzip.compress(warc_record(7).replace(b"http://a.example/7", b"dns:a.example/abcd"))
    assert read(tmp_path, nameless + MEMBERS[0]) == ([0], 1)

"""Reading of WARC records, broken ones included."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.fetch.warc.reader import RecordReader, ResponseRecords, open_decompressed, target_url
from motherlode.model import Failure, FailureKind, Fetched, Page


def warc(url: str, http: bytes, *, kind: str = "response") -> bytes:
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:1>\r\nContent-Type: application/http\r\nContent-Length: {len(http)}\r\n\r\n"
    )
    return head.encode() + http + b"\r\n\r\n"


def answers(path: Path, data: bytes, *, limit: int = 1000) -> tuple[list[Fetched | None], ResponseRecords]:
    path.write_bytes(data)
    with path.open("rb") as file:
        records = ResponseRecords(file)
        reader = RecordReader(file, limit=limit)
        return [reader.read(record, target_url(record) or "") for record in records], records


def only_answer(path: Path, http: bytes, *, limit: int = 1000) -> Fetched | None:
    (answer,), _ = answers(path, warc("http://a.example/", http), limit=limit)
    return answer


@pytest.mark.parametrize(
    ("data", "together"),
    [
        (b"".join(gzip.compress(warc(f"http://a.example/{n}", b"HTTP/1.1 200 OK\r\n\r\nx")) for n in range(2)), False),
        (gzip.compress(b"".join(warc(f"http://a.example/{n}", b"HTTP/1.1 200 OK\r\n\r\nx") for n in range(2))), True),
        (
            zstandard.compress(b"".join(warc(f"http://a.example/{n}", b"HTTP/1.1 200 OK\r\n\r\nx") for n in range(2))),
            True,
        ),
        (b"".join(warc(f"http://a.example/{n}", b"HTTP/1.1 200 OK\r\n\r\nx") for n in range(2)), False),
    ],
    ids=["each on its own", "gzip as one", "zstd as one", "plain"],
)
def test_reader_detects_records_in_one_stream(tmp_path: Path, data: bytes, *, together: bool) -> None:
    found, records = answers(tmp_path / "a", data)
    assert [answer.url for answer in found if answer is not None] == ["http://a.example/0", "http://a.example/1"]
    assert (records.is_one_stream, records.broken) == (together, 0)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_open_decompressed_continues_after_first_member(pack: object) -> None:
    assert callable(pack)
    file = io.BytesIO(pack(b"one") + pack(b"two"))
    file.seek(5)
    assert open_decompressed(file).read() == b"onetwo"


@settings(deadline=None)
@given(parts=st.lists(st.binary(min_size=1, max_size=40), max_size=6))
def test_read_response_joins_chunks(tmp_path_factory: pytest.TempPathFactory, parts: list[bytes]) -> None:
    chunks = b"".join(b"%x;name=value\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    http = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n" + chunks
    answer = only_answer(tmp_path_factory.mktemp("chunks") / "a", http)
    assert isinstance(answer, Page)
    assert answer.body == b"".join(parts)


def test_read_response_truncates_body_at_limit(tmp_path: Path) -> None:
    answer = only_answer(tmp_path / "a", b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 20, limit=5)
    assert isinstance(answer, Page)
    assert (answer.body, answer.truncated) == (b"xxxxx", True)


def test_read_response_parses_headers_like_live_response(tmp_path: Path) -> None:
    http = b"HTTP/1.1 301 Moved\r\nLocation: /b\r\nLink: <x>\r\nlink: <y>\r\n\r\n"
    answer = only_answer(tmp_path / "a", http)
    assert isinstance(answer, Failure)
    assert (answer.kind, answer.location) == (FailureKind.REDIRECT, "http://a.example/b")
    assert answer.headers["link"] == "<x>, <y>"


@pytest.mark.parametrize("http", [b"", b"nonsense", b"\xff" * 40])
def test_read_response_without_http_is_none(tmp_path: Path, http: bytes) -> None:
    assert only_answer(tmp_path / "a", http) is None


def test_reader_skips_requests_and_empty_file_has_no_records(tmp_path: Path) -> None:
    found, records = answers(tmp_path / "a", warc("http://a.example/", b"GET / HTTP/1.1\r\n\r\n", kind="request"))
    assert (found, records.broken) == ([], 0)
    found, records = answers(tmp_path / "b", b"")
    assert (found, records.broken) == ([], 0)


def test_reader_counts_broken_record_once(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(warc("dns:a.example", b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 500))[:-9])
    with path.open("rb") as file:
        records = ResponseRecords(file)
        for record in records:
            records.count_as_broken(record)
    assert records.broken == 1

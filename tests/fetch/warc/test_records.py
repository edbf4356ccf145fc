"""Serialization of WARC records."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from warcio.archiveiterator import ArchiveIterator

from motherlode.fetch.warc.writer import (
    Original,
    WarcResponse,
    http_head,
    info_record,
    new_id,
    request_record,
    response_record,
)

ANSWER = WarcResponse(
    url="http://ex.org/a", at=1.5, status=200, headers={"content-type": "text/html"}, body=b"<p>", address="192.0.2.1"
)
ORIGINAL = Original(record=new_id(), url="http://ex.org/b", date="2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("kind", "record"),
    [
        ("response", response_record(ANSWER, new_id())),
        ("revisit", response_record(ANSWER, new_id(), original=ORIGINAL)),
        ("revisit", response_record(replace(ANSWER, status=304), new_id())),
        ("request", request_record(ANSWER, b"GET / HTTP/1.1\r\nHost: ex.org\r\n\r\n", new_id())),
        ("warcinfo", info_record(new_id(), name="a.warc.gz", at=1.0, about={"software": "us\r\nrobots: none"})),
    ],
)
def test_records_have_valid_digests_for_warcio(kind: str, record: bytes) -> None:
    (found,) = [
        (record.rec_type, record.raw_stream.read()) and record.rec_type
        for record in ArchiveIterator(io.BytesIO(record), check_digests="raise")
    ]
    assert found == kind


def test_records_transfer_headers_are_renamed() -> None:
    headers = {"content-encoding": "gzip", "transfer-encoding": "chunked", "content-length": "10", "etag": '"1"'}
    lines = http_head(299, headers, 20).decode().split("\r\n")
    assert lines == [
        "HTTP/1.1 299 Unknown",
        "X-Archive-Orig-content-encoding: gzip",
        "X-Archive-Orig-transfer-encoding: chunked",
        "X-Archive-Orig-content-length: 10",
        'etag: "1"',
        "Content-Length: 20",
        "",
        "",
    ]
    assert http_head(200, {"content-length": "20"}, 20) == b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n"


def test_records_line_breaks_in_values_are_removed() -> None:
    assert http_head(200, {"x": "a\r\nset-cookie: b\n\nc"}, 0).split(b"\r\n")[1] == b"x: a set-cookie: b c"

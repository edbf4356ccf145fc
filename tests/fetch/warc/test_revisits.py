"""Revisit records of other crawlers."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from motherlode.fetch import RecordedWeb
from motherlode.model import Failure, Fetched, Page
from motherlode.sim.trace.recorder import Responses

BODY = b"<p>hello</p>" * 200


def record(url: str, kind: str, block: bytes, *fields: str) -> bytes:
    lines = [
        f"WARC-Type: {kind}",
        f"WARC-Target-URI: {url}",
        "WARC-Date: 2026-01-01T00:00:00Z",
        *fields,
        f"Content-Length: {len(block)}",
    ]
    return gzip.compress(b"WARC/1.0\r\n" + "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n")


def http(status: str, *lines: str, body: bytes = b"") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", "Content-Type: text/html", *lines, "", ""]).encode() + body


HTTP_TYPE = "Content-Type: application/http; msgtype=response"
DIGEST = "WARC-Payload-Digest: sha1:ABC"
SAME = "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
FIRST = record("http://ex.org/a", "response", http("200 OK", "X-A: 1", body=BODY), HTTP_TYPE, DIGEST)


def both_ways(path: Path, url: str, *records: bytes) -> tuple[Fetched, Fetched | None]:
    """Return the response of a URL for a crawl and for a trace."""
    path.write_bytes(b"".join(records))
    web = RecordedWeb(path)
    answer = web.read_response(url)
    web._file.close()
    found = [one for one in Responses(path) if one.url == url]
    return answer, found[-1] if found else None


def test_revisit_body_comes_from_original_record(tmp_path: Path) -> None:
    again = record("http://ex.org/b", "revisit", http("200 OK", "X-A: 2"), HTTP_TYPE, SAME, DIGEST)
    for answer in both_ways(tmp_path / "a.warc.gz", "http://ex.org/b", FIRST, again):
        assert isinstance(answer, Page)
        assert (answer.url, answer.body, answer.headers["x-a"]) == ("http://ex.org/b", BODY, "2")


def test_revisit_without_head_uses_head_of_original(tmp_path: Path) -> None:
    again = record("http://ex.org/b", "revisit", b"", SAME, DIGEST)
    for answer in both_ways(tmp_path / "a.warc.gz", "http://ex.org/b", FIRST, again):
        assert isinstance(answer, Page)
        assert (answer.status, answer.body, answer.headers["x-a"]) == (200, BODY, "1")


def test_revisit_redirect_needs_no_body(tmp_path: Path) -> None:
    moved = record("http://ex.org/b", "revisit", http("302 Found", "Location: /c"), HTTP_TYPE, SAME, DIGEST)
    for answer in both_ways(tmp_path / "a.warc.gz", "http://ex.org/b", FIRST, moved):
        assert isinstance(answer, Failure)
        assert answer.location == "http://ex.org/c"


@pytest.mark.parametrize("profile", ["identical-payload-digest", "server-not-modified"])
def test_revisit_without_original_keeps_earlier_page(tmp_path: Path, profile: str) -> None:
    path = tmp_path / "a.warc.gz"
    fields = (HTTP_TYPE, f"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/{profile}")
    later = record("http://ex.org/a", "revisit", http("200 OK"), *fields, "WARC-Payload-Digest: sha1:XYZ")
    answer, _ = both_ways(path, "http://ex.org/a", FIRST, later)
    assert isinstance(answer, Page)
    alone = record("http://ex.org/b", "revisit", http("200 OK"), *fields, "WARC-Payload-Digest: sha1:XYZ")
    answer, traced = both_ways(path, "http://ex.org/b", FIRST, alone)
    assert isinstance(answer, Failure)
    assert (answer.status, traced) == (404, None)

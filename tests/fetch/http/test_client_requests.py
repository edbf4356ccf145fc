"""Serialization of requests."""

from __future__ import annotations

import pytest

from motherlode.fetch.http.client import RequestWriter
from motherlode.model import Posting, Request, RequestKind

SENDER = RequestWriter({"User-Agent": "Motherlode/test"})


def lines(request: Request) -> list[str]:
    sent = SENDER.serialize(request, target="/x?y", authority="ex.org:81")
    head, _, body = sent.partition(b"\r\n\r\n")
    assert body == (request.posting.body if request.posting else b"")
    return head.decode().split("\r\n")


def test_serialize_page_request_is_get() -> None:
    first, host, *others = lines(Request(url="http://ex.org:81/x?y", accept="text/turtle"))
    assert (first, host) == ("GET /x?y HTTP/1.1", "Host: ex.org:81")
    assert others == ["User-Agent: Motherlode/test", "Accept-Encoding: gzip, deflate, br, zstd", "Accept: text/turtle"]


def test_serialize_probe_is_head() -> None:
    assert lines(Request(url="http://ex.org/", kind=RequestKind.PROBE))[0] == "HEAD /x?y HTTP/1.1"


def test_serialize_sends_validators() -> None:
    sent = lines(Request(url="http://ex.org/", etag='W/"é"', last_modified="Thu, 01 Jan 2026 00:00:00 GMT"))
    assert 'If-None-Match: W/"é"' in sent
    assert "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT" in sent


def test_serialize_posting_has_body_and_length() -> None:
    posting = Posting(body=b"a\r\n\r\nb", headers={"Content-Type": "text/html"}, seconds=1.0)
    sent = lines(Request(url="http://ex.org/", posting=posting))
    assert sent[0] == "POST /x?y HTTP/1.1"
    assert {"Content-Type: text/html", "Content-Length: 6"} <= set(sent)


@pytest.mark.parametrize("value", ["a\r\nX: y", "a\nX: y", "a\rb", "a\0b"])
def test_serialize_line_break_in_value_raises_value_error(value: str) -> None:
    with pytest.raises(ValueError, match="If-None-Match has a line break"):
        lines(Request(url="http://ex.org/", etag=value))

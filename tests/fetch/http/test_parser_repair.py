"""Repair of faulty heads, and reading of faulty chunks."""

from __future__ import annotations

import pytest
from httptools import HttpParserError
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.fetch.http.parser import LenientChunkReader, repair_head

STATUS = b"HTTP/1.1 200 OK"


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        ([b"A: 1", b"B:2"], [b"A: 1", b"B:2"]),
        ([b"Server \t: x"], [b"Server: x"]),
        ([b"oops", b": x", b"X Y: z", b"\xff: z", b" folded: on", b"A: b: c"], [b"A: b: c"]),
        ([b"Content-Length: 5", b"A: 1", b"content-length:5"], [b"A: 1", b"Content-Length: 5"]),
        ([b"Content-Length: 5 , 5"], [b"Content-Length: 5"]),
        ([b"Content-Length: 5, 6"], [b"Content-Length: 5", b"Content-Length: 6"]),
        ([b"Content-Length: "], []),
        ([b"Content-Length: abc", b"A: 1", b"Content-Length: +5"], [b"A: 1"]),
        ([b"Content-Length: " + b"9" * 23], []),
        ([b"Content-Length: -5"], [b"Content-Length: -5"]),
        ([b"Content-Length: 5", b"Content-Length: x"], [b"Content-Length: 5", b"Content-Length: x"]),
        ([b"Transfer-Encoding: identity", b"Content-Length: 5"], [b"Content-Length: 5"]),
        ([b"Transfer-Encoding: Chunked", b"Content-Length: 5"], [b"Transfer-Encoding: Chunked", b"Content-Length: 5"]),
        ([b"Transfer-Encoding: gzip", b"Content-Length: x"], [b"Transfer-Encoding: gzip"]),
        ([b"A: b\rc"], [b"A: b c"]),
    ],
)
@pytest.mark.parametrize("line_end", [b"\r\n", b"\n"])
def test_repair_head_keeps_valid_lines(lines: list[bytes], kept: list[bytes], line_end: bytes) -> None:
    assert repair_head(line_end.join([STATUS, *lines])) == b"\r\n".join([STATUS, *kept, b"", b""])


@pytest.mark.parametrize(
    ("line", "read_as"),
    [
        (b"HTTP/1.1  200 OK", b"HTTP/1.1 200 OK"),
        (b"http/1.1\t200", b"HTTP/1.1 200"),
        (b"HTTP/2 404 Not Found", b"HTTP/1.1 404 Not Found"),
        (b"HTTP/1.1 2000 OK", b"HTTP/1.1 2000 OK"),
        (b"HTTP/1.1 OK", b"HTTP/1.1 OK"),
    ],
)
def test_repair_head_normalizes_status_line(line: bytes, read_as: bytes) -> None:
    assert repair_head(line) == read_as + b"\r\n\r\n"


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_repair_head_is_idempotent(head: bytes) -> None:
    once = repair_head(STATUS + b"\n" + head)
    assert repair_head(once.removesuffix(b"\r\n\r\n")) == once


class Body:
    """A reader that records the body."""

    def __init__(self) -> None:
        self.found = b""
        self.ends = 0

    def on_body(self, data: bytes) -> None:
        assert data
        self.found += data

    def on_message_complete(self) -> None:
        self.ends += 1


def read(sent: bytes, *, step: int = 1000, known: int = 0) -> Body:
    body = Body()
    chunks = LenientChunkReader(body, known=known)
    for place in range(0, len(sent), step):
        chunks.feed_data(sent[place : place + step])
    return body


@pytest.mark.parametrize("step", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    "sent",
    [
        b"5\nhello\n6\n world\n0\n\n",
        b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
        b"5\r\nhello\n6\n world\r\n0\n",
        b" 5 ;a=b;c\nhello\n006\t\n world\n0;x\nX: y\nwhatever comes\n5\nbehind it\n",
        b"B\nhello world\n0\n",
    ],
)
def test_lenient_chunks_accept_any_line_ends(sent: bytes, step: int) -> None:
    for known in (0, 3, 5, 7, 11):
        body = read(sent, step=step, known=known)
        assert (body.found, body.ends) == (b"hello world"[known:], 1)


@pytest.mark.parametrize("step", [1, 1000])
@pytest.mark.parametrize(
    "sent",
    [
        b"<html>",
        b"x\n",
        b"\n\n5\n",
        b"5\nhello0\n",
        b"5\nhello\n\n\n0",
        b"-5\nhello",
        b"f" * 16 + b"\n",
        b"5;" + b"x" * 5000,
        b"5\nhello\nHTTP/1.1 200 OK\n",
    ],
)
def test_lenient_chunks_reject_invalid_sizes(sent: bytes, step: int) -> None:
    with pytest.raises(HttpParserError, match="chunk"):
        read(sent, step=step)


def test_lenient_chunk_starting_with_line_end_is_complete() -> None:
    assert read(b"5\n\nhell\n0\n\n").found == b"\nhell"

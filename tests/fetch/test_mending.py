"""Heads that are mended before they are read again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motherlode.fetch.mending import mended

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
        ([b"Content-Length: "], [b"Content-Length: "]),
    ],
)
@pytest.mark.parametrize("line_end", [b"\r\n", b"\n"])
def test_what_is_kept(lines: list[bytes], kept: list[bytes], line_end: bytes) -> None:
    assert mended(line_end.join([STATUS, *lines])) == b"\r\n".join([STATUS, *kept, b"", b""])


@given(st.binary(max_size=200))
def test_what_is_mended_stays_so(head: bytes) -> None:
    once = mended(STATUS + b"\n" + head)
    assert mended(once.removesuffix(b"\r\n\r\n")) == once

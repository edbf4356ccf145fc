"""Frames between a crawl and its other processes: four bytes of length, then as many bytes."""

from __future__ import annotations

from typing import IO

GOOD, BAD = b"+", b"-"
"""The first byte of an answer: what was asked for follows, or the reason why there is none."""


def read_frame(stream: IO[bytes]) -> bytes | None:
    """The next frame; None at the end."""
    head = stream.read(4)
    if len(head) < 4:
        return None
    return stream.read(int.from_bytes(head, "big"))


def write_frame(stream: IO[bytes], data: bytes) -> None:
    stream.write(len(data).to_bytes(4, "big"))
    stream.write(data)
    stream.flush()

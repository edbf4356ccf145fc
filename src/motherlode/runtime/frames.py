"""Frames on the pipes between processes: a length of four bytes (unsigned, big-endian), then that many bytes."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from asyncio import StreamReader

STATUS_OK, STATUS_ERROR = b"+", b"-"
"""First byte of a response frame: the result follows, or the message of the error follows."""
_LENGTH_BYTES = 4
_MAX_FRAME_BYTES = (1 << 8 * _LENGTH_BYTES) - 1


class Readable(Protocol):
    """A stream whose `read(size)` returns fewer than `size` bytes only at its end."""

    def read(self, size: int, /) -> bytes: ...


def pack_frame(data: bytes) -> bytes:
    """Return `data` as a frame.

    >>> pack_frame(b"abc")
    b'\\x00\\x00\\x00\\x03abc'
    """
    return b"".join((len(data).to_bytes(_LENGTH_BYTES, "big"), data))


def write_frame(stream: IO[bytes], *parts: bytes) -> None:
    """Write one frame that holds all parts, and flush the stream."""
    stream.write(sum(map(len, parts)).to_bytes(_LENGTH_BYTES, "big"))
    for part in parts:
        stream.write(part)
    stream.flush()


def read_frame(stream: Readable, max_bytes: int = _MAX_FRAME_BYTES) -> bytes | None:
    """Return the next frame, or None if the stream ends before the frame does.

    Raise ValueError if the frame is longer than `max_bytes`.
    """
    head = stream.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    size = int.from_bytes(head, "big")
    if size > max_bytes:
        raise ValueError(f"a frame of {size} bytes is longer than the limit of {max_bytes} bytes")
    data = stream.read(size)
    return data if len(data) == size else None


async def read_frame_async(stream: StreamReader) -> bytes:
    """Return the next frame. Raise `asyncio.IncompleteReadError` if the stream ends before the frame does."""
    size = int.from_bytes(await stream.readexactly(_LENGTH_BYTES), "big")
    return await stream.readexactly(size)

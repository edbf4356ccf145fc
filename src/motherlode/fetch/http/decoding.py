"""The formats of packed streams, undone piece by piece.

Whatever is sent to do harm, time grows with what comes in and out and with nothing else. What follows the end of a
stream is padding, and passed over; so are checksums, as in browsers: where one is wrong, the page is no worse.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import NamedTuple, Protocol

import brotli
import zstandard

UNPACK_ERRORS = (zlib.error, brotli.error, zstandard.ZstdError)

_MOST_MEMBERS = 1 << 14
"""Each costs as much as some kilobytes, be it empty."""
_STEP = 1 << 18
_FIRST_STEP = 1 << 9
"""Bytes of the first step into a further member. What is behind its end is copied, and it may be short."""
_ZSTD_STEP = 1 << 7
"""It can give at most 4 MiB, since a block of 128 KiB needs four bytes."""
_BROTLI_STEP = 1 << 12
_GZIP_MAGIC = b"\x1f\x8b\x08"
_GZIP_TRAILER = 8
_GZIP_HEADER_MOST = 1 << 17
"""A field of 64 KiB, a name and a comment."""
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPED = 5, b"\x2a\x4d\x18"
_ZSTD_WINDOW_MOST = 8 << 20
"""It bounds memory; RFC 9659 forbids more in this place."""
_NOT_HERE = -1


class _Stream(Protocol):
    """What unpacks one member."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    @property
    def unconsumed_tail(self) -> bytes: ...

    def decompress(self, data: bytes, most: int, /) -> bytes: ...


class _Kind(NamedTuple):
    """A format in which one member may follow the other."""

    beginning: Callable[[bytes, int, int], int | None]
    """From bytes, a place in them and how many members came before, to where the next one begins that `stream` reads.
    None as long as that cannot be told; -1 where none begins."""
    stream: Callable[[], _Stream]


class Members:
    """One stream, or several one behind the other."""

    def __init__(self, kind: _Kind) -> None:
        self.whole = False
        self.ended = False
        self._kind = kind
        self._stream: _Stream | None = None
        self._members = 0
        self._step = _STEP
        self._packed = b""
        self._unpacked = b""

    def feed(self, data: bytes, most: int) -> bytes:
        out = bytearray(self._unpacked)
        data = self._packed + data
        place = 0
        while len(out) < most and not self.ended:
            if self._stream is None:
                place = self._begin(data, place)
            if self._stream is None:
                break
            plain, used = self._unpack(self._stream, data[place : place + self._step], most - len(out))
            out += plain
            place += used
            if place == len(data):
                break
        self._packed = b"" if self.ended else data[place:]
        self._unpacked = bytes(out[most:])
        return bytes(out[:most])

    def _begin(self, data: bytes, place: int) -> int:
        """Where the next stream begins, if one does."""
        found = self._kind.beginning(data, place, self._members)
        if found is None:
            return place
        if found < 0 or self._members == _MOST_MEMBERS:
            self.ended = True
            self.whole = found < 0
            return place
        self.whole = False
        self._members += 1
        self._stream = self._kind.stream()
        return found

    def _unpack(self, stream: _Stream, step: bytes, most: int) -> tuple[bytes, int]:
        """What comes of a step, and how much of it that took. What is broken behind a whole member is left."""
        try:
            plain = stream.decompress(step, most)
        except UNPACK_ERRORS:
            if self._members == 1:
                raise
            self.ended = True
            return b"", 0
        if not stream.eof:
            self._step = min(self._step * 4, _STEP)
            return plain, len(step) - len(stream.unconsumed_tail)
        self.whole, self._stream, self._step = True, None, _FIRST_STEP
        return plain, len(step) - len(stream.unused_data)


def gzip() -> Members:
    return Members(_Kind(_gzip_beginning, _raw_stream))


def deflate() -> Members:
    """With the zlib header of RFC 1950, as the standard wants, or raw, as it is sent as often as not."""
    return Members(_Kind(_deflate_beginning, _raw_stream))


def zstd() -> Members:
    unpack = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_MOST)
    return Members(_Kind(_zstd_beginning, lambda: _ZstdFrame(unpack.decompressobj())))


def _raw_stream() -> _Stream:
    return zlib.decompressobj(-zlib.MAX_WBITS)


def _gzip_beginning(data: bytes, place: int, before: int) -> int | None:
    """Behind the header of a member, and behind the checksum and the length of the one before it."""
    found = _behind_gzip_header(data, place + _GZIP_TRAILER if before else place)
    if found == _NOT_HERE and not before:
        raise zlib.error("not gzip")
    return found


def _behind_gzip_header(data: bytes, place: int) -> int | None:
    """RFC 1952, 2.3."""
    head = data[place : place + 10]
    if not _GZIP_MAGIC.startswith(head[:3]):
        return _NOT_HERE
    end = _behind_gzip_fields(data, place + 10, head[3]) if len(head) == 10 else 0
    is_there = 0 < end <= len(data)
    if (end if is_there else len(data)) - place > _GZIP_HEADER_MOST:
        return _NOT_HERE
    return end if is_there else None


def _behind_gzip_fields(data: bytes, place: int, flags: int) -> int:
    """Where the fields end that the flags announce: 0, or behind all bytes, where they are not all there."""
    if flags & 4:
        place += 2 + int.from_bytes(data[place : place + 2], "little")
    for is_there in (flags & 8, flags & 16):  # a name, a comment
        if is_there:
            place = data.find(b"\0", place) + 1
            if not place:
                return 0
    return place + (flags & 2)


def _deflate_beginning(data: bytes, place: int, before: int) -> int | None:
    if before:
        return _NOT_HERE
    head = data[place : place + 2]
    if len(head) < 2:
        return None
    has_header = head[0] & 0x8F == 8 and not head[1] & 0x20 and int.from_bytes(head, "big") % 31 == 0
    return place + 2 if has_header else place


def _zstd_beginning(data: bytes, place: int, before: int) -> int | None:
    """A frame, or one to be skipped (RFC 8878, 3.1). Of the first one the library says what is wrong with it."""
    head = data[place : place + 4]
    if len(head) < 4:
        return None
    is_frame = head == _ZSTD_MAGIC or (head[0] >> 4, head[1:]) == _ZSTD_SKIPPED
    return place if is_frame or not before else _NOT_HERE


class _ZstdFrame:
    """The library gives all that comes of a step: so the steps are short."""

    def __init__(self, frame: zstandard.ZstdDecompressionObj) -> None:
        self.eof = False
        self.unused_data = self.unconsumed_tail = b""
        self._frame = frame

    def decompress(self, data: bytes, most: int, /) -> bytes:
        frame, out, place = self._frame, bytearray(), 0
        while place < len(data) and len(out) < most and not frame.eof:
            out += frame.decompress(data[place : place + _ZSTD_STEP])
            place += _ZSTD_STEP
        self.eof = frame.eof
        self.unconsumed_tail = data[place:]
        self.unused_data = frame.unused_data + self.unconsumed_tail
        return bytes(out)


class Brotli:
    """The library loses what it has unpacked where bytes follow the end. Then all is unpacked once more, and the bytes
    among which the end must be are handed over one by one."""

    def __init__(self) -> None:
        self._unpack = brotli.Decompressor()
        self._finished = False
        self._packed = bytearray()
        """All that came, until it is finished."""
        self._place = self._step_began = 0
        """How much of it was unpacked, and how much before the last step."""
        self._singly_from: int | None = None
        self._made = self._to_skip = 0
        self._has_more = False
        """There may be more than the last call could give, although it took all that was handed over."""
        self._unpacked = b""

    @property
    def whole(self) -> bool:
        return self._finished

    @property
    def ended(self) -> bool:
        return self._finished and not self._unpacked

    def feed(self, data: bytes, most: int) -> bytes:
        out = bytearray(self._unpacked)
        if not self._finished:
            self._packed += data
        while len(out) < most and not self._finished:
            plain = self._unpack_step(most)
            if plain is None:
                break
            out += plain
        self._unpacked = bytes(out[most:])
        return bytes(out[:most])

    def _unpack_step(self, most: int) -> bytes | None:
        """What comes of the next bytes; None where there are none."""
        step = b""
        if self._unpack.can_accept_more_data() and not self._has_more:
            step = self._next_step()
            if not step:
                return None
        try:
            plain: bytes = self._unpack.process(step, output_buffer_limit=most)
        except brotli.error:
            if self._singly_from is not None:
                raise
            self._begin_again()
            return b""
        if self._unpack.is_finished():
            self._finished = True
            self._packed.clear()
        self._has_more = len(plain) >= most
        new = plain[self._to_skip :]
        self._to_skip -= len(plain) - len(new)
        self._made += len(new)
        return new

    def _next_step(self) -> bytes:
        end = self._place + _BROTLI_STEP
        if self._singly_from is not None:
            end = self._place + 1 if self._place >= self._singly_from else min(end, self._singly_from)
        self._step_began = self._place
        step = bytes(self._packed[self._place : end])
        self._place += len(step)
        return step

    def _begin_again(self) -> None:
        self._unpack = brotli.Decompressor()
        self._singly_from = self._step_began
        self._to_skip = self._made
        self._place = 0
        self._has_more = False

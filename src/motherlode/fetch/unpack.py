"""Content encodings undone piece by piece, with a limit on what comes out: a bomb costs no more than a page."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Protocol

import brotli
import zstandard

ACCEPTED = "gzip, deflate, br, zstd"

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_BITS = zlib.MAX_WBITS | 16
_ZSTD_STEP = 128
"""Bytes fed to zstd at once: one step can give at most 4 MiB, since a block of 128 KiB needs four bytes."""


class Unpacker(Protocol):
    """Takes packed bytes; gives at most `most` unpacked ones, and keeps the rest for the next call."""

    def feed(self, data: bytes, most: int) -> bytes: ...


class _Identity:
    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes, most: int) -> bytes:
        if self._rest or len(data) > most:
            data = self._rest + data
            self._rest = data[most:]
        return data[:most]


class _Zlib:
    """gzip (several members too) and deflate. What follows the end of the stream is padding, and passed over."""

    def __init__(self, window_bits: Callable[[bytes, int], int | None]) -> None:
        self._window_bits = window_bits
        """From the first two bytes of a stream, and how many came before, to zlib's window bits; None is the end."""
        self._inflate: zlib._Decompress | None = None
        self._rest = b""
        self._streams = 0
        self._ended = False

    def feed(self, data: bytes, most: int) -> bytes:
        out = bytearray()
        data = self._rest + data
        while len(out) < most:
            inflate = self._inflate or self._begin(data)
            if inflate is None:
                break
            out += inflate.decompress(data, most - len(out))
            if inflate.eof:
                data, self._inflate = inflate.unused_data, None
                continue
            data = inflate.unconsumed_tail
            if not data:
                break
        self._rest = b"" if self._ended else data
        return bytes(out)

    def _begin(self, data: bytes) -> zlib._Decompress | None:
        """What inflates the stream that `data` begins, if its first two bytes are there and say that it is one."""
        if self._ended or len(data) < 2:
            return None
        bits = self._window_bits(data[:2], self._streams)
        if bits is None:
            self._ended = True
            return None
        self._streams += 1
        self._inflate = zlib.decompressobj(bits)
        return self._inflate


def _gzip_bits(head: bytes, streams: int) -> int | None:
    return None if streams and head != _GZIP_MAGIC else _GZIP_BITS


def _deflate_bits(head: bytes, streams: int) -> int | None:
    """With the zlib header of RFC 1950, as the standard wants, or raw, as it is sent as often as not."""
    if streams:
        return None
    has_header = head[0] & 0x0F == 8 and int.from_bytes(head, "big") % 31 == 0
    return zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS


class _Brotli:
    def __init__(self) -> None:
        self._unpack = brotli.Decompressor()
        self._packed = b""
        self._unpacked = b""

    def feed(self, data: bytes, most: int) -> bytes:
        self._packed += data
        out = bytearray(self._unpacked)
        while len(out) < most and not self._unpack.is_finished():
            if not self._unpack.can_accept_more_data():
                out += self._unpack.process(b"", output_buffer_limit=most)
                continue
            if not self._packed:
                break
            packed, self._packed = self._packed, b""
            out += self._unpack.process(packed, output_buffer_limit=most)
        self._unpacked = bytes(out[most:])
        return bytes(out[:most])


class _Zstd:
    def __init__(self) -> None:
        # The window bounds memory; RFC 9659 forbids more than 8 MiB in this place.
        self._unpack = zstandard.ZstdDecompressor(max_window_size=8 << 20).decompressobj(read_across_frames=True)
        self._packed = b""
        self._unpacked = b""

    def feed(self, data: bytes, most: int) -> bytes:
        packed = self._packed + data
        out = bytearray(self._unpacked)
        place = 0
        while len(out) < most and place < len(packed):
            out += self._unpack.decompress(packed[place : place + _ZSTD_STEP])
            place += _ZSTD_STEP
        self._packed = packed[place:]
        self._unpacked = bytes(out[most:])
        return bytes(out[:most])


_MAKERS: dict[str, Callable[[], Unpacker]] = {
    "": _Identity,
    "identity": _Identity,
    "gzip": lambda: _Zlib(_gzip_bits),
    "x-gzip": lambda: _Zlib(_gzip_bits),
    "deflate": lambda: _Zlib(_deflate_bits),
    "br": _Brotli,
    "zstd": _Zstd,
}

UNPACK_ERRORS = (zlib.error, brotli.error, zstandard.ZstdError)


def unpacker_for(encoding: str) -> Unpacker | None:
    """What undoes a Content-Encoding; None where nobody here knows it.

    >>> unpacker_for("gzip").feed(zlib.compress(b"hello", wbits=31), 3)
    b'hel'
    """
    maker = _MAKERS.get(encoding.strip().lower())
    return maker() if maker else None

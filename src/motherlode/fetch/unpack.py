"""Content encodings undone piece by piece, with a limit on what comes out: a bomb costs no more than a page."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Protocol

import brotli
import zstandard

ACCEPTED = "gzip, deflate, br, zstd"

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_BITS = zlib.MAX_WBITS | 16
_ZSTD_STEP = 128
"""Bytes fed to zstd at once: one step can give at most 4 MiB, since a block of 128 KiB needs four bytes."""
_CHAIN_STEP = 1 << 16
_MOST_CODINGS = 4
_NO_CODINGS = ("none", "utf-8", "utf8", "iso-8859-1", "binary", "8bit")
"""What servers write who take it for the charset, or want to say that there is no coding. Browsers pass it over."""


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


class _Chain:
    """One coding around another. A step of the outer one is bounded, so that a bomb in it costs no more than others."""

    def __init__(self, outer: Unpacker, inner: Unpacker) -> None:
        self._outer = outer
        self._inner = inner

    def feed(self, data: bytes, most: int) -> bytes:
        out = bytearray()
        while True:
            between = self._outer.feed(data, _CHAIN_STEP)
            found = self._inner.feed(between, most - len(out))
            out += found
            has_more = len(between) == _CHAIN_STEP and found  # so much for nothing: the inner one has come to its end
            if len(out) >= most or not has_more:
                return bytes(out)
            data = b""


_MAKERS: dict[str, Callable[[], Unpacker]] = {
    **dict.fromkeys(("", "identity", *_NO_CODINGS), _Identity),
    "gzip": lambda: _Zlib(_gzip_bits),
    "x-gzip": lambda: _Zlib(_gzip_bits),
    "deflate": lambda: _Zlib(_deflate_bits),
    "br": _Brotli,
    "zstd": _Zstd,
}

UNPACK_ERRORS = (zlib.error, brotli.error, zstandard.ZstdError)


def codings_of(headers: Mapping[str, str]) -> str:
    """What was done to a body, in this order: content codings, then transfer codings but for the chunks.

    >>> codings_of({"content-encoding": "br", "transfer-encoding": "gzip, chunked"})
    'br, gzip'
    """
    content, transfer = headers.get("content-encoding", ""), headers.get("transfer-encoding", "chunked").lower()
    if transfer == "chunked":
        return content
    others = [name for name in map(str.strip, transfer.split(",")) if name != "chunked"]
    return ", ".join(filter(None, (content, *others)))


def unpacker_for(codings: str) -> Unpacker | None:
    """What undoes a Content-Encoding, or several (RFC 9110, 8.4); None where nobody here knows one of them.

    >>> unpacker_for("gzip").feed(zlib.compress(b"hello", wbits=31), 3)
    b'hel'
    """
    maker = _MAKERS.get(codings.strip().lower())
    if maker is not None:
        return maker()
    makers = [_MAKERS.get(name.strip()) for name in codings.lower().split(",")]
    if len(makers) > _MOST_CODINGS:
        return None
    chain: Unpacker | None = None
    for maker in makers:  # the one that was applied last is undone first
        if maker is None:
            return None
        if maker is not _Identity:
            chain = maker() if chain is None else _Chain(maker(), chain)
    return chain or _Identity()

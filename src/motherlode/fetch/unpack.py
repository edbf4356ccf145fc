"""Content encodings undone piece by piece, with a limit on what comes out: a bomb costs no more than a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from motherlode.fetch.streams import UNPACK_ERRORS, Brotli, deflate, gzip, zstd

__all__ = ["ACCEPTED", "UNPACK_ERRORS", "AsItIs", "Unpacker", "codings_of", "most_packed", "unpacker_for"]

ACCEPTED = "gzip, deflate, br, zstd"

_CHAIN_STEP = 1 << 16
_CHAIN_SLACK = 1 << 20
_CHAIN_SHARE = 8
"""Bytes that may pass from one coding to the next: so many, and so many for each that comes in."""
_MOST_CODINGS = 4
_SLACK = 1 << 16
_NO_CODINGS = ("none", "utf-8", "utf8", "iso-8859-1", "binary", "8bit", "aws-chunked")
"""What servers write who take it for the charset, or want to say that there is no coding. Browsers pass it over. The
last is a coding of uploads, which some object stores go on to announce."""


def most_packed(most: int) -> int:
    """How many packed bytes are enough for so many unpacked ones: packing makes nothing longer, but for some framing.

    >>> most_packed(1 << 20)
    1245184
    """
    return most + most // 8 + _SLACK


class Unpacker(Protocol):
    """Takes packed bytes; gives at most `most` unpacked ones, and keeps the rest for the next call."""

    @property
    def whole(self) -> bool:
        """The packed stream has come to an end, so that nothing is missing even if no more comes."""

    @property
    def ended(self) -> bool:
        """Nothing more will come out, whatever goes in."""

    def feed(self, data: bytes, most: int) -> bytes: ...


class AsItIs:
    """No coding, or one that nobody knows. Where the body ends, only the connection can tell."""

    whole = False
    ended = False

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes, most: int) -> bytes:
        if self._rest or len(data) > most:
            data = self._rest + data
            self._rest = data[most:]
        return data[:most]


class _Chain:
    """One coding around another. What passes between them is bounded like what comes in: what was packed once does not
    shrink much when it is packed again, so that only a bomb passes more."""

    def __init__(self, outer: Unpacker, inner: Unpacker) -> None:
        self._outer = outer
        self._inner = inner
        self._most = 0
        """Bytes that may pass, whatever comes in. The first call says how many are wanted at all."""
        self._came = self._passed = 0
        self._is_full = False

    @property
    def whole(self) -> bool:
        return self._inner.whole

    @property
    def ended(self) -> bool:
        return self._inner.ended or self._is_full

    def feed(self, data: bytes, most: int) -> bytes:
        self._came += len(data)
        self._most = self._most or most_packed(most)
        room = min(self._most, _CHAIN_SLACK + _CHAIN_SHARE * self._came) - self._passed
        out = bytearray()
        has_more = not self._is_full
        while has_more and len(out) < most and not self._inner.ended:
            between = self._outer.feed(data, min(_CHAIN_STEP, room))
            data = b""
            room -= len(between)
            self._passed += len(between)
            has_more = len(between) == _CHAIN_STEP
            out += self._inner.feed(between, most - len(out))
        self._is_full = self._is_full or room == 0
        return bytes(out)


_MAKERS: dict[str, Callable[[], Unpacker]] = {
    **dict.fromkeys(("", "identity", *_NO_CODINGS), AsItIs),
    "gzip": gzip,
    "x-gzip": gzip,
    "deflate": deflate,
    "br": Brotli,
    "zstd": zstd,
}


def codings_of(headers: Mapping[str, str]) -> str:
    """What was done to a body, in this order: content codings, then transfer codings but for the chunks.

    Unknown codings of the transfer are left out: browsers know none at all, and servers that use some are few.

    >>> codings_of({"content-encoding": "br", "transfer-encoding": "gzip, chunked"})
    'br, gzip'
    """
    content, transfer = headers.get("content-encoding", ""), headers.get("transfer-encoding", "chunked").lower()
    if transfer == "chunked":
        return content
    others = [name for name in map(str.strip, transfer.split(",")) if name in _MAKERS]
    return ", ".join(filter(None, (content, *others)))


def unpacker_for(codings: str) -> Unpacker | None:
    """What undoes a Content-Encoding, or several (RFC 9110, 8.4); None where nobody here knows one of them.

    >>> import zlib
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
        if maker is not AsItIs:
            chain = maker() if chain is None else _Chain(maker(), chain)
    return chain or AsItIs()

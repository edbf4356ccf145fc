"""How the ledger on disk spells keys and rows, so that an order of bytes is the order that is wanted."""

from __future__ import annotations

import struct
from typing import Any

import msgspec
import numpy as np

from motherlode.frontier.entries import Entry, HostRecord, UrlState

ARM_KEY = struct.Struct(">I")
NUMBER_KEY = struct.Struct(">Q")
DOUBLE = struct.Struct(">d")
PLACE = struct.Struct(">QI")
"""Place in the queue of an arm: a score, so spelled that the best sorts first, and a row."""
_LONG = struct.Struct(">Q")
_TOP_BIT = 1 << 63
_ALL_BITS = (1 << 64) - 1
_END = "\n"
"""Ends the state and the reason; behind it stands the entry."""
_END_BYTE = _END.encode()
_LONG_ARRAY = 0xDC
"""How MessagePack begins an array of more than fifteen items, two bytes of length behind it."""

encode = msgspec.msgpack.Encoder().encode
_decode_entry = msgspec.msgpack.Decoder(Entry).decode
decode_host = msgspec.msgpack.Decoder(HostRecord).decode
decode_names = msgspec.msgpack.Decoder(list[str]).decode
WAITING = f"{UrlState.WAITING.value}{_END}".encode()


class Stub(msgspec.Struct, array_like=True, gc=False):
    """As much of an entry as its place in a queue depends on: its first fields."""

    url: str
    arm: str
    score: float


_decode_stub = msgspec.msgpack.Decoder(Stub).decode


def descending(score: float) -> int:
    """An unsigned number that grows as the score falls, so that the order of bytes puts the best score first."""
    bits: int = _LONG.unpack(DOUBLE.pack(score + 0.0))[0]
    return bits if bits & _TOP_BIT else bits ^ _ALL_BITS ^ _TOP_BIT


def descending_all(scores: Any) -> Any:
    """The same for an array."""
    bits = (scores + 0.0).view(np.uint64)
    return np.where(bits >> np.uint64(63), bits, bits ^ np.uint64(_ALL_BITS ^ _TOP_BIT))


def score_of(code: int) -> float:
    ascending = code ^ _ALL_BITS
    bits = ascending & ~_TOP_BIT if ascending & _TOP_BIT else ascending ^ _ALL_BITS
    return float(DOUBLE.unpack(_LONG.pack(bits))[0])


def is_about(value: bytes, packed_url: bytes) -> bool:
    """Whether a row is that of a URL: its first field, behind the head and the length of the array."""
    start = value.index(_END_BYTE) + 1
    return value.startswith(packed_url, start + (3 if value[start] == _LONG_ARRAY else 1))


def head_of(state: UrlState, reason: str) -> bytes:
    return f"{state.value}{reason.replace(_END, ' ')}{_END}".encode("utf-8", "replace")


def row_parts(value: memoryview) -> tuple[bytes, Entry]:
    """State and reason, and the entry behind them."""
    head, end, body = bytes(value).partition(_END_BYTE)
    return head + end, _decode_entry(body)


def row_stub(value: memoryview) -> tuple[bool, Stub]:
    """Whether the URL of a row waits (or is in flight), and the beginning of its entry."""
    head, _, body = bytes(value).partition(_END_BYTE)
    return head + _END_BYTE == WAITING, _decode_stub(body)

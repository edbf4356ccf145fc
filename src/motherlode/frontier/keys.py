"""How the ledger on disk spells keys and rows, so that LMDB's order of bytes is the order that is wanted."""

from __future__ import annotations

import struct

import msgspec

from motherlode.frontier.entries import Entry, HostRecord, UrlState

ARM_KEY = struct.Struct(">I")
NUMBER_KEY = struct.Struct(">Q")
DOUBLE = struct.Struct(">d")
_LONG = struct.Struct(">Q")
_TOP_BIT = 1 << 63
_ALL_BITS = (1 << 64) - 1
ROW_BITS = 40
PLACE_BYTES = 13
"""Of an encoded score and a row."""
ROWS = (1 << ROW_BITS) - 1
_END = "\n"
"""Ends the state and the reason; behind it stands the entry."""
_END_BYTE = _END.encode()
_LONG_ARRAY = 0xDC
"""How MessagePack begins an array of more than fifteen items, two bytes of length behind it."""

encode = msgspec.msgpack.Encoder().encode
_decode_entry = msgspec.msgpack.Decoder(Entry).decode
decode_host = msgspec.msgpack.Decoder(HostRecord).decode
WAITING = f"{UrlState.WAITING.value}{_END}".encode()


def _descending(score: float) -> int:
    """An unsigned number that grows as the score falls, so that LMDB's byte order puts the best score first."""
    bits: int = _LONG.unpack(DOUBLE.pack(score + 0.0))[0]
    return bits if bits & _TOP_BIT else bits ^ _ALL_BITS ^ _TOP_BIT


def score_of(descending: int) -> float:
    ascending = descending ^ _ALL_BITS
    bits = ascending & ~_TOP_BIT if ascending & _TOP_BIT else ascending ^ _ALL_BITS
    return float(DOUBLE.unpack(_LONG.pack(bits))[0])


def place_of(score: float, row: int) -> int:
    """A row's place in the queue of its arm: the smaller the earlier."""
    bits: int = _LONG.unpack(DOUBLE.pack(score + 0.0))[0]  # as in _descending: a call less for every link
    return (bits if bits & _TOP_BIT else bits ^ _ALL_BITS ^ _TOP_BIT) << ROW_BITS | row


def queue_key(number: int, place: int) -> bytes:
    return ARM_KEY.pack(number) + place.to_bytes(PLACE_BYTES, "big")


def is_about(value: bytes, packed_url: bytes) -> bool:
    """Whether a row is that of a URL: its first field, behind the head and the length of the array."""
    start = value.index(_END_BYTE) + 1
    return value.startswith(packed_url, start + (3 if value[start] == _LONG_ARRAY else 1))


def head_of(state: UrlState, reason: str) -> bytes:
    return f"{state.value}{reason.replace(_END, ' ')}{_END}".encode("utf-8", "replace")


def row_parts(value: memoryview) -> tuple[bytes, Entry]:
    """State and reason, and the entry behind them."""
    head, end, body = bytes(value).partition(_END.encode())
    return head + end, _decode_entry(body)

"""How the ledger on disk spells keys and rows, so that an order of bytes is the order that is wanted."""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from typing import Any

import lmdb
import msgspec
import numpy as np
import xxhash

from motherlode.frontier.lease import Entry, HostRecord, UrlState

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


# ── Sorted runs: how the ledger on disk keeps millions of small records that come in no order.

PARTITIONS = 64
_MERGE_FACTOR = 2
"""A run is merged into the one before it until that is this many times as large."""
_MERGED_PER_NEW = 4
"""Records that an append may merge for each that it adds; with the factor above, less than four are needed."""
_KEY = struct.Struct(">BI")
"""Partition and serial number of a run; the larger the newer."""
_LONG_HEAD = 8
"""Bytes; other heads have four."""

Array = Any
"""An array of numpy's."""


@dataclass(frozen=True, slots=True)
class SortedRun:
    """A view into the file: good until the transaction ends."""

    partition: int
    serial: int
    heads: memoryview
    rests: memoryview
    _rest: int

    def find(self, head: int) -> int | None:
        """The place of the first record with this head."""
        place = bisect_left(self.heads, head)
        return place if place < len(self.heads) and self.heads[place] == head else None

    def rest(self, place: int) -> bytes:
        return bytes(self.rests[place * self._rest : (place + 1) * self._rest])

    def records(self, width: int) -> Array:
        """Copies that sort as they should: the head with its highest byte first, then the rest."""
        count, head = len(self.heads), width - self._rest
        made = np.empty((count, width), np.uint8)
        heads = np.frombuffer(self.heads, f"=u{head}").astype(f">u{head}")
        made[:, :head] = heads.view(np.uint8).reshape(count, head)
        made[:, head:] = np.frombuffer(self.rests, np.uint8).reshape(count, self._rest)
        return made.view(f"S{width}").ravel()


Sift = Callable[[lmdb.Transaction, SortedRun, Array], Array]
"""Of the records of a run that is about to be merged, those that are still needed."""


class SortedRuns:
    """Records by their heads. Nothing here outlasts the transaction that is given; the caller commits."""

    def __init__(self, table: Any, *, head: int, rest: int, sift: Sift | None = None) -> None:
        """`head` and `rest` are sizes in bytes."""
        self._table = table
        self._head = head
        self._rest = rest
        self._width = head + rest
        self._sift = sift
        self._views: dict[int, list[SortedRun]] = {}
        self._turn = 0
        """The partition that is looked at first when there is something to merge."""

    def of(self, txn: lmdb.Transaction, head: int) -> list[SortedRun]:
        """Runs in which records with this head may be, oldest first."""
        partition = head % PARTITIONS
        found = self._views.get(partition)
        if found is None:
            found = self._views[partition] = list(self._runs(txn, partition))
        return found

    def all(self, txn: lmdb.Transaction) -> Iterator[SortedRun]:
        for partition in range(PARTITIONS):
            yield from self.of(txn, partition)

    def forget_views(self) -> None:
        """The transaction has ended, and with it the right to look at its pages."""
        self._views.clear()

    def _runs(self, txn: lmdb.Transaction, partition: int) -> Iterator[SortedRun]:
        cursor = txn.cursor(db=self._table)
        more = cursor.set_range(_KEY.pack(partition, 0))
        while more:
            owner, serial = _KEY.unpack(cursor.key())
            if owner != partition:
                return
            blob = memoryview(cursor.value())
            end = len(blob) // self._width * self._head
            heads = blob[:end].cast("Q") if self._head == _LONG_HEAD else blob[:end].cast("I")
            yield SortedRun(partition, serial, heads, blob[end:], self._rest)
            more = cursor.next()

    def append(self, txn: lmdb.Transaction, heads: Array, rests: Array) -> None:
        """Add records, sorted or not: one more run for each partition that gets some, and some merging.

        `rests` has a row of bytes for each head.
        """
        made = np.empty((len(heads), self._width), np.uint8)
        made[:, : self._head] = heads.astype(f">u{self._head}").view(np.uint8).reshape(-1, self._head)
        made[:, self._head :] = rests
        partitions = (heads % PARTITIONS).astype(np.uint8)
        order = np.argsort(partitions, kind="stable")
        records = made[order].view(f"S{self._width}").ravel()
        edges = np.searchsorted(partitions[order], np.arange(PARTITIONS + 1))
        for partition in range(PARTITIONS):
            own = records[edges[partition] : edges[partition + 1]]
            if len(own):
                last = max((run.serial for run in self._runs(txn, partition)), default=-1)
                self._write(txn, partition, last + 1, np.sort(own))
        self._merge_some(txn, _MERGED_PER_NEW * len(heads))
        self.forget_views()

    def _write(self, txn: lmdb.Transaction, partition: int, serial: int, records: Array) -> None:
        columns = records.view(np.uint8).reshape(-1, self._width)
        heads = columns[:, : self._head].copy().view(f">u{self._head}").astype(f"=u{self._head}")
        blob = heads.tobytes() + columns[:, self._head :].tobytes()
        txn.put(_KEY.pack(partition, serial), blob, db=self._table)

    def _merge_some(self, txn: lmdb.Transaction, most: int) -> None:
        for _ in range(PARTITIONS):
            if most <= 0:
                return
            runs = _alike(list(self._runs(txn, self._turn)))
            if len(runs) > 1:
                most -= sum(len(run.heads) for run in runs)
                self._merge(txn, runs)
            self._turn = (self._turn + 1) % PARTITIONS

    def _merge(self, txn: lmdb.Transaction, runs: list[SortedRun]) -> None:
        sift = self._sift or _all_of_them
        copies = [sift(txn, run, run.records(self._width)) for run in runs]
        merged = np.sort(np.concatenate(copies), kind="stable")  # which is quick where the parts are sorted
        for run in runs:
            txn.delete(_KEY.pack(run.partition, run.serial), db=self._table)
        if len(merged):
            self._write(txn, runs[0].partition, runs[0].serial, merged)


def _all_of_them(_txn: lmdb.Transaction, _run: SortedRun, records: Array) -> Array:
    return records


def _alike(runs: list[SortedRun]) -> list[SortedRun]:
    """The newest runs that are to become one."""
    first = len(runs) - 1
    total = len(runs[-1].heads) if runs else 0
    while first > 0 and len(runs[first - 1].heads) < _MERGE_FACTOR * total:
        first -= 1
        total += len(runs[first].heads)
    return runs[max(first, 0) :]


# ── Which URLs are known: the part of the ledger on disk that every link of every page asks.

_BYTES = 1 << 25
BYTE_MASK = _BYTES - 1
BIT_SHIFT = 61
"""The lower bits of a hash choose a byte, its highest three a bit of it."""
_ROW_BYTES = 4


hash_of = xxhash.xxh3_64_intdigest
"""The hash of a URL's bytes."""


class SeenUrls:
    """From the hash of a URL to the rows that may hold it."""

    def __init__(self, table: Any) -> None:
        self._runs = SortedRuns(table, head=8, rest=_ROW_BYTES)
        self.forget_views = self._runs.forget_views
        self.marks = mmap(-1, _BYTES, flags=MAP_PRIVATE | MAP_ANONYMOUS)
        """A bit for each hash that is in a run: where there is none, nothing need be searched. With ten million URLs
        that is so for 24 new ones of 25. The system gives this memory page by page: a small crawl uses none of it."""
        self.recent: dict[int, int] = {}
        """Rows of hashes that are in no run yet."""
        self._twins: list[tuple[int, int]] = []
        """Hashes and rows of URLs that share their hash with one in `recent`."""

    def put(self, found: int, row: int) -> None:
        self.put_all([found], row)

    def put_all(self, hashes: Sequence[int], first_row: int) -> None:
        """Hashes of rows that follow each other."""
        recent, before = self.recent, len(self.recent)
        rows = range(first_row, first_row + len(hashes))
        if recent.keys().isdisjoint(hashes):
            recent.update(zip(hashes, rows, strict=True))
        if len(recent) != before + len(hashes):
            self._twins += [
                (found, row) for found, row in zip(hashes, rows, strict=True) if recent.setdefault(found, row) != row
            ]

    def rows(self, txn: lmdb.Transaction, wanted: int) -> Iterator[int]:
        """Rows whose URL has this hash."""
        recent = self.recent.get(wanted)
        if recent is not None:
            yield recent
            yield from (row for found, row in self._twins if found == wanted)
        for run in self._runs.of(txn, wanted):
            heads = run.heads
            place = bisect_left(heads, wanted)
            while place < len(heads) and heads[place] == wanted:
                yield int.from_bytes(run.rests[place * _ROW_BYTES : (place + 1) * _ROW_BYTES], "big")
                place += 1

    def load(self, txn: lmdb.Transaction) -> None:
        """Mark all that the runs hold."""
        for run in self._runs.all(txn):
            self._mark(np.frombuffer(run.heads, np.uint64))

    def _mark(self, hashes: Array) -> None:
        marks = np.frombuffer(self.marks, np.uint8)
        bits = hashes >> np.uint64(BIT_SHIFT)
        for bit in range(8):
            marks[hashes[bits == bit] & np.uint64(BYTE_MASK)] |= 1 << bit

    def flush(self, txn: lmdb.Transaction) -> None:
        """Move what is recent into runs."""
        count = len(self.recent)
        twins = np.array(self._twins, dtype=np.uint64).reshape(-1, 2)
        hashes = np.concatenate([np.fromiter(self.recent, np.uint64, count), twins[:, 0]])
        self._mark(hashes)
        rows = np.concatenate([np.fromiter(self.recent.values(), np.uint32, count), twins[:, 1].astype(np.uint32)])
        self._runs.append(txn, hashes, rows.astype(">u4").view(np.uint8).reshape(-1, _ROW_BYTES))
        self.recent.clear()
        self._twins.clear()

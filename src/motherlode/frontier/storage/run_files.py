"""Row and key formats of LMDB storage, sorted runs of fixed-size records, and the index of known URLs.

Keys are encoded such that their byte order is the required order. Sorted runs store millions of small records that
arrive unsorted: records are appended in bulk as a new run per partition, and runs of similar size are merged.
"""

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

from motherlode.frontier.records import Entry, HostRecord, UrlState

ARM_KEY = struct.Struct(">I")
NUMBER_KEY = struct.Struct(">Q")
DOUBLE = struct.Struct(">d")
QUEUE_KEY = struct.Struct(">QI")
"""Queue key within an arm: the encoded score, of which the best sorts first, and the row."""
_LONG = struct.Struct(">Q")
_TOP_BIT = 1 << 63
_ALL_BITS = (1 << 64) - 1
_END = "\n"
"""Separates state and reason from the entry."""
_END_BYTE = _END.encode()
_LONG_ARRAY = 0xDC
"""First byte of a MessagePack array of more than 15 items. Two bytes of length follow."""

encode = msgspec.msgpack.Encoder().encode
_decode_entry = msgspec.msgpack.Decoder(Entry).decode
decode_host = msgspec.msgpack.Decoder(HostRecord).decode
decode_names = msgspec.msgpack.Decoder(list[str]).decode
WAITING = f"{UrlState.WAITING.value}{_END}".encode()


class Stub(msgspec.Struct, array_like=True, gc=False):
    """The first fields of an entry, which determine its queue key."""

    url: str
    arm: str
    score: float


_decode_stub = msgspec.msgpack.Decoder(Stub).decode


def encode_score(score: float) -> int:
    """Encode a score as an unsigned integer that decreases with the score, so that the best score sorts first."""
    bits: int = _LONG.unpack(DOUBLE.pack(score + 0.0))[0]
    return bits if bits & _TOP_BIT else bits ^ _ALL_BITS ^ _TOP_BIT


def encode_scores(scores: Any) -> Any:
    """Encode an array of scores like `encode_score`."""
    bits = (scores + 0.0).view(np.uint64)
    return np.where(bits >> np.uint64(63), bits, bits ^ np.uint64(_ALL_BITS ^ _TOP_BIT))


def decode_score(code: int) -> float:
    """Decode a score that `encode_score` encoded."""
    ascending = code ^ _ALL_BITS
    bits = ascending & ~_TOP_BIT if ascending & _TOP_BIT else ascending ^ _ALL_BITS
    return float(DOUBLE.unpack(_LONG.pack(bits))[0])


def is_row_of(value: bytes, packed_url: bytes) -> bool:
    """Return whether a row belongs to a URL, which is the first field after the head and the array length."""
    start = value.index(_END_BYTE) + 1
    return value.startswith(packed_url, start + (3 if value[start] == _LONG_ARRAY else 1))


def encode_head(state: UrlState, reason: str) -> bytes:
    """Encode state and reason as the head of a row."""
    return f"{state.value}{reason.replace(_END, ' ')}{_END}".encode("utf-8", "replace")


def split_row(value: memoryview) -> tuple[bytes, Entry]:
    """Split a row into its head (state and reason) and the decoded entry."""
    head, end, body = bytes(value).partition(_END_BYTE)
    return head + end, _decode_entry(body)


def split_stub(value: memoryview) -> tuple[bool, Stub]:
    """Return whether the URL of a row is waiting or in flight, and the first fields of its entry."""
    head, _, body = bytes(value).partition(_END_BYTE)
    return head + _END_BYTE == WAITING, _decode_stub(body)


# ── Sorted runs ──────────────────────────────────────────────────────────────────────────────────────

PARTITIONS = 64
_MERGE_FACTOR = 2
"""A run is merged into the previous one unless the previous one is at least this many times as large."""
_MERGED_PER_NEW = 4
"""Records that an append may merge per new record. With the factor above, less than four are needed."""
_KEY = struct.Struct(">BI")
"""Partition and serial number of a run. Newer runs have larger serial numbers."""
_LONG_HEAD_BYTES = 8
"""Bytes of a long head. Other heads have four bytes."""

Array = Any
"""A NumPy array."""


@dataclass(frozen=True, slots=True)
class SortedRun:
    """One run: a view into the mapped file, valid until the transaction ends."""

    partition: int
    serial: int
    heads: memoryview
    tails: memoryview
    _tail_bytes: int

    def find(self, head: int) -> int | None:
        """Return the index of the first record with this head; None if there is none."""
        index = bisect_left(self.heads, head)
        return index if index < len(self.heads) and self.heads[index] == head else None

    def tail(self, index: int) -> bytes:
        """Return the bytes after the head of a record."""
        return bytes(self.tails[index * self._tail_bytes : (index + 1) * self._tail_bytes])

    def records(self, width: int) -> Array:
        """Return copies of the records whose byte order is the sort order: big-endian head, then tail."""
        count, head = len(self.heads), width - self._tail_bytes
        made = np.empty((count, width), np.uint8)
        heads = np.frombuffer(self.heads, f"=u{head}").astype(f">u{head}")
        made[:, :head] = heads.view(np.uint8).reshape(count, head)
        made[:, head:] = np.frombuffer(self.tails, np.uint8).reshape(count, self._tail_bytes)
        return made.view(f"S{width}").ravel()


RecordFilter = Callable[[lmdb.Transaction, SortedRun, Array], Array]
"""Returns the records of a run that are still needed, before the run is merged."""


class SortedRuns:
    """Records of head and tail, in partitioned sorted runs. The caller commits the transaction."""

    def __init__(self, table: Any, *, head: int, tail: int, keep: RecordFilter | None = None) -> None:
        """`head` and `tail` are the sizes of the two parts of a record in bytes."""
        self._table = table
        self._head_bytes = head
        self._tail_bytes = tail
        self._width = head + tail
        self._keep = keep
        self._views: dict[int, list[SortedRun]] = {}
        self._next_partition = 0
        """The partition with which the next merge starts."""

    def of(self, txn: lmdb.Transaction, head: int) -> list[SortedRun]:
        """Return the runs that may contain records with this head, oldest first."""
        partition = head % PARTITIONS
        found = self._views.get(partition)
        if found is None:
            found = self._views[partition] = list(self._runs(txn, partition))
        return found

    def all(self, txn: lmdb.Transaction) -> Iterator[SortedRun]:
        """Yield all runs."""
        for partition in range(PARTITIONS):
            yield from self.of(txn, partition)

    def forget_views(self) -> None:
        """Drop the views into the file. Call it when the transaction ends, because they become invalid."""
        self._views.clear()

    def _runs(self, txn: lmdb.Transaction, partition: int) -> Iterator[SortedRun]:
        cursor = txn.cursor(db=self._table)
        more = cursor.set_range(_KEY.pack(partition, 0))
        while more:
            owner, serial = _KEY.unpack(cursor.key())
            if owner != partition:
                return
            blob = memoryview(cursor.value())
            end = len(blob) // self._width * self._head_bytes
            heads = blob[:end].cast("Q") if self._head_bytes == _LONG_HEAD_BYTES else blob[:end].cast("I")
            yield SortedRun(partition, serial, heads, blob[end:], self._tail_bytes)
            more = cursor.next()

    def append(self, txn: lmdb.Transaction, heads: Array, tails: Array) -> None:
        """Add records in any order: write one new run per partition that gets records, and merge some runs.

        `tails` has one row of bytes for each head.
        """
        made = np.empty((len(heads), self._width), np.uint8)
        made[:, : self._head_bytes] = heads.astype(f">u{self._head_bytes}").view(np.uint8).reshape(-1, self._head_bytes)
        made[:, self._head_bytes :] = tails
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
        heads = columns[:, : self._head_bytes].copy().view(f">u{self._head_bytes}").astype(f"=u{self._head_bytes}")
        blob = heads.tobytes() + columns[:, self._head_bytes :].tobytes()
        txn.put(_KEY.pack(partition, serial), blob, db=self._table)

    def _merge_some(self, txn: lmdb.Transaction, most: int) -> None:
        for _ in range(PARTITIONS):
            if most <= 0:
                return
            runs = _runs_to_merge(list(self._runs(txn, self._next_partition)))
            if len(runs) > 1:
                most -= sum(len(run.heads) for run in runs)
                self._merge(txn, runs)
            self._next_partition = (self._next_partition + 1) % PARTITIONS

    def _merge(self, txn: lmdb.Transaction, runs: list[SortedRun]) -> None:
        keep = self._keep or _keep_all
        copies = [keep(txn, run, run.records(self._width)) for run in runs]
        merged = np.sort(np.concatenate(copies), kind="stable")  # fast, because the parts are sorted
        for run in runs:
            txn.delete(_KEY.pack(run.partition, run.serial), db=self._table)
        if len(merged):
            self._write(txn, runs[0].partition, runs[0].serial, merged)


def _keep_all(_txn: lmdb.Transaction, _run: SortedRun, records: Array) -> Array:
    return records


def _runs_to_merge(runs: list[SortedRun]) -> list[SortedRun]:
    """Return the newest runs that should be merged into one."""
    first = len(runs) - 1
    total = len(runs[-1].heads) if runs else 0
    while first > 0 and len(runs[first - 1].heads) < _MERGE_FACTOR * total:
        first -= 1
        total += len(runs[first].heads)
    return runs[max(first, 0) :]


# ── Known URLs ───────────────────────────────────────────────────────────────────────────────────────

_BITMAP_BYTES = 1 << 25
BYTE_MASK = _BITMAP_BYTES - 1
BIT_SHIFT = 61
"""The lower bits of a hash select a byte of the bitmap, its highest three bits select a bit of the byte."""
_ROW_BYTES = 4


hash_of = xxhash.xxh3_64_intdigest
"""The hash of a URL's bytes."""


class SeenUrls:
    """An index from the hash of a URL to its rows."""

    def __init__(self, table: Any) -> None:
        self._runs = SortedRuns(table, head=8, tail=_ROW_BYTES)
        self.forget_views = self._runs.forget_views
        self.bitmap = mmap(-1, _BITMAP_BYTES, flags=MAP_PRIVATE | MAP_ANONYMOUS)
        """A bitmap of the hashes in the runs. If the bit of a hash is not set, no run is searched. With ten million
        URLs that saves the search for 24 of 25 new URLs. The system allocates the memory page by page, so a small crawl
        uses little of it."""
        self.recent: dict[int, int] = {}
        """From hash to row, for hashes that are in no run yet."""
        self._collisions: list[tuple[int, int]] = []
        """Hashes and rows of URLs whose hash is in `recent` with another row (hash collisions)."""

    def put(self, found: int, row: int) -> None:
        """Add the hash of one row."""
        self.put_all([found], row)

    def put_all(self, hashes: Sequence[int], first_row: int) -> None:
        """Add the hashes of rows with consecutive numbers."""
        recent, before = self.recent, len(self.recent)
        rows = range(first_row, first_row + len(hashes))
        if recent.keys().isdisjoint(hashes):
            recent.update(zip(hashes, rows, strict=True))
        if len(recent) != before + len(hashes):
            self._collisions += [
                (found, row) for found, row in zip(hashes, rows, strict=True) if recent.setdefault(found, row) != row
            ]

    def rows(self, txn: lmdb.Transaction, wanted: int) -> Iterator[int]:
        """Yield the rows whose URL has this hash."""
        recent = self.recent.get(wanted)
        if recent is not None:
            yield recent
            yield from (row for found, row in self._collisions if found == wanted)
        for run in self._runs.of(txn, wanted):
            heads = run.heads
            index = bisect_left(heads, wanted)
            while index < len(heads) and heads[index] == wanted:
                yield int.from_bytes(run.tails[index * _ROW_BYTES : (index + 1) * _ROW_BYTES], "big")
                index += 1

    def load(self, txn: lmdb.Transaction) -> None:
        """Set the bits of all hashes in the runs."""
        for run in self._runs.all(txn):
            self._set_bits(np.frombuffer(run.heads, np.uint64))

    def _set_bits(self, hashes: Array) -> None:
        bitmap = np.frombuffer(self.bitmap, np.uint8)
        bits = hashes >> np.uint64(BIT_SHIFT)
        for bit in range(8):
            bitmap[hashes[bits == bit] & np.uint64(BYTE_MASK)] |= 1 << bit

    def flush(self, txn: lmdb.Transaction) -> None:
        """Move the recent hashes to runs."""
        count = len(self.recent)
        twins = np.array(self._collisions, dtype=np.uint64).reshape(-1, 2)
        hashes = np.concatenate([np.fromiter(self.recent, np.uint64, count), twins[:, 0]])
        self._set_bits(hashes)
        rows = np.concatenate([np.fromiter(self.recent.values(), np.uint32, count), twins[:, 1].astype(np.uint32)])
        self._runs.append(txn, hashes, rows.astype(">u4").view(np.uint8).reshape(-1, _ROW_BYTES))
        self.recent.clear()
        self._collisions.clear()

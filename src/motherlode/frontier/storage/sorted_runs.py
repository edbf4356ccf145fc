"""Sorted runs of fixed-size records in LMDB, and what is made of them: the index of known URLs, the queues of the arms.

Sorted runs store millions of small records that arrive unsorted: records are appended in bulk as a new run per
partition, and runs of similar size are merged. Records are encoded such that their byte order is the required order.

A queue has its new rows in a memtable, which only appends, because most links of a large crawl go to hosts that are
snoozed. The first read of an arm links each row to the previous row of its arm. The memtable uses arrays of numbers
instead of a list per arm, because the garbage collector would scan millions of lists again and again (8 % of the time
of adding links).
"""

import heapq
import struct
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from typing import Any

import lmdb
import msgspec
import numpy as np

Array = Any
"""A NumPy array."""

PARTITIONS = 64
_MERGE_FACTOR = 2
"""A run is merged into the previous one unless the previous one is at least this many times as large."""
_MERGED_PER_NEW = 4
"""Maximum number of records that an append merges per new record. With `_MERGE_FACTOR`, fewer are needed on average."""
_KEY = struct.Struct(">BI")
"""Partition and serial number of a run. Newer runs have larger serial numbers."""
_LONG_HEAD_BYTES = 8
"""Bytes of a long head. Other heads have four bytes."""


@dataclass(frozen=True, slots=True)
class SortedRun:
    """One sorted run: views of the heads (keys) and tails (values) of its records in the mapped file.

    They are valid until the transaction ends.
    """

    partition: int
    serial: int
    heads: memoryview
    tails: memoryview
    _tail_bytes: int

    def find(self, head: int) -> int | None:
        """Return the index of the first record with this head; None if no record has it."""
        index = bisect_left(self.heads, head)
        return index if index < len(self.heads) and self.heads[index] == head else None

    def tail(self, index: int) -> bytes:
        """Return the tail of the record at an index."""
        return bytes(self.tails[index * self._tail_bytes : (index + 1) * self._tail_bytes])

    def records(self, width: int) -> Array:
        """Return copies of all records as bytes that sort like the records: the head, big-endian, then the tail."""
        count, head = len(self.heads), width - self._tail_bytes
        made = np.empty((count, width), np.uint8)
        heads = np.frombuffer(self.heads, f"=u{head}").astype(f">u{head}")
        made[:, :head] = heads.view(np.uint8).reshape(count, head)
        made[:, head:] = np.frombuffer(self.tails, np.uint8).reshape(count, self._tail_bytes)
        return made.view(f"S{width}").ravel()


RecordFilter = Callable[[lmdb.Transaction, SortedRun, Array], Array]
"""Returns the records of a run that are still needed, before the run is merged."""


class SortedRuns:
    """Records in sorted runs. A record has a head (the key, a number) and a tail (the value, bytes of a fixed size).

    The lowest bits of the head select the partition, and each partition has its own runs. The caller commits.
    """

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
        """Add records in any order as one new run per partition, and merge some runs. `tails` has a row per head."""
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
        copies = [run.records(self._width) for run in runs]
        if self._keep is not None:
            copies = [self._keep(txn, run, records) for run, records in zip(runs, copies, strict=True)]
        merged = np.sort(np.concatenate(copies), kind="stable")  # fast, because the parts are sorted
        for run in runs:
            txn.delete(_KEY.pack(run.partition, run.serial), db=self._table)
        if len(merged):
            self._write(txn, runs[0].partition, runs[0].serial, merged)


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
        """Fill the bitmap with the hashes in the runs."""
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


# ── New rows of the queues ───────────────────────────────────────────────────────────────────────────

_TAKEN = (1 << 32) - 1
"""Replaces the arm's number of a row that was taken."""
_NO_INDEX = -1


class Memtable:
    """New rows in order of arrival: arm, score, row, and the index of the previous row of the same arm."""

    def __init__(self) -> None:
        self._arms = array("I")
        self._scores = array("d")
        self._rows = array("I")
        self._before = array("q")
        """Index of the previous row of the same arm. Rows that arrived since the last `take` are missing at the end."""
        self._last: dict[int, int] = {}
        """Index of the last row of each arm."""

    def extend(self, arms: Sequence[int], scores: Sequence[float], first_row: int) -> None:
        """Append rows with consecutive numbers."""
        self._arms.extend(arms)
        self._scores.extend(scores)
        self._rows.extend(range(first_row, first_row + len(arms)))

    def _link(self) -> None:
        last, before, index = self._last, self._before, len(self._before)
        for arm in self._arms[index:]:
            before.append(last.get(arm, _NO_INDEX))
            last[arm] = index
            index += 1

    def take(self, arm: int) -> list[tuple[float, int]]:
        """Remove and return all rows of an arm, as pairs of negated score and row."""
        if len(self._before) < len(self._arms):
            self._link()
        found, index = [], self._last.pop(arm, _NO_INDEX)
        while index != _NO_INDEX:
            found.append((-self._scores[index], self._rows[index]))
            self._arms[index] = _TAKEN
            index = self._before[index]
        return found

    def remaining(self) -> tuple[Array, Array, Array]:
        """Return arms, scores and rows of all rows that were not taken."""
        arms = np.array(self._arms, np.uint32)
        here = arms != _TAKEN
        return arms[here], np.array(self._scores, np.float64)[here], np.array(self._rows, np.uint32)[here]


# ── Queues ───────────────────────────────────────────────────────────────────────────────────────────

_DOUBLE, _LONG = struct.Struct(">d"), struct.Struct(">Q")
_TOP_BIT = 1 << 63
_ALL_BITS = (1 << 64) - 1
_QUEUE_KEY = struct.Struct(">QI")
"""Queue key within an arm: the encoded score, of which the best sorts first, and the row."""
_USED_KEY = struct.Struct(">BII")
"""Key in the table `used`: partition, serial number of the run, and arm."""
_USED_PREFIX = struct.Struct(">BI")
_COUNT = struct.Struct(">I")


def encode_score(score: float) -> int:
    """Encode a score as an unsigned integer that decreases with the score, so that the best score sorts first."""
    bits: int = _LONG.unpack(_DOUBLE.pack(score + 0.0))[0]
    return bits if bits & _TOP_BIT else bits ^ _ALL_BITS ^ _TOP_BIT


def encode_scores(scores: Any) -> Any:
    """Encode an array of scores like `encode_score`."""
    bits = (scores + 0.0).view(np.uint64)
    return np.where(bits >> np.uint64(63), bits, bits ^ np.uint64(_ALL_BITS ^ _TOP_BIT))


def decode_score(code: int) -> float:
    """Decode a score that `encode_score` encoded."""
    ascending = code ^ _ALL_BITS
    bits = ascending & ~_TOP_BIT if ascending & _TOP_BIT else ascending ^ _ALL_BITS
    return float(_DOUBLE.unpack(_LONG.pack(bits))[0])


class _FirstRecord(msgspec.Struct, gc=False):
    """The next record of an arm in one run."""

    tail: bytes
    run: SortedRun
    used: int
    """Number of the arm's records in this run that were popped."""


class Queues:
    """One priority queue of rows per arm number: the best score first, then the lowest row."""

    def __init__(self, runs: Any, used: Any) -> None:
        self._runs = SortedRuns(runs, head=_COUNT.size, tail=_QUEUE_KEY.size, keep=self._filter_used)
        self.forget_views = self._runs.forget_views
        self._used_table = used
        self._heaps: dict[int, list[tuple[float, int]]] = {}
        """For each arm that was read, a heap of its rows that are in no run, as pairs of negated score and row."""
        self._memtable = Memtable()
        """Rows that are in no run and no heap, because their arm was not read since they arrived."""
        self.counts: list[int] = []
        """Number of waiting rows of each arm."""
        self._has_used = bytearray()
        """1 for each arm of which a record in a run was popped. The other arms have no item in the table `used`."""

    def load(self, txn: lmdb.Transaction, arms: int) -> None:
        """Count the waiting rows of each arm in the runs. `arms` is the number of arms."""
        counts = np.zeros(arms, np.int64)
        for run in self._runs.all(txn):
            own = counts[run.partition :: PARTITIONS]
            own += np.bincount(np.frombuffer(run.heads, np.uint32) // PARTITIONS, minlength=len(own))
        self._has_used = bytearray(arms)
        for key, value in txn.cursor(db=self._used_table):
            number = _USED_KEY.unpack(key)[2]
            counts[number] -= _COUNT.unpack(value)[0]
            self._has_used[number] = 1
        self.counts = counts.tolist()

    def new_arm(self) -> int:
        """Return the number for a new arm."""
        self.counts.append(0)
        self._has_used.append(0)
        return len(self.counts) - 1

    def push_all(self, numbers: Sequence[int], scores: Sequence[float], first_row: int) -> None:
        """Add rows with consecutive numbers to the queues of their arms."""
        counts = self.counts
        for number in numbers:
            counts[number] += 1
        self._memtable.extend(numbers, scores, first_row)

    def _heap(self, number: int) -> list[tuple[float, int]] | None:
        """Return the arm's heap, including its rows of the memtable; None if it has no rows in memory."""
        arrived = self._memtable.take(number)
        if not arrived:
            return self._heaps.get(number)
        heap = self._heaps.setdefault(number, [])
        for item in arrived:
            heapq.heappush(heap, item)
        return heap

    def best(self, txn: lmdb.Transaction, number: int) -> float | None:
        """Return the score of the row that `pop` would return; None if the arm is empty."""
        found, heap = self._first_in_runs(txn, number), self._heap(number)
        if found is None:
            return -heap[0][0] if heap else None
        score = decode_score(_QUEUE_KEY.unpack(found.tail)[0])
        return max(score, -heap[0][0]) if heap else score

    def pop(self, txn: lmdb.Transaction, number: int) -> int | None:
        """Remove and return the arm's best row; None if the arm is empty."""
        found, heap = self._first_in_runs(txn, number), self._heap(number)
        if found is not None:
            code, row = _QUEUE_KEY.unpack(found.tail)
            if not heap or (-decode_score(code), row) < heap[0]:
                key = _USED_KEY.pack(found.run.partition, found.run.serial, number)
                self.counts[number] -= 1
                self._has_used[number] = 1
                txn.put(key, _COUNT.pack(found.used + 1), db=self._used_table)
                return int(row)
        if not heap:
            return None
        self.counts[number] -= 1
        row = heapq.heappop(heap)[1]
        if not heap:
            del self._heaps[number]
        return row

    def _first_in_runs(self, txn: lmdb.Transaction, number: int) -> _FirstRecord | None:
        first: _FirstRecord | None = None
        for run in self._runs.of(txn, number):
            start = run.find(number)
            if start is None:
                continue
            used = self._count_used(txn, run, number)
            index = start + used
            if index < len(run.heads) and run.heads[index] == number:
                tail = run.tail(index)
                if first is None or tail < first.tail:
                    first = _FirstRecord(tail, run, used)
        return first

    def _count_used(self, txn: lmdb.Transaction, run: SortedRun, number: int) -> int:
        if not self._has_used[number]:
            return 0
        value = txn.get(_USED_KEY.pack(run.partition, run.serial, number), db=self._used_table)
        return 0 if value is None else int(_COUNT.unpack(value)[0])

    def count_ahead(self, txn: lmdb.Transaction, number: int, score: float, row: int) -> int:
        """Return how many rows of an arm would be popped before this one."""
        count = sum(other < (-score, row) for other in self._heap(number) or ())
        tail = _QUEUE_KEY.pack(encode_score(score), row)
        for run in self._runs.of(txn, number):
            start = run.find(number)
            if start is not None:
                unused = start + self._count_used(txn, run, number)
                indexes = range(unused, bisect_left(run.heads, number + 1, start))
                count += bisect_left(indexes, tail, key=run.tail)
        return count

    def flush(self, txn: lmdb.Transaction) -> None:
        """Move the rows in memory to runs."""
        sizes = np.fromiter(map(len, self._heaps.values()), np.int64, len(self._heaps))
        items = chain.from_iterable(chain.from_iterable(self._heaps.values()))
        heaps = np.fromiter(items, np.float64, 2 * int(sizes.sum())).reshape(-1, 2)  # float64 is exact for row numbers
        arms = np.repeat(np.fromiter(self._heaps, np.uint32, len(self._heaps)), sizes)
        arrived = self._memtable.remaining()
        numbers = np.concatenate([arms, arrived[0]])
        keys = np.empty(len(numbers), [("score", ">u8"), ("row", ">u4")])
        keys["score"] = encode_scores(np.concatenate([-heaps[:, 0], arrived[1]]))
        keys["row"] = np.concatenate([heaps[:, 1].astype(np.uint32), arrived[2]])
        self._runs.append(txn, numbers, keys.view(np.uint8).reshape(-1, _QUEUE_KEY.size))
        self._heaps.clear()
        self._memtable = Memtable()

    def _filter_used(self, txn: lmdb.Transaction, run: SortedRun, records: Array) -> Array:
        """Return the records of a run that were not popped, and delete the run's items of the table `used`."""
        left = np.ones(len(records), bool)
        prefix = _USED_PREFIX.pack(run.partition, run.serial)
        cursor = txn.cursor(db=self._used_table)
        cursor.set_range(prefix)
        while bytes(cursor.key()).startswith(prefix):
            number, used = _USED_KEY.unpack(cursor.key())[2], _COUNT.unpack(cursor.value())[0]
            start = run.find(number)
            if start is not None:
                left[start : start + used] = False
            cursor.delete()  # moves the cursor to the next item
        return records[left]

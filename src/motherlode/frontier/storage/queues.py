"""The queues of the arms in LMDB storage: a memtable of new rows, heaps for the arms in use, and sorted runs.

Most links of a large crawl go to hosts that are snoozed, so the memtable only appends: it neither sorts nor looks up
rows. The first read of an arm links each row to the previous row of its arm. The memtable uses arrays of numbers
instead of a list per arm, because the garbage collector would scan millions of lists again and again (8 % of the time
of adding links).
"""

from __future__ import annotations

import heapq
import struct
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import chain
from typing import Any

import lmdb
import msgspec
import numpy as np

from motherlode.frontier.storage.run_files import (
    PARTITIONS,
    QUEUE_KEY,
    Array,
    SortedRun,
    SortedRuns,
    decode_score,
    encode_score,
    encode_scores,
)

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

_USED_KEY = struct.Struct(">BII")
"""Partition, serial number of the run, and arm."""
_USED_PREFIX = struct.Struct(">BI")
_COUNT = struct.Struct(">I")


class _FirstRecord(msgspec.Struct, gc=False):
    """The next record of an arm in one run."""

    tail: bytes
    run: SortedRun
    used: int
    """Number of the arm's records in this run that were popped."""


class Queues:
    """One priority queue of rows per arm number: the best score first, then the lowest row."""

    def __init__(self, runs: Any, used: Any) -> None:
        self._runs = SortedRuns(runs, head=_COUNT.size, tail=QUEUE_KEY.size, keep=self._filter_used)
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

    def push(self, number: int, score: float, row: int) -> None:
        """Add one row to the queue of an arm."""
        self.push_all([number], [score], row)

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

    # ── the best row of an arm ───────────────────────────────────────────────────────────────────────────

    def best(self, txn: lmdb.Transaction, number: int) -> float | None:
        """Return the score of the row that `pop` would return; None if the arm is empty."""
        found, heap = self._first_in_runs(txn, number), self._heap(number)
        if found is None:
            return -heap[0][0] if heap else None
        score = decode_score(QUEUE_KEY.unpack(found.tail)[0])
        return max(score, -heap[0][0]) if heap else score

    def pop(self, txn: lmdb.Transaction, number: int) -> int | None:
        """Remove and return the arm's best row; None if the arm is empty."""
        found, heap = self._first_in_runs(txn, number), self._heap(number)
        if found is not None:
            code, row = QUEUE_KEY.unpack(found.tail)
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
        tail = QUEUE_KEY.pack(encode_score(score), row)
        for run in self._runs.of(txn, number):
            start = run.find(number)
            if start is not None:
                unused = start + self._count_used(txn, run, number)
                indexes = range(unused, bisect_left(run.heads, number + 1, start))
                count += bisect_left(indexes, tail, key=run.tail)
        return count

    # ── flush and merge ──────────────────────────────────────────────────────────────────────────────────

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
        self._runs.append(txn, numbers, keys.view(np.uint8).reshape(-1, QUEUE_KEY.size))
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

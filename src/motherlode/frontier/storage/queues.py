"""Rows that have just come to wait, and that nobody has asked for yet.

Most links of a large crawl go to hosts that sleep, so nothing is sorted here, and nothing is looked up while rows only
come. When somebody asks for an arm, each row is linked to the one that came before it in its arm. Numbers in arrays,
not a list for each arm, because the garbage collector looks at millions of lists again and again: that was 8 % of an
offer.
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

from motherlode.frontier.storage.sorted_runs import (
    PARTITIONS,
    PLACE,
    Array,
    SortedRun,
    SortedRuns,
    descending,
    descending_all,
    score_of,
)

_TAKEN = (1 << 32) - 1
"""In the place of an arm's number."""
_NONE = -1


class Memtable:
    """In the order in which they came: arm, score and row, and where the one before it in the same arm stands."""

    def __init__(self) -> None:
        self._arms = array("I")
        self._scores = array("d")
        self._rows = array("I")
        self._before = array("q")
        """Shorter than the others, by those that came since somebody asked."""
        self._last: dict[int, int] = {}
        """For each arm where its last one stands."""

    def extend(self, arms: Sequence[int], scores: Sequence[float], first_row: int) -> None:
        self._arms.extend(arms)
        self._scores.extend(scores)
        self._rows.extend(range(first_row, first_row + len(arms)))

    def _link(self) -> None:
        last, before, place = self._last, self._before, len(self._before)
        for arm in self._arms[place:]:
            before.append(last.get(arm, _NONE))
            last[arm] = place
            place += 1

    def take(self, arm: int) -> list[tuple[float, int]]:
        """All of an arm, which are no longer here: scores with the sign turned, and rows."""
        if len(self._before) < len(self._arms):
            self._link()
        found, place = [], self._last.pop(arm, _NONE)
        while place != _NONE:
            found.append((-self._scores[place], self._rows[place]))
            self._arms[place] = _TAKEN
            place = self._before[place]
        return found

    def left(self) -> tuple[Array, Array, Array]:
        """Arms, scores and rows of all that are still here."""
        arms = np.array(self._arms, np.uint32)
        here = arms != _TAKEN
        return arms[here], np.array(self._scores, np.float64)[here], np.array(self._rows, np.uint32)[here]


# ── Who waits: the queue of every arm, as the ledger on disk keeps it.

_USED_KEY = struct.Struct(">BII")
"""Partition, run and arm."""
_USED_PREFIX = struct.Struct(">BI")
_COUNT = struct.Struct(">I")


class _First(msgspec.Struct, gc=False):
    """The record of a run that is the next of its arm there."""

    rest: bytes
    run: SortedRun
    used: int
    """How many records of the arm stood before it."""


class Queues:
    """The rows that wait, by the number of their arm: the best score first, then the lowest row."""

    def __init__(self, runs: Any, used: Any) -> None:
        self._runs = SortedRuns(runs, head=_COUNT.size, rest=PLACE.size, sift=self._unused)
        self.forget_views = self._runs.forget_views
        self._used_table = used
        self._heaps: dict[int, list[tuple[float, int]]] = {}
        """For each arm that was asked for, its rows that are in no run, behind their scores with the sign turned."""
        self._arrivals = Memtable()
        """Rows that are in no run either, and whose arm was not asked for since they came."""
        self.counts: list[int] = []
        """How many rows wait in each arm."""
        self._in_use = bytearray()
        """Marks arms of which some run has given something away; for the others the table need not be asked."""

    def load(self, txn: lmdb.Transaction, arms: int) -> None:
        """Count what the runs hold for so many arms."""
        counts = np.zeros(arms, np.int64)
        for run in self._runs.all(txn):
            own = counts[run.partition :: PARTITIONS]
            own += np.bincount(np.frombuffer(run.heads, np.uint32) // PARTITIONS, minlength=len(own))
        self._in_use = bytearray(arms)
        for key, value in txn.cursor(db=self._used_table):
            number = _USED_KEY.unpack(key)[2]
            counts[number] -= _COUNT.unpack(value)[0]
            self._in_use[number] = 1
        self.counts = counts.tolist()

    def new_arm(self) -> int:
        """The number of an arm that has had none."""
        self.counts.append(0)
        self._in_use.append(0)
        return len(self.counts) - 1

    def push(self, number: int, score: float, row: int) -> None:
        self.push_all([number], [score], row)

    def push_all(self, numbers: Sequence[int], scores: Sequence[float], first_row: int) -> None:
        """Rows that follow each other wait from now on, each in its arm and with its score."""
        counts = self.counts
        for number in numbers:
            counts[number] += 1
        self._arrivals.extend(numbers, scores, first_row)

    def _heap(self, number: int) -> list[tuple[float, int]] | None:
        """The arm's heap with all that has arrived; None where there is nothing."""
        arrived = self._arrivals.take(number)
        if not arrived:
            return self._heaps.get(number)
        heap = self._heaps.setdefault(number, [])
        for item in arrived:
            heapq.heappush(heap, item)
        return heap

    # ── the first of an arm ──────────────────────────────────────────────────────────────────────────

    def best(self, txn: lmdb.Transaction, number: int) -> float | None:
        """The score of what `pop` would give."""
        found, heap = self._first_in_runs(txn, number), self._heap(number)
        if found is None:
            return -heap[0][0] if heap else None
        score = score_of(PLACE.unpack(found.rest)[0])
        return max(score, -heap[0][0]) if heap else score

    def pop(self, txn: lmdb.Transaction, number: int) -> int | None:
        """The row that is the arm's first; it waits no longer."""
        found, heap = self._first_in_runs(txn, number), self._heap(number)
        if found is not None:
            code, row = PLACE.unpack(found.rest)
            if not heap or (-score_of(code), row) < heap[0]:
                key = _USED_KEY.pack(found.run.partition, found.run.serial, number)
                self.counts[number] -= 1
                self._in_use[number] = 1
                txn.put(key, _COUNT.pack(found.used + 1), db=self._used_table)
                return int(row)
        if not heap:
            return None
        self.counts[number] -= 1
        row = heapq.heappop(heap)[1]
        if not heap:
            del self._heaps[number]
        return row

    def _first_in_runs(self, txn: lmdb.Transaction, number: int) -> _First | None:
        first: _First | None = None
        for run in self._runs.of(txn, number):
            start = run.find(number)
            if start is None:
                continue
            used = self._used(txn, run, number)
            place = start + used
            if place < len(run.heads) and run.heads[place] == number:
                rest = run.rest(place)
                if first is None or rest < first.rest:
                    first = _First(rest, run, used)
        return first

    def _used(self, txn: lmdb.Transaction, run: SortedRun, number: int) -> int:
        if not self._in_use[number]:
            return 0
        value = txn.get(_USED_KEY.pack(run.partition, run.serial, number), db=self._used_table)
        return 0 if value is None else int(_COUNT.unpack(value)[0])

    def ahead(self, txn: lmdb.Transaction, number: int, score: float, row: int) -> int:
        """How many rows of an arm would be popped before this one."""
        count = sum(other < (-score, row) for other in self._heap(number) or ())
        rest = PLACE.pack(descending(score), row)
        for run in self._runs.of(txn, number):
            start = run.find(number)
            if start is not None:
                unused = start + self._used(txn, run, number)
                places = range(unused, bisect_left(run.heads, number + 1, start))
                count += bisect_left(places, rest, key=run.rest)
        return count

    # ── what lasts ───────────────────────────────────────────────────────────────────────────────────

    def flush(self, txn: lmdb.Transaction) -> None:
        """Move what is in memory into runs."""
        sizes = np.fromiter(map(len, self._heaps.values()), np.int64, len(self._heaps))
        items = chain.from_iterable(chain.from_iterable(self._heaps.values()))
        heaps = np.fromiter(items, np.float64, 2 * int(sizes.sum())).reshape(-1, 2)  # floats hold rows exactly, too
        arms = np.repeat(np.fromiter(self._heaps, np.uint32, len(self._heaps)), sizes)
        arrived = self._arrivals.left()
        numbers = np.concatenate([arms, arrived[0]])
        places = np.empty(len(numbers), [("score", ">u8"), ("row", ">u4")])
        places["score"] = descending_all(np.concatenate([-heaps[:, 0], arrived[1]]))
        places["row"] = np.concatenate([heaps[:, 1].astype(np.uint32), arrived[2]])
        self._runs.append(txn, numbers, places.view(np.uint8).reshape(-1, PLACE.size))
        self._heaps.clear()
        self._arrivals = Memtable()

    def _unused(self, txn: lmdb.Transaction, run: SortedRun, records: Array) -> Array:
        """Of a run that is merged away, the records that were not given out."""
        left = np.ones(len(records), bool)
        prefix = _USED_PREFIX.pack(run.partition, run.serial)
        cursor = txn.cursor(db=self._used_table)
        cursor.set_range(prefix)
        while bytes(cursor.key()).startswith(prefix):
            number, used = _USED_KEY.unpack(cursor.key())[2], _COUNT.unpack(cursor.value())[0]
            start = run.find(number)
            if start is not None:
                left[start : start + used] = False
            cursor.delete()  # and it stands on the next one
        return records[left]

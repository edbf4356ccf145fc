"""Sorted runs: how the ledger on disk keeps millions of small records that come in no order.

A B-tree of random keys is dirty all over after every commit. So new records stay in memory until there are many; then
each partition (by the record's head) gets them as one more run, a sorted array that is written in one piece and
searched in place. Runs of similar size are merged, so that a partition has few. Merging is paid in instalments: an
append merges a few records for each new one, and the partitions take turns, so no commit waits for all of them.

A record is a number, its *head*, and the *rest*: a few bytes that decide the order among equal heads. A run is all its
heads, so that C can search them, and then all its rests.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import lmdb
import numpy as np

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
class Run:
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


Sift = Callable[[lmdb.Transaction, Run, Array], Array]
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
        self._views: dict[int, list[Run]] = {}
        self._turn = 0
        """The partition that is looked at first when there is something to merge."""

    def of(self, txn: lmdb.Transaction, head: int) -> list[Run]:
        """Runs in which records with this head may be, oldest first."""
        partition = head % PARTITIONS
        found = self._views.get(partition)
        if found is None:
            found = self._views[partition] = list(self._runs(txn, partition))
        return found

    def all(self, txn: lmdb.Transaction) -> Iterator[Run]:
        for partition in range(PARTITIONS):
            yield from self.of(txn, partition)

    def forget_views(self) -> None:
        """The transaction has ended, and with it the right to look at its pages."""
        self._views.clear()

    def _runs(self, txn: lmdb.Transaction, partition: int) -> Iterator[Run]:
        cursor = txn.cursor(db=self._table)
        more = cursor.set_range(_KEY.pack(partition, 0))
        while more:
            owner, serial = _KEY.unpack(cursor.key())
            if owner != partition:
                return
            blob = memoryview(cursor.value())
            end = len(blob) // self._width * self._head
            heads = blob[:end].cast("Q") if self._head == _LONG_HEAD else blob[:end].cast("I")
            yield Run(partition, serial, heads, blob[end:], self._rest)
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

    def _merge(self, txn: lmdb.Transaction, runs: list[Run]) -> None:
        sift = self._sift or _all_of_them
        copies = [sift(txn, run, run.records(self._width)) for run in runs]
        merged = np.sort(np.concatenate(copies), kind="stable")  # which is quick where the parts are sorted
        for run in runs:
            txn.delete(_KEY.pack(run.partition, run.serial), db=self._table)
        if len(merged):
            self._write(txn, runs[0].partition, runs[0].serial, merged)


def _all_of_them(_txn: lmdb.Transaction, _run: Run, records: Array) -> Array:
    return records


def _alike(runs: list[Run]) -> list[Run]:
    """The newest runs that are to become one."""
    first = len(runs) - 1
    total = len(runs[-1].heads) if runs else 0
    while first > 0 and len(runs[first - 1].heads) < _MERGE_FACTOR * total:
        first -= 1
        total += len(runs[first].heads)
    return runs[max(first, 0) :]

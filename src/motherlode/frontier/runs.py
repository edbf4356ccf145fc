"""Which URLs are known, in sorted runs: the part of the ledger on disk that every link of every page asks.

A B-tree of ten million random keys is dirty all over after every commit. So new hashes stay in memory until there are
many; then each partition (by the hash's first bits) gets them as one more sorted run, an array that is written in one
piece and searched in place. Runs of similar size are merged, so that a partition has few. A hash only points to a row;
the caller compares the URL itself, so two URLs with the same hash are both known for what they are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import lmdb
import numpy as np
import xxhash

PARTITIONS = 16
_SHIFT = 60
_SLOTS = 1 << 26
_MERGE_FACTOR = 3
"""A run is merged into the one before it until that is this many times as large."""
_COMMIT_BYTES = 8 << 20
"""Of runs in one transaction: bounds the memory that a flush takes."""
_NUMBER = 2
_ITEM = 12
"""Bytes of a hash and its row."""


@dataclass(frozen=True, slots=True)
class _Run:
    hashes: memoryview
    rows: memoryview


SLOT_MASK = _SLOTS - 1


def hash_of(url: str) -> int:
    return xxhash.xxh3_64_intdigest(url.encode())


class KnownRows:
    """From the hash of a URL to the rows that may hold it."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self.slots = bytearray(_SLOTS)
        """A mark for each hash that was ever put: where there is none, the URL is new, and nothing need be searched."""
        self.recent: dict[int, int] = {}
        """Hashes that are in no run yet."""
        self._twins: list[tuple[int, int]] = []
        """Hashes and rows of URLs that share their hash with one in `recent`."""
        self._runs: dict[int, list[_Run]] = {}

    def put(self, found: int, row: int) -> None:
        self.slots[found & SLOT_MASK] = 1
        if self.recent.setdefault(found, row) != row:
            self._twins.append((found, row))

    def rows(self, txn: lmdb.Transaction, wanted: int) -> Iterator[int]:
        """Rows whose URL has this hash."""
        recent = self.recent.get(wanted)
        if recent is not None:
            yield recent
            yield from (row for found, row in self._twins if found == wanted)
        for run in self._of(txn, wanted >> _SHIFT):
            place = _place(run.hashes, wanted)
            while place < len(run.hashes) and run.hashes[place] == wanted:
                yield run.rows[place]
                place += 1

    def _of(self, txn: lmdb.Transaction, partition: int) -> list[_Run]:
        found = self._runs.get(partition)
        if found is None:
            found = self._runs[partition] = [_run(blob) for _, blob in self._blobs(txn, partition)]
        return found

    def _blobs(self, txn: lmdb.Transaction, partition: int) -> list[tuple[bytes, memoryview]]:
        """The partition's runs, oldest first, as they lie in the file: good until the transaction ends."""
        blobs: list[tuple[bytes, memoryview]] = []
        for number in range(1 << 8 * _NUMBER):
            key = bytes([partition]) + number.to_bytes(_NUMBER, "big")
            with_buffers = txn.get(key, db=self._table)
            if with_buffers is None:
                return blobs
            blobs.append((key, memoryview(with_buffers)))
        raise ValueError("more runs than can be numbered")

    def forget_views(self) -> None:
        """The transaction has ended, and with it the right to look at its pages."""
        self._runs.clear()

    def load(self, txn: lmdb.Transaction) -> None:
        """Mark all that the runs hold."""
        slots = np.frombuffer(self.slots, dtype=np.uint8)
        for partition in range(PARTITIONS):
            for _, blob in self._blobs(txn, partition):
                hashes = np.frombuffer(blob, dtype=np.uint64, count=len(blob) // _ITEM)
                slots[hashes & np.uint64(SLOT_MASK)] = 1

    def flush(self, begin: Callable[[], lmdb.Transaction], commit: Callable[[], None]) -> None:
        """Move what is recent into runs, a few partitions a transaction; all of it stays findable at every moment."""
        twins = np.array(self._twins, dtype=np.uint64).reshape(-1, 2)
        hashes = np.concatenate([np.fromiter(self.recent, np.uint64, len(self.recent)), twins[:, 0]])
        rows = np.fromiter(self.recent.values(), np.uint32, len(self.recent))
        order = np.argsort(hashes)
        all_hashes = hashes[order]
        all_rows = np.concatenate([rows, twins[:, 1].astype(np.uint32)])[order]
        written = 0
        edges = np.searchsorted(all_hashes, np.arange(PARTITIONS, dtype=np.uint64) << np.uint64(_SHIFT))
        for partition, (start, end) in enumerate(zip(edges, [*edges[1:], len(all_hashes)], strict=True)):
            if start < end:
                written += self._append(begin(), partition, all_hashes[start:end], all_rows[start:end])
            if written >= _COMMIT_BYTES:
                commit()
                written = 0
        commit()
        self.recent.clear()
        self._twins.clear()

    def _append(self, txn: lmdb.Transaction, partition: int, hashes: Any, rows: Any) -> int:
        """One more run for the partition, the last ones merged into it; the bytes that it takes."""
        blobs = self._blobs(txn, partition)
        parts, merged = [(hashes, rows)], []
        total = len(hashes)
        while blobs and len(blobs[-1][1]) // _ITEM < _MERGE_FACTOR * total:
            key, blob = blobs.pop()
            count = len(blob) // _ITEM
            total += count
            hashes_before = np.frombuffer(blob, np.uint64, count).copy()  # a view ends with the next change
            parts.append((hashes_before, np.frombuffer(blob, np.uint32, count, offset=8 * count).copy()))
            merged.append(key)
        for key in merged:
            txn.delete(key, db=self._table)
        if merged:
            hashes = np.concatenate([part[0] for part in parts])
            rows = np.concatenate([part[1] for part in parts])
            order = np.argsort(hashes)
            hashes, rows = hashes[order], rows[order]
        key = bytes([partition]) + len(blobs).to_bytes(_NUMBER, "big")
        txn.put(key, hashes.tobytes() + rows.tobytes(), db=self._table)
        return _ITEM * total


def _run(blob: memoryview) -> _Run:
    count = len(blob) // _ITEM
    return _Run(blob[: 8 * count].cast("Q"), blob[8 * count :].cast("I"))


def _place(hashes: memoryview, wanted: int) -> int:
    """Where the hash stands or would stand. Hashes are evenly spread, so the search begins near the right place."""
    count = len(hashes)
    guess = (wanted & ((1 << _SHIFT) - 1)) * count >> _SHIFT
    reach = 64
    while True:
        low, high = max(0, guess - reach), min(count, guess + reach)
        if (low == 0 or hashes[low - 1] < wanted) and (high == count or hashes[high] >= wanted):
            return bisect_left(hashes, wanted, low, high)
        reach *= 8

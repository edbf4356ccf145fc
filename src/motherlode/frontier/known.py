"""Which URLs are known: the part of the ledger on disk that every link of every page asks.

From the hash of a URL to its row. A hash only points to a row; the caller compares the URL itself, so two URLs with the
same hash are both known for what they are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from typing import Any

import lmdb
import numpy as np
import xxhash

from motherlode.frontier.runs import Array, SortedRuns

_BYTES = 1 << 25
BYTE_MASK = _BYTES - 1
BIT_SHIFT = 61
"""The lower bits of a hash choose a byte, its highest three a bit of it."""
_ROW_BYTES = 4


hash_of = xxhash.xxh3_64_intdigest
"""The hash of a URL's bytes."""


class KnownRows:
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

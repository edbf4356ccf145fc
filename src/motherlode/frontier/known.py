"""Which URLs are known: the part of the ledger on disk that every link of every page asks.

From the hash of a URL to its row. A hash only points to a row; the caller compares the URL itself, so two URLs with the
same hash are both known for what they are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from typing import Any

import lmdb
import numpy as np
import xxhash

from motherlode.frontier.runs import SortedRuns

_SLOTS = 1 << 26
SLOT_MASK = _SLOTS - 1
_ROW_BYTES = 4

hash_of = xxhash.xxh3_64_intdigest
"""The hash of a URL's bytes."""


class KnownRows:
    """From the hash of a URL to the rows that may hold it."""

    def __init__(self, table: Any) -> None:
        self._runs = SortedRuns(table, head=8, rest=_ROW_BYTES)
        self.forget_views = self._runs.forget_views
        self.slots = mmap(-1, _SLOTS, flags=MAP_PRIVATE | MAP_ANONYMOUS)
        """A mark for each hash that was ever put: where there is none, the URL is new, and nothing need be searched.
        The system gives this memory page by page: a small crawl uses little of it, and opens in no time."""
        self._recent: dict[int, int] = {}
        """Hashes that are in no run yet."""
        self._twins: list[tuple[int, int]] = []
        """Hashes and rows of URLs that share their hash with one in `_recent`."""

    def put(self, found: int, row: int) -> None:
        self.slots[found & SLOT_MASK] = 1
        if self._recent.setdefault(found, row) != row:
            self._twins.append((found, row))

    def put_all(self, hashes: Iterable[int], first_row: int) -> None:
        """A `put` for each hash, with one row after the other."""
        slots, setdefault, row = self.slots, self._recent.setdefault, first_row
        for found in hashes:
            slots[found & SLOT_MASK] = 1
            if setdefault(found, row) != row:
                self._twins.append((found, row))
            row += 1

    def rows(self, txn: lmdb.Transaction, wanted: int) -> Iterator[int]:
        """Rows whose URL has this hash."""
        recent = self._recent.get(wanted)
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
        slots = np.frombuffer(self.slots, dtype=np.uint8)
        for run in self._runs.all(txn):
            slots[np.frombuffer(run.heads, np.uint64) & np.uint64(SLOT_MASK)] = 1

    def flush(self, txn: lmdb.Transaction) -> None:
        """Move what is recent into runs."""
        count = len(self._recent)
        twins = np.array(self._twins, dtype=np.uint64).reshape(-1, 2)
        hashes = np.concatenate([np.fromiter(self._recent, np.uint64, count), twins[:, 0]])
        rows = np.concatenate([np.fromiter(self._recent.values(), np.uint32, count), twins[:, 1].astype(np.uint32)])
        self._runs.append(txn, hashes, rows.astype(">u4").view(np.uint8).reshape(-1, _ROW_BYTES))
        self._recent.clear()
        self._twins.clear()

"""Feature hashing (Weinberger et al. 2009): names of features become indices into a vector of fixed size.

The number of words and hosts on the web is unbounded. Hashed features need no dictionary and no second pass over the
data, and two machines compute the same indices without communication. Rows are binary: a feature is present or not, so
a row contains each index once. The rows of a page are stored in one array, because learners process all links of a page
together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import xxhash
from numpy.typing import NDArray

Indices = NDArray[np.int64]
_MAX_CACHED_NAMES = 200_000
"""Names whose indices a hasher caches; about 25 MB."""


@dataclass(frozen=True, slots=True)
class FeatureRows:
    """Binary rows in one array: row i is `indices[starts[i]:starts[i + 1]]`, without duplicates.

    >>> rows = FeatureRows.of([[3, 1], [], [7]])
    >>> len(rows), [row.tolist() for row in rows]
    (3, [[3, 1], [], [7]])
    """

    indices: Indices
    starts: Indices
    """Start of each row, and the end of the last one."""

    @classmethod
    def of(cls, rows: Sequence[Sequence[int] | Indices]) -> FeatureRows:
        """Make rows from lists or arrays, each without duplicates."""
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=starts[1:])
        flat: list[int] = []
        for row in rows:
            flat.extend(row)
        return cls(np.array(flat, dtype=np.int64), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[Indices]:
        return (self.indices[start:end] for start, end in zip(self.starts[:-1], self.starts[1:], strict=True))


class Hasher:
    """Maps names to indices below `size`. The seed decides which names collide.

    >>> len(Hasher(size=1000, seed=7).row(["host=a.example", "path=x", "path=x"]))
    2
    """

    def __init__(self, size: int = 1 << 20, seed: int = 0) -> None:
        if size < 1:
            raise ValueError(f"the size of a feature vector must be at least 1; got {size}")
        self.size = size
        self.seed = seed
        self._known: dict[str, int] = {}

    def row(self, names: Iterable[str]) -> Indices:
        """Return the indices of one row, without duplicates, in ascending order."""
        return np.array(sorted(self._indices(names)), dtype=np.int64)

    def rows(self, names: Iterable[Iterable[str]]) -> FeatureRows:
        """Return the indices of many rows, for example of all links of a page."""
        return FeatureRows.of([sorted(self._indices(row)) for row in names])

    def _indices(self, names: Iterable[str]) -> set[int]:
        wanted = tuple(names)
        known = self._known
        try:
            return set(map(known.__getitem__, wanted))  # the usual case: links of a page share most features
        except KeyError:
            if len(known) >= _MAX_CACHED_NAMES:
                known.clear()
        for name in wanted:
            if name not in known:
                known[name] = xxhash.xxh3_64_intdigest(name.encode("utf-8", "replace"), self.seed) % self.size
        return {known[name] for name in wanted}

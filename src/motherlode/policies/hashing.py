"""Feature hashing (Weinberger et al. 2009): names of features become places in a vector of fixed size.

A learner on the web meets words and hosts without end; hashed, they need no dictionary and no second pass, and two
machines agree on them without a word. Rows are binary: a feature is there or not, so each place stands in a row once.
The rows of a page are kept together in one array, because learners work on all links of a page at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import xxhash
from numpy.typing import NDArray

Indices = NDArray[np.int64]
_MOST_REMEMBERED = 200_000
"""Names whose places a hasher keeps at hand; about 25 MB."""


@dataclass(frozen=True, slots=True)
class FeatureRows:
    """Binary rows, one after the other: row i is `indices[starts[i]:starts[i + 1]]`, without doubles.

    >>> rows = Rows.of([[3, 1], [], [7]])
    >>> len(rows), [row.tolist() for row in rows]
    (3, [[3, 1], [], [7]])
    """

    indices: Indices
    starts: Indices
    """One more than there are rows."""

    @classmethod
    def of(cls, rows: Sequence[Sequence[int] | Indices]) -> FeatureRows:
        """Rows from lists or arrays, each without doubles."""
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
    """From names to places in a vector of `size`. The seed decides which names collide.

    >>> hasher = Hasher(size=1 << 20)
    >>> hasher.row(["host=a.example", "path=x"]).tolist() == hash_features(["host=a.example", "path=x"]).tolist()
    True
    """

    def __init__(self, size: int = 1 << 20, seed: int = 0) -> None:
        if size < 1:
            raise ValueError(f"a vector needs at least one place; got the size {size}")
        self.size = size
        self.seed = seed
        self._known: dict[str, int] = {}

    def row(self, names: Iterable[str]) -> Indices:
        """The places of one row, each once, in ascending order."""
        return np.array(sorted(self._places(names)), dtype=np.int64)

    def rows(self, names: Iterable[Iterable[str]]) -> FeatureRows:
        """The places of many rows: of all the links of a page, say, which share most of their features."""
        return FeatureRows.of([sorted(self._places(row)) for row in names])

    def _places(self, names: Iterable[str]) -> set[int]:
        asked = tuple(names)
        known = self._known
        try:
            return set(map(known.__getitem__, asked))  # as good as always: links of a page share their features
        except KeyError:
            if len(known) >= _MOST_REMEMBERED:
                known.clear()
        for name in asked:
            if name not in known:
                known[name] = xxhash.xxh3_64_intdigest(name.encode("utf-8", "replace"), self.seed) % self.size
        return {known[name] for name in asked}


def hash_features(names: Iterable[str], size: int = 1 << 20, seed: int = 0) -> Indices:
    """The places of one row of features. For many rows with names in common, keep a `Hasher`.

    >>> len(hash_features(["host=a.example", "path=x", "path=x"], size=1000, seed=7))
    2
    """
    return Hasher(size, seed).row(names)

"""The ready arms of TRES in columns, and the choice of one representative per leaf of the tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]


class ReadyLinks:
    """The ready arms with their features, their leaf, and the number of their waiting links."""

    def __init__(self, features: int) -> None:
        self.names: list[str] = []
        self._column_of: dict[str, int] = {}
        self._rows: Rows = np.zeros((64, features), dtype=np.float32)
        self._leaves: NDArray[np.int64] = np.zeros(64, dtype=np.int64)
        self._waiting: NDArray[np.float64] = np.zeros(64)

    def __len__(self) -> int:
        return len(self.names)

    def put(self, arm: str, row: Rows, leaf: int, waiting: int) -> None:
        """Add an arm, or change it."""
        index = self._column_of.get(arm)
        if index is None:
            index = self._column_of[arm] = len(self.names)
            self.names.append(arm)
            if index == len(self._waiting):
                self._rows = np.concatenate((self._rows, np.zeros_like(self._rows)))
                self._leaves = np.concatenate((self._leaves, np.zeros_like(self._leaves)))
                self._waiting = np.concatenate((self._waiting, np.zeros_like(self._waiting)))
        self._rows[index], self._leaves[index], self._waiting[index] = row, leaf, waiting

    def remove(self, arm: str) -> None:
        index = self._column_of.pop(arm, None)
        if index is None:
            return
        last = self.names.pop()
        if last != arm:
            end = len(self.names)
            for column in (self._rows, self._leaves, self._waiting):
                column[index] = column[end]
            self.names[index] = last
            self._column_of[last] = index

    def locate(self, leaf_of: Callable[[Rows], int], arms: Iterable[str] | None = None) -> None:
        """Compute again to which leaf of the tree each arm belongs: for some arms, or for all."""
        indices = range(len(self.names)) if arms is None else [self._column_of[arm] for arm in arms]
        for index in indices:
            self._leaves[index] = leaf_of(self._rows[index])

    def set_features(self, arms: Iterable[str], first: int, values: Rows) -> None:
        """Change some features of some arms."""
        for arm in arms:
            index = self._column_of.get(arm)
            if index is not None:
                self._rows[index, first : first + len(values)] = values

    def representatives(self, random: Random) -> tuple[list[str], Rows]:
        """Return one arm of each leaf that is not empty, and its features.

        The arm is that of a random waiting link of the leaf, each with the same probability: of exponential draws with
        the numbers of links as rates, the arm with the smallest is taken.
        """
        count = len(self.names)
        generator = np.random.Generator(np.random.PCG64(random.getrandbits(64)))
        draws = generator.standard_exponential(count) / np.maximum(self._waiting[:count], 1.0)
        leaves = self._leaves[:count]
        order = np.lexsort((draws, leaves))
        sorted_leaves = leaves[order]
        is_first = np.ones(count, dtype=np.bool_)
        is_first[1:] = sorted_leaves[1:] != sorted_leaves[:-1]
        chosen = order[is_first]
        return [self.names[index] for index in chosen.tolist()], self._rows[chosen]

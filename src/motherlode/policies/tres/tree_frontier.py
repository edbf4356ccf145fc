"""Tree-Frontier: a regression tree over features of links, grown on the rewards of the links that were followed.

Each leaf keeps the examples that came to it. When a leaf has enough of them, it is split by the feature and the
threshold that reduce the variance of the rewards most. Its waiting links are divided in the same way: the policy asks
for the leaf of a link's features again after each split.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]
MIN_EXAMPLES_TO_SPLIT = 5
"""Number of examples at which a leaf may be split. This and the depth are those of the authors' program."""
MAX_DEPTH = 18
MAX_LEAVES = 512
MAX_EXAMPLES_PER_LEAF = 256
"""Older examples of a leaf are forgotten."""
_MIN_GAIN = 1e-9


def best_split(rows: Rows, rewards: NDArray[np.float64]) -> tuple[float, int, float]:
    """Return the largest reduction of the variance of the rewards, and its feature and threshold.

    Rows with a value up to the threshold go to the left. The reduction is 0 if no split reduces the variance.

    >>> best_split(np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.float32), np.array([0.0, 0.0, 1.0, 1.0]))
    (0.25, 0, 0.0)
    """
    count, best = len(rewards), (0.0, 0, 0.0)
    variance = float(rewards.var())
    if variance <= _MIN_GAIN:
        return best
    for feature in range(rows.shape[1]):
        order = rows[:, feature].argsort(kind="stable")
        column, sums = rows[order, feature], rewards[order].cumsum()
        ends = np.flatnonzero(column[1:] > column[:-1])  # the last row of each value but the largest
        if not len(ends):
            continue
        left = ends + 1.0
        right = count - left
        between = sums[ends] ** 2 / left + (sums[-1] - sums[ends]) ** 2 / right
        gains = (between - sums[-1] ** 2 / count) / count
        index = int(gains.argmax())
        if gains[index] > best[0] + _MIN_GAIN:
            best = (float(gains[index]), feature, float(column[ends[index]]))
    return best


class _Node(msgspec.Struct, array_like=True):
    depth: int
    feature: int = -1
    """Index of the feature that splits the node; -1 for a leaf."""
    threshold: float = 0.0
    left: int = 0
    """Number of the left child; the right one has the next number."""
    examples: list[tuple[list[float], float]] = []
    """Features and rewards; empty for an inner node."""


class TreeFrontier:
    """The regression tree.

    >>> tree = TreeFrontier()
    >>> for number in range(10):
    ...     _ = tree.add(np.array([number % 2], dtype=np.float32), float(number % 2))
    >>> tree.leaf_count, tree.leaf(np.array([0.0])) != tree.leaf(np.array([1.0]))
    (2, True)
    """

    def __init__(self, *, max_depth: int = MAX_DEPTH, least: int = MIN_EXAMPLES_TO_SPLIT) -> None:
        self._max_depth = max_depth
        self._least = least
        self._nodes = [_Node(0)]
        self.leaf_count = 1

    def leaf(self, row: NDArray[np.floating]) -> int:
        """Return the number of the leaf to which a row belongs."""
        number = 0
        while (node := self._nodes[number]).feature >= 0:
            number = node.left + (float(row[node.feature]) > node.threshold)
        return number

    def add(self, row: Rows, reward: float) -> bool:
        """Add an example. Return whether its leaf was split."""
        number = self.leaf(row)
        node = self._nodes[number]
        node.examples.append(([float(value) for value in row], reward))
        if len(node.examples) > MAX_EXAMPLES_PER_LEAF:
            del node.examples[0]
        may_split = node.depth < self._max_depth and self.leaf_count < MAX_LEAVES
        return may_split and len(node.examples) >= self._least and self._split(node)

    def _split(self, node: _Node) -> bool:
        rows = np.array([row for row, _ in node.examples], dtype=np.float32)
        gain, feature, threshold = best_split(rows, np.array([reward for _, reward in node.examples]))
        if gain <= 0.0:
            return False
        sides: tuple[list[tuple[list[float], float]], ...] = ([], [])
        for example in node.examples:
            sides[example[0][feature] > threshold].append(example)
        node.feature, node.threshold, node.left = feature, threshold, len(self._nodes)
        node.examples = []
        self._nodes += [_Node(node.depth + 1, examples=side) for side in sides]
        self.leaf_count += 1
        return True

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(self._nodes)

    def load(self, state: bytes) -> None:
        self._nodes = msgspec.msgpack.decode(state, type=list[_Node])
        self.leaf_count = sum(node.feature < 0 for node in self._nodes)

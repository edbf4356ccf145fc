"""A Hoeffding tree (Domingos and Hulten 2000) over binary features, with the settings of MOA, which the paper uses.

Pages run down the tree by what they have to a leaf. Every 200 pages a leaf asks which feature would tell its relevant
pages best from the others. By Hoeffding's inequality the winner on n pages is the true one with probability 1 - δ if
its lead in information gain is over √(ln(1/δ) / 2n); then the leaf splits, and also where the rivals are so close that
it does not matter which is taken (τ). Own code, since libraries want dense rows or dictionaries and take a millisecond
for a row of ten thousand features; the tests compare it with one of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import log, sqrt

import msgspec
import numpy as np

from motherlode.policy.anthelion.bayes import probabilities
from motherlode.policy.anthelion.features import row
from motherlode.policy.anthelion.leaves import Leaf

GRACE = 200
"""Pages at a leaf between two thoughts of splitting."""
DELTA = 1e-7
"""The probability of a wrong choice."""
TAU = 0.05
"""Bounds below it mean a tie."""


class Split(msgspec.Struct, frozen=True, array_like=True):
    """A branching of the tree, by the numbers of its nodes."""

    feature: int
    absent: int
    present: int


class HoeffdingTree:
    """Nodes by number; 0 is the root.

    >>> model = HoeffdingTree()
    >>> for _ in range(300):
    ...     model.learn(array("H", [3, 5]), relevant=True); model.learn(array("H", [4, 5]), relevant=False)
    >>> [round(score, 2) for score in model.scores([array("H", [3]).tobytes(), array("H", [4]).tobytes()])]
    [1.0, 0.0]
    """

    def __init__(self) -> None:
        self._nodes: list[Leaf | Split] = [Leaf()]

    def splits(self) -> list[int]:
        """The features that the tree asks for, in the order in which it came to ask."""
        return [node.feature for node in self._nodes if isinstance(node, Split)]

    def _find(self, features: set[int]) -> tuple[int, Leaf]:
        number = 0
        while isinstance(node := self._nodes[number], Split):
            number = node.present if node.feature in features else node.absent
        return number, node

    def scores(self, memos: Sequence[bytes]) -> list[float]:
        """P(relevant | row); one half for everything while nothing was learned."""
        at: dict[int, list[int]] = {}
        rows = [row(memo) for memo in memos]
        for place, features in enumerate(rows):
            at.setdefault(self._find(set(features))[0], []).append(place)
        odds = np.zeros(len(rows))
        for number, places in at.items():
            leaf = self._nodes[number]
            assert isinstance(leaf, Leaf)
            odds[places] = leaf.log_odds([rows[place] for place in places])
        return probabilities(odds)

    def learn(self, features: array[int], *, relevant: bool) -> None:
        number, leaf = self._find(set(features))
        leaf.learn(features, relevant=relevant)
        if leaf.pages - leaf.tried >= GRACE:
            leaf.tried = leaf.pages
            if leaf.mixed:
                self._consider(number, leaf)

    def _consider(self, number: int, leaf: Leaf) -> None:
        gains = leaf.gains()
        if not len(gains):
            return
        best = int(gains.argmax())
        gain = gains[best]
        gains[best] = 0.0  # the rival of last resort is not to split at all, which gains nothing
        bound = sqrt(log(1 / DELTA) / (2 * leaf.pages))
        if gain <= 0 or (gain - gains.max() <= bound and bound >= TAU):
            return
        absent, present = leaf.children(best)
        self._nodes += (absent, present)
        self._nodes[number] = Split(leaf.feature_at(best), len(self._nodes) - 2, len(self._nodes) - 1)

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(
            [node.dump() if isinstance(node, Leaf) else list(msgspec.structs.astuple(node)) for node in self._nodes]
        )

    def load(self, state: bytes) -> None:
        nodes = msgspec.msgpack.decode(state, type=list[bytes | list[int]])
        self._nodes = [Leaf.load(node) if isinstance(node, bytes) else Split(*node) for node in nodes]

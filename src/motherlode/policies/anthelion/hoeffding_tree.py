"""A leaf of the Hoeffding tree: what its pages had in common, by class, and what would be gained by a split."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from math import log, sqrt

import msgspec
import numpy as np
from numpy.typing import NDArray

from motherlode.policies.anthelion.url_classifier import row
from motherlode.policies.ftrl import sigmoid

Floats = NDArray[np.float64]
LEAST_BRANCH = 0.01
"""A split must leave this share of the pages on either side (MOA's `minFracWeightForTwoBranches`)."""
_LeafState = tuple[list[int], list[int], list[int], bytes, bytes]


class Leaf:
    """Pages by class, and for each feature that some of them had, how many of each class."""

    def __init__(self, classes: Sequence[int] = (0, 0)) -> None:
        self.classes = list(classes)
        """Other and relevant pages, those before the last split included."""
        self.tried = sum(classes)
        """Pages when a split was last thought of."""
        self._own = [0, 0]
        """Pages since the leaf began."""
        self._right = [0, 0]
        """How often the majority and Naive Bayes would have been right."""
        self._slots: dict[int, int] = {}
        self._counts = np.zeros((2, 16))
        self._absent: float | None = None

    @property
    def pages(self) -> int:
        return self.classes[0] + self.classes[1]

    @property
    def mixed(self) -> bool:
        return min(self.classes) > 0

    # ── prediction ───────────────────────────────────────────────────────────────────────────────────

    def log_odds(self, rows: Sequence[Iterable[int]]) -> Floats:
        """Of the majority, or of Naive Bayes where that was right more often: MOA's adaptive prediction."""
        bayes = self._right[1] >= self._right[0]
        return self._bayes(rows) if bayes else np.full(len(rows), self._prior())

    def _prior(self) -> float:
        bad, good = self.classes
        return log((good + 1) / (bad + 1))

    def _bayes(self, rows: Sequence[Iterable[int]]) -> Floats:
        slots = self._slots
        found = [[slots[feature] for feature in row if feature in slots] for row in rows]
        owners = np.repeat(np.arange(len(rows)), [len(each) for each in found])
        bad_has, good_has = self._counts[:, [slot for each in found for slot in each]]
        bad, good = self._own
        weights = np.log((good_has + 1) * (bad + 1 - bad_has) / ((good + 1 - good_has) * (bad_has + 1)))
        odds = np.bincount(owners, weights, minlength=len(rows)) + self._absent_log_odds()
        return odds.astype(np.float64, copy=False)

    def _absent_log_odds(self) -> float:
        if self._absent is None:
            used = len(self._slots)
            bad, good = self._own
            bad_has, good_has = self._counts[:, :used]
            lacking = np.log((good + 1 - good_has) / (bad + 1 - bad_has)).sum()
            self._absent = self._prior() + float(lacking) + used * (log(bad + 2) - log(good + 2))
        return self._absent

    # ── learning ─────────────────────────────────────────────────────────────────────────────────────

    def learn(self, features: array[int], *, relevant: bool) -> None:
        self._right[0] += (self.classes[1] > self.classes[0]) is relevant or self.pages == 0
        self._right[1] += bool(self._bayes([features])[0] > 0) is relevant
        self.classes[relevant] += 1
        self._own[relevant] += 1
        slots = [self._slot(feature) for feature in features]
        self._counts[int(relevant), slots] += 1
        self._absent = None

    def _slot(self, feature: int) -> int:
        slot = self._slots.get(feature)
        if slot is None:
            slot = self._slots[feature] = len(self._slots)
            if slot >= self._counts.shape[1]:
                self._counts = np.concatenate((self._counts, np.zeros_like(self._counts)), axis=1)
        return slot

    # ── splitting ────────────────────────────────────────────────────────────────────────────────────

    def gains(self) -> Floats:
        """Information gain of a split by each feature, in bits; minus infinity where a side would be almost empty."""
        own = np.array(self._own, dtype=np.float64)
        has = self._counts[:, : len(self._slots)]
        lacks = own[:, None] - has
        pages = own.sum()
        with_it, without = has.sum(axis=0), lacks.sum(axis=0)
        gains = entropy(own[:, None])[0] - (with_it * entropy(has) + without * entropy(lacks)) / pages
        gains[np.minimum(with_it, without) < LEAST_BRANCH * pages] = -np.inf
        found: Floats = gains
        return found

    def feature_at(self, slot: int) -> int:
        return next(feature for feature, place in self._slots.items() if place == slot)

    def children(self, slot: int) -> tuple[Leaf, Leaf]:
        """Leaves for pages without and with the feature: they know their classes and nothing else yet."""
        has = [int(count) for count in self._counts[:, slot]]
        lacks = [own - own_has for own, own_has in zip(self._own, has, strict=True)]
        return Leaf(lacks), Leaf(has)

    # ── keeping ──────────────────────────────────────────────────────────────────────────────────────

    def dump(self) -> bytes:
        features = array("H", self._slots).tobytes()
        counts = self._counts[:, : len(self._slots)].astype(np.uint32).tobytes()
        own = [*self._own, self.tried]
        return msgspec.msgpack.encode((self.classes, own, self._right, features, counts))

    @classmethod
    def load(cls, state: bytes) -> Leaf:
        classes, own, right, features, counts = msgspec.msgpack.decode(state, type=_LeafState)
        leaf = cls(classes)
        leaf._own, leaf.tried, leaf._right = own[:2], own[2], right
        ids = array("H")
        ids.frombytes(features)
        leaf._slots = {feature: slot for slot, feature in enumerate(ids)}
        leaf._counts = np.zeros((2, max(16, 2 * len(ids))))
        leaf._counts[:, : len(ids)] = np.frombuffer(counts, dtype=np.uint32).reshape(2, -1)
        return leaf


def entropy(counts: Floats) -> Floats:
    """In bits, of each column of counts.

    >>> entropy(np.array([[1.0, 4.0], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    terms: Floats = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=0)
    return np.abs(terms)  # no minus zero


# ── A Hoeffding tree (Domingos and Hulten 2000) over binary features, with the settings of MOA, which the paper uses.

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
        rows = [row(policy_state) for policy_state in memos]
        for place, features in enumerate(rows):
            at.setdefault(self._find(set(features))[0], []).append(place)
        odds = np.zeros(len(rows))
        for number, places in at.items():
            leaf = self._nodes[number]
            assert isinstance(leaf, Leaf)
            odds[places] = leaf.log_odds([rows[place] for place in places])
        scores: list[float] = sigmoid(odds).tolist()
        return scores

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

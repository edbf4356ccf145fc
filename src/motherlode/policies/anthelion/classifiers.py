"""The two online classifiers of the paper, over rows of binary features: Naive Bayes and a Hoeffding tree.

*Naive Bayes.* The paper uses that of MOA, in which both presence and absence of a feature count: the Bernoulli model,
with Laplace's estimate, P(feature | class) = (n_feature,class + 1) / (n_class + 2). For the number of values below the
line MOA takes those that it has seen in the class, so it adds 1 instead of 2 until the class has had the feature, and
the absence of such a feature has no effect. The default is MOA's estimate; `Smoothing.LAPLACE` always adds 2.
Laplace's estimate assumes that half of all pages have a word that was never seen. If relevant pages are few, every new
word then increases the probability of relevance. The m-estimate (Cestnik 1990) with m = 1 is an alternative:
P(feature | class) = (n_feature,class + P(feature)) / (n_class + 1). With it, a word that was seen in neither class has
no effect. All that is learned are counts, so the counts of two crawls can be added, also with another estimate.

*Hoeffding tree* (Domingos and Hulten 2000), with the settings of MOA, which the paper uses. A page belongs to the leaf
that its features lead to. A leaf counts its pages by class and feature, and predicts by majority or by Naive Bayes.
After every 200 pages it considers a split by the feature with the highest information gain. By Hoeffding's inequality,
the best feature on n pages is the true best one with probability 1 - δ if its gain exceeds the next one by more than
√(ln(1/δ) / 2n). Then the leaf is split. It is also split if this bound is below τ, because then the choice between the
features matters little.

Both are our own code, because libraries need dense rows or dictionaries and take a millisecond for a row of ten
thousand features. The tests compare the tree with river.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from enum import Enum
from math import log, sqrt

import msgspec
import numpy as np
from numpy.typing import NDArray

from motherlode.policies.anthelion.url_classifier import SIZE, decode_row, decode_rows
from motherlode.policies.ftrl import sigmoid

Floats = NDArray[np.float64]
_FACTORS = 16
"""Number of counts that are multiplied before a logarithm is taken. A product of 16 numbers below 10¹⁹ fits in a
float."""


class Smoothing(Enum):
    """Which imaginary pages are added to the counts of each class, so that no probability is 0 or 1."""

    BY_FREQUENCY = "m"
    """One page, which has each feature with its relative frequency among all pages (m-estimate, m = 1)."""
    LAPLACE = "laplace"
    """Two pages, one with and one without each feature."""
    MOA = "moa"
    """As LAPLACE, but the absence of a feature that the class never had is certain."""


class NaiveBayes:
    """Counts of features by class: 0 for other pages, 1 for relevant pages."""

    def __init__(self, size: int = SIZE, smoothing: Smoothing = Smoothing.MOA) -> None:
        self._smoothing = smoothing
        self._size = size
        self._classes = [0, 0]
        self._counts = np.zeros((2, -(-size // _FACTORS) * _FACTORS), dtype=np.float64)
        """Number of pages by class and feature. The number of columns is rounded up to a multiple of 16."""
        self._absent: float | None = 0.0
        """Log-odds of a page without any feature; None if they must be computed again."""

    def learn(self, features: array[int], *, relevant: bool) -> None:
        self._classes[relevant] += 1
        self._counts[int(relevant), features] += 1
        self._absent = None

    def log_odds(self, policy_states: Sequence[bytes]) -> Floats:
        """Return log P(relevant | row) - log P(other | row) of each row."""
        ids, owners = decode_rows(policy_states)
        absent = self._absent_log_odds()
        has = self._counts[:, ids]
        bad_has, good_has = has + self._assumed(has)
        bad, good = self._assumed_classes()
        seen = bad_has + good_has > 0
        weights = np.zeros(len(seen))
        np.log(good_has * (bad - bad_has) / ((good - good_has) * np.where(seen, bad_has, 1)), out=weights, where=seen)
        odds = np.bincount(owners, weights, minlength=len(policy_states)) + absent
        return odds.astype(np.float64, copy=False)

    @property
    def pages(self) -> tuple[int, int]:
        """Number of other and of relevant pages that were learned from."""
        return self._classes[0], self._classes[1]

    def weight(self, feature: int) -> float:
        """Return the difference that the presence of a feature makes to the log-odds."""
        return float((self.log_odds([array("H", [feature]).tobytes()]) - self._absent_log_odds())[0])

    def _assumed(self, has: Floats) -> Floats | float:
        """Return how many of the imaginary pages have each feature."""
        if self._smoothing is not Smoothing.BY_FREQUENCY:
            return 1.0
        shares: Floats = has.sum(axis=0) / (sum(self._classes) + 1)
        return shares

    def _assumed_classes(self) -> tuple[int, int]:
        """Return the number of pages by class, including imaginary pages."""
        added = 1 if self._smoothing is Smoothing.BY_FREQUENCY else 2
        bad, good = self._classes
        return bad + added, good + added

    def scores(self, policy_states: Sequence[bytes]) -> list[float]:
        """Return P(relevant | row) of each row; 0.5 for all rows before anything was learned."""
        scores: list[float] = sigmoid(self.log_odds(policy_states)).tolist()
        return scores

    def _absent_log_odds(self) -> float:
        if self._absent is None:
            bad, good = self._classes
            bad_absent, good_absent = self._log_absence()
            self._absent = log((good + 1) / (bad + 1)) + good_absent - bad_absent
        return self._absent

    def _log_absence(self) -> list[float]:
        """Return Σ log P(feature is absent | class) over all features, for each class."""
        pages = np.array(self._assumed_classes(), dtype=np.float64)
        lacking = pages[:, None] - self._counts - self._assumed(self._counts)
        lacking[:, self._size :] = 1  # columns that are no features
        products = np.multiply.reduce(lacking.reshape(2, _FACTORS, -1), axis=1)
        sums = np.log(products).sum(axis=1) - self._size * np.log(pages)
        if self._smoothing is Smoothing.MOA and all(self._classes):  # a class without pages has probability 0 in MOA
            never = self._size - np.count_nonzero(self._counts, axis=1)
            sums += never * np.log(pages / (pages - 1))
        found: list[float] = sums.tolist()
        return found

    def merge(self, state: bytes) -> None:
        classes, ids, counts = msgspec.msgpack.decode(state, type=tuple[list[int], list[bytes], list[bytes]])
        for label in (0, 1):
            self._classes[label] += classes[label]
            self._counts[label, np.frombuffer(ids[label], dtype=np.uint16)] += np.frombuffer(
                counts[label], dtype=np.uint32
            )
        self._absent = None if any(self._classes) else 0.0

    def dump(self) -> bytes:
        found = [np.flatnonzero(self._counts[label]) for label in (0, 1)]
        ids = [each.astype(np.uint16).tobytes() for each in found]
        counts = [self._counts[label, each].astype(np.uint32).tobytes() for label, each in enumerate(found)]
        return msgspec.msgpack.encode((self._classes, ids, counts))

    def load(self, state: bytes) -> None:
        self._classes = [0, 0]
        self._counts[:] = 0
        self.merge(state)


MIN_BRANCH_SHARE = 0.01
"""Minimum share of the pages on either side of a split (MOA's `minFracWeightForTwoBranches`)."""
_LeafState = tuple[list[int], list[int], list[int], bytes, bytes]


class Leaf:
    """Counts of pages by class, in total and by feature."""

    def __init__(self, classes: Sequence[int] = (0, 0)) -> None:
        self.classes = list(classes)
        """Number of other and of relevant pages, including those before the last split."""
        self.pages_at_last_attempt = sum(classes)
        """Number of pages when a split was last considered."""
        self._own = [0, 0]
        """Number of pages by class since the leaf was made."""
        self._right = [0, 0]
        """Number of correct predictions by majority and by Naive Bayes."""
        self._slots: dict[int, int] = {}
        self._counts = np.zeros((2, 16))
        self._absent: float | None = None

    @property
    def pages(self) -> int:
        return self.classes[0] + self.classes[1]

    @property
    def is_mixed(self) -> bool:
        return min(self.classes) > 0

    def log_odds(self, rows: Sequence[Iterable[int]]) -> Floats:
        """Return log-odds by majority, or by Naive Bayes if that was right more often (MOA's adaptive prediction)."""
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

    def gains(self) -> Floats:
        """Return the information gain of a split by each feature, in bits; minus infinity if a side is almost empty."""
        own = np.array(self._own, dtype=np.float64)
        has = self._counts[:, : len(self._slots)]
        lacks = own[:, None] - has
        pages = own.sum()
        with_it, without = has.sum(axis=0), lacks.sum(axis=0)
        gains = entropy(own[:, None])[0] - (with_it * entropy(has) + without * entropy(lacks)) / pages
        gains[np.minimum(with_it, without) < MIN_BRANCH_SHARE * pages] = -np.inf
        found: Floats = gains
        return found

    def feature_at(self, slot: int) -> int:
        return next(feature for feature, row in self._slots.items() if row == slot)

    def children(self, slot: int) -> tuple[Leaf, Leaf]:
        """Return leaves for pages without and with the feature. They have the counts of classes but not of features."""
        has = [int(count) for count in self._counts[:, slot]]
        lacks = [own - own_has for own, own_has in zip(self._own, has, strict=True)]
        return Leaf(lacks), Leaf(has)

    def dump(self) -> bytes:
        features = array("H", self._slots).tobytes()
        counts = self._counts[:, : len(self._slots)].astype(np.uint32).tobytes()
        own = [*self._own, self.pages_at_last_attempt]
        return msgspec.msgpack.encode((self.classes, own, self._right, features, counts))

    @classmethod
    def load(cls, state: bytes) -> Leaf:
        classes, own, right, features, counts = msgspec.msgpack.decode(state, type=_LeafState)
        leaf = cls(classes)
        leaf._own, leaf.pages_at_last_attempt, leaf._right = own[:2], own[2], right
        ids = array("H")
        ids.frombytes(features)
        leaf._slots = {feature: slot for slot, feature in enumerate(ids)}
        leaf._counts = np.zeros((2, max(16, 2 * len(ids))))
        leaf._counts[:, : len(ids)] = np.frombuffer(counts, dtype=np.uint32).reshape(2, -1)
        return leaf


def entropy(counts: Floats) -> Floats:
    """Return the entropy of each column of counts, in bits."""
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    terms: Floats = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=0)
    return np.abs(terms)  # avoids -0.0


GRACE_PERIOD_PAGES = 200
"""Pages of a leaf between two attempts to split it."""
DELTA = 1e-7
"""δ: the probability of choosing the wrong feature."""
TAU = 0.05
"""τ: if the Hoeffding bound is below it, features with similar gains are a tie, and the leaf is split."""


class Split(msgspec.Struct, frozen=True, array_like=True):
    """An inner node: the feature, and the numbers of the child nodes without and with it."""

    feature: int
    absent: int
    present: int


class HoeffdingTree:
    """The Hoeffding tree that the module describes. Nodes are numbered; 0 is the root."""

    def __init__(self) -> None:
        self._nodes: list[Leaf | Split] = [Leaf()]

    def splits(self) -> list[int]:
        """Return the features of the inner nodes, in the order of the splits."""
        return [node.feature for node in self._nodes if isinstance(node, Split)]

    def _find(self, features: set[int]) -> tuple[int, Leaf]:
        number = 0
        while isinstance(node := self._nodes[number], Split):
            number = node.present if node.feature in features else node.absent
        return number, node

    def scores(self, policy_states: Sequence[bytes]) -> list[float]:
        """Return P(relevant | row) of each row; 0.5 for all rows before anything was learned."""
        at: dict[int, list[int]] = {}
        rows = [decode_row(policy_state) for policy_state in policy_states]
        for row, features in enumerate(rows):
            at.setdefault(self._find(set(features))[0], []).append(row)
        odds = np.zeros(len(rows))
        for number, rows_at in at.items():
            leaf = self._nodes[number]
            assert isinstance(leaf, Leaf)
            odds[rows_at] = leaf.log_odds([rows[row] for row in rows_at])
        scores: list[float] = sigmoid(odds).tolist()
        return scores

    def learn(self, features: array[int], *, relevant: bool) -> None:
        number, leaf = self._find(set(features))
        leaf.learn(features, relevant=relevant)
        if leaf.pages - leaf.pages_at_last_attempt >= GRACE_PERIOD_PAGES:
            leaf.pages_at_last_attempt = leaf.pages
            if leaf.is_mixed:
                self._consider(number, leaf)

    def _consider(self, number: int, leaf: Leaf) -> None:
        gains = leaf.gains()
        if not len(gains):
            return
        best = int(gains.argmax())
        gain = gains[best]
        gains[best] = 0.0  # the alternative of not splitting, which has no gain
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

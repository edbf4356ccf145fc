"""Naive Bayes that learns from one page at a time.

The paper uses the Naive Bayes of MOA, in which both presence and absence of a binary feature count: the Bernoulli
model. It does not say how rare features are smoothed. Laplace's correction, which MOA uses, assumes that half of all
pages have a word that was never seen. If relevant pages are few, every new word then increases the probability of
relevance. So the default is an m-estimate (Cestnik 1990) with m = 1: P(feature | class) = (n_feature,class +
P(feature)) / (n_class + 1). With it, a word that was seen in neither class has no effect. All that is learned are
counts, so the counts of two crawls can be added."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from enum import Enum
from math import log

import msgspec
import numpy as np
from numpy.typing import NDArray

from motherlode.policies.anthelion.url_classifier import SIZE, decode_rows
from motherlode.policies.ftrl import sigmoid

_FACTORS = 16
"""Number of counts that are multiplied before a logarithm is taken. A product of 16 numbers below 10¹⁹ fits in a
float."""


class Smoothing(Enum):
    """Number of imaginary pages that are added to each class, so that no probability is 0 or 1."""

    BY_FREQUENCY = 1
    """One page, which has a feature to the extent of the share of all pages that have it."""
    LAPLACE = 2
    """Two pages, one of which has the feature."""


class NaiveBayes:
    """Counts of features by class: 0 for other pages, 1 for relevant pages.

    >>> recipe, imprint = array("H", [3, 5]), array("H", [3, 8])
    >>> model = NaiveBayes()
    >>> model.learn(recipe, relevant=True); model.learn(imprint, relevant=False)
    >>> [round(score, 2) for score in model.scores([recipe.tobytes(), imprint.tobytes(), b""])]
    [0.91, 0.09, 0.5]
    """

    def __init__(self, size: int = SIZE, smoothing: Smoothing = Smoothing.BY_FREQUENCY) -> None:
        self._smoothing = smoothing
        self._classes = [0, 0]
        self._counts = np.zeros((2, -(-size // _FACTORS) * _FACTORS), dtype=np.float64)
        """Number of pages by class and feature. The number of features is rounded up to a multiple of 16."""
        self._absent: float | None = 0.0
        """Log-odds of a page without any feature; None if they must be computed again."""

    def learn(self, features: array[int], *, relevant: bool) -> None:
        self._classes[relevant] += 1
        self._counts[int(relevant), features] += 1
        self._absent = None

    def log_odds(self, policy_states: Sequence[bytes]) -> NDArray[np.float64]:
        """Return log P(relevant | row) - log P(other | row) of each row."""
        rows = decode_rows(policy_states)
        absent = self._absent_log_odds()
        has = self._counts[:, rows.ids]
        bad_has, good_has = has + self._assumed(has)
        bad, good = self._assumed_classes()
        seen = bad_has + good_has > 0
        weights = np.zeros(len(seen))
        np.log(good_has * (bad - bad_has) / ((good - good_has) * np.where(seen, bad_has, 1)), out=weights, where=seen)
        odds = np.bincount(rows.owners, weights, minlength=rows.length) + absent
        return odds.astype(np.float64, copy=False)

    @property
    def pages(self) -> tuple[int, int]:
        """Number of other and of relevant pages that were learned from."""
        return self._classes[0], self._classes[1]

    def weight(self, feature: int) -> float:
        """Return the difference that the presence of a feature makes to the log-odds."""
        return float((self.log_odds([array("H", [feature]).tobytes()]) - self._absent_log_odds())[0])

    def _assumed(self, has: NDArray[np.float64]) -> NDArray[np.float64] | float:
        """Return how many of the imaginary pages have each feature."""
        if self._smoothing is Smoothing.LAPLACE:
            return 1.0
        shares: NDArray[np.float64] = has.sum(axis=0) / (sum(self._classes) + 1)
        return shares

    def _assumed_classes(self) -> tuple[int, int]:
        """Return the number of pages by class, including imaginary pages."""
        bad, good = self._classes
        return bad + self._smoothing.value, good + self._smoothing.value

    def scores(self, policy_states: Sequence[bytes]) -> list[float]:
        """Return P(relevant | row) of each row; 0.5 for all rows before anything was learned."""
        scores: list[float] = sigmoid(self.log_odds(policy_states)).tolist()
        return scores

    def _absent_log_odds(self) -> float:
        if self._absent is None:
            bad, good = self._classes
            bad_all, good_all = self._assumed_classes()
            spread = self._counts.shape[1] * (log(bad_all) - log(good_all))
            bad_lacking, good_lacking = self._lacking()
            self._absent = log((good + 1) / (bad + 1)) + spread + good_lacking - bad_lacking
        return self._absent

    def _lacking(self) -> list[float]:
        """Return Σ log(number of pages without the feature) over all features, for each class."""
        pages = np.array(self._assumed_classes(), dtype=np.float64)[:, None]
        lacking = pages - self._counts - self._assumed(self._counts)
        products = np.multiply.reduce(lacking.reshape(2, _FACTORS, -1), axis=1)
        sums: list[float] = np.log(products).sum(axis=1).tolist()
        return sums

    def merge(self, state: bytes) -> None:
        """Add the counts of another crawl."""
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

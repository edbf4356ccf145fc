"""The online classifier of URLs into targets, pages that lead on, and neither; and the early stop.

*Classifier.* The features are the 2-grams of the characters of a URL, in lower case: 95² of them, because a URL is
printable ASCII. For each of the three types, a logistic regression separates it from the other two; the type with the
highest probability is predicted. It learns in batches of fetched URLs. Until the first batch is complete it predicts
that every URL leads on.

*Early stop.* The slope of the curve of targets is the number of targets per request in a window of requests. The slopes
are smoothed exponentially. The crawl may stop if the smoothed slope stays low for several windows in a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import msgspec
import numpy as np
from numpy.typing import NDArray

from motherlode.policies.ftrl import FeatureRows, Ftrl

_FIRST, _LAST = 32, 126
"""Codes of the first and the last printable ASCII character."""
_CHARACTERS = _LAST - _FIRST + 1
_SMOOTHING = 0.5
_MIN_SLOPE = 0.01
"""Targets per request below which the curve counts as flat."""
_FLAT_WINDOWS = 3


class UrlType(IntEnum):
    """The type of the document at a URL."""

    PAGE = 0
    """A page that is not relevant, with links."""
    TARGET = 1
    """A relevant page."""
    NEITHER = 2
    """No page, or one without links that is not relevant."""


def character_pairs(url: str) -> NDArray[np.int64]:
    """Return the numbers of the distinct 2-grams of characters in a URL.

    >>> character_pairs("AbaB").tolist() == character_pairs("abab").tolist(), len(character_pairs("abab"))
    (True, 2)
    """
    codes = np.frombuffer(url.lower().encode("ascii", "replace"), dtype=np.uint8).clip(_FIRST, _LAST).astype(np.int64)
    return np.unique((codes[:-1] - _FIRST) * _CHARACTERS + codes[1:] - _FIRST)


class _ClassifierState(msgspec.Struct, array_like=True):
    learners: list[bytes]
    batch: list[tuple[str, int]]
    is_trained: bool


class UrlTypeClassifier:
    """Predicts the type of a URL; learns when a batch of fetched URLs is complete."""

    def __init__(self, *, batch: int, alpha: float = 0.3) -> None:
        self._size = batch
        self._learners = [Ftrl(_CHARACTERS**2, alpha=alpha, l1=0.0, l2=0.1) for _ in UrlType]
        self._batch: list[tuple[str, int]] = []
        self.is_trained = False

    def probabilities(self, urls: Sequence[str]) -> NDArray[np.float64]:
        """Return a row for each URL with the probability of each type, in the order of `UrlType`."""
        rows = FeatureRows.of([character_pairs(url) for url in urls])
        return np.stack([learner.predict(rows) for learner in self._learners], axis=1)

    def predict(self, urls: Sequence[str]) -> list[UrlType]:
        if not self.is_trained or not urls:
            return [UrlType.PAGE] * len(urls)
        return [UrlType(int(best)) for best in self.probabilities(urls).argmax(axis=1)]

    def learn(self, url: str, kind: UrlType) -> None:
        self._batch.append((url, int(kind)))
        if len(self._batch) < self._size:
            return
        for known, label in self._batch:
            row = character_pairs(known)
            for number, learner in enumerate(self._learners):
                learner.learn(row, float(number == label))
        self._batch.clear()
        self.is_trained = True

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(
            _ClassifierState([learner.dump() for learner in self._learners], self._batch, self.is_trained)
        )

    def load(self, state: bytes) -> None:
        saved = msgspec.msgpack.decode(state, type=_ClassifierState)
        for learner, sums in zip(self._learners, saved.learners, strict=True):
            learner.load(sums)
        self._batch, self.is_trained = saved.batch, saved.is_trained


class FlatCurve(msgspec.Struct, array_like=True):
    """Tells when the curve of targets over requests has become flat.

    >>> curve = FlatCurve(window=10)
    >>> for number in range(200):
    ...     curve.add(number < 50)
    >>> curve.is_flat
    True
    """

    window: int
    """Number of requests over which each slope of the curve is measured; 0 to never stop."""
    requests: int = 0
    targets: int = 0
    slope: float = -1.0
    """The smoothed slope; negative before the end of the first window."""
    flat: int = 0
    """Number of windows in a row at whose end the smoothed slope was low."""

    @property
    def is_flat(self) -> bool:
        return self.flat >= _FLAT_WINDOWS

    def add(self, is_target: bool) -> None:  # noqa: FBT001 - one event of the curve
        """Count one request."""
        self.requests += 1
        self.targets += is_target
        if not self.window or self.requests % self.window:
            return
        slope = self.targets / self.window
        self.targets = 0
        self.slope = slope if self.slope < 0 else _SMOOTHING * slope + (1 - _SMOOTHING) * self.slope
        self.flat = self.flat + 1 if self.slope < _MIN_SLOPE else 0

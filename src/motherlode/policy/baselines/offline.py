"""Support vector machine, nearest neighbours and Naive Bayes of scikit-learn, as classifiers that are trained once.

LDCOC's paper compares itself with these three and tells no settings: a linear machine, five neighbours by cosine
weighted by their closeness, and the Bernoulli model are what fits rows of hashed binary features. A call of
scikit-learn takes some hundred microseconds however small it is, so all links of a page go in one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from motherlode.policy.anthelion.bayes import probabilities
from motherlode.policy.anthelion.features import SIZE, batch
from motherlode.policy.baselines.static import Fit, Frozen

_NEIGHBOURS = 5


def offline(name: str) -> Fit:
    """How `svm`, `knn` or `nb` is trained; an error that tells what to install where scikit-learn is missing."""
    if find_spec("sklearn") is None:
        raise ValueError(f'{name}-static needs scikit-learn: pip install "motherlode[offline]"')
    return _FITS[name]


class _Model:
    """A trained estimator behind one call."""

    def __init__(self, scores: Callable[[Any], Any]) -> None:
        self._scores = scores

    def scores(self, memos: Sequence[bytes]) -> list[float]:
        if not memos:
            return []
        found: list[float] = self._scores(_matrix(memos)).tolist()
        return found


def _matrix(memos: Sequence[bytes]) -> Any:
    from scipy.sparse import csr_matrix

    rows = batch(memos)
    ends = np.cumsum([0, *(len(memo) >> 1 for memo in memos)])
    ones = np.ones(len(rows.ids), dtype=np.float32)
    return csr_matrix((ones, rows.ids.astype(np.int32), ends), shape=(len(memos), SIZE))


def _svm(rows: Sequence[bytes], labels: Sequence[bool]) -> Frozen:
    from sklearn.svm import LinearSVC

    model = LinearSVC(random_state=0, max_iter=10_000).fit(_matrix(rows), np.array(labels))
    return _Model(lambda matrix: np.array(probabilities(model.decision_function(matrix))))


def _knn(rows: Sequence[bytes], labels: Sequence[bool]) -> Frozen:
    from sklearn.neighbors import KNeighborsClassifier

    neighbours = min(_NEIGHBOURS, len(rows))
    model = KNeighborsClassifier(neighbours, weights=_closeness, metric="cosine", algorithm="brute")
    model.fit(_matrix(rows), np.array(labels))
    return _Model(lambda matrix: model.predict_proba(matrix)[:, 1])


def _closeness(distances: Any) -> Any:
    """1 for the same row, nearly 0 for one that has nothing in common; never all 0."""
    return 1.001 - distances


def _nb(rows: Sequence[bytes], labels: Sequence[bool]) -> Frozen:
    """Only features that training met have a say.

    Of ten thousand hashes most never occur. For each, the model would count "absent" as evidence against the class
    with fewer rows, which by their number outweighs everything else.
    """
    from sklearn.naive_bayes import BernoulliNB

    matrix = _matrix(rows)
    met = np.flatnonzero(matrix.getnnz(axis=0))
    model = BernoulliNB(alpha=1.0).fit(matrix[:, met], np.array(labels))
    present = model.feature_log_prob_
    absent = np.log(-np.expm1(present))
    weights = np.zeros(SIZE)
    weights[met] = (present[1] - absent[1]) - (present[0] - absent[0])
    base = model.class_log_prior_[1] - model.class_log_prior_[0] + float((absent[1] - absent[0]).sum())
    return _Model(lambda matrix: np.array(probabilities(matrix @ weights + base)))


_FITS: dict[str, Fit] = {"svm": _svm, "knn": _knn, "nb": _nb}

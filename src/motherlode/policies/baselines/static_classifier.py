"""A classifier that is trained once: breadth-first for the first K pages, then by the classifier, which learns no more.

In the papers the training set is collected beforehand; here it is the first part of the same crawl, and counts. The
features are Anthelion's: tokens of the URL and the label of the parent. Links that were found before the training stand
where the classifier knows nothing, at one half, in the order of their discovery.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, Protocol

import msgspec
import numpy as np

from motherlode.model import FailureKind, Link, Outcome, Parent, Rating
from motherlode.policies.anthelion.hoeffding_tree import HoeffdingTree
from motherlode.policies.anthelion.url_classifier import SIZE, Features, batch, is_good, row
from motherlode.policies.ftrl import sigmoid
from motherlode.www.urls import host_of

_STEP = 2.0**-40
"""By so much a link stands behind the one before it."""


class Frozen(Protocol):
    """A classifier after its training."""

    def scores(self, memos: Sequence[bytes]) -> list[float]: ...


Fit = Callable[[Sequence[bytes], Sequence[bool]], Frozen]
"""Trains a classifier on rows and labels, both of which occur."""


class StaticRater:
    """Collects K pages, trains, and rates. While all of them have one label there is nothing to learn: it goes on."""

    def __init__(self, features: Features, fit: Fit, pages: int) -> None:
        if pages < 1:
            raise ValueError(f"K, the pages to train on, is at least 1; got {pages}")
        self._features = features
        self._fit = fit
        self._pages = pages
        self._rows: list[bytes] = []
        self._labels: list[bool] = []
        self._found = 0
        self._model: Frozen | None = None

    @property
    def trained(self) -> bool:
        return self._model is not None

    def rate(self, links: Sequence[Link], parent: Parent | None) -> list[Rating]:
        memos = self._features.rows(links, parent)
        if self._model is not None:
            scores = self._model.scores(memos)
        else:
            scores = [0.5 - _STEP * (self._found + place) for place in range(len(links))]
            self._found += len(links)
        return [
            Rating(arm=host_of(link.url), score=score, policy_state=policy_state)
            for link, score, policy_state in zip(links, scores, memos, strict=True)
        ]

    def learn(self, outcome: Outcome) -> None:
        if self._model is not None or outcome.failure is FailureKind.REDIRECT:
            return
        self._rows.append(outcome.policy_state)
        self._labels.append(is_good(outcome))
        self._train()

    def _train(self) -> None:
        if len(self._labels) >= self._pages and len(set(self._labels)) == 2:
            self._model = self._fit(self._rows, self._labels)

    def dump(self) -> bytes:
        """The pages to train on: of all that these classifiers are, it is the smallest that holds for each."""
        return msgspec.msgpack.encode((self._found, self._rows, bytes(self._labels)))

    def load(self, state: bytes) -> None:
        self._found, self._rows, labels = msgspec.msgpack.decode(state, type=tuple[int, list[bytes], bytes])
        self._labels = [bool(label) for label in labels]
        self._model = None
        self._train()


def fit_tree(rows: Sequence[bytes], labels: Sequence[bool]) -> Frozen:
    """A Hoeffding tree that has seen every row once."""
    tree = HoeffdingTree()
    for policy_state, label in zip(rows, labels, strict=True):
        features: array[int] = row(policy_state)
        tree.learn(features, relevant=label)
    return tree


# ── Support vector machine, nearest neighbours and Naive Bayes of scikit-learn, as classifiers that are trained once.

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
    ends = np.cumsum([0, *(len(policy_state) >> 1 for policy_state in memos)])
    ones = np.ones(len(rows.ids), dtype=np.float32)
    return csr_matrix((ones, rows.ids.astype(np.int32), ends), shape=(len(memos), SIZE))


def _svm(rows: Sequence[bytes], labels: Sequence[bool]) -> Frozen:
    from sklearn.svm import LinearSVC

    model = LinearSVC(random_state=0, max_iter=10_000).fit(_matrix(rows), np.array(labels))
    return _Model(lambda matrix: sigmoid(model.decision_function(matrix)))


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
    return _Model(lambda matrix: sigmoid(matrix @ weights + base))


_FITS: dict[str, Fit] = {"svm": _svm, "knn": _knn, "nb": _nb}

"""Classifiers that are trained once: breadth-first for the first K pages, then by a classifier that learns no more.

In the papers the training set is collected before the crawl. Here it is the first part of the crawl and counts. The
features are Anthelion's: tokens of the URL and the label of the parent. Links that were found before the training have
scores just below 0.5 in the order of their discovery.

Naive Bayes and the Hoeffding tree are those of the online policies, so that only the time of learning differs. Two
classifiers of scikit-learn are there because LDCOC's paper compares itself with them, without giving settings: a linear
support vector machine, and the five nearest rows by cosine distance weighted by closeness. A call of scikit-learn takes
some hundred microseconds for any number of rows, so all links of a page are rated in one call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import msgspec
import numpy as np

from motherlode.model import FailureKind, Link, Outcome, Rating
from motherlode.policies.anthelion.url_classifier import SIZE, Classifier, Features, decode_row, decode_rows, is_good
from motherlode.policies.ftrl import sigmoid
from motherlode.www.urls import host_of

_SCORE_PER_LINK = 2.0**-40
"""Difference between the scores of two successive links before the training."""


Scores = Callable[[Sequence[bytes]], list[float]]
"""A classifier after the training: returns the probability of each row to be relevant."""
Fit = Callable[[Sequence[bytes], Sequence[bool]], Scores]
"""Trains a classifier on rows and their labels. Both labels must occur."""


class StaticRater:
    """Collects K pages, trains the classifier, and rates links with it.

    While all collected pages have the same label, it continues to collect.
    """

    def __init__(self, features: Features, fit: Fit, pages: int) -> None:
        if pages < 1:
            raise ValueError(f"K, the number of pages to train on, must be at least 1; got {pages}")
        self._features = features
        self._fit = fit
        self._pages = pages
        self._rows: list[bytes] = []
        self._labels: list[bool] = []
        self._found = 0
        self._scores: Scores | None = None

    @property
    def is_trained(self) -> bool:
        return self._scores is not None

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> list[Rating]:
        policy_states = self._features.rows(links, parent)
        if self._scores is not None:
            scores = self._scores(policy_states)
        else:
            scores = [0.5 - _SCORE_PER_LINK * (self._found + index) for index in range(len(links))]
            self._found += len(links)
        return [
            Rating(arm=host_of(link.url), score=score, policy_state=policy_state)
            for link, score, policy_state in zip(links, scores, policy_states, strict=True)
        ]

    def learn(self, outcome: Outcome) -> None:
        if self._scores is not None or outcome.failure is FailureKind.REDIRECT:
            return
        self._rows.append(outcome.policy_state)
        self._labels.append(is_good(outcome))
        self._train()

    def _train(self) -> None:
        if len(self._labels) >= self._pages and len(set(self._labels)) == 2:
            self._scores = self._fit(self._rows, self._labels)

    def dump(self) -> bytes:
        """Serialize the training pages. That is smaller than the classifiers, and works for all of them."""
        return msgspec.msgpack.encode((self._found, self._rows, bytes(self._labels)))

    def load(self, state: bytes) -> None:
        self._found, self._rows, labels = msgspec.msgpack.decode(state, type=tuple[int, list[bytes], bytes])
        self._labels = [bool(label) for label in labels]
        self._scores = None
        self._train()


def fit_online(make: Callable[[], Classifier]) -> Fit:
    """Return the training function of an online classifier, which learns the rows in their order."""

    def fit(rows: Sequence[bytes], labels: Sequence[bool]) -> Scores:
        model = make()
        for policy_state, label in zip(rows, labels, strict=True):
            model.learn(decode_row(policy_state), relevant=label)
        return model.scores

    return fit


_NEIGHBOURS = 5


def sklearn_fit(name: str, size: int = SIZE) -> Fit:
    """Return the training function of `svm` or `knn` for rows of `size` features.

    Raises ValueError if scikit-learn is not installed.
    """
    if find_spec("sklearn") is None:
        raise ValueError(f'{name}-static needs scikit-learn: pip install "motherlode[offline]"')
    return partial(_FITS[name], size)


def _scores(predict: Callable[[Any], Any], size: int) -> Scores:
    """Turn a prediction function of scikit-learn, which takes a matrix of rows, into a classifier."""

    def scores(policy_states: Sequence[bytes]) -> list[float]:
        found: list[float] = predict(_matrix(policy_states, size)).tolist() if policy_states else []
        return found

    return scores


def _matrix(policy_states: Sequence[bytes], size: int) -> Any:
    from scipy.sparse import csr_matrix

    ids, _ = decode_rows(policy_states)
    ends = np.cumsum([0, *(len(policy_state) >> 1 for policy_state in policy_states)])
    ones = np.ones(len(ids), dtype=np.float32)
    return csr_matrix((ones, ids.astype(np.int32), ends), shape=(len(policy_states), size))


def _svm(size: int, rows: Sequence[bytes], labels: Sequence[bool]) -> Scores:
    from sklearn.svm import LinearSVC

    model = LinearSVC(random_state=0, max_iter=10_000).fit(_matrix(rows, size), np.array(labels))
    return _scores(lambda matrix: sigmoid(model.decision_function(matrix)), size)


def _knn(size: int, rows: Sequence[bytes], labels: Sequence[bool]) -> Scores:
    from sklearn.neighbors import KNeighborsClassifier

    model = KNeighborsClassifier(min(_NEIGHBOURS, len(rows)), weights=_closeness, metric="cosine", algorithm="brute")
    model.fit(_matrix(rows, size), np.array(labels))
    return _scores(lambda matrix: model.predict_proba(matrix)[:, 1], size)


def _closeness(distances: Any) -> Any:
    """Return the weights of the nearest rows: about 1 for equal rows, nearly 0 for rows without common features."""
    return 1.001 - distances


_FITS: dict[str, Callable[[int, Sequence[bytes], Sequence[bool]], Scores]] = {"svm": _svm, "knn": _knn}

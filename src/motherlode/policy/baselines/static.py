"""A classifier that is trained once: breadth-first for the first K pages, then by the classifier, which learns no more.

In the papers the training set is collected beforehand; here it is the first part of the same crawl, and counts. The
features are Anthelion's: tokens of the URL and the label of the parent. Links that were found before the training stand
where the classifier knows nothing, at one half, in the order of their discovery.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from motherlode.model import FailureKind, Feedback, Link, Parent, Rating
from motherlode.policy.anthelion.classifying import is_good
from motherlode.policy.anthelion.features import Features, row
from motherlode.policy.anthelion.hoeffding import HoeffdingTree
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
            Rating(arm=host_of(link.url), score=score, memo=memo)
            for link, score, memo in zip(links, scores, memos, strict=True)
        ]

    def learn(self, feedback: Feedback) -> None:
        if self._model is not None or feedback.failure is FailureKind.REDIRECT:
            return
        self._rows.append(feedback.memo)
        self._labels.append(is_good(feedback))
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
    for memo, label in zip(rows, labels, strict=True):
        features: array[int] = row(memo)
        tree.learn(features, relevant=label)
    return tree

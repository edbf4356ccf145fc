"""Pages by the classifier: every link gets the confidence that it leads to what is sought, when it is found."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Protocol

import msgspec

from motherlode.model import FailureKind, Feedback, Link, Parent, Rating
from motherlode.policy.anthelion.features import Features, row
from motherlode.policy.models import NotCombinedError
from motherlode.www.urls import host_of


class Classifier(Protocol):
    """Learns from one row at a time, and tells the probability of the target class for many."""

    def scores(self, memos: Sequence[bytes]) -> list[float]: ...

    def learn(self, features: array[int], *, relevant: bool) -> None: ...

    def dump(self) -> bytes: ...

    def load(self, state: bytes) -> None: ...


class Rater(Protocol):
    """Rates the pages inside their hosts, for a bandit that chooses the host."""

    def rate(self, links: Sequence[Link], parent: Parent | None) -> list[Rating]: ...

    def learn(self, feedback: Feedback) -> None: ...

    def dump(self) -> bytes: ...

    def load(self, state: bytes) -> None: ...


def is_good(feedback: Feedback) -> bool:
    """The class that a classifier learns: a find, or where rewards are graded one that is worth at least a half."""
    return feedback.reward >= 0.5


class OnlineRater:
    """A classifier that learns from every page and starts with nothing (sections 3.1 and 4.1).

    A request that fails counts as a page without data: it was spent. A redirect says nothing about its target.
    """

    def __init__(self, features: Features, classifier: Classifier) -> None:
        self._features = features
        self.classifier = classifier
        self.judged = 0
        """Pages whose label was predicted when their link was found, as score over one half, and is known now."""
        self.right = 0

    def rate(self, links: Sequence[Link], parent: Parent | None) -> list[Rating]:
        memos = self._features.rows(links, parent)
        scores = self.classifier.scores(memos)
        return [
            Rating(arm=host_of(link.url), score=score, memo=memo)
            for link, score, memo in zip(links, scores, memos, strict=True)
        ]

    def learn(self, feedback: Feedback) -> None:
        if feedback.failure is FailureKind.REDIRECT:
            return
        good = is_good(feedback)
        self.judged += 1
        self.right += (feedback.score > 0.5) is good
        self.classifier.learn(row(feedback.memo), relevant=good)
        self._features.note(feedback.url, relevant=feedback.relevant)

    def dump(self) -> bytes:
        state = (self._features.dump(), self.classifier.dump(), self.judged, self.right)
        return msgspec.msgpack.encode(state)

    def load(self, state: bytes) -> None:
        labels, learned, self.judged, self.right = msgspec.msgpack.decode(
            state, type=tuple[tuple[bytes, bytes], bytes, int, int]
        )
        self._features.load(labels)
        self.classifier.load(learned)

    def merge(self, state: bytes) -> None:
        """Add what another one has learned; only counts can be added."""
        labels, learned, judged, right = msgspec.msgpack.decode(state, type=tuple[tuple[bytes, bytes], bytes, int, int])
        merge = getattr(self.classifier, "merge", None)
        if merge is None:
            raise NotCombinedError("its classifier is no sum of what it has seen")
        merge(learned)
        self._features.merge(labels)
        self.judged += judged
        self.right += right

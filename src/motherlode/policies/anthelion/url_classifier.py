"""The words of a URL and their places among 10,000 (section 3.1).

A URL is taken apart wherever a character is neither letter nor digit. Tokens shorter than three characters are left out
and numbers become one token; in the paper's experiments both worked best "in every case", as did 10,000 hashes. A
token such as `item123` is kept: the authors' program drops it, their paper does not say so.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from enum import Flag, auto
from functools import lru_cache
from typing import NamedTuple, Protocol

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from motherlode.model import FailureKind, Link, LinkSource, Outcome, Rating
from motherlode.policies.model_io import NotCombinedError
from motherlode.www.urls import host_of

HASHES = 10_000
NUMBER = "[NUMBER]"
_words = re.compile(r"[a-z0-9]{3,}").findall
"""Runs of letters and digits, the short ones left out."""


def tokens(url: str) -> list[str]:
    """The words of a URL, without its scheme.

    >>> tokens("http://www.imdb.com/title/tt0114369/reviews?page=2012&s=10")
    ['www', 'imdb', 'com', 'title', 'tt0114369', 'reviews', 'page', '[NUMBER]']
    """
    return [NUMBER if word.isdigit() else word for word in _words(url.lower(), url.index("//") + 2)]


def places(url: str) -> set[int]:
    """Where the words of a URL stand.

    >>> places("http://a.example/recipe/2024/recipe") == {place("example"), place("recipe"), place(NUMBER)}
    True
    """
    return {place(token) for token in tokens(url)}


@lru_cache(maxsize=1 << 17)
def place(token: str) -> int:
    """Where a token stands: Java's `hashCode` (footnote 5), taken to the range from 0 to 9,999.

    Equation 1 is printed as a quotient; only the remainder gives a place, and that is what the authors' program takes.

    >>> java_hash("structured data"), place("title")
    (1196067097, 1416)
    """
    return abs(java_hash(token)) % HASHES


def java_hash(text: str) -> int:
    """What `String.hashCode` gives in Java: Σ t[i]·31^(n-1-i) in 32 bits with a sign."""
    value = 0
    for character in text:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    return value - (1 << 32) if value & 0x80000000 else value


# ── From a link and the page that has it to a row of binary features (section 3.1).

PARENT_GOOD, PARENT_BAD, SIBLING_GOOD, SIBLING_BAD, SIBLINGS_GOOD = range(HASHES, HASHES + 5)
"""Places of the labels, behind those of the tokens. From the last one on: relevant siblings 1, 2-3, 4-7, … from 64."""
_MAGNITUDES = 7
SIZE = SIBLINGS_GOOD + _MAGNITUDES
"""Places in all; each fits in two bytes."""


class FeatureSet(Flag):
    """Sources of features; table 1 of the paper compares (a) URL, (b) PARENT, (c) both."""

    URL = auto()
    PARENT = auto()
    SIBLING = auto()

    @classmethod
    def named(cls, text: str) -> FeatureSet:
        """What a user means by `url+parent`.

        >>> FeatureSet.named("url+sibling") == FeatureSet.URL | FeatureSet.SIBLING
        True
        """
        chosen = cls(0)
        for word in text.split("+"):
            if word.upper() not in cls.__members__ or not word.islower():
                raise ValueError(f"features are url, parent, sibling, joined by +, as in url+parent; got {text!r}")
            chosen |= cls[word.upper()]
        return chosen


DEFAULT_FEATURES = FeatureSet.URL | FeatureSet.PARENT


class Batch(NamedTuple):
    """Rows of binary features, one after the other."""

    ids: NDArray[np.uint16]
    owners: NDArray[np.intp]
    """To which row each id belongs."""
    length: int
    """Rows."""


def batch(memos: Sequence[bytes]) -> Batch:
    """Rows as they were written to memos.

    >>> batch([array("H", [7, 9]).tobytes(), b"", array("H", [7]).tobytes()]).owners.tolist()
    [0, 0, 2]
    """
    ids = np.frombuffer(b"".join(memos), dtype=np.uint16)
    lengths = [len(memo) >> 1 for memo in memos]
    return Batch(ids, np.repeat(np.arange(len(memos), dtype=np.intp), lengths), len(memos))


def row(policy_state: bytes) -> array[int]:
    """One row as it was written to a memo."""
    ids = array("H")
    ids.frombytes(policy_state)
    return ids


class Features:
    """Turns links to rows, two bytes a feature. Remembers the labels of fetched pages where siblings count."""

    def __init__(self, using: FeatureSet = DEFAULT_FEATURES) -> None:
        self.using = using
        self._labels: dict[int, bool] = {}
        """By the hash of the URL."""

    def rows(self, links: Sequence[Link], parent: Outcome | None) -> list[bytes]:
        """A row for each link, as a memo that the frontier keeps."""
        shared = self._siblings(parent) if FeatureSet.SIBLING in self.using and parent is not None else []
        by_parent = FeatureSet.PARENT in self.using and parent is not None
        if by_parent and parent is not None:
            shared.append(PARENT_GOOD if parent.relevant else PARENT_BAD)
        with_url = FeatureSet.URL in self.using
        rows = []
        for link in links:
            own = array("H", [*places(link.url)] if with_url else [])
            if parent is not None and link.source is LinkSource.REDIRECT:
                own.extend(inherited(parent.policy_state))
            else:
                own.extend(shared)
            rows.append(own.tobytes())
        return rows

    def _siblings(self, parent: Outcome) -> list[int]:
        labels = self._labels
        known = [labels.get(xxhash.xxh3_64_intdigest(link.url.encode())) for link in parent.links] if labels else []
        good, bad = known.count(True), known.count(False)
        found = [SIBLING_GOOD] if good else []
        if bad:
            found.append(SIBLING_BAD)
        if good:
            found.append(SIBLINGS_GOOD + min(good.bit_length(), _MAGNITUDES) - 1)
        return found

    def note(self, url: str, *, relevant: bool) -> None:
        """A page has been fetched: its label counts for its siblings from now on."""
        if FeatureSet.SIBLING in self.using:
            self._labels[xxhash.xxh3_64_intdigest(url.encode())] = relevant

    def dump(self) -> tuple[bytes, bytes]:
        """The labels: hashes of relevant pages, and of the others."""
        good, bad = (
            array("Q", (key for key, value in self._labels.items() if value is want)) for want in (True, False)
        )
        return good.tobytes(), bad.tobytes()

    def load(self, state: tuple[bytes, bytes]) -> None:
        self._labels = {}
        self.merge(state)

    def merge(self, state: tuple[bytes, bytes]) -> None:
        """Add the labels of another crawl."""
        for packed, label in zip(state, (True, False), strict=True):
            hashes = array("Q")
            hashes.frombytes(packed)
            self._labels.update(dict.fromkeys(hashes, label))


def inherited(policy_state: bytes) -> list[int]:
    """What the target of a redirect takes over: the labels around the URL that redirected, which is no parent itself.

    >>> inherited(array("H", [12, PARENT_GOOD, 77]).tobytes()) == [PARENT_GOOD]
    True
    """
    return [feature for feature in row(policy_state) if feature >= HASHES]


# ── Pages by the classifier: every link gets the confidence that it leads to what is sought, when it is found.


class Classifier(Protocol):
    """Learns from one row at a time, and tells the probability of the target class for many."""

    def scores(self, memos: Sequence[bytes]) -> list[float]: ...

    def learn(self, features: array[int], *, relevant: bool) -> None: ...

    def dump(self) -> bytes: ...

    def load(self, state: bytes) -> None: ...


class Rater(Protocol):
    """Rates the pages inside their hosts, for a bandit that chooses the host."""

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> list[Rating]: ...

    def learn(self, outcome: Outcome) -> None: ...

    def dump(self) -> bytes: ...

    def load(self, state: bytes) -> None: ...


def is_good(outcome: Outcome) -> bool:
    """The class that a classifier learns: a find, or where rewards are graded one that is worth at least a half."""
    return outcome.reward >= 0.5


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

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> list[Rating]:
        memos = self._features.rows(links, parent)
        scores = self.classifier.scores(memos)
        return [
            Rating(arm=host_of(link.url), score=score, policy_state=memo)
            for link, score, memo in zip(links, scores, memos, strict=True)
        ]

    def learn(self, outcome: Outcome) -> None:
        if outcome.failure is FailureKind.REDIRECT:
            return
        good = is_good(outcome)
        self.judged += 1
        self.right += (outcome.score > 0.5) is good
        self.classifier.learn(row(outcome.policy_state), relevant=good)
        self._features.note(outcome.url, relevant=outcome.relevant)

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

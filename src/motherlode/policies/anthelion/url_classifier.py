"""The online classifier of links: tokens of URLs, rows of binary features, and the rater that uses them (section 3.1).

*Tokens.* A URL is split at every character that is neither a letter nor a digit. Tokens shorter than three characters
are dropped, and all numbers become one token. In the paper's experiments both worked best "in every case", as did
10,000 hashes. A token such as `item123` is kept: the authors' program drops it, but their paper does not say so.

*Rows.* A link has features from three sources: the tokens of its URL, the label of its parent page, and the labels of
its siblings, which are the other links of the parent that were fetched. The paper counts relevant parents and siblings.
Here a link is rated once, when it has one parent, and the number of relevant siblings becomes one of seven size
classes, because the learners take binary features. The paper does not use siblings in its crawls, because they
"downgraded the performance consistently"; here they are not used by default. A row is stored as the link's
`policy_state`, with two bytes per feature.

*Rating.* `OnlineRater` gives each link the classifier's probability that it leads to a relevant page, at the time when
the link is found.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from enum import Flag, auto
from functools import lru_cache
from typing import Protocol

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from motherlode.model import Combines, FailureKind, Link, LinkSource, Outcome, Rating
from motherlode.policies.model_io import NotCombinedError
from motherlode.www.urls import host_of

HASHES = 10_000
NUMBER = "[NUMBER]"
_words = re.compile(r"[a-z0-9]{3,}").findall
"""Finds runs of at least three letters and digits."""


def tokens(url: str) -> list[str]:
    """Return the tokens of a URL without its scheme.

    >>> tokens("http://www.imdb.com/title/tt0114369/reviews?page=2012&s=10")
    ['www', 'imdb', 'com', 'title', 'tt0114369', 'reviews', 'page', '[NUMBER]']
    """
    return [NUMBER if word.isdigit() else word for word in _words(url.lower(), url.index("//") + 2)]


@lru_cache(maxsize=1 << 17)
def token_index(token: str) -> int:
    """Return the feature number of a token: Java's `hashCode` (footnote 5) modulo 10,000.

    Equation 1 is printed as a quotient, but only the remainder makes sense, and the authors' program uses it.

    >>> java_hash("structured data"), token_index("title")
    (1196067097, 1416)
    """
    return abs(java_hash(token)) % HASHES


def java_hash(text: str) -> int:
    """Return what Java's `String.hashCode` returns: Σ t[i]·31^(n-1-i) as a signed 32-bit number."""
    value = 0
    for character in text:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    return value - (1 << 32) if value & 0x80000000 else value


PARENT_GOOD, PARENT_BAD, SIBLING_GOOD, SIBLING_BAD, SIBLINGS_GOOD = range(HASHES, HASHES + 5)
"""Feature numbers of the labels, after those of the tokens. From SIBLINGS_GOOD on, there is one number for each size of
the set of relevant siblings: 1, 2-3, 4-7, …, 64 or more."""
_SIBLING_SIZES = 7
SIZE = SIBLINGS_GOOD + _SIBLING_SIZES
"""Number of features. A feature number fits in two bytes."""


class FeatureSet(Flag):
    """Sources of features; table 1 of the paper compares (a) URL, (b) PARENT, (c) both."""

    URL = auto()
    PARENT = auto()
    SIBLING = auto()

    @classmethod
    def named(cls, text: str) -> FeatureSet:
        """Parse a set as users write it, for example `url+parent`.

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


def decode_rows(policy_states: Sequence[bytes]) -> tuple[NDArray[np.uint16], NDArray[np.intp]]:
    """Return the feature numbers of several rows in one array, and for each of them the number of its row.

    >>> decode_rows([array("H", [7, 9]).tobytes(), b"", array("H", [7]).tobytes()])[1].tolist()
    [0, 0, 2]
    """
    lengths = [len(policy_state) >> 1 for policy_state in policy_states]
    owners = np.repeat(np.arange(len(policy_states), dtype=np.intp), lengths)
    return np.frombuffer(b"".join(policy_states), dtype=np.uint16), owners


def decode_row(policy_state: bytes) -> array[int]:
    ids = array("H")
    ids.frombytes(policy_state)
    return ids


class Features:
    """Makes the rows of links. Stores the labels of fetched pages if siblings are used."""

    def __init__(self, using: FeatureSet = DEFAULT_FEATURES) -> None:
        self.using = using
        self._labels: dict[int, bool] = {}
        """Whether a page was relevant, by the hash of its URL."""

    def rows(self, links: Sequence[Link], parent: Outcome | None) -> list[bytes]:
        """Return a row for each link, as bytes."""
        shared = self._siblings(parent) if FeatureSet.SIBLING in self.using and parent is not None else []
        if FeatureSet.PARENT in self.using and parent is not None:
            shared.append(PARENT_GOOD if parent.relevant else PARENT_BAD)
        with_url = FeatureSet.URL in self.using
        rows = []
        for link in links:
            own = array("H", {token_index(token) for token in tokens(link.url)} if with_url else ())
            if parent is not None and link.source is LinkSource.REDIRECT:
                own.extend(inherited_labels(parent.policy_state))
            else:
                own.extend(shared)
            rows.append(own.tobytes())
        return rows

    def _siblings(self, parent: Outcome) -> list[int]:
        labels = self._labels
        known = [labels.get(xxhash.xxh3_64_intdigest(link.url.encode())) for link in parent.links] if labels else []
        good = known.count(True)
        found = [SIBLING_BAD] if False in known else []
        if good:
            found += (SIBLING_GOOD, SIBLINGS_GOOD + min(good.bit_length(), _SIBLING_SIZES) - 1)
        return found

    def add_label(self, url: str, *, relevant: bool) -> None:
        if FeatureSet.SIBLING in self.using:
            self._labels[xxhash.xxh3_64_intdigest(url.encode())] = relevant

    def dump(self) -> tuple[bytes, bytes]:
        """Serialize the labels: hashes of relevant pages, and of other pages."""
        good, bad = (
            array("Q", (key for key, value in self._labels.items() if value is want)) for want in (True, False)
        )
        return good.tobytes(), bad.tobytes()

    def load(self, state: tuple[bytes, bytes]) -> None:
        self._labels = {}
        self.merge(state)

    def merge(self, state: tuple[bytes, bytes]) -> None:
        for packed, label in zip(state, (True, False), strict=True):
            hashes = array("Q")
            hashes.frombytes(packed)
            self._labels.update(dict.fromkeys(hashes, label))


def inherited_labels(policy_state: bytes) -> list[int]:
    """Return the features that the target of a redirect takes over from the redirecting URL: labels of other pages.

    >>> inherited_labels(array("H", [12, PARENT_GOOD, 77]).tobytes()) == [PARENT_GOOD]
    True
    """
    return [feature for feature in decode_row(policy_state) if feature >= HASHES]


class Classifier(Protocol):
    """A binary classifier that learns from one row at a time."""

    def scores(self, policy_states: Sequence[bytes]) -> list[float]: ...

    def learn(self, features: array[int], *, relevant: bool) -> None: ...

    def dump(self) -> bytes: ...

    def load(self, state: bytes) -> None: ...


class Rater(Protocol):
    """Rates the links within each host, for a bandit that selects the host."""

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> list[Rating]: ...

    def learn(self, outcome: Outcome) -> None: ...

    def dump(self) -> bytes: ...

    def load(self, state: bytes) -> None: ...


def is_good(outcome: Outcome) -> bool:
    """Return the label that a classifier learns: whether the reward is at least 0.5."""
    return outcome.reward >= 0.5


_RaterState = tuple[tuple[bytes, bytes], bytes, int, int]


class OnlineRater:
    """Rates links by a classifier that starts empty and learns from every page (sections 3.1 and 4.1).

    A failed request counts as a page without data, because it cost a request. Redirects are not learned from, because
    a redirect says nothing about its target.
    """

    def __init__(self, features: Features, classifier: Classifier) -> None:
        self._features = features
        self.classifier = classifier
        self.judged = 0
        """Number of pages whose label was predicted (by a score above 0.5) when their link was found."""
        self.right = 0

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> list[Rating]:
        policy_states = self._features.rows(links, parent)
        scores = self.classifier.scores(policy_states)
        return [
            Rating(arm=host_of(link.url), score=score, policy_state=policy_state)
            for link, score, policy_state in zip(links, scores, policy_states, strict=True)
        ]

    def learn(self, outcome: Outcome) -> None:
        if outcome.failure is FailureKind.REDIRECT:
            return
        good = is_good(outcome)
        self.judged += 1
        self.right += (outcome.score > 0.5) is good
        self.classifier.learn(decode_row(outcome.policy_state), relevant=good)
        self._features.add_label(outcome.url, relevant=outcome.relevant)

    def dump(self) -> bytes:
        return msgspec.msgpack.encode((self._features.dump(), self.classifier.dump(), self.judged, self.right))

    def load(self, state: bytes) -> None:
        labels, learned, self.judged, self.right = msgspec.msgpack.decode(state, type=_RaterState)
        self._features.load(labels)
        self.classifier.load(learned)

    def merge(self, state: bytes) -> None:
        labels, learned, judged, right = msgspec.msgpack.decode(state, type=_RaterState)
        if not isinstance(self.classifier, Combines):
            raise NotCombinedError("the state of its classifier is not a sum")
        self.classifier.merge(learned)
        self._features.merge(labels)
        self.judged += judged
        self.right += right

"""The online classifier of links: tokens of URLs, rows of binary features, and the rater that uses them (section 3.1).

*Tokens.* A URL is split at every character that is neither a letter nor a digit. Tokens shorter than three characters
are dropped, and all numbers become one token. In the paper's experiments both worked best "in every case", as did
10,000 hashes. The authors' program reads only path, query and fragment, and drops tokens such as `item123`, which the
paper does not mention: `TokenRules(of_authors=True)`. The program also has the host as one attribute of type string,
from which MOA's Naive Bayes cannot learn; it is left out here.

*Rows.* A link has features from three sources: the tokens of its URL, the labels of its parent pages, and the labels of
its siblings, which are the other links of the parent that were fetched. The paper has the number of relevant parents
and siblings, and whether there is one. Here the label of the first parent is the default. `PARENTS` adds the number of
relevant parents that are known when the link is rated, and counts them again when the page is learned. Numbers become
size classes, because the learners take binary features. The paper does not use siblings in its crawls, because they
"downgraded the performance consistently"; here they are not used by default. A row is stored as the link's
`policy_state`, with two bytes per feature.

*Rating.* `OnlineRater` gives each link the classifier's probability that it leads to a relevant page, at the time when
the link is found.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
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
MAX_HASHES = 65_000
"""Maximum number of token hashes: a feature number has two bytes, and the labels of pages need some numbers, too."""
MIN_TOKEN_CHARACTERS = 3
NUMBER = "[NUMBER]"
_words = re.compile(r"[a-z0-9]+").findall
_is_word = re.compile(r"[a-z]+").fullmatch
_after_host = re.compile(r"[/?#]")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRules:
    """How the URL of a link becomes feature numbers."""

    of_authors: bool = False
    """Whether only path, query and fragment are read, and only words and numbers are kept, as in the authors' program.
    """
    hashes: int = HASHES
    min_characters: int = MIN_TOKEN_CHARACTERS
    max_characters: int = 0
    """Longer tokens are dropped; 0 for no limit."""

    def __post_init__(self) -> None:
        if not 1 <= self.hashes <= MAX_HASHES:
            raise ValueError(f"the number of hashes is 1 to {MAX_HASHES:,}; got {self.hashes:,}")
        if self.min_characters < 1 or 0 < self.max_characters < self.min_characters:
            limits = f"{self.min_characters} and {self.max_characters}"
            raise ValueError(f"tokens have at least 1 character, and at most not fewer than at least; got {limits}")

    @property
    def size(self) -> int:
        """Number of features: hashes and labels."""
        return SIZE + self.shift

    @property
    def shift(self) -> int:
        """Number to add to the feature numbers of labels above, which assume 10,000 hashes."""
        return self.hashes - HASHES

    def tokens(self, url: str) -> list[str]:
        """Return the tokens of a URL."""
        start = url.index("//") + 2
        if self.of_authors:
            found = _after_host.search(url, start)
            start = len(url) if found is None else found.start()
        most = self.max_characters or len(url)
        words = [word for word in _words(url.lower(), start) if self.min_characters <= len(word) <= most]
        if self.of_authors:
            words = [word for word in words if word.isdigit() or _is_word(word)]
        return [NUMBER if word.isdigit() else word for word in words]

    def numbers(self, url: str) -> set[int]:
        """Return the feature numbers of the tokens of a URL."""
        return {token_index(token, self.hashes) for token in self.tokens(url)}


DEFAULT_TOKENS = TokenRules()


def tokens(url: str) -> list[str]:
    """Return the tokens of a URL without its scheme.

    >>> tokens("http://www.imdb.com/title/tt0114369/reviews?page=2012&s=10")
    ['www', 'imdb', 'com', 'title', 'tt0114369', 'reviews', 'page', '[NUMBER]']
    """
    return DEFAULT_TOKENS.tokens(url)


@lru_cache(maxsize=1 << 17)
def token_index(token: str, hashes: int = HASHES) -> int:
    """Return the feature number of a token: Java's `hashCode` (footnote 5) modulo the number of hashes.

    Equation 1 is printed as a quotient, but only the remainder makes sense, and the authors' program uses it.

    >>> java_hash("structured data"), token_index("title")
    (1196067097, 1416)
    """
    return abs(java_hash(token)) % hashes


def java_hash(text: str) -> int:
    """Return what Java's `String.hashCode` returns: Σ t[i]·31^(n-1-i) as a signed 32-bit number."""
    value = 0
    for character in text:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    return value - (1 << 32) if value & 0x80000000 else value


PARENT_GOOD, PARENT_BAD, SIBLING_GOOD, SIBLING_BAD, SIBLINGS_GOOD = range(HASHES, HASHES + 5)
"""Feature numbers of the labels, after those of the tokens. From SIBLINGS_GOOD on, there is one number for each size of
the set of relevant siblings: 1, 2-3, 4-7, …, 64 or more."""
_SIZE_CLASSES = 7
PARENTS_GOOD = SIBLINGS_GOOD + _SIZE_CLASSES
"""First feature number for the number of relevant parents, by size class like SIBLINGS_GOOD."""
SIZE = PARENTS_GOOD + _SIZE_CLASSES
"""Number of features. A feature number fits in two bytes."""
SIBLING_SIZES, PARENT_SIZES = range(SIBLINGS_GOOD, PARENTS_GOOD), range(PARENTS_GOOD, SIZE)


class FeatureSet(Flag):
    """Sources of features; table 1 of the paper compares (a) URL, (b) PARENT, (c) both."""

    URL = auto()
    PARENT = auto()
    SIBLING = auto()
    PARENTS = auto()

    @classmethod
    def named(cls, text: str) -> FeatureSet:
        """Parse a set as users write it, for example `url+parent`.

        >>> FeatureSet.named("url+sibling") == FeatureSet.URL | FeatureSet.SIBLING
        True
        """
        chosen = cls(0)
        for word in text.split("+"):
            if word.upper() not in cls.__members__ or not word.islower():
                raise ValueError(f"features are url, parent, sibling, parents, joined by +: url+parent; got {text!r}")
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
    """Makes the rows of links. Stores the labels of fetched pages if siblings are used, and counts relevant parents."""

    def __init__(self, using: FeatureSet = DEFAULT_FEATURES, rules: TokenRules = DEFAULT_TOKENS) -> None:
        self.using = using
        self.rules = rules
        self._labels: dict[int, bool] = {}
        """Whether a page was relevant, by the hash of its URL."""
        self._parents: Counter[int] = Counter()
        """Number of relevant parents, by the hash of the URL."""

    def rows(self, links: Sequence[Link], parent: Outcome | None) -> list[bytes]:
        """Return a row for each link, as bytes."""
        shared = self._siblings(parent) if FeatureSet.SIBLING in self.using and parent is not None else []
        if FeatureSet.PARENT in self.using and parent is not None:
            shared.append(PARENT_GOOD if parent.relevant else PARENT_BAD)
        shift = self.rules.shift
        shared = [number + shift for number in shared]
        with_url = FeatureSet.URL in self.using
        rows = []
        for link in links:
            own = array("H", self.rules.numbers(link.url) if with_url else ())
            if parent is not None and link.source is LinkSource.REDIRECT:
                own.extend(inherited_labels(parent.policy_state, self.rules.hashes))
            else:
                own.extend(shared)
                own.extend(self._parent_sizes(link.url))
            rows.append(own.tobytes())
        return rows

    def _siblings(self, parent: Outcome) -> list[int]:
        labels = self._labels
        known = [labels.get(xxhash.xxh3_64_intdigest(link.url.encode())) for link in parent.links] if labels else []
        good = known.count(True)
        found = [SIBLING_BAD] if False in known else []
        return [*found, SIBLING_GOOD, SIBLINGS_GOOD + _size_class(good)] if good else found

    def _parent_sizes(self, url: str) -> list[int]:
        """Return the feature for the number of relevant parents that are known now, if it is used and not 0."""
        if FeatureSet.PARENTS not in self.using:
            return []
        good = self._parents[xxhash.xxh3_64_intdigest(url.encode())]
        return [PARENTS_GOOD + _size_class(good) + self.rules.shift] if good else []

    def row_to_learn(self, outcome: Outcome) -> array[int]:
        """Return the row of a fetched page, with the number of relevant parents that are known now."""
        row = decode_row(outcome.policy_state)
        if FeatureSet.PARENTS not in self.using or outcome.hops:  # behind a redirect, the labels are inherited
            return row
        first = PARENTS_GOOD + self.rules.shift
        return array("H", [*(feature for feature in row if feature < first), *self._parent_sizes(outcome.url)])

    def add_page(self, outcome: Outcome) -> None:
        """Remember the label of a page for its siblings, and count it as a parent of its links."""
        self.add_label(outcome.url, relevant=outcome.relevant)
        if FeatureSet.PARENTS in self.using and outcome.relevant:
            self._parents.update({xxhash.xxh3_64_intdigest(link.url.encode()) for link in outcome.links})

    def add_label(self, url: str, *, relevant: bool) -> None:
        if FeatureSet.SIBLING in self.using:
            self._labels[xxhash.xxh3_64_intdigest(url.encode())] = relevant

    def dump(self) -> FeatureState:
        """Serialize the labels (hashes of relevant pages, and of other pages) and, if used, the numbers of parents."""
        good, bad = (
            array("Q", (key for key, value in self._labels.items() if value is want)) for want in (True, False)
        )
        state = [good.tobytes(), bad.tobytes()]
        if FeatureSet.PARENTS in self.using:
            state += (array("Q", self._parents).tobytes(), array("I", self._parents.values()).tobytes())
        return state

    def load(self, state: FeatureState) -> None:
        self._labels = {}
        self._parents.clear()
        self.merge(state)

    def merge(self, state: FeatureState) -> None:
        for packed, label in zip(state[:2], (True, False), strict=True):
            hashes = array("Q")
            hashes.frombytes(packed)
            self._labels.update(dict.fromkeys(hashes, label))
        if len(state) > 2:
            hashes, counts = array("Q"), array("I")
            hashes.frombytes(state[2])
            counts.frombytes(state[3])
            self._parents.update(dict(zip(hashes, counts, strict=True)))


FeatureState = list[bytes]


def _size_class(number: int) -> int:
    """Return the size class of a number: 0 for 1, 1 for 2-3, 2 for 4-7, …, 6 for 64 or more.

    >>> [_size_class(number) for number in (1, 2, 3, 4, 1000)]
    [0, 1, 1, 2, 6]
    """
    return min(number.bit_length(), _SIZE_CLASSES) - 1


def inherited_labels(policy_state: bytes, hashes: int = HASHES) -> list[int]:
    """Return the features that a redirect's target inherits from the redirecting URL: those of parents and siblings.

    >>> inherited_labels(array("H", [12, PARENT_GOOD, 77]).tobytes()) == [PARENT_GOOD]
    True
    """
    return [feature for feature in decode_row(policy_state) if feature >= hashes]


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


_RaterState = tuple[FeatureState, bytes, int, int]


class OnlineRater:
    """Rates links by a classifier that starts empty and learns from every page (sections 3.1 and 4.1).

    A failed request counts as a page without data, because it cost a request. Redirects are not learned from, because
    a redirect says nothing about its target.
    """

    def __init__(self, features: Features, classifier: Classifier) -> None:
        self.features = features
        self.classifier = classifier
        self.judged = 0
        """Number of pages whose label was predicted (by a score above 0.5) when their link was found."""
        self.right = 0

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> list[Rating]:
        policy_states = self.features.rows(links, parent)
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
        self.classifier.learn(self.features.row_to_learn(outcome), relevant=good)
        self.features.add_page(outcome)

    def dump(self) -> bytes:
        return msgspec.msgpack.encode((self.features.dump(), self.classifier.dump(), self.judged, self.right))

    def load(self, state: bytes) -> None:
        labels, learned, self.judged, self.right = msgspec.msgpack.decode(state, type=_RaterState)
        self.features.load(labels)
        self.classifier.load(learned)

    def merge(self, state: bytes) -> None:
        labels, learned, judged, right = msgspec.msgpack.decode(state, type=_RaterState)
        if not isinstance(self.classifier, Combines):
            raise NotCombinedError("the state of its classifier is not a sum")
        self.classifier.merge(learned)
        self.features.merge(labels)
        self.judged += judged
        self.right += right

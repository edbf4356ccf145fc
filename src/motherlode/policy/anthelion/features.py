"""From a link and the page that has it to a row of binary features (section 3.1).

Three sources: the tokens of the URL, the label of the parent, the labels of siblings, which are the other links of the
parent, as far as they have been fetched. The paper counts parents and siblings of the target class; a frontier takes up
a link once, so it has one parent when it is rated, and the count of siblings is told as its order of magnitude, because
the learners here take what is there or not. The paper leaves siblings out of its crawls, since they "downgraded the
performance consistently"; here they are left out unless they are asked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from enum import Flag, auto
from typing import NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from motherlode.model import Link, LinkSource, Parent
from motherlode.policy.anthelion.tokens import HASHES, places

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


def row(memo: bytes) -> array[int]:
    """One row as it was written to a memo."""
    ids = array("H")
    ids.frombytes(memo)
    return ids


class Features:
    """Turns links to rows, two bytes a feature. Remembers the labels of fetched pages where siblings count."""

    def __init__(self, using: FeatureSet = DEFAULT_FEATURES) -> None:
        self.using = using
        self._labels: dict[int, bool] = {}
        """By the hash of the URL."""

    def rows(self, links: Sequence[Link], parent: Parent | None) -> list[bytes]:
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
                own.extend(inherited(parent.memo))
            else:
                own.extend(shared)
            rows.append(own.tobytes())
        return rows

    def _siblings(self, parent: Parent) -> list[int]:
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


def inherited(memo: bytes) -> list[int]:
    """What the target of a redirect takes over: the labels around the URL that redirected, which is no parent itself.

    >>> inherited(array("H", [12, PARENT_GOOD, 77]).tobytes()) == [PARENT_GOOD]
    True
    """
    return [feature for feature in row(memo) if feature >= HASHES]

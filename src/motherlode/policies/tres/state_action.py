"""Features of a state and an action: the path to a page, and one of its links.

The features are those of the authors' program, rounded down to tenths as there. The features of the link's domain
change during a crawl, so they are not stored with a link.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from motherlode.model import Link, Outcome

FEATURES = (
    "the linking page is relevant",
    "1 / distance to the last relevant page of the path",
    "share of relevant pages on the path",
    "keyword in the URL",
    "keyword in the link text",
    "keyword near the link",
    "predicted probability",
    "share of relevant pages of the domain",
    "unknown domain",
)
LINK_FEATURES = 7
"""Number of features that do not change after the link was found. The others are features of its domain."""
_LEVELS = 10

Row = NDArray[np.float32]
"""A row with the values of the features named in FEATURES."""


def quantize(value: float) -> int:
    """Return the number of tenths in a value from 0 to 1, rounded down.

    >>> [quantize(value) for value in (0.0, 0.05, 0.3, 0.999, 1.0)]
    [0, 0, 3, 9, 10]
    """
    return min(_LEVELS, int(value * _LEVELS + 1e-9))


class LinkMemory(msgspec.Struct, frozen=True):
    """What a policy stores with a link: the path to it, its features, and the hashed words of its classifier row."""

    relevant: int
    """Number of relevant pages on the path."""
    others: int
    distance: int
    """Steps since the last relevant page of the path, or since the seed; at least 1."""
    levels: tuple[int, ...]
    """The first LINK_FEATURES features in tenths."""
    words: tuple[int, ...] = ()

    _HEAD = struct.Struct("<HHB7B")

    def pack(self) -> bytes:
        head = self._HEAD.pack(
            min(self.relevant, 65535), min(self.others, 65535), min(self.distance, 255), *self.levels
        )
        return head + struct.pack(f"<{len(self.words)}I", *self.words)

    @classmethod
    def unpack(cls, packed: bytes) -> LinkMemory | None:
        """Return the memory in a `policy_state`; None if it is of another policy or of a seed."""
        if len(packed) < cls._HEAD.size:
            return None
        relevant, others, distance, *levels = cls._HEAD.unpack_from(packed)
        count = (len(packed) - cls._HEAD.size) // 4
        words = struct.unpack_from(f"<{count}I", packed, cls._HEAD.size)
        return cls(relevant, others, distance, tuple(levels), words)


class CrawlPath(msgspec.Struct, frozen=True):
    """Counts over the pages on the path from a seed to the page with the links."""

    relevant: int = 0
    others: int = 0
    distance: int = 1

    @classmethod
    def behind(cls, page: Outcome | None) -> CrawlPath:
        """Return the path from a seed to a page, including the page; the empty path if `page` is None."""
        if page is None:
            return cls()
        before = LinkMemory.unpack(page.policy_state)
        relevant, others, distance = (before.relevant, before.others, before.distance) if before else (0, 0, 1)
        if page.relevant:
            return cls(relevant + 1, others, 1)
        return cls(relevant, others + 1, distance + 1)

    def levels(self, page: Outcome | None) -> tuple[int, int, int]:
        """Return the features of the state in tenths."""
        pages = self.relevant + self.others
        return (
            quantize(float(page is not None and page.relevant)),
            quantize(1 / self.distance),
            quantize(self.relevant / pages if pages else 0.0),
        )


class Keywords:
    """Finds the keywords of the topic in links."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(dict.fromkeys(word.lower() for word in words if word))

    def levels(self, link: Link) -> tuple[int, int, int]:
        """Return whether a keyword is in the URL, in the link text, and near the link, in tenths."""
        if not self.words:
            return 0, 0, 0
        texts = (link.url, link.anchor, f"{link.title} {link.context} {link.type} {link.rel}")
        return tuple(_LEVELS * any(word in text.lower() for word in self.words) for text in texts)  # type: ignore[return-value]


@lru_cache(maxsize=4096)
def values(levels: tuple[int, ...]) -> Row:
    """Return features in tenths as numbers from 0 to 1. Do not change the result: it is cached."""
    return np.array(levels, dtype=np.float32) / np.float32(_LEVELS)

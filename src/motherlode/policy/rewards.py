"""What a request was worth: the number that policies learn from.

By default it is the target's answer, 1 for a find and 0 for all else. Graded rewards let a policy prefer, among finds,
those that give more: `statements` counts what a page says, `new-statements` what no page of the crawl has said before;
behind a slash stands what it is set against, `request` (redirects and repetitions cost requests) or `byte`. Whatever
is counted is brought to the range from 0 to 1 by n / (n + K), which is a half at n = K: so a page with a million
statements is worth two with K at most, and learners that were made for 0 and 1 need no other scale. A page that the
target does not want is worth 0 however much it says. Harvest rate and `relevant` stay what the target says.

Statements are compared by the hash of subject, predicate and object, blank nodes all taken as alike, since their names
mean nothing outside of their page.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xxhash

from motherlode.model import Facts
from motherlode.policy.names import nearest
from motherlode.policy.seen import SeenStatements
from motherlode.policy.targets import COUNTED, Counts

HALF_STATEMENTS = 20
"""K where the user gives none: statements at which a page is worth a half."""
HALF_BYTES = 100_000
"""Bytes at which a page is worth half of what an empty one would be."""
DEFAULT_REWARD = "target"
REWARDS = ("target", "statements[:K]", "new-statements[:K]", "per-request", "per-byte")
"""As users type them; the first three also with /request or /byte behind them."""
_SHORT = {"per-request": "statements/request", "per-byte": "statements/byte"}
_VALUES = ("target", "statements", "new-statements")
_FORM = re.compile(r"(?P<value>[a-z-]+)(?::(?P<half>\d+))?(?:/(?P<cost>request|byte))?")
_BLANK = "_:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a request gave, and what it took."""

    relevant: bool
    counts: Counts
    size: int = 0
    """Bytes that crossed the network."""
    requests: int = 1
    """That led here: this one, the redirects before it, and the attempts that failed."""
    hashes: bytes = b""
    """Of its statements, where they are wanted."""


class Reward:
    """From what a request gave to a number from 0 to 1.

    >>> from motherlode.model import Syntax
    >>> page = Given(relevant=True, counts={Syntax.RDFA: 20, Syntax.PAGE: 3}, size=100_000, requests=2)
    >>> [reward_from(name)(page) for name in ("target", "statements", "statements:60/request", "per-byte")]
    [1.0, 0.5, 0.125, 0.25]
    """

    def __init__(self, spec: str, *, value: str, half: int, cost: str) -> None:
        self.spec = spec
        self.needs_hashes = value == "new-statements"
        self.seen = SeenStatements()
        self._half = half
        self._cost = cost
        kinds: dict[str, Callable[[Given], float]] = {
            "target": lambda given: 1.0,
            "statements": lambda given: self._share(statements(given.counts)),
            "new-statements": lambda given: self._share(self.seen.count_new(given.hashes)),
        }
        self._value = kinds[value]

    def __call__(self, given: Given) -> float:
        if not given.relevant:
            return 0.0
        value = self._value(given)
        if self._cost == "request":
            return value / max(1, given.requests)
        if self._cost == "byte":
            return value * HALF_BYTES / (HALF_BYTES + given.size)
        return value

    def _share(self, count: int) -> float:
        return count / (count + self._half)


def statements(counts: Counts) -> int:
    """Statements that make a page a find to `any`."""
    return sum(count for syntax, count in counts.items() if syntax in COUNTED)


def reward_from(spec: str) -> Reward:
    """The reward that a user means.

    >>> reward_from("statments")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: unknown reward 'statments' (did you mean statements?); known: target, statements[:K], ...
    """
    match = _FORM.fullmatch(_SHORT.get(spec.strip(), spec.strip()))
    if match is None or match["value"] not in _VALUES or (match["half"] and match["value"] == "target"):
        hint = nearest(spec, (*_VALUES, *_SHORT))
        raise ValueError(
            f"unknown reward {spec!r}{hint}; known: {', '.join(REWARDS)}; the first three also with /request or /byte"
        )
    half = int(match["half"] or HALF_STATEMENTS)
    if half < 1:
        raise ValueError(f"reward {spec!r}: K is the number of statements that are worth a half, at least 1")
    return Reward(spec, value=match["value"], half=half, cost=match["cost"] or "")


def statement_hashes(facts: Facts) -> bytes:
    """64 bits for each distinct statement of a page, its plain facts aside."""
    found = {
        xxhash.xxh3_64_intdigest("\0".join((_alike(s), p, _alike(o))).encode("utf-8", "replace"))
        for extraction in facts.extractions
        if extraction.syntax in COUNTED
        for s, p, o, _ in extraction.statements
    }
    return np.array(sorted(found), dtype="<u8").tobytes()


def _alike(term: str) -> str:
    return _BLANK if term.startswith(_BLANK) else term

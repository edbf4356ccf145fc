"""Which statements a crawl has met before, in memory that does not grow: a Bloom filter (Bloom 1970) of 64-bit hashes.

It never takes a known statement for a new one. A new one is taken for known with a probability that grows with what was
met: with four bits a statement in 2²⁶, one in a hundred after six million statements, one in ten after fourteen.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable

import numpy as np
import xxhash
from numpy.typing import NDArray

from motherlode.model import Outcome, TransformResult
from motherlode.policies.registry import nearest
from motherlode.policies.targets import COUNTED, Counts

_BITS = 1 << 26
_PROBES = 4
_EMPTY = b""


class SeenStatements:
    """Counts what is new among hashes.

    >>> seen = SeenStatements()
    >>> page = np.array([3, 2**40, 2**63], dtype="<u8").tobytes()
    >>> seen.count_new(page), seen.count_new(page)
    (3, 0)
    """

    def __init__(self, bits: int = _BITS) -> None:
        self._bits = bits
        self._bytes: NDArray[np.uint8] | None = None
        """Made when first needed: most crawls never do."""

    def count_new(self, hashes: bytes) -> int:
        """How many of a page's hashes, each of which stands there once, were not met before; they are now."""
        if not hashes:
            return 0
        bits = self._made()
        places = self._places(np.frombuffer(hashes, dtype="<u8"))
        cells, masks = places >> 3, (1 << (places & 7)).astype(np.uint8)
        known = ((bits[cells] & masks) != 0).all(axis=0)
        np.bitwise_or.at(bits, cells.ravel(), masks.ravel())
        return int(len(known) - known.sum())

    def _made(self) -> NDArray[np.uint8]:
        if self._bytes is None:
            self._bytes = np.zeros(self._bits >> 3, dtype=np.uint8)
        return self._bytes

    def _places(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Four places for each, from the two halves of its hash (Kirsch and Mitzenmacher 2006)."""
        first, second = hashes >> np.uint64(32), (hashes & np.uint64(0xFFFFFFFF)) | np.uint64(1)
        probes = np.arange(_PROBES, dtype=np.uint64)[:, None]
        places: NDArray[np.int64] = ((first + probes * second) % np.uint64(self._bits)).astype(np.int64)
        return places

    def dump(self) -> bytes:
        return _EMPTY if self._bytes is None else zlib.compress(self._bytes.tobytes(), level=1)

    def load(self, state: bytes) -> None:
        """Take up an earlier dump; ValueError where it is none."""
        if not state:
            return
        try:
            found = np.frombuffer(zlib.decompress(state), dtype=np.uint8)
        except zlib.error as error:
            raise ValueError(f"the statements that were seen cannot be read: {error}") from error
        if len(found) != self._bits >> 3:
            raise ValueError(f"a memory of {len(found) << 3} bits does not fit one of {self._bits}")
        self._bytes = found.copy()


# ── What a request was worth: the number that policies learn from.

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


class Reward:
    """From what a request gave to a number from 0 to 1.

    >>> from motherlode.model import Syntax
    >>> counts = {Syntax.RDFA: 20, Syntax.PAGE: 3}
    >>> page = Outcome(url="", host="", relevant=True, counts=counts, size=100_000, requests=2)
    >>> [reward_from(name)(page) for name in ("target", "statements", "statements:60/request", "per-byte")]
    [1.0, 0.5, 0.125, 0.25]
    """

    def __init__(self, spec: str, *, value: str, half: int, cost: str) -> None:
        self.spec = spec
        self.needs_hashes = value == "new-statements"
        self.seen = SeenStatements()
        self._half = half
        self._cost = cost
        kinds: dict[str, Callable[[Outcome], float]] = {
            "target": lambda outcome: 1.0,
            "statements": lambda outcome: self._share(statements(outcome.counts)),
            "new-statements": lambda outcome: self._share(self.seen.count_new(outcome.statement_hashes)),
        }
        self._value = kinds[value]

    def __call__(self, outcome: Outcome) -> float:
        if not outcome.relevant:
            return 0.0
        value = self._value(outcome)
        if self._cost == "request":
            return value / max(1, outcome.requests)
        if self._cost == "byte":
            return value * HALF_BYTES / (HALF_BYTES + outcome.size)
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


def statement_hashes(facts: TransformResult) -> bytes:
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

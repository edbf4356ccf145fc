"""Rewards: numbers from 0 to 1 that say how useful a request was. Policies learn from them.

By default the reward is 1 for a relevant page and 0 otherwise. With graded rewards, a policy prefers relevant pages
with more data: `statements` counts the statements of a page, `new-statements` those that no earlier page of the crawl
had. A suffix divides by the cost: `/request` (redirects and retries cost requests) or `/byte`. A count n becomes n / (n
+ K), which is 0.5 at n = K. So the reward of a page with a million statements is at most twice that of a page with K,
and learners for labels 0 and 1 need no other scale. The reward of an irrelevant page is always 0. Harvest rates and
`relevant` do not depend on the reward.

Statements are compared by a hash of subject, predicate and object. All blank nodes count as equal, because their labels
have no meaning outside of their page. `SeenStatements` stores which statements were seen before in constant memory: a
Bloom filter (Bloom 1970) over 64-bit hashes. It never takes a known statement for a new one. It takes a new one for a
known one with a probability that grows with the number of statements: with four probes into 2²⁶ bits, 1 % after six
million statements and 10 % after fourteen million.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points

import numpy as np
import xxhash
from numpy.typing import NDArray

from motherlode.model import Outcome, TransformResult
from motherlode.policies.registry import nearest
from motherlode.policies.targets import COUNTED, Counts

_BITS = 1 << 26
_PROBES = 4


class SeenStatements:
    """Counts the new statements of a page and remembers them."""

    def __init__(self, bits: int = _BITS) -> None:
        self._bits = bits
        self._bytes: NDArray[np.uint8] | None = None
        """Allocated at the first use, because most crawls never need it."""

    def count_new(self, hashes: bytes) -> int:
        """Return how many of a page's hashes are new, and add them. The hashes must be distinct."""
        if not hashes:
            return 0
        if self._bytes is None:
            self._bytes = np.zeros(self._bits >> 3, dtype=np.uint8)
        bits = self._bytes
        positions = self._positions(np.frombuffer(hashes, dtype="<u8"))
        cells, masks = positions >> 3, (1 << (positions & 7)).astype(np.uint8)
        known = ((bits[cells] & masks) != 0).all(axis=0)
        np.bitwise_or.at(bits, cells.ravel(), masks.ravel())
        return int(len(known) - known.sum())

    def _positions(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return four bit positions per hash, derived from its two halves (Kirsch and Mitzenmacher 2006)."""
        first, second = hashes >> np.uint64(32), (hashes & np.uint64(0xFFFFFFFF)) | np.uint64(1)
        probes = np.arange(_PROBES, dtype=np.uint64)[:, None]
        positions: NDArray[np.int64] = ((first + probes * second) % np.uint64(self._bits)).astype(np.int64)
        return positions

    def dump(self) -> bytes:
        return b"" if self._bytes is None else zlib.compress(self._bytes.tobytes(), level=1)

    def load(self, state: bytes) -> None:
        """Restore an earlier dump. Raises ValueError if the bytes are not a dump of this size."""
        if not state:
            return
        try:
            found = np.frombuffer(zlib.decompress(state), dtype=np.uint8)
        except zlib.error as error:
            raise ValueError(f"the saved filter of seen statements cannot be read: {error}") from error
        if len(found) != self._bits >> 3:
            raise ValueError(f"a saved filter of {len(found) << 3} bits does not fit a filter of {self._bits} bits")
        self._bytes = found.copy()


GROUP = "motherlode.rewards"
"""Entry points of this group add rewards: functions that take an `Outcome` and return a number from 0 to 1."""
HALF_STATEMENTS = 20
"""Default of K: number of statements at which the reward of a page is 0.5."""
HALF_BYTES = 100_000
"""Number of bytes at which a reward per byte is halved."""
DEFAULT_REWARD = "target"
REWARDS = ("target", "statements[:K]", "new-statements[:K]", "per-request", "per-byte")
"""Rewards as users write them. The first three may be followed by /request or /byte."""
_SHORT = {"per-request": "statements/request", "per-byte": "statements/byte"}
_VALUES = ("target", "statements", "new-statements")
_FORM = re.compile(r"(?P<value>[a-z-]+)(?::(?P<half>\d+))?(?:/(?P<cost>request|byte))?")
_BLANK = "_:"


class Reward:
    """Computes the reward of a request, from 0 to 1; 0 for pages that are not relevant.

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
        self._counts_statements = value != "target"
        self._half = half
        self._cost = cost

    def __call__(self, outcome: Outcome) -> float:
        if not outcome.relevant:
            return 0.0
        value = 1.0
        if self._counts_statements:
            new = self.seen.count_new(outcome.statement_hashes) if self.needs_hashes else statements(outcome.counts)
            value = new / (new + self._half)
        if self._cost == "request":
            return value / max(1, outcome.requests)
        if self._cost == "byte":
            return value * HALF_BYTES / (HALF_BYTES + outcome.size)
        return value


class CustomReward(Reward):
    """The reward of an installed package: a function of the outcome. It also rewards pages that are not relevant."""

    def __init__(self, spec: str, function: Callable[[Outcome], float]) -> None:
        super().__init__(spec, value="target", half=HALF_STATEMENTS, cost="")
        self._function = function

    def __call__(self, outcome: Outcome) -> float:
        """Return the value of the function, limited to 0 to 1; 0 for a failure and if the value is not a number."""
        if outcome.failure is not None:
            return 0.0
        value = float(self._function(outcome))
        return min(1.0, max(0.0, value)) if value == value else 0.0


@lru_cache(maxsize=1)
def installed_rewards() -> Mapping[str, EntryPoint]:
    """Return the rewards of all installed packages by name. They are not imported."""
    return {point.name: point for point in entry_points(group=GROUP)}


def _custom_reward(spec: str, point: EntryPoint) -> CustomReward:
    try:
        function = point.load()
    except Exception as error:  # of a foreign package: anything may be wrong in it
        raise ValueError(f"the package that adds the reward {spec!r} cannot be imported: {error}") from error
    if not callable(function):
        raise ValueError(f"the reward {spec!r} of an installed package is no function of an outcome: {function!r}")
    return CustomReward(spec, function)


def statements(counts: Counts) -> int:
    """Return the number of a page's statements that count for the target `any`, from its counts by syntax."""
    return sum(count for syntax, count in counts.items() if syntax in COUNTED)


def reward_from(spec: str) -> Reward:
    """Parse a reward as users write it.

    >>> reward_from("statments")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: unknown reward 'statments' (did you mean statements?); known: target, statements[:K], ...
    """
    if spec.strip() in installed_rewards():
        return _custom_reward(spec.strip(), installed_rewards()[spec.strip()])
    match = _FORM.fullmatch(_SHORT.get(spec.strip(), spec.strip()))
    if match is None or match["value"] not in _VALUES or (match["half"] and match["value"] == "target"):
        hint = nearest(spec, (*_VALUES, *_SHORT, *installed_rewards()))
        raise ValueError(
            f"unknown reward {spec!r}{hint}; known: {', '.join(REWARDS)}; "
            "the first three may be followed by /request or /byte"
        )
    half = int(match["half"] or HALF_STATEMENTS)
    if half < 1:
        raise ValueError(f"reward {spec!r}: K, the number of statements with a reward of 0.5, must be at least 1")
    return Reward(spec, value=match["value"], half=half, cost=match["cost"] or "")


def statement_hashes(result: TransformResult) -> bytes:
    """Return a 64-bit hash of each distinct statement of a page that counts for the target `any`.

    All blank nodes are treated as equal, because their labels differ between extractions.
    """
    found = {
        xxhash.xxh3_64_intdigest("\0".join((_without_label(s), p, _without_label(o))).encode("utf-8", "replace"))
        for extraction in result.extractions
        if extraction.syntax in COUNTED
        for s, p, o, _ in extraction.statements
    }
    return np.array(sorted(found), dtype="<u8").tobytes()


def _without_label(term: str) -> str:
    return _BLANK if term.startswith(_BLANK) else term

"""Rewards: numbers from 0 to 1 that say how useful a request was. Policies learn from them.

By default the reward is 1 for a relevant page and 0 otherwise. With graded rewards, a policy prefers relevant pages
with more data: `statements` counts the statements of a page. Rewards of novelty prefer data that no earlier page of the
crawl had: `new-statements`, `new-subjects` and `new-types` count them, `new-hosts` is 1 for the first relevant page of
a host. A suffix divides by the cost: `/request` (redirects and retries cost requests) or `/byte`. A count n becomes n /
(n + K), which is 0.5 at n = K. So the reward of a page with a million statements is at most twice that of a page with
K, and learners for labels 0 and 1 need no other scale. The reward of an irrelevant page is always 0. Harvest rates and
`relevant` do not depend on the reward. A scorer of the user (`policies.scorers`) gives the reward itself.

Statements, subjects and types are compared by their hashes. All blank nodes count as equal, because their labels have
no meaning outside of their page. `SeenHashes` stores which hashes were seen before in constant memory: a Bloom filter
(Bloom 1970) over 64-bit hashes. It never takes a known one for a new one. It takes a new one for a known one with a
probability that grows with their number: with four probes into 2²⁶ bits, 1 % after six million hashes and 10 % after
fourteen million.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from motherlode.model import Outcome, TransformResult
from motherlode.model.terms import RDF_TYPE
from motherlode.policies.registry import nearest
from motherlode.policies.scorers import SCORER_FORMS, ScorerSpec, parse_scorer
from motherlode.policies.targets import COUNTED, Counts

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_BITS = 1 << 26
_PROBES = 4


class SeenHashes:
    """Counts the new hashes of a page and remembers them."""

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

    def add_first_new(self, hashes: Iterable[bytes]) -> bool:
        """Add the first hash that is new. Return whether there was one."""
        return any(self.count_new(one) for one in hashes)

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
            raise ValueError(f"the saved filter of seen hashes cannot be read: {error}") from error
        if len(found) != self._bits >> 3:
            raise ValueError(f"a saved filter of {len(found) << 3} bits does not fit a filter of {self._bits} bits")
        self._bytes = found.copy()


GROUP = "motherlode.rewards"
"""Entry points of this group add rewards: functions that take an `Outcome` and return a number from 0 to 1."""
HALF_STATEMENTS = 20
"""Default of K: number of statements at which the reward of a page is 0.5."""
HALF_BYTES = 100_000
"""Number of bytes at which a reward per byte is halved."""
_MAX_PAGES_OF_NEW_HOST = 100
DEFAULT_REWARD = "target"
REWARDS = (
    *("target", "statements[:K]", "new-statements[:K]", "new-subjects[:K]", "new-types[:K]", "new-hosts[:K]"),
    *("per-request", "per-byte"),
)
"""Rewards as users write them. All but the last two may be followed by /request or /byte."""
_SHORT = {"per-request": "statements/request", "per-byte": "statements/byte"}
_DEFAULT_K = {
    "statements": HALF_STATEMENTS,
    "new-statements": HALF_STATEMENTS,
    "new-subjects": 5,
    "new-types": 1,
    "new-hosts": 1,
}
"""Rewards with a number K, and its default."""
_VALUES = ("target", *_DEFAULT_K)
_FORM = re.compile(r"(?P<value>[a-z-]+)(?::(?P<half>\d+))?(?:/(?P<cost>request|byte))?")
_BLANK = "_:"


class MeanReward:
    """The mean of the rewards of a crawl; 0 before the first."""

    def __init__(self) -> None:
        self._sum = 0.0
        self._count = 0

    @property
    def value(self) -> float:
        return self._sum / self._count if self._count else 0.0

    def add(self, reward: float) -> None:
        self._sum += reward
        self._count += 1

    def dump(self) -> bytes:
        return msgspec.msgpack.encode((self._sum, self._count))

    def load(self, state: bytes) -> None:
        """Restore an earlier dump. Raises ValueError if the bytes are not a dump."""
        self._sum, self._count = msgspec.msgpack.decode(state, type=tuple[float, int])


class Reward:
    """Computes the reward of a request, from 0 to 1; 0 for pages that are not relevant.

    >>> from motherlode.model import Syntax
    >>> counts = {Syntax.RDFA: 20, Syntax.PAGE: 3}
    >>> page = Outcome(url="", host="", relevant=True, counts=counts, size=100_000, requests=2)
    >>> [reward_from(name)(page) for name in ("target", "statements", "statements:60/request", "per-byte")]
    [1.0, 0.5, 0.125, 0.25]
    """

    scorer: ScorerSpec | None = None
    """The scorer of the user that gives the reward; None if the reward is computed here."""

    def __init__(self, spec: str, *, value: str, half: int, cost: str) -> None:
        self.spec = spec
        self.seen = SeenHashes()
        self.mean = MeanReward()
        self._value = value
        self._half = half
        self._cost = cost

    @property
    def hashed(self) -> str:
        """The parts of a page whose hashes the reward needs: "statements", "subjects" or "types"; "" for none."""
        part = self._value.removeprefix("new-") if self._value.startswith("new-") else ""
        return part if part in HASHED_PARTS else ""

    def __call__(self, outcome: Outcome) -> float:
        """Return the reward of a page. If a scorer failed for it, this is the mean of the rewards so far.

        So an outage of the scorer does not teach the policy that pages are bad.
        """
        if outcome.is_unscored:
            return self.mean.value
        value = self.compute(outcome)
        self.mean.add(value)
        return value

    def compute(self, outcome: Outcome) -> float:
        """Return the reward of a page. If the reward needs a scorer, the page has its score already."""
        if not outcome.relevant:
            return 0.0
        value = self._compute_value(outcome)
        if self._cost == "request":
            return value / max(1, outcome.requests)
        if self._cost == "byte":
            return value * HALF_BYTES / (HALF_BYTES + outcome.size)
        return value

    def _compute_value(self, outcome: Outcome) -> float:
        if self._value == "target":
            return 1.0
        if self._value == "new-hosts":
            turns = range(self._half)
            return float(self.seen.add_first_new(_hash(outcome.host, f"{n}").to_bytes(8, "little") for n in turns))
        found = self.seen.count_new(outcome.statement_hashes) if self.hashed else statements(outcome.counts)
        return found / (found + self._half)


class CustomReward(Reward):
    """The reward of an installed package: a function of the outcome. It also rewards pages that are not relevant."""

    def __init__(self, spec: str, function: Callable[[Outcome], float]) -> None:
        super().__init__(spec, value="target", half=HALF_STATEMENTS, cost="")
        self._function = function

    def compute(self, outcome: Outcome) -> float:
        """Return the value of the function, limited to 0 to 1; 0 for a failure and if the value is not a number."""
        if outcome.failure is not None:
            return 0.0
        value = float(self._function(outcome))
        return min(1.0, max(0.0, value)) if value == value else 0.0


class ScoredReward(Reward):
    """The score that a scorer of the user has given a page, relevant or not."""

    def __init__(self, spec: str, scorer: ScorerSpec) -> None:
        super().__init__(spec, value="target", half=HALF_STATEMENTS, cost="")
        self.scorer = scorer

    def compute(self, outcome: Outcome) -> float:
        """Return the score of the page; 0 if it has none."""
        return outcome.page_score or 0.0


@lru_cache(maxsize=1)
def installed_rewards() -> Mapping[str, EntryPoint]:
    """Return the rewards of all installed packages by name. They are not imported."""
    from importlib.metadata import entry_points  # slow to import, and few jobs need it

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
    if (scorer := parse_scorer(spec)) is not None:
        return ScoredReward(spec, scorer)
    name = spec.strip()
    if name not in _VALUES and name not in _SHORT and name in installed_rewards():
        return _custom_reward(name, installed_rewards()[name])
    match = _FORM.fullmatch(_SHORT.get(name, name))
    if match is None or match["value"] not in _VALUES or (match["half"] and match["value"] == "target"):
        hint = nearest(spec, (*_VALUES, *_SHORT, *installed_rewards()))
        raise ValueError(
            f"unknown reward {spec!r}{hint}; known: {', '.join(REWARDS)}; "
            f"all but the last two may be followed by /request or /byte; {SCORER_FORMS}"
        )
    half = int(match["half"] or _DEFAULT_K.get(match["value"], HALF_STATEMENTS))
    if half < 1:
        raise ValueError(f"reward {spec!r}: K, the number of statements with a reward of 0.5, must be at least 1")
    if match["value"] == "new-hosts" and half > _MAX_PAGES_OF_NEW_HOST:
        raise ValueError(f"reward {spec!r}: at most {_MAX_PAGES_OF_NEW_HOST} pages of a host can count as new")
    return Reward(spec, value=match["value"], half=half, cost=match["cost"] or "")


# ── hashes of a page

HASHED_PARTS = ("statements", "subjects", "types")
"""Parts of a page that rewards of novelty count."""
_Triple = tuple[str, str, str]


def page_hashes(result: TransformResult, part: str) -> bytes:
    """Return a 64-bit hash of each distinct statement, subject or type of a page that counts for the target `any`.

    All blank nodes are treated as equal, because their labels differ between extractions. As subjects they are left
    out.
    """
    triples = ((s, p, o) for found in result.extractions if found.syntax in COUNTED for s, p, o, _ in found.statements)
    return _encode_hashes(triples, part)


def ntriples_hashes(lines: bytes, part: str) -> bytes:
    """Return the hashes of `page_hashes` from N-Triples as `targets.ntriples` writes them, for recorded pages."""
    return _encode_hashes(_split_lines(lines), part)


def _split_lines(lines: bytes) -> Iterator[_Triple]:
    for line in lines.decode("utf-8", "replace").split("\n"):
        terms = line.removesuffix(" .").split(" ", 2)
        if len(terms) == 3:
            yield terms[0], terms[1], terms[2]


def _encode_hashes(triples: Iterable[_Triple], part: str) -> bytes:
    if part == "statements":
        found = {_hash(_without_label(s), p, _without_label(o)) for s, p, o in triples}
    elif part == "subjects":
        found = {_hash(s) for s, _, _ in triples if not s.startswith(_BLANK)}
    else:
        found = {_hash(o) for _, p, o in triples if p == RDF_TYPE and not o.startswith(_BLANK)}
    return np.array(sorted(found), dtype="<u8").tobytes()


def _hash(*terms: str) -> int:
    return xxhash.xxh3_64_intdigest("\0".join(terms).encode("utf-8", "replace"))


def _without_label(term: str) -> str:
    return _BLANK if term.startswith(_BLANK) else term

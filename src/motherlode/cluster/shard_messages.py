"""Is it over? When no shard has anything to do, and nothing is on its way that could give one of them something.

A shard is at rest when its frontier is empty, nothing is under way, and everything that it found for others is lasting
with them: a link on its way keeps its *sender* from being at rest. So one look at all shards at one moment would do,
but reports come at different moments. Hence two rounds, as in Mattern's four-counter method (1987): where every shard
was at rest in a first round, and again in a second that it began knowing that the first had ended, with not one
delivery in between, there was a moment between the two at which all were at rest at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from motherlode.cluster.grants import AddressGrant

Mark = tuple[int, int]
"""Which incarnation of a shard, and how many deliveries it has taken."""


class TerminationDetector:
    """
    >>> quiet = Quiet(2)
    >>> quiet.heard(0, (0, 5), knows=0), quiet.heard(1, (0, 3), knows=0), quiet.round
    (False, False, 1)
    >>> quiet.heard(0, (0, 5), knows=0), quiet.heard(1, (0, 3), knows=1), quiet.heard(0, (0, 5), knows=1)
    (False, False, True)
    """

    def __init__(self, shards: int) -> None:
        self._shards = shards
        self._first: dict[int, Mark] = {}
        self._second: set[int] = set()
        self.round = 0
        """Grows when a first round ends. Shards are told, and say with each report what they had been told before."""

    def heard(self, shard: int, mark: Mark | None, *, knows: int) -> bool:
        """A shard has reported; `mark` is None where it is not at rest. True when all is over."""
        if mark is None or self._first.get(shard, mark) != mark:
            self._first.clear()
            self._second.clear()
        if mark is None:
            return False
        if len(self._first) == self._shards:
            if knows == self.round:
                self._second.add(shard)
            return len(self._second) == self._shards
        self._first[shard] = mark
        self.round += len(self._first) == self._shards
        return False


# ── What shards and coordinator say to each other, a few times a second.


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What a shard has sent to others so far."""

    letters: int = 0
    links: int = 0
    bytes: int = 0
    suppressed: int = 0
    """Links that were not sent because they had been lately."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardReport:
    """A shard's state at one moment, and what it has for the others."""

    shard: int
    incarnation: int
    totals: bytes
    """Encoded `Counters`."""
    hosts: int = 0
    waiting: int = 0
    in_flight: int = 0
    pages_begun: int = 0
    limit: int = 0
    """Pages that the shard may begin."""
    hungry: bool = False
    """It would begin more, if it might."""
    rest: Mark | None = None
    """Not None where it has nothing to do and owes nothing."""
    knows: int = 0
    """The round of which it had been told."""
    visits: Sequence[bytes] = ()
    """Encoded visits since the last report."""
    delta: bytes = b""
    """What its policy has learned since."""
    wanted: Sequence[str] = ()
    returned: Sequence[AddressGrant] = ()
    traffic: Traffic = field(default_factory=Traffic)


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """The answer to a report."""

    stop: bool = False
    limit: int | None = None
    """Pages that the shard may begin; None for no limit."""
    round: int = 0
    deltas: Sequence[bytes] = ()
    """What the others have learned."""
    merge_seconds: float = 0.0
    """How long to gather what was learned before it is sent."""
    leases: Sequence[AddressGrant] = ()
    recalls: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardProgress:
    """What the one who watches is told."""

    visits: Sequence[bytes]
    totals: bytes
    hosts: int
    waiting: int
    in_flight: int
    traffic: Traffic
    warnings: Sequence[str]

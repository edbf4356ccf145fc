"""Messages between shards and coordinator, and the detection of the end of the crawl from these messages.

A shard is idle if its frontier is empty, no request is in flight, and the owners have committed all links that it sent.
A link in transit therefore keeps its *sender* from being idle. If all shards are idle at one moment, the crawl is over,
but reports arrive at different moments. So the coordinator waits for two rounds, as in Mattern's four-counter method
(1987). In the first round every shard reports that it is idle. In the second round every shard reports this again, in a
report that it made after it learned that the first round had ended. If no shard received a delivery in between, there
was a moment between the two rounds at which all shards were idle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from motherlode.frontier import AddressGrant

IdleMark = tuple[int, int]
"""Incarnation of a shard and the number of deliveries that it has received."""


class TerminationDetector:
    """Detect from the reports of all shards that the crawl is over.

    >>> detector = TerminationDetector(2)
    >>> idle = {0: (0, 5), 1: (0, 3)}
    >>> [detector.record_report(shard, idle[shard], known_round=0) for shard in (0, 1)], detector.round
    ([False, False], 1)
    >>> [detector.record_report(shard, idle[shard], known_round=known) for shard, known in ((0, 0), (1, 1), (0, 1))]
    [False, False, True]
    """

    def __init__(self, shards: int) -> None:
        self._shards = shards
        self._first: dict[int, IdleMark] = {}
        """Marks of the first round."""
        self._second: set[int] = set()
        """Shards that have confirmed their mark in the second round."""
        self.round = 0
        """Number of times that all shards were idle in a first round. Orders carry it to the shards, and reports carry
        it back."""

    def record_report(self, shard: int, mark: IdleMark | None, *, known_round: int) -> bool:
        """Record a report and return whether the crawl is over. `mark` is None if the shard is not idle."""
        if mark is None or self._first.get(shard, mark) != mark:
            self._first.clear()
            self._second.clear()
        if mark is None:
            return False
        if len(self._first) == self._shards:
            if known_round == self.round:
                self._second.add(shard)
            return len(self._second) == self._shards
        self._first[shard] = mark
        self.round += len(self._first) == self._shards
        return False


@dataclass(slots=True, kw_only=True)
class Traffic:
    """Counts of what a shard has sent to its peers. Mutable: the outbox updates it, and a message gets a copy."""

    batches: int = 0
    links: int = 0
    bytes: int = 0
    suppressed: int = 0
    """Links that were not sent because they had been sent recently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardReport:
    """State of a shard at one moment, and its news since the last report."""

    shard: int
    incarnation: int
    totals: bytes
    """Encoded `Counters`."""
    hosts: int = 0
    waiting: int = 0
    in_flight: int = 0
    pages_started: int = 0
    limit: int = 0
    """Number of pages that the shard may start."""
    wants_more: bool = False
    """Whether the shard has URLs to fetch beyond its limit."""
    idle_mark: IdleMark | None = None
    """The state in which the shard is idle; None if it is not idle."""
    known_round: int = 0
    """The round in the last orders that the shard received."""
    visits: Sequence[bytes] = ()
    """Encoded visits since the last report."""
    delta: bytes = b""
    """Statistics that the policy has learned since the last delta."""
    wanted: Sequence[str] = ()
    """IP addresses that the shard requests."""
    returned: Sequence[AddressGrant] = ()
    """Address grants that the shard gives back."""
    traffic: Traffic = field(default_factory=Traffic)


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """The coordinator's response to a report."""

    stop: bool = False
    limit: int | None = None
    """Number of pages that the shard may start; None for no limit."""
    round: int = 0
    deltas: Sequence[bytes] = ()
    """Statistics that the policies of the peers have learned."""
    merge_seconds: float = 0.0
    """Seconds between two deltas of the shard."""
    grants: Sequence[AddressGrant] = ()
    """New address grants of the shard."""
    recalls: Sequence[str] = ()
    """IP addresses that the shard must give back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardProgress:
    """State of all shards for the driver, with the visits and warnings since the last call."""

    visits: Sequence[bytes]
    totals: bytes
    hosts: int
    waiting: int
    in_flight: int
    traffic: Traffic
    warnings: Sequence[str]

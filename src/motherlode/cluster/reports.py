"""What shards and coordinator say to each other, a few times a second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from motherlode.cluster.leases import Lease
from motherlode.cluster.quiet import Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What a shard has sent to others so far."""

    letters: int = 0
    links: int = 0
    bytes: int = 0
    suppressed: int = 0
    """Links that were not sent because they had been lately."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A shard's state at one moment, and what it has for the others."""

    shard: int
    incarnation: int
    totals: bytes
    """Encoded `Totals`."""
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
    returned: Sequence[Lease] = ()
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
    leases: Sequence[Lease] = ()
    recalls: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What the one who watches is told."""

    visits: Sequence[bytes]
    totals: bytes
    hosts: int
    waiting: int
    in_flight: int
    traffic: Traffic
    warnings: Sequence[str]

"""Hosts as the frontier sees them while it runs: clocks, rules, and the arms that wait behind each."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable

import msgspec

from motherlode.frontier.entries import Entry, HostRecord
from motherlode.model.rules import Rules

RulesReader = Callable[[bytes], Rules]


class Host(msgspec.Struct, gc=False):
    """A host with something waiting, or a request under way. A struct, because there may be millions."""

    record: HostRecord
    arms: dict[str, int] = {}
    """How many URLs wait in each arm."""
    in_flight: int = 0
    awake: bool = False
    """Its arms are in the policy's hands."""
    rules: Rules | None = None
    """Parsed from the record when first needed."""
    held: Entry | None = None
    """The page that was picked before the host's rules were known; it goes first once they are."""
    asking: bool = False
    """Its robots.txt is being fetched."""
    rules_url: str = ""
    """Where its robots.txt was redirected to, while it is being asked for."""
    rules_hops: int = 0
    queued: bool = False
    """Stands in the line of its address."""
    unaccounted: int = 0
    """Pages handed out that `count` has not seen yet."""
    guests: tuple[str, ...] = ()
    """Hosts whose robots.txt lies here, and whose next step waits for a request to this host to end; itself, too."""

    def stop_asking(self) -> None:
        self.asking, self.rules_url, self.rules_hops = False, "", 0


class WakingTimes:
    """When each resting host may be asked again. A host may stand here twice; only its record's time counts."""

    def __init__(self, times: Iterable[tuple[float, str]] = ()) -> None:
        self._heap = list(times)
        heapq.heapify(self._heap)

    def push(self, ready_at: float, host: str) -> None:
        heapq.heappush(self._heap, (ready_at, host))

    def due(self, now: float, *, most: int | None = None) -> list[str]:
        """Hosts whose time has come, earliest first."""
        found: list[str] = []
        while self._heap and self._heap[0][0] <= now and len(found) != most:
            found.append(heapq.heappop(self._heap)[1])
        return found

    def next_time(self) -> float | None:
        return self._heap[0][0] if self._heap else None

"""Hosts as the frontier sees them while it runs: clocks, rules, and the arms that wait behind each."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable

import msgspec

from motherlode.frontier.entries import Entry, HostRecord
from motherlode.model.rules import Rules

RulesReader = Callable[[bytes], Rules]


class Host(msgspec.Struct, gc=False):
    """A host that was asked, or may be now. A struct, because there may be millions."""

    record: HostRecord
    arms: dict[str, None] = {}
    """Those in which URLs wait."""
    in_flight: int = 0
    awake: bool = False
    """Its arms are in the policy's hands."""
    rules: dict[bool, Rules] = {}
    """For http (False) and https (True), parsed from the record when first needed."""
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
    credited: bool = False
    """It gave a relevant page, and its domain got credit for it (domains.py)."""

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

    def turn_back(self, seconds: float) -> None:
        self._heap = [(ready_at - seconds, host) for ready_at, host in self._heap]  # in the same order


class Sleepers:
    """Hosts with something waiting that no run has come to yet, in the order in which they were found.

    Most hosts of a large crawl are of this kind, so each is a name and an arm and nothing else. One that gets a second
    arm is no longer of this kind.
    """

    def __init__(self) -> None:
        self._arms: dict[str, str] = {}
        self._line: deque[str] = deque()
        """Their names, and some that were taken out of turn."""

    def __len__(self) -> int:
        return len(self._arms)

    def __contains__(self, name: str) -> bool:
        return name in self._arms

    def put(self, name: str, arm: str) -> bool:
        """Whether the host is, or was, here with this arm; False where it has another."""
        known = self._arms.get(name)
        if known is None:
            known = self._arms[name] = arm
            self._line.append(name)
        return known == arm

    def take(self, name: str) -> str | None:
        """The arm of a host that is here; it is no longer."""
        return self._arms.pop(name, None)

    def first(self, most: int | None) -> list[str]:
        """Some that have been here longest, by name; they stay until they are taken."""
        found: list[str] = []
        while self._line and len(found) != most:
            name = self._line.popleft()
            if name in self._arms:
                found.append(name)
        return sorted(found)

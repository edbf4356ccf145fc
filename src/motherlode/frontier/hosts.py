"""How long a host rests between two requests, and how it slows down and recovers."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random

import msgspec

from motherlode.frontier.lease import Entry, HostRecord, Politeness
from motherlode.model.robots import HostRules

_WEIGHT = 0.3
"""Of the newest answer in the smoothed response time."""
_MOST_FOR_SLOWNESS = 60.0
"""Seconds: the longest delay that follows from slow answers alone."""
_MOST_SLOWDOWN = 300.0
"""Seconds: the longest delay that follows from being told to slow down, beside what the server itself names."""
_RECOVERY = 0.7
"""Of the slowdown is left after each page that came."""
_LEAST_SLOWDOWN = 0.05
LONGEST_WAIT = 86_400.0
"""Seconds: a Retry-After beyond a day is taken for a day."""
MAX_JITTER = 0.25
"""Share of a wait that `Pace.jittered` may add."""


class HostDelay:
    """Pure but for its own source of randomness."""

    def __init__(self, politeness: Politeness, random: Random) -> None:
        self._politeness = politeness
        self._random = random

    def delay(self, record: HostRecord) -> float:
        """The largest of what the user configured, what the host asks for, and what its answers suggest."""
        delay = max(self._politeness.delay, record.delay or 0.0)
        if self._politeness.adaptive:
            if self._politeness.delay > 0:  # who asks for no delay wants none for slow answers either
                delay = max(delay, min(self._politeness.delay_factor * record.response, _MOST_FOR_SLOWNESS))
            delay += record.slowdown
        return delay

    def note_answer(self, record: HostRecord, elapsed: float) -> None:
        if elapsed > 0:
            known = record.response
            record.response = elapsed if known == 0 else known + _WEIGHT * (elapsed - known)

    def slow_down(self, record: HostRecord) -> None:
        """The host said that we ask too much (429, 503)."""
        if self._politeness.adaptive:
            least = max(self._politeness.delay, 0.5)
            record.slowdown = min(max(2 * record.slowdown, least), _MOST_SLOWDOWN)

    def recover(self, record: HostRecord) -> None:
        if record.slowdown:
            left = record.slowdown * _RECOVERY
            record.slowdown = left if left >= _LEAST_SLOWDOWN else 0.0

    def jittered(self, wait: float) -> float:
        """Up to a quarter longer, so that what was refused together does not come back together."""
        return wait * (1 + MAX_JITTER * self._random.random()) if self._politeness.adaptive else wait


def retry_wait(asked: float | None, backoff: float) -> float:
    """The larger of what the server asked for and what the table of failures says."""
    return max(min(asked or 0.0, LONGEST_WAIT), backoff)


# ── Hosts as the frontier sees them while it runs: clocks, rules, and the arms that wait behind each.

RulesReader = Callable[[bytes], HostRules]


class Host(msgspec.Struct, gc=False):
    """A host that was asked, or may be now. A struct, because there may be millions."""

    record: HostRecord
    arms: dict[str, None] = {}
    """Those in which URLs wait."""
    in_flight: int = 0
    awake: bool = False
    """Its arms are in the policy's hands."""
    rules: dict[bool, HostRules] = {}
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


class ReadyTimes:
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


class SnoozedHosts:
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


# ── What one host may cost before its remaining URLs are refused.


@dataclass(frozen=True, slots=True, kw_only=True)
class HostBudget:
    """None means no limit."""

    pages: int | None = None
    """Requests for pages; failures count."""
    bytes: int | None = None
    """Of bodies."""
    host_stop_after: int | None = None
    """Requests without one relevant page, after which a host counts as giving nothing."""

    def refusal(self, record: HostRecord, under_way: int) -> str:
        """Why no more of the host's URLs are fetched, or "".

        >>> HostBudget(pages=10).refusal(HostRecord(name="a.example", fetched=9), 1)
        "the host's budget of pages is spent"
        """
        if self.pages is not None and record.fetched + under_way >= self.pages:
            return "the host's budget of pages is spent"
        if self.bytes is not None and record.received >= self.bytes:
            return "the host's budget of bytes is spent"
        if self.host_stop_after is not None and not record.relevant and record.fetched >= self.host_stop_after:
            return "the host gave nothing"
        return ""


# ── The clock of each IP address. Hosts that share one take turns, however many they are.

MAX_READY_HOSTS = 16
"""Hosts of one address that the policy may choose from at a time."""


MOST_ASKED = 256
"""Hosts whose clocks go with a lease."""


class IpQueue(msgspec.Struct, gc=False):
    """An IP address that at least one host was found at."""

    name: str
    ready_at: float = 0.0
    in_flight: int = 0
    line: deque[str] = msgspec.field(default_factory=deque)
    """Hosts whose own time has come."""
    awake: dict[str, None] = {}
    """Hosts in the policy's hands, first come first."""
    guests: tuple[str, ...] = ()
    """Hosts whose held page waits for a request to this address to end."""
    held: bool = True
    """We may ask it. False where addresses are leased and another crawl has, or may have, the lease."""
    asked: dict[str, None] = {}
    """Hosts asked here under this lease, the last ones: whoever gets the lease next must know their clocks."""


class IpQueues:
    """All addresses by name, and what they allow."""

    def __init__(self, *, delay: float, at_once: int, leased: bool = False) -> None:
        self.delay = delay
        self.leased = leased and delay > 0
        """Other crawls ask the same addresses: each needs leave that only one of them has at a time."""
        self.wanted: dict[str, None] = {}
        """Addresses that somebody waits for and that we have no lease of."""
        self._limit = 1 if delay > 0 else at_once
        self._all: dict[str, IpQueue] = {}
        self.not_before = 0.0
        """No address is asked earlier: a run that was killed may have asked it a moment ago."""

    def get(self, name: str) -> IpQueue:
        address = self._all.get(name)
        if address is None:
            address = self._all[name] = IpQueue(name, ready_at=self.not_before, held=not self.leased)
        return address

    def rest_all(self, until: float) -> None:
        self.not_before = until
        for address in self._all.values():
            address.ready_at = max(address.ready_at, until)

    def turn_back(self, seconds: float) -> None:
        self.not_before -= seconds
        for address in self._all.values():
            address.ready_at -= seconds

    def full(self, address: IpQueue) -> bool:
        if not address.held:
            self.wanted[address.name] = None
            return True
        return address.in_flight >= self._limit

    def note(self, address: IpQueue, host: str) -> None:
        """A host is asked at a leased address."""
        address.asked.pop(host, None)
        address.asked[host] = None
        if len(address.asked) > MOST_ASKED:
            del address.asked[next(iter(address.asked))]

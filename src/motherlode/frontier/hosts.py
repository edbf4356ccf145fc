"""State of hosts and IP addresses at run time: delays, ready times, budgets, and the queue of each IP address."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Protocol

import msgspec

from motherlode.frontier.lease import Entry, HostRecord, Politeness

_NEWEST_WEIGHT = 0.3
"""Weight of the newest response in the smoothed response time."""
_MAX_RESPONSE_DELAY_SECONDS = 60.0
"""Longest delay that follows from the response time alone."""
_MAX_SLOWDOWN_SECONDS = 300.0
"""Longest delay that follows from responses 429 and 503. A Retry-After may be longer."""
_SLOWDOWN_DECAY = 0.7
"""Factor by which each fetched page reduces the slowdown."""
_MIN_SLOWDOWN_SECONDS = 0.05
MAX_WAIT_SECONDS = 86_400.0
"""A longer Retry-After counts as one day."""
MAX_JITTER = 0.25
"""Largest share of a wait that `HostDelay.add_jitter` adds."""


class HostDelay:
    """Computes the delay between two requests to a host, from the configuration and the host's record."""

    def __init__(self, politeness: Politeness, random: Random) -> None:
        self._politeness = politeness
        self._random = random

    def delay(self, record: HostRecord) -> float:
        """Return the largest of configured delay, Crawl-delay and delay by response time, plus the slowdown."""
        delay = max(self._politeness.delay, record.delay or 0.0)
        if self._politeness.adaptive:
            if self._politeness.delay > 0:  # a configured delay of zero also means none for slow responses
                delay = max(delay, min(self._politeness.delay_factor * record.response, _MAX_RESPONSE_DELAY_SECONDS))
            delay += record.slowdown
        return delay

    def note_answer(self, record: HostRecord, elapsed: float) -> None:
        """Update the smoothed response time of a host."""
        if elapsed > 0:
            known = record.response
            record.response = elapsed if known == 0 else known + _NEWEST_WEIGHT * (elapsed - known)

    def slow_down(self, record: HostRecord) -> None:
        """Increase the delay of a host that said that it gets too many requests (429, 503)."""
        if self._politeness.adaptive:
            least = max(self._politeness.delay, 0.5)
            record.slowdown = min(max(2 * record.slowdown, least), _MAX_SLOWDOWN_SECONDS)

    def recover(self, record: HostRecord) -> None:
        """Reduce the slowdown of a host after a page was fetched."""
        if record.slowdown:
            left = record.slowdown * _SLOWDOWN_DECAY
            record.slowdown = left if left >= _MIN_SLOWDOWN_SECONDS else 0.0

    def add_jitter(self, wait: float) -> float:
        """Lengthen a wait by up to a quarter, so that hosts that failed together are not retried together."""
        return wait * (1 + MAX_JITTER * self._random.random()) if self._politeness.adaptive else wait


def retry_wait(retry_after: float | None, backoff: float) -> float:
    """Return the larger of the Retry-After and the back-off."""
    return max(min(retry_after or 0.0, MAX_WAIT_SECONDS), backoff)


# ── Hosts ────────────────────────────────────────────────────────────────────────────────────────────


class HostRules(Protocol):
    """Parsed robots.txt rules for our product token."""

    @property
    def delay(self) -> float | None:
        """Crawl-delay in seconds; None if the file has none."""
        ...

    def allows(self, url: str) -> bool:
        """Return whether the rules allow our crawler to fetch the URL."""
        ...


RulesReader = Callable[[bytes], HostRules]


class Host(msgspec.Struct, gc=False):
    """A host that was contacted or may be contacted now. A msgspec struct, because there may be millions."""

    record: HostRecord
    arms: dict[str, None] = {}
    """Arms with waiting URLs."""
    in_flight: int = 0
    is_ready: bool = False
    """True if the policy may pick the host's arms."""
    rules: dict[bool, HostRules] = {}
    """Rules of http (False) and https (True), parsed from the record on first use."""
    held: Entry | None = None
    """The page that was picked before the host's rules were known. It is the next page request to the host."""
    asking: bool = False
    """True while the host's robots.txt is being fetched."""
    rules_url: str = ""
    """The redirect target of its robots.txt, while robots.txt is being fetched."""
    rules_hops: int = 0
    in_ip_queue: bool = False
    """True if the host is in the queue of its IP address."""
    unaccounted: int = 0
    """Leased pages that are not yet counted in the host's record."""
    waiting_hosts: tuple[str, ...] = ()
    """Hosts whose next request goes to this host (for a redirected robots.txt, or the host itself) and waits until a
    request to this host ends."""
    credited: bool = False
    """True if the host has a relevant page that is counted for its domain (domain_limit.py)."""

    def stop_asking(self) -> None:
        """End the fetch of robots.txt."""
        self.asking, self.rules_url, self.rules_hops = False, "", 0


class ReadyTimes:
    """A heap of times at which snoozed hosts become ready. If a host is in it twice, the time in its record counts."""

    def __init__(self, times: Iterable[tuple[float, str]] = ()) -> None:
        self._heap = list(times)
        heapq.heapify(self._heap)

    def push(self, ready_at: float, host: str) -> None:
        """Add a host with its time."""
        heapq.heappush(self._heap, (ready_at, host))

    def due(self, now: float, *, most: int | None = None) -> list[str]:
        """Remove and return at most `most` hosts whose time has come, earliest first."""
        found: list[str] = []
        while self._heap and self._heap[0][0] <= now and len(found) != most:
            found.append(heapq.heappop(self._heap)[1])
        return found

    def next_time(self) -> float | None:
        """Return the earliest time; None if there is none."""
        return self._heap[0][0] if self._heap else None

    def turn_back(self, seconds: float) -> None:
        """Move all times back, because the machine's clock was set back."""
        self._heap = [(ready_at - seconds, host) for ready_at, host in self._heap]  # keeps the order of the heap


class SnoozedHosts:
    """Unseen hosts with waiting URLs in one arm, in order of discovery.

    Most hosts of a large crawl are of this kind, so each takes only a name and an arm. A host that gets a second arm
    becomes a `Host`.
    """

    def __init__(self) -> None:
        self._arms: dict[str, str] = {}
        self._order: deque[str] = deque()
        """Names in order of discovery, including some that were taken since."""

    def __len__(self) -> int:
        return len(self._arms)

    def __contains__(self, name: str) -> bool:
        return name in self._arms

    def put(self, name: str, arm: str) -> bool:
        """Add a host with its arm, if it is not here. Return False if it is here with another arm."""
        known = self._arms.get(name)
        if known is None:
            known = self._arms[name] = arm
            self._order.append(name)
        return known == arm

    def take(self, name: str) -> str | None:
        """Remove a host and return its arm; None if it is not here."""
        return self._arms.pop(name, None)

    def first(self, limit: int | None) -> list[str]:
        """Return the names of the `limit` oldest hosts, sorted. They stay here until they are taken."""
        found: list[str] = []
        while self._order and len(found) != limit:
            name = self._order.popleft()
            if name in self._arms:
                found.append(name)
        return sorted(found)


# ── Budgets of hosts ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class HostBudget:
    """Limits per host, after which its remaining URLs are refused. None means no limit."""

    pages: int | None = None
    """Maximum number of page requests, including failures."""
    bytes: int | None = None
    """Maximum number of body bytes."""
    host_stop_after: int | None = None
    """Number of page requests after which a host without a relevant page is stopped."""

    @property
    def has_limits(self) -> bool:
        return (self.pages, self.bytes, self.host_stop_after) != (None, None, None)

    def refusal(self, record: HostRecord, under_way: int) -> str:
        """Return why no more of the host's URLs are fetched, or "".

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


# ── IP addresses: hosts with the same IP address share its delay ─────────────────────────────────────

MAX_READY_HOSTS = 16
"""Maximum number of ready hosts per IP address."""


MAX_GRANT_HOSTS = 256
"""Maximum number of hosts whose delays are passed on with a grant."""


class IpQueue(msgspec.Struct, gc=False):
    """An IP address of at least one host, with the hosts that wait for its delay."""

    name: str
    ready_at: float = 0.0
    in_flight: int = 0
    queue: deque[str] = msgspec.field(default_factory=deque)
    """Hosts whose own delay has passed."""
    ready_hosts: dict[str, None] = {}
    """Ready hosts, oldest first."""
    waiting_hosts: tuple[str, ...] = ()
    """Hosts whose held page waits until a request to this IP address ends."""
    granted: bool = True
    """True if this process may send requests to it. False if another shard has, or may have, the grant."""
    recent_hosts: dict[str, None] = {}
    """The last hosts contacted here under this grant. The shard that gets the grant next must know their delays."""


class IpQueues:
    """All IP addresses, with their common limits."""

    def __init__(self, *, delay: float, max_in_flight: int, uses_grants: bool = False) -> None:
        self.delay = delay
        self.uses_grants = uses_grants and delay > 0
        """True if other shards use the same IP addresses. Only the shard with the grant may use an IP address."""
        self.needed_grants: dict[str, None] = {}
        """IP addresses for which hosts wait and for which this shard has no grant."""
        self._limit = 1 if delay > 0 else max_in_flight
        self._all: dict[str, IpQueue] = {}
        self.not_before = 0.0
        """No request to any IP address starts earlier, because a killed run may have sent one just before."""

    def get(self, name: str) -> IpQueue:
        """Return the state of an IP address; create it if necessary."""
        address = self._all.get(name)
        if address is None:
            address = self._all[name] = IpQueue(name, ready_at=self.not_before, granted=not self.uses_grants)
        return address

    def delay_all(self, until: float) -> None:
        """Delay requests to all IP addresses until a time."""
        self.not_before = until
        for address in self._all.values():
            address.ready_at = max(address.ready_at, until)

    def turn_back(self, seconds: float) -> None:
        """Move all times back, because the machine's clock was set back."""
        self.not_before -= seconds
        for address in self._all.values():
            address.ready_at -= seconds

    def is_full(self, address: IpQueue) -> bool:
        """Return whether no further request may start now. If the grant is missing, note that it is needed."""
        if not address.granted:
            self.needed_grants[address.name] = None
            return True
        return address.in_flight >= self._limit

    def add_granted_host(self, address: IpQueue, host: str) -> None:
        """Note that a host is contacted at a granted IP address."""
        address.recent_hosts.pop(host, None)
        address.recent_hosts[host] = None
        if len(address.recent_hosts) > MAX_GRANT_HOSTS:
            del address.recent_hosts[next(iter(address.recent_hosts))]

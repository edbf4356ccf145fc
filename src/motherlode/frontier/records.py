"""The data of the frontier: known URLs, hosts, leases, and the settings of politeness and budgets."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from enum import Enum
from math import inf
from random import Random
from typing import NamedTuple, Protocol

import msgspec

from motherlode.model import Failure, FailureKind, Link, LinkSource, Outcome, Rating, Request, RequestKind
from motherlode.model.usage import UsagePreferences

_REVISIT_PREFIX = "revisit "
_REDIRECT = LinkSource.REDIRECT


def revisit_arm(host: str) -> str:
    """Return the arm of the pages of a host that wait for a revisit. No other module knows its form."""
    return _REVISIT_PREFIX + host


def is_revisit_arm(arm: str) -> bool:
    return arm.startswith(_REVISIT_PREFIX)


class UrlState(Enum):
    """The states of a known URL. Each URL is in exactly one."""

    WAITING = "w"
    IN_FLIGHT = "f"
    """Leased. After a crash these URLs wait again."""
    DONE = "d"
    """A page was fetched and stored, or a redirect was recorded."""
    FAILED = "x"
    REFUSED = "r"
    """No request was made. The reason is stored."""


class Entry(msgspec.Struct, frozen=True, array_like=True, kw_only=True, gc=False):
    """One known URL: where it was found and how it was rated. Array-like, because millions of these are on disk."""

    url: str
    arm: str
    score: float
    sequence: int
    """Order of discovery; breaks ties between equal scores."""
    depth: int = 0
    attempts: int = 0
    """Number of requests so far."""
    parent_url: str = ""
    source: str = ""
    """The value of its LinkSource."""
    anchor: str = ""
    rel: str = ""
    tag_path: str = ""
    predicate: str = ""
    policy_state: bytes = b""
    """The bytes that the policy gets back with the outcome."""
    hops: int = 0
    """Number of consecutive redirects that led here."""

    @property
    def is_revisit(self) -> bool:
        """True if the page is known and waits for a revisit."""
        return is_revisit_arm(self.arm)


def entry_from(link: Link, rating: Rating, *, parent: Outcome | None, sequence: int) -> Entry:
    """Return the entry of a new link. A redirect target gets at least the score, and the depth, of the redirect."""
    score, source = rating.score, link.source
    if score != score:  # not a number, beside which nothing sorts
        score = -inf
    depth = hops = 0
    if parent is not None:
        depth = parent.depth + 1
        if source is _REDIRECT:
            score, depth, hops = max(score, parent.score), parent.depth, parent.hops + 1
    return Entry(
        url=link.url,
        arm=rating.arm,
        score=score,
        sequence=sequence,
        depth=depth,
        parent_url="" if parent is None else parent.url,
        source=source._value_,  # `value` is a property in Python, four times as slow
        anchor=link.anchor,
        rel=link.rel,
        tag_path=link.tag_path,
        predicate=link.predicate,
        policy_state=rating.policy_state,
        hops=hops,
    )


Correct = Callable[[float], float]
"""Returns the corrected value of a time that was stored before the machine's clock was set."""


class HostRecord(msgspec.Struct, array_like=True, kw_only=True, gc=False):
    """The state of a host that is stored between runs."""

    name: str
    ready_at: float = 0.0
    """Time before which no request is sent, in seconds since the epoch."""
    delay: float | None = None
    """The Crawl-delay of the host, if it is longer than the configured delay."""
    robots: bytes | None = None
    """The robots.txt for http; None if unknown."""
    robots_at: float = 0.0
    """When `robots` was read (seconds since the epoch); earlier if it may be cached for less than a day."""
    failures: int = 0
    """Number of consecutive failures."""
    fetched: int = 0
    relevant: int = 0
    quads: int = 0
    received: int = 0
    """Number of bytes received from the host."""
    address: str = ""
    """The host's last IP address. Every run looks it up again."""
    response: float = 0.0
    """Smoothed response time in seconds."""
    slowdown: float = 0.0
    """Seconds added to its delay because of responses 429 and 503."""
    secure_robots: bytes | None = None
    secure_robots_at: float = 0.0
    """`robots` and `robots_at` for https, because each scheme has its own robots.txt (RFC 9309, 2.3)."""
    unread_since: float | None = None
    """Time (seconds since the epoch) since which its robots.txt has been unreadable; None if it is readable."""
    unread_for: str = ""
    """The value of the last FailureKind of its robots.txt."""
    admitted: bool = True
    """True if the limit on untried hosts of its domain admits the host (see `Admission`)."""
    unresolved_since: float | None = None
    """Time (seconds since the epoch) since which no name server has answered for the host; None if one has."""

    def correct_times(self, ready: Correct, event: Correct) -> bool:
        """Correct the ready time and the times of past events. Return whether one of them changed."""
        before = msgspec.structs.astuple(self)
        self.ready_at = ready(self.ready_at)
        self.robots_at, self.secure_robots_at = event(self.robots_at), event(self.secure_robots_at)
        if self.unread_since is not None:
            self.unread_since = event(self.unread_since)
        if self.unresolved_since is not None:
            self.unresolved_since = event(self.unresolved_since)
        return before != msgspec.structs.astuple(self)

    def rules_for(self, url: str) -> tuple[bytes | None, float]:
        """Return the robots.txt for a URL of this host, and when it was read."""
        if is_secure(url):
            return self.secure_robots, self.secure_robots_at
        return self.robots, self.robots_at

    def keep_rules(self, url: str, robots: bytes, at: float) -> None:
        self.unread_since, self.unread_for = None, ""
        if is_secure(url):
            self.secure_robots, self.secure_robots_at = robots, at
        else:
            self.robots, self.robots_at = robots, at


def is_secure(url: str) -> bool:
    return url.startswith("https:")


MAX_REDIRECTS = 8
"""Maximum number of consecutive redirects. The next one is a broken redirect."""


class Lease(Request, frozen=True, kw_only=True):
    """Permission to send one request now, with the data of that request. `Frontier.end` ends it, exactly once."""

    host: str
    """The host whose page this is about. Its robots.txt may be on another host."""
    entry: Entry
    """The page to fetch; for a lease of a prerequisite, the page that waits for it."""
    address: str = ""
    """The IP address to which the request goes; empty if IP addresses have no delay of their own."""
    is_subrequest: bool = False
    """True if `Frontier.lease_for` gave the lease, for a subrequest or its prerequisite. No queued page needs it."""

    @property
    def is_revisit(self) -> bool:
        """True if the lease is for a revisit of a known page. False for a request of its robots.txt or IP address."""
        return self.kind is RequestKind.PAGE and self.entry.is_revisit


class AddressGrant(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Permission for a shard to send requests to an IP address."""

    address: str
    wait: float
    """Seconds until the next request to the address."""
    hosts: Mapping[str, float] = {}
    """Seconds until the next request to a host at the address, by host."""


# ── Settings ─────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Politeness:
    """The politeness settings. A host's own wishes (Crawl-delay, Retry-After) can only lengthen delays."""

    delay: float = 1.0
    """Seconds between the end of one request to a host and the start of the next."""
    per_host: int = 4
    """Maximum number of requests in flight per host, if the delay is zero. Otherwise it is one."""
    retry_wait: float = 15.0
    """The unit of the waits in the retry rules, in seconds."""
    retries: bool = True
    """False if responses cannot change, as in a replay."""
    by_address: bool = False
    """Whether to keep a delay per IP address, too. A host's IP address is looked up before its first request."""
    address_delay: float | None = None
    """Seconds between two requests to one IP address; by default half the delay of a host."""
    per_address: int = 16
    """Maximum number of requests in flight per IP address, if its delay is zero. Otherwise it is one."""
    uses_grants: bool = False
    """True if other shards use the same IP addresses. An IP address with a delay is used only with its grant."""
    adaptive: bool = False
    """Whether to lengthen the delay of hosts that respond slowly, or with 429 or 503."""
    delay_factor: float = 1.0
    """With `adaptive`: the delay of a host is at least this many times its response time."""
    max_ready_at_once: int | None = None
    """Maximum number of hosts that become ready at once; None for all whose time has come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostBudget:
    """Limits per host, after which its remaining URLs are refused. None means no limit."""

    pages: int | None = None
    """Maximum number of page requests, including failures."""
    bytes: int | None = None
    """Maximum number of body bytes."""
    host_stop_after: int | None = None
    """Number of page requests after which a host without a relevant page is stopped."""

    pages_by_host: Mapping[str, int] = field(default_factory=dict)
    """Maximum number of page requests of named hosts, instead of `pages`."""

    @property
    def has_limits(self) -> bool:
        return (self.pages, self.bytes, self.host_stop_after) != (None, None, None) or bool(self.pages_by_host)

    def refusal(self, record: HostRecord, under_way: int) -> str:
        """Return why no more of the host's URLs are fetched, or "".

        >>> HostBudget(pages=10).refusal(HostRecord(name="a.example", fetched=9), 1)
        "the host's budget of pages is spent"
        """
        pages = self.pages_by_host.get(record.name, self.pages)
        if pages is not None and record.fetched + under_way >= pages:
            return "the host's budget of pages is spent"
        if self.bytes is not None and record.received >= self.bytes:
            return "the host's budget of bytes is spent"
        if self.host_stop_after is not None and not record.relevant and record.fetched >= self.host_stop_after:
            return "the host gave nothing"
        return ""


# ── Delays of hosts ──────────────────────────────────────────────────────────────────────────────────

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


# ── Hosts at run time ────────────────────────────────────────────────────────────────────────────────


class HostRules(Protocol):
    """Parsed robots.txt rules for our product token."""

    @property
    def delay(self) -> float | None:
        """Crawl-delay in seconds; None if the file has none."""

    def allows(self, url: str) -> bool:
        """Return whether the rules allow our crawler to fetch the URL."""

    def preferences(self, url: str) -> UsagePreferences:
        """Return what the rules say about the use of the page."""


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
    is_fresh: bool = False
    """True if the IP address was looked up for the next request, which then uses it even if its TTL has passed."""
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
    """True if the host has a relevant page that is counted for its domain (see `Admission`)."""

    def stop_asking(self) -> None:
        """Record that robots.txt is no longer being fetched."""
        self.asking, self.rules_url, self.rules_hops = False, "", 0


class EndedPage(NamedTuple):
    """A page whose lease ends."""

    lease: Lease
    entry: Entry
    host: Host
    server: Host
    """The host that got the request. It is not `host` if the robots.txt of `host` was requested from another host."""
    failure: Failure | None
    now: float
    reason: str

    @property
    def kind(self) -> FailureKind | None:
        return None if self.failure is None else self.failure.kind


class ReadyTimes:
    """A heap of times at which snoozed hosts become ready. If a host is in it twice, the time in its record counts."""

    def __init__(self, times: Iterable[tuple[float, str]] = ()) -> None:
        self._heap = list(times)
        heapq.heapify(self._heap)

    def push(self, ready_at: float, host: str) -> None:
        heapq.heappush(self._heap, (ready_at, host))

    def due(self, now: float, *, most: int | None = None) -> list[str]:
        """Remove and return at most `most` hosts whose time has come, earliest first."""
        found: list[str] = []
        while self._heap and self._heap[0][0] <= now and len(found) != most:
            found.append(heapq.heappop(self._heap)[1])
        return found

    def next_time(self) -> float | None:
        return self._heap[0][0] if self._heap else None

    @property
    def first(self) -> tuple[float, str] | None:
        """The earliest time with its host; None if there is none."""
        return self._heap[0] if self._heap else None

    def remove(self, hosts: Set[str]) -> None:
        """Remove hosts that are no longer in memory."""
        self._heap = [item for item in self._heap if item[1] not in hosts]
        heapq.heapify(self._heap)

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

    def take(self, name: str, arm: str | None = None) -> str | None:
        """Remove a host and return its arm; None if it is not here, or not with the arm that is given."""
        return self._arms.pop(name, None) if arm is None or self._arms.get(name) == arm else None

    def compact(self) -> None:
        """Forget the names of hosts that were taken."""
        self._order = deque(name for name in self._order if name in self._arms)

    def first(self, limit: int | None) -> list[str]:
        """Return the names of the `limit` hosts that were discovered first, in that order, without removing them."""
        found: dict[str, None] = {}  # a host that was taken and added again is in the order twice
        while self._order and len(found) != limit:
            name = self._order.popleft()
            if name in self._arms:
                found[name] = None
        return list(found)

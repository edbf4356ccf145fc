"""Entries (known URLs), host records, leases, and the politeness settings."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import inf

import msgspec

from motherlode.model import Link, LinkSource, Outcome, Rating, Request, RequestKind

REVISIT = "revisit "
"""Prefix of the arm of a page that waits for a revisit. The host follows."""


_REDIRECT = LinkSource.REDIRECT


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
    """When it was read. If it may be cached for less than a day, the time is earlier by the difference."""
    failures: int = 0
    """Number of consecutive failures."""
    fetched: int = 0
    relevant: int = 0
    quads: int = 0
    received: int = 0
    """Bytes."""
    address: str = ""
    """The host's last IP address. Every run looks it up again."""
    response: float = 0.0
    """Smoothed response time in seconds."""
    slowdown: float = 0.0
    """Seconds added to its delay because of responses 429 and 503."""
    secure_robots: bytes | None = None
    secure_robots_at: float = 0.0
    """The robots.txt for https and when it was read. Each scheme has its own (RFC 9309, 2.3)."""
    unread_since: float | None = None
    """Since when its robots.txt has been unreadable; None if it is readable."""
    unread_for: str = ""
    """The value of the last FailureKind of its robots.txt."""
    admitted: bool = True
    """True if the limit on untried hosts of its domain admits the host (domain_limit.py)."""

    def turn_back(self, seconds: float) -> None:
        """Move all times back, because the machine's clock was set back."""
        self.ready_at -= seconds
        self.robots_at -= seconds
        self.secure_robots_at -= seconds
        if self.unread_since is not None:
            self.unread_since -= seconds

    def cut_times(self, now: float, latest: float) -> bool:
        """Reduce a ready time after `latest`, and times of past events after `now`. Return whether there was one."""
        events = (self.robots_at, self.secure_robots_at, self.unread_since or 0.0)
        if self.ready_at <= latest and max(events) <= now:
            return False
        self.ready_at = min(self.ready_at, latest)
        self.robots_at, self.secure_robots_at = min(self.robots_at, now), min(self.secure_robots_at, now)
        if self.unread_since is not None:
            self.unread_since = min(self.unread_since, now)
        return True

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


# ── Leases, and the politeness settings that limit them.

MAX_REDIRECTS = 8
"""Maximum number of consecutive redirects. The next one is a broken redirect."""


class Lease(Request, frozen=True, kw_only=True):
    """Permission to send one request now; it is that request. `Frontier.end` ends it, exactly once."""

    host: str
    """The host whose page this is about. Its robots.txt may be on another host."""
    entry: Entry
    """The page to fetch; for a lease of a prerequisite, the page that waits for it."""
    address: str = ""
    """The IP address to which the request goes; empty if IP addresses have no delay of their own."""
    is_subrequest: bool = False
    """`Frontier.lease_for` gave the lease, also for a prerequisite: no page of a queue waits for it."""

    @property
    def is_revisit(self) -> bool:
        """The lease is for a known page; not for a prerequisite of one."""
        return self.kind is RequestKind.PAGE and self.entry.arm.startswith(REVISIT)


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
    """Keep a delay per IP address, too. A host's IP address is looked up before its first request."""
    address_delay: float | None = None
    """Seconds between two requests to one IP address; by default half the delay of a host."""
    per_address: int = 16
    """Maximum number of requests in flight per IP address, if its delay is zero. Otherwise it is one."""
    uses_grants: bool = False
    """True if other shards use the same IP addresses. An IP address with a delay is used only with its grant."""
    adaptive: bool = False
    """Lengthen the delay of hosts that respond slowly, or with 429 or 503."""
    delay_factor: float = 1.0
    """With `adaptive`: the delay of a host is at least this many times its response time."""
    max_ready_at_once: int | None = None
    """Maximum number of hosts that become ready at once; None for all whose time has come."""

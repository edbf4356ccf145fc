"""A known URL as the frontier keeps it, and what can have become of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import inf

import msgspec

from motherlode.model import Link, LinkSource, Outcome, Rating, Request, RequestKind

REVISIT = "revisit "
"""Begins the arm of a known page that is to be looked at again; what follows is its host."""


_REDIRECT = LinkSource.REDIRECT


class UrlState(Enum):
    """Every known URL is in exactly one of these."""

    WAITING = "w"
    IN_FLIGHT = "f"
    """Handed out. After a crash these wait again."""
    DONE = "d"
    """A page was fetched and stored, or a redirect was recorded."""
    FAILED = "x"
    REFUSED = "r"
    """No request was made; the reason is on record."""


class Entry(msgspec.Struct, frozen=True, array_like=True, kw_only=True, gc=False):
    """One known URL: where it came from and how it was rated. Array-like, because millions of these lie on disk."""

    url: str
    arm: str
    score: float
    sequence: int
    """Order of discovery; breaks ties between equal scores."""
    depth: int = 0
    attempts: int = 0
    """Requests made so far."""
    parent_url: str = ""
    source: str = ""
    """The value of its LinkSource."""
    anchor: str = ""
    rel: str = ""
    tag_path: str = ""
    predicate: str = ""
    policy_state: bytes = b""
    """What the policy wants back with the outcome."""
    hops: int = 0
    """Redirects that led here in a row."""


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
    """What is worth remembering about a host between two runs."""

    name: str
    ready_at: float = 0.0
    """Seconds since the epoch; no request before then."""
    delay: float | None = None
    """What the host asked for, where that is more than the configured delay."""
    robots: bytes | None = None
    """The rules for http as they were read; None while they are unknown."""
    robots_at: float = 0.0
    """When they were read; earlier by as much as they are to last less than a day."""
    failures: int = 0
    """Failures in a row."""
    fetched: int = 0
    relevant: int = 0
    quads: int = 0
    received: int = 0
    """Bytes."""
    address: str = ""
    """The IP address that it was last found at; looked up anew by every run."""
    response: float = 0.0
    """Seconds that an answer takes, smoothed."""
    slowdown: float = 0.0
    """Seconds that were added to its delay because it said that we ask too much."""
    secure_robots: bytes | None = None
    secure_robots_at: float = 0.0
    """The rules for https, and when they were read: each scheme has its own (RFC 9309, 2.3)."""
    unread_since: float | None = None
    """When its robots.txt could first not be read, if it could not be since."""
    unread_for: str = ""
    """The value of the failure that it was last."""
    admitted: bool = True
    """Its pages may be requested: the limit on untried hosts of its domain lets it through (domains.py)."""

    def turn_back(self, seconds: float) -> None:
        """The clock by which all times here were taken has gone back by so much."""
        self.ready_at -= seconds
        self.robots_at -= seconds
        self.secure_robots_at -= seconds
        if self.unread_since is not None:
            self.unread_since -= seconds

    def cut_times(self, now: float, latest: float) -> bool:
        """Cut a time of rest later than `latest`, and any past event later than `now`. Whether there was one."""
        events = (self.robots_at, self.secure_robots_at, self.unread_since or 0.0)
        if self.ready_at <= latest and max(events) <= now:
            return False
        self.ready_at = min(self.ready_at, latest)
        self.robots_at, self.secure_robots_at = min(self.robots_at, now), min(self.secure_robots_at, now)
        if self.unread_since is not None:
            self.unread_since = min(self.unread_since, now)
        return True

    def rules_for(self, url: str) -> tuple[bytes | None, float]:
        """The rules that hold for a URL of this host, and when they were read."""
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


# ── What the frontier hands out, and how gently.

MAX_REDIRECTS = 8
"""Redirects in a row; the next one is broken."""


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
    """How gently hosts are treated. What a host itself asks for can only make it gentler."""

    delay: float = 1.0
    """Seconds between the end of one request to a host and the start of the next."""
    per_host: int = 4
    """Requests to one host at the same time; only where the delay is zero."""
    retry_wait: float = 15.0
    """The unit of the waits in the table of failures."""
    retries: bool = True
    """False where an answer cannot change: in a recorded web."""
    by_address: bool = False
    """Keep a clock for each IP address, too. A host's address is asked for before its first request."""
    address_delay: float | None = None
    """Seconds between two requests to one IP address; by default half the delay of a host."""
    per_address: int = 16
    """Requests to one IP address at the same time; only where the delay of addresses is zero."""
    leased: bool = False
    """Other crawls ask the same addresses: an address with a delay is asked only while we have its lease."""
    adaptive: bool = False
    """Slow down for hosts that answer slowly, or with 429 or 503."""
    delay_factor: float = 1.0
    """With `adaptive`: a host rests at least this many times as long as its answers take."""
    wake_at_once: int | None = None
    """Hosts that one look at the clocks may wake; None for all whose time has come."""

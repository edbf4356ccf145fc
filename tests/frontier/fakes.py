"""A simple policy, robots rules and helper functions for the tests of the frontier."""

from __future__ import annotations

from collections.abc import Sequence

from motherlode.frontier import End, Entry, Frontier, FrontierStorage, Lease, MemoryStorage, Politeness
from motherlode.model import Failure, FailureKind, Link, LinkSource, Outcome, Policy, Rating, RequestKind
from motherlode.www.urls import host_of


class BestOf:
    """Picks the ready arm with the best score by a linear search. Each host is one arm."""

    def __init__(self, *, newest_first: bool = False) -> None:
        self._sign = 1 if newest_first else -1
        self._count = 0
        self.ready: dict[str, float] = {}
        self.refuse = ""
        """Refuse every link whose URL contains this text."""

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        ratings = []
        for link in links:
            self._count += 1
            refused = "not wanted" if self.refuse and self.refuse in link.url else ""
            ratings.append(Rating(arm=host_of(link.url), score=self._sign * self._count, refused=refused))
        return ratings

    def learn(self, outcome: Outcome) -> None: ...

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        assert waiting > 0, "an arm without URLs was woken"
        self.ready[arm] = best

    def arm_snoozed(self, arm: str) -> None:
        self.ready.pop(arm, None)

    def pick(self) -> str | None:
        return max(self.ready, key=lambda arm: self.ready[arm], default=None)

    def dump(self) -> bytes:
        return str(self._count).encode()

    def load(self, state: bytes) -> None:
        self._count = int(state)


class FakeRules:
    """Rules in a simple syntax: `no:/path` lines disallow paths, a `delay:N` line is a Crawl-delay."""

    def __init__(self, body: bytes) -> None:
        lines = [line.partition(":") for line in body.decode().split()]
        self._forbidden = [value for name, _, value in lines if name == "no"]
        self.delay: float | None = next((float(value) for name, _, value in lines if name == "delay"), None)

    def allows(self, url: str) -> bool:
        path = url.partition("://")[2].partition("/")[2]
        return not any(f"/{path}".startswith(prefix) for prefix in self._forbidden)


def frontier_on(
    storage: FrontierStorage | None = None,
    *,
    policy: Policy | None = None,
    delay: float = 1.0,
    per_host: int = 4,
    retry_wait: float = 10.0,
    robots: bool = False,
    retries: bool = True,
) -> Frontier:
    return Frontier(
        storage=MemoryStorage() if storage is None else storage,
        policy=BestOf() if policy is None else policy,
        scope=lambda url: "out of scope" if "//outside" in url else "",
        read_rules=FakeRules if robots else None,
        politeness=Politeness(delay=delay, per_host=per_host, retry_wait=retry_wait, retries=retries),
    )


def entry(url: str, *, score: float = 0.0, sequence: int = 1, arm: str = "") -> Entry:
    return Entry(url=url, arm=arm or host_of(url), score=score, sequence=sequence)


def offer(frontier: Frontier, *urls: str) -> int:
    return frontier.add_links([Link(url=url, source=LinkSource.ANCHOR) for url in urls], parent=None)


def failure(kind: FailureKind, retry_after: float | None = None) -> Failure:
    return Failure(url="", kind=kind, retry_after=retry_after)


def redirect(location: str) -> Failure:
    return Failure(url="", kind=FailureKind.REDIRECT, location=location)


def page_outcome(lease: Lease) -> Outcome:
    """Return the outcome of a page, as the parent of its links."""
    entry = lease.entry
    return Outcome(
        url=entry.url, host=lease.host, depth=entry.depth, score=entry.score, hops=entry.hops, source=entry.source
    )


def take(frontier: Frontier, now: float) -> Lease:
    lease = frontier.lease(now)
    assert lease is not None, f"nothing to fetch at {now}"
    return lease


def take_page(frontier: Frontier, now: float) -> Lease:
    """Return the lease of the next page. If its robots.txt is requested first, answer with empty rules."""
    lease = take(frontier, now)
    if lease.kind is RequestKind.ROBOTS:
        frontier.response_received(lease, now)
        frontier.end(lease, End.ROBOTS_READ, now)
        lease = take(frontier, now)
    assert lease.kind is RequestKind.PAGE
    return lease


def fetch(frontier: Frontier, now: float) -> str:
    """Lease the next page and finish it at once. Return its URL."""
    lease = take(frontier, now)
    assert lease.kind is RequestKind.PAGE
    frontier.response_received(lease, now)
    frontier.end(lease, End.FETCHED, 0.0)
    return lease.url


def wait(frontier: Frontier, now: float) -> tuple[Lease | None, float]:
    """Return the next lease and its time, moving the time as the frontier says; None at the end."""
    while (lease := frontier.lease(now)) is None and not frontier.exhausted:
        ripe = frontier.idle_until()
        assert ripe is not None, "something is left, but no clock will bring it"
        assert ripe > now, "the frontier would be asked again at once, for ever"
        now = ripe
    return lease, now


def ended(frontier: Frontier) -> bool:
    """Return `exhausted`. As a function, because a type checker assumes that a property keeps its value."""
    return frontier.exhausted

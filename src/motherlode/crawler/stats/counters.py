"""The running account of a crawl: what `stats` tells, kept beside the frontier's state."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Any

import msgspec

from motherlode.frontier import REVISIT
from motherlode.model import FailureKind, Visit

BEING_READ, BEING_FETCHED = "being read", "being fetched"
"""What was done with a page when the time of the crawl was up."""


class Counters(msgspec.Struct, kw_only=True):
    """Sums over all visits. Part of the frontier's commit, so they are right after a crash as well."""

    fetched: int = 0
    """Requests for pages, failures included."""
    relevant: int = 0
    quads: int = 0
    bytes: int = 0
    seconds: float = 0.0
    requests: int = 0
    """All requests, those for robots.txt included."""
    heads: int = 0
    """HEAD requests that probed pages."""
    refreshed: int = 0
    """Of those fetched, looks at known pages; what was found is counted below."""
    unchanged: int = 0
    changed: int = 0
    gone: int = 0
    failures: dict[str, int] = {}
    redirects: int = 0
    duplicates: int = 0
    """Pages whose content another address had given before."""
    syntaxes: dict[str, list[int]] = {}
    """Pages and statements by syntax."""
    problems: dict[str, int] = {}
    outages: int = 0
    """How often there was no network, so that the crawl waited for it."""
    outage_seconds: float = 0.0
    no_network_since: float | None = None
    """Seconds since the epoch, while there is none."""
    unfinished: dict[str, str] = {}
    """URLs of pages that were under way when the time of the crawl was up, and what was being done with each. A resume
    begins with them, and takes them off."""
    links: int = 0
    curve: list[tuple[int, int]] = []
    """Pairs of pages asked for the first time and relevant ones, thinned as they grow."""

    def add(self, visit: Visit) -> None:
        self.fetched += 1
        self.requests += 1
        self.relevant += visit.relevant - visit.relevant_before
        self.quads += visit.quads - visit.quads_before
        self.bytes += visit.size
        self.links += visit.links
        self.duplicates += visit.failure is None and bool(visit.detail)
        if visit.refresh:
            self.refreshed += 1
            self.unchanged += visit.refresh == "unchanged"
            self.changed += visit.refresh == "changed"
            self.gone += visit.refresh == "gone"
        if visit.failure is FailureKind.REDIRECT:
            self.redirects += 1
        elif visit.failure is FailureKind.NOT_MODIFIED:
            pass  # a page that is as it was is no failure
        elif visit.failure is not None:
            self.failures[visit.failure.value] = self.failures.get(visit.failure.value, 0) + 1
        for syntax, statements in visit.counts.items():
            pages = self.syntaxes.setdefault(syntax, [0, 0])
            pages[0] += 1
            pages[1] += statements
        for syntax, statements in visit.counts_before.items():
            pages = self.syntaxes.setdefault(syntax, [0, 0])
            pages[0] -= 1
            pages[1] -= statements
        for problem in visit.problems:
            self.note_problem(f"{problem.syntax.value if problem.syntax else 'page'}: {_general(problem.message)}")
        if not visit.refresh:
            self._mark()

    def note_problem(self, problem: str) -> None:
        if problem in self.problems or len(self.problems) < 200:
            self.problems[problem] = self.problems.get(problem, 0) + 1
        else:
            self.problems["others"] = self.problems.get("others", 0) + 1

    def _mark(self) -> None:
        """Keep the curve to a few hundred points, evenly spaced, whatever the crawl's length."""
        step = max(1, 1 << max(0, self.first.bit_length() - 9))
        if self.first % step == 0:
            self.curve.append((self.first, self.relevant))
        if len(self.curve) > 1024:
            self.curve = [point for point in self.curve if point[0] % step == 0]

    @property
    def first(self) -> int:
        """Requests for pages that were not known before."""
        return self.fetched - self.refreshed

    @property
    def harvest_rate(self) -> float:
        """Relevant pages a request; looks at pages that are known bring none, and do not count."""
        return self.relevant / self.first if self.first else 0.0

    def summary(self) -> dict[str, Any]:
        """The part that other programs read."""
        return {
            "fetched": self.fetched,
            "relevant": self.relevant,
            "harvest_rate": round(self.harvest_rate, 4),
            "quads": self.quads,
            "bytes": self.bytes,
            "seconds": round(self.seconds, 3),
            "requests": self.requests,
            "heads": self.heads,
            "refreshed": self.refreshed,
            "unchanged": self.unchanged,
            "changed": self.changed,
            "gone": self.gone,
            "redirects": self.redirects,
            "duplicates": self.duplicates,
            "outages": self.outages,
            "outage_seconds": round(self.outage_seconds, 3),
            "no_network_since": self.no_network_since,
            "unfinished": dict(sorted(Counter(self.unfinished.values()).items())),
            "failures": dict(sorted(self.failures.items())),
            "problems": dict(sorted(self.problems.items())),
            "syntaxes": {name: {"pages": p, "statements": s} for name, (p, s) in sorted(self.syntaxes.items())},
        }


_COUNTERS = (
    *("fetched", "relevant", "quads", "bytes", "requests", "heads", "redirects", "duplicates", "links"),
    *("refreshed", "unchanged", "changed", "gone", "outages"),
)


def sum_of(parts: Sequence[Counters]) -> Counters:
    """The account of a crawl from those of its shards. Shards run side by side: their seconds are not added up."""
    whole = Counters(
        seconds=max((part.seconds for part in parts), default=0.0),
        outage_seconds=max((part.outage_seconds for part in parts), default=0.0),
        no_network_since=min(
            (part.no_network_since for part in parts if part.no_network_since is not None), default=None
        ),
    )
    for part in parts:
        for name in _COUNTERS:
            setattr(whole, name, getattr(whole, name) + getattr(part, name))
        whole.unfinished |= part.unfinished
        for kind, count in part.failures.items():
            whole.failures[kind] = whole.failures.get(kind, 0) + count
        for problem, count in part.problems.items():
            whole.problems[problem] = whole.problems.get(problem, 0) + count
        for syntax, (pages, statements) in part.syntaxes.items():
            sums = whole.syntaxes.setdefault(syntax, [0, 0])
            sums[0] += pages
            sums[1] += statements
    return whole


def since(before: Counters, after: Counters) -> Counters:
    """What an account has grown by, in its counters.

    >>> since(Totals(fetched=3, gone=1), Totals(fetched=5, gone=1)).fetched
    2
    """
    grown = {name: getattr(after, name) - getattr(before, name) for name in _COUNTERS}
    return Counters(seconds=after.seconds - before.seconds, **grown)


def _general(message: str) -> str:
    """A problem without what only this page says, so that equals can be counted."""
    head = message.partition(": ")[0]
    return (head if len(head) > 12 else message)[:80]


# ── What is left to find: an estimate from what came of URLs like those that still wait; and the moment to give up.

_STRENGTH = 2.0
"""Requests that a host's record counts for at an arm, and arms in general at a host."""
_RECENT = 0.95
"""Share of an arm's record that still counts after one more request: what waits is more like its last pages."""
_KEEP = 0.99
"""Share of what is known about new links that still counts after one more request: about the last hundred."""
_ENOUGH = 100
"""Requests before which nothing is said about new links: until then ν is what was supposed at the start, mostly."""
_STEADY = 0.95
"""New links a request, above which there is no end in sight."""
_SPREAD = 1.96
"""Standard deviations to each side of the mean that hold 95 %."""
_ALIKE = 10
"""Requests that tell as much together as one alone would. Breadth-first on synthetic webs, the upper end was too low in
four of ten crawls without this, and is in one of ten with it."""
_MOST_ARMS = 200_000


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """How many pages that match the target are still to be found."""

    finds: float = 0.0
    """Among the URLs that wait."""
    deviation: float = 0.0
    tried: float = 0.0
    """Of the finds, those that the finds of their own arms speak for."""
    tried_deviation: float = 0.0
    urls: int = 0
    """That wait."""
    growth: float = 0.0
    """New links a request, lately."""
    requests: int = _ENOUGH
    """That it is made from; an older version did not note how many."""
    found: int = 1
    """Finds among these requests; an older version did not note how many."""

    @property
    def is_early(self) -> bool:
        """Too few requests were made to tell how many new links they bring."""
        return self.requests < _ENOUGH

    @property
    def low(self) -> float:
        """Where nothing comes of arms that gave nothing yet."""
        return max(0.0, self.tried - _SPREAD * self.tried_deviation)

    @property
    def high(self) -> float:
        return min(float(self.urls), max(self.finds + _SPREAD * self.deviation, self._missed))

    @property
    def _missed(self) -> float:
        """What may be there, and not be seen by so few requests (Agresti and Coull 1998)."""
        if not self.urls:
            return 0.0
        seen = self.requests / _ALIKE
        chance = (seen * self.finds / self.urls + 1) / (seen + 2)
        return self.urls * (chance + _SPREAD * sqrt(chance * (1 - chance) / (seen + 3)))

    @property
    def with_unseen(self) -> float | None:
        """Pages included that no link has led to yet; None while there is no end in sight, or too little is known."""
        if not self.urls:
            return 0.0
        return None if self.is_early or self.growth >= _STEADY else self.finds / (1.0 - self.growth)

    def summary(self) -> dict[str, Any]:
        """The object under `estimated_left` of `stats --json`."""
        return {
            "finds": round(self.finds, 1),
            "low": round(self.low, 1),
            "high": round(self.high, 1),
            "waiting_urls": self.urls,
            "with_unseen": None if self.with_unseen is None else round(self.with_unseen, 1),
        }


def sum_of_estimates(parts: Iterable[Estimate]) -> Estimate:
    """The estimate of a crawl from those of its shards.

    >>> sum_of([Estimate(finds=3, deviation=3, urls=9), Estimate(finds=2, deviation=4, urls=9)]).deviation
    5.0
    """
    known = list(parts)
    urls = sum(part.urls for part in known)
    return Estimate(
        finds=sum(part.finds for part in known),
        deviation=sqrt(sum(part.deviation**2 for part in known)),
        tried=sum(part.tried for part in known),
        tried_deviation=sqrt(sum(part.tried_deviation**2 for part in known)),
        urls=urls,
        growth=sum(part.growth * part.urls for part in known) / urls if urls else 0.0,
        requests=sum(part.requests for part in known),
        found=sum(part.found for part in known),
    )


_Tally = list[float]
"""Requests and finds; of an arm, those long ago counting less."""


class _State(msgspec.Struct):
    arms: dict[str, _Tally] = {}
    hosts: dict[str, _Tally] = {}
    """Seeds left out."""
    seeds: _Tally = msgspec.field(default_factory=lambda: [0, 0])
    new_hosts: _Tally = msgspec.field(default_factory=lambda: [0, 0])
    """First requests to hosts that a link led to."""
    new_arms: _Tally = msgspec.field(default_factory=lambda: [0, 0])
    """First requests to arms of hosts that were asked before."""
    growth: float = 1.0
    requests: int = 0


def _rate(tally: _Tally, expected: float) -> float:
    """Finds a request, as far as the tally tells, and as expected otherwise."""
    return (tally[1] + _STRENGTH * expected) / (tally[0] + _STRENGTH)


def _finds(count: int, chance: float, *, known: float) -> tuple[float, float]:
    """Mean and standard deviation of a Beta-binomial: `known` is how many requests the chance goes back to."""
    return count * chance, sqrt(count * chance * (1 - chance) * (known + count) / (known + 1))


class Estimator:
    """Watches visits, and tells what is left.

    >>> watcher = Estimator()
    >>> for number in range(50):
    ...     watcher.add(Visit(number=number, url="", host="a.example", arm="a.example", relevant=number % 2 == 0))
    >>> found = watcher.estimate([("a.example", "a.example", 100)])
    >>> 45 < found.finds < 55, found.low < 45, found.high > 55
    (True, True, True)
    """

    def __init__(self) -> None:
        self._state = _State()

    def add(self, visit: Visit) -> None:
        if visit.refresh:
            return
        state, find = self._state, int(visit.relevant)
        host, arm = state.hosts.get(visit.host), state.arms.get(visit.arm)
        recent = state.arms.setdefault(visit.arm, [0, 0])
        recent[:] = recent[0] * _RECENT + 1, recent[1] * _RECENT + find
        known = state.hosts.setdefault(visit.host, [0, 0])
        tallies = [known if visit.depth > 0 else state.seeds]
        if visit.depth > 0:
            if host is None:
                tallies.append(state.new_hosts)
            elif arm is None:
                tallies.append(state.new_arms)
        for tally in tallies:
            tally[0] += 1
            tally[1] += find
        state.requests += 1
        state.growth = state.growth * _KEEP + visit.new_links * (1 - _KEEP)
        for table in (state.arms, state.hosts):
            if len(table) > _MOST_ARMS:
                del table[next(iter(table))]

    def estimate(self, waiting: Iterable[tuple[str, str, int]]) -> Estimate:
        """From the arms that have URLs waiting: arm, host, how many. Known pages to be looked at again do not count."""
        state, links = self._state, self._links()
        base = min(0.5, _rate(links, _rate(state.seeds, 0.5)))  # what waits is no better than what a policy took first
        untried: dict[str, int] = {}
        finds = variance = doubt = sure = sure_variance = 0.0
        urls = 0
        for arm, host, count in waiting:
            if arm.startswith(REVISIT):
                continue
            urls += count
            record = state.arms.get(arm)
            if record is None:
                untried[host] = untried.get(host, 0) + count
                continue
            known = record[0] + _STRENGTH
            mean, spread = _finds(count, _rate(record, self._expected(host, base)), known=known)
            finds += mean
            variance += spread * spread
            mean, spread = _finds(count, _rate(record, 0.0), known=known)
            sure += mean
            sure_variance += spread * spread
        for host, count in untried.items():
            mean, spread = _finds(count, self._expected(host, base), known=_STRENGTH)
            finds += mean
            doubt += spread
        return Estimate(
            finds=finds,
            deviation=sqrt(variance + doubt * doubt),
            tried=sure,
            tried_deviation=sqrt(sure_variance),
            urls=urls,
            growth=round(state.growth, 4),
            requests=state.requests,
            found=round(state.seeds[1] + links[1]),
        )

    def _links(self) -> _Tally:
        """All requests that a link led to."""
        known = self._state.hosts.values()
        return [sum(tally[0] for tally in known), sum(tally[1] for tally in known)]

    def _expected(self, host: str, base: float) -> float:
        """The chance of a link of a host, as far as nothing is known of its arm; `base` is that of any link."""
        state = self._state
        if host not in state.hosts:
            return _rate(state.new_hosts, base)
        first_tries = [one + other for one, other in zip(state.new_arms, state.new_hosts, strict=True)]
        return _rate(state.hosts[host], _rate(first_tries, base))

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(self._state)

    def load(self, state: bytes) -> None:
        self._state = msgspec.msgpack.decode(state, type=_State)


class EarlyStop:
    """Early stop: reached if fewer than the share `below` of the last `after` requests gave relevant pages.

    >>> watch = EarlyStop(after=4, below=0.25)
    >>> for host, find in enumerate((1, 0, 0, 0, 0)):
    ...     watch.add(Visit(number=1, url="", host=str(host), relevant=bool(find)))
    ...     if watch.is_reached:
    ...         print(f"stop at host {host}")
    stop at host 4
    """

    def __init__(self, *, after: int | None, below: float) -> None:
        self._after = after
        self._below = below
        self._last: deque[bool] = deque(maxlen=after)
        self._finds = 0

    def add(self, visit: Visit) -> None:
        if self._after is None or visit.refresh:
            return
        if len(self._last) == self._after:
            self._finds -= self._last[0]
        self._last.append(visit.relevant)
        self._finds += visit.relevant

    @property
    def is_reached(self) -> bool:
        """Return whether the crawl should stop."""
        return self._after is not None and len(self._last) == self._after and self._finds < self._below * self._after

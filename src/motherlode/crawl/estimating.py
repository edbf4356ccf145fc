"""What is left to find: an estimate from what came of URLs like those that still wait; and the moment to give up.

Every arm that has URLs waiting is a sample with a record: of n requests k were finds. The chance of its next one has a
Beta distribution, which starts from the record of its host, that from how arms do at their first try, that from all
requests for links, and that from those for seeds (empirical Bayes). The finds among w waiting URLs are then
Beta-binomial, and the sum over arms has a mean and a variance, of which 95 % are shown (by this model; docs/rewards.md
has what was measured). Seeds count only where nothing else is known: somebody chose them.

Arms that were never tried are the doubtful part. All those of one host stand or fall together, so they count as one;
and what is wrong about one host's may be wrong about all (a policy leaves untried what it thinks little of, a recording
holds a part of a site), so their deviations are added up as they are, not their variances.

The two ends of the range trust different things. The lower end counts what an arm's own finds speak for, and nothing of
what is only supposed: without a find it is 0. The upper end is never below what so few requests could have missed. They
are alike in groups (pages of one host, the first of a site before the deep ones), so ten count as one.

What waits is not all: pages link to pages that nobody has seen. While a request brings more new links than one, nobody
can say how many, nor before some requests have been seen; when it brings ν < 1, each URL that waits stands for
1 / (1 - ν) (the total progeny of a branching process). The estimate is per target, like the finds that it is made from.
A policy that takes the best of an arm first leaves the worse behind: then the estimate is an upper one. Ours takes them
as they come.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from math import sqrt
from typing import Any

import msgspec

from motherlode.frontier import REVISIT
from motherlode.model import Visit

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


def sum_of(parts: Iterable[Estimate]) -> Estimate:
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


class DryWatch:
    """Tells when a crawl has dried out: of its last `after` requests, fewer than the share `below` were finds.

    >>> watch = DryWatch(after=4, below=0.25)
    >>> for host, find in enumerate((1, 0, 0, 0, 0)):
    ...     watch.add(Visit(number=1, url="", host=str(host), relevant=bool(find)))
    ...     if watch.dry:
    ...         print(f"dry at host {host}")
    dry at host 4
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
    def dry(self) -> bool:
        return self._after is not None and len(self._last) == self._after and self._finds < self._below * self._after

"""The seven value functions: what a host is worth, from what its pages gave and what its best waiting page promises.

Each is a product of at most two factors (section 3.2). One comes from the record of the host: C_good and C_bad, the
pages of it that were fetched and did or did not belong to the target class, with priors α = β = 1. The other is *best
score*: the classifier's confidence in the page that would be fetched next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Protocol

import numpy as np

from motherlode.policies.priority_queue import ReadyArms

Factor = Callable[[float, float], float]
"""From good and bad pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueFunction:
    """One line of the table."""

    factor: Factor
    """The record's factor; for Thompson's sampling its expectation, in the place of which a draw is used."""
    by_record: bool = True
    by_best: bool = False
    drawn: bool = False
    """A draw from Beta(good + 1, bad + 1), a new one for every pick."""
    exploration: float = 0.0
    """λ, where the user gives none. Section 5.2: λ > 0 is of no use to functions with the best score, and sampling
    explores by itself."""

    def value(self, good: float, bad: float, best: float) -> float:
        """s(h); not for functions that are drawn."""
        return self.factor(good, bad) * (best if self.by_best else 1.0)


def _success_rate(good: float, bad: float) -> float:
    return (good + 1) / (bad + 1)


def _absolute_good(good: float, bad: float) -> float:
    return good


def _negative_bad(good: float, bad: float) -> float:
    return -bad


def _expected(good: float, bad: float) -> float:
    return (good + 1) / (good + bad + 2)


def _one(good: float, bad: float) -> float:
    return 1.0


FUNCTIONS = {
    "best-score": ValueFunction(factor=_one, by_record=False, by_best=True),
    "success-rate": ValueFunction(factor=_success_rate, exploration=0.1),
    "thompson": ValueFunction(factor=_expected, drawn=True),
    "negative-bad": ValueFunction(factor=_negative_bad),
    "good-best-score": ValueFunction(factor=_absolute_good, by_best=True),
    "thompson-best-score": ValueFunction(factor=_expected, by_best=True, drawn=True),
    "success-best-score": ValueFunction(factor=_success_rate, by_best=True),
}
"""By the names that users type."""


# ── Hosts that are awake, and the one with the highest value: by a sorted structure, or by a draw for each.


class Hosts(Protocol):
    """What a bandit asks of the hosts that are awake."""

    def __contains__(self, host: str) -> bool: ...

    def put(self, host: str, good: float, bad: float, best: float) -> None:
        """A host wakes, or something about it has changed."""
        ...

    def record(self, host: str, good: float, bad: float) -> None:
        """The record of a host that is awake has changed."""
        ...

    def remove(self, host: str) -> None: ...

    def best(self, random: Random) -> str | None: ...

    def any(self, random: Random) -> str | None: ...


class ValuedHosts:
    """For functions whose value changes only when the host does: a pick costs the same for any number of hosts."""

    def __init__(self, function: ValueFunction) -> None:
        self._function = function
        self._ready = ReadyArms()
        self._bests: dict[str, float] = {}
        """Best scores of awake hosts, where record and best score count."""
        self._both = function.by_record and function.by_best

    def __contains__(self, host: str) -> bool:
        return host in self._ready

    def put(self, host: str, good: float, bad: float, best: float) -> None:
        if self._both:
            self._bests[host] = best
        self._ready.put(host, self._function.value(good, bad, best))

    def record(self, host: str, good: float, bad: float) -> None:
        if self._function.by_record:
            best = self._bests[host] if self._both else 0.0
            self._ready.put(host, self._function.value(good, bad, best))

    def remove(self, host: str) -> None:
        self._ready.remove(host)
        if self._both:
            self._bests.pop(host, None)

    def best(self, random: Random) -> str | None:
        return self._ready.best()

    def any(self, random: Random) -> str | None:
        return self._ready.random(random)


class DrawnHosts:
    """For Thompson's sampling: each pick draws once for every host that is awake, all at a time.

    A host without a record has Beta(1, 1), which is the uniform distribution: most hosts of a crawl are drawn cheaply.
    """

    def __init__(self, function: ValueFunction) -> None:
        self._by_best = function.by_best
        self._names: list[str] = []
        self._places: dict[str, int] = {}
        self._columns = np.zeros((3, 64))
        """Good, bad and best of each host."""

    def __contains__(self, host: str) -> bool:
        return host in self._places

    def put(self, host: str, good: float, bad: float, best: float) -> None:
        place = self._places.get(host)
        if place is None:
            place = self._places[host] = len(self._names)
            self._names.append(host)
            if place == self._columns.shape[1]:
                self._columns = np.concatenate((self._columns, np.zeros_like(self._columns)), axis=1)
        self._columns[:, place] = (good, bad, best)

    def record(self, host: str, good: float, bad: float) -> None:
        self._columns[:2, self._places[host]] = (good, bad)

    def remove(self, host: str) -> None:
        place = self._places.pop(host, None)
        if place is None:
            return
        last = self._names.pop()
        if last != host:
            self._columns[:, place] = self._columns[:, len(self._names)]
            self._names[place] = last
            self._places[last] = place

    def best(self, random: Random) -> str | None:
        count = len(self._names)
        if not count:
            return None
        generator = np.random.Generator(np.random.PCG64(random.getrandbits(64)))
        good, bad, best = self._columns[:, :count]
        draws = generator.random(count)
        tried = np.flatnonzero(good + bad)
        draws[tried] = generator.beta(good[tried] + 1, bad[tried] + 1)
        if self._by_best:
            draws *= best
        return self._names[int(draws.argmax())]

    def any(self, random: Random) -> str | None:
        return self._names[random.randrange(len(self._names))] if self._names else None


def hosts_for(function: ValueFunction) -> Hosts:
    return DrawnHosts(function) if function.drawn else ValuedHosts(function)

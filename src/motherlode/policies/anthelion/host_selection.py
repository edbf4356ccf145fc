"""The seven value functions of hosts, and the ready hosts ordered by them.

A value function is a product of at most two factors (section 3.2). One factor depends on the record of the host: C_good
and C_bad, the number of its pages that were and were not relevant, with priors α = β = 1. The other factor is the *best
score*: the classifier's probability for the page of the host that would be fetched next.

Values that depend only on the host are kept in a priority queue. For Thompson sampling, each pick draws a sample for
every ready host.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np

from motherlode.policies.priority_queue import ReadyArms

Factor = Callable[[float, float], float]
"""Maps the numbers of good and bad pages to a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueFunction:
    """One of the seven functions."""

    factor: Factor
    """Factor from the host's numbers of relevant and other pages. For Thompson sampling, its expected value."""
    uses_record: bool = True
    uses_best_score: bool = False
    is_sampled: bool = False
    """Whether the factor is sampled from Beta(good + 1, bad + 1) at every pick."""
    exploration: float = 0.0
    """Default of λ. Section 5.2: functions with the best score do not profit from λ > 0, and sampling explores by
    itself."""

    def value(self, good: float, bad: float, best: float) -> float:
        """Return s(h); for sampled functions, its expectation."""
        return self.factor(good, bad) * (best if self.uses_best_score else 1.0)


def _success_rate(good: float, bad: float) -> float:
    return (good + 1) / (bad + 1)


def _expected(good: float, bad: float) -> float:
    return (good + 1) / (good + bad + 2)


FUNCTIONS = {
    "best-score": ValueFunction(factor=lambda good, bad: 1.0, uses_record=False, uses_best_score=True),
    "success-rate": ValueFunction(factor=_success_rate, exploration=0.1),
    "thompson": ValueFunction(factor=_expected, is_sampled=True),
    "negative-bad": ValueFunction(factor=lambda good, bad: -bad),
    "good-best-score": ValueFunction(factor=lambda good, bad: good, uses_best_score=True),
    "thompson-best-score": ValueFunction(factor=_expected, uses_best_score=True, is_sampled=True),
    "success-best-score": ValueFunction(factor=_success_rate, uses_best_score=True),
}
"""The functions by the names that users type."""


class HostsByValue:
    """Ready hosts for functions that are not sampled. The cost of a pick hardly depends on the number of hosts."""

    def __init__(self, function: ValueFunction) -> None:
        self._function = function
        self._ready = ReadyArms()

    def __contains__(self, host: str) -> bool:
        return host in self._ready

    def put(self, host: str, good: float, bad: float, best: float) -> None:
        """Add a host, or change its record and best score."""
        self._ready.put(host, self._function.value(good, bad, best))

    def remove(self, host: str) -> None:
        """Remove a host, if it is there."""
        self._ready.remove(host)

    def best(self, random: Random) -> str | None:
        """Return the host with the highest value, or None if no host is ready."""
        return self._ready.best()

    def any(self, random: Random) -> str | None:
        """Return a random host, or None if no host is ready."""
        return self._ready.random(random)


class SampledHosts:
    """Ready hosts for Thompson sampling, with the methods of `HostsByValue`.

    Each pick draws one sample for every ready host, in one array operation.

    A host without a record has Beta(1, 1), the uniform distribution, which is cheap to sample. Most hosts have none.
    """

    def __init__(self, function: ValueFunction) -> None:
        self._by_best = function.uses_best_score
        self._names: list[str] = []
        self._column_of: dict[str, int] = {}
        self._columns = np.zeros((3, 64))
        """Good pages, bad pages and best score of each host."""

    def __contains__(self, host: str) -> bool:
        return host in self._column_of

    def put(self, host: str, good: float, bad: float, best: float) -> None:
        column = self._column_of.get(host)
        if column is None:
            column = self._column_of[host] = len(self._names)
            self._names.append(host)
            if column == self._columns.shape[1]:
                self._columns = np.concatenate((self._columns, np.zeros_like(self._columns)), axis=1)
        self._columns[:, column] = (good, bad, best)

    def remove(self, host: str) -> None:
        column = self._column_of.pop(host, None)
        if column is None:
            return
        last = self._names.pop()
        if last != host:
            self._columns[:, column] = self._columns[:, len(self._names)]
            self._names[column] = last
            self._column_of[last] = column

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


def make_ready_hosts(function: ValueFunction) -> HostsByValue | SampledHosts:
    """Return an empty collection of ready hosts for a value function."""
    return SampledHosts(function) if function.is_sampled else HostsByValue(function)

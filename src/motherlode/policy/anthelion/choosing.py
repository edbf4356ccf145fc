"""Hosts that are awake, and the one with the highest value: by a sorted structure, or by a draw for each."""

from __future__ import annotations

from random import Random
from typing import Protocol

import numpy as np

from motherlode.policy.anthelion.functions import ValueFunction
from motherlode.policy.arms import AwakeArms


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
        self._awake = AwakeArms()
        self._bests: dict[str, float] = {}
        """Best scores of awake hosts, where record and best score count."""
        self._both = function.by_record and function.by_best

    def __contains__(self, host: str) -> bool:
        return host in self._awake

    def put(self, host: str, good: float, bad: float, best: float) -> None:
        if self._both:
            self._bests[host] = best
        self._awake.put(host, self._function.value(good, bad, best))

    def record(self, host: str, good: float, bad: float) -> None:
        if self._function.by_record:
            best = self._bests[host] if self._both else 0.0
            self._awake.put(host, self._function.value(good, bad, best))

    def remove(self, host: str) -> None:
        self._awake.remove(host)
        if self._both:
            self._bests.pop(host, None)

    def best(self, random: Random) -> str | None:
        return self._awake.best()

    def any(self, random: Random) -> str | None:
        return self._awake.random(random)


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

"""The arms that are awake, with their values: the best in O(log arms), a random one in O(1)."""

from __future__ import annotations

import heapq
from math import inf
from random import Random


class AwakeArms:
    """A max-heap with lazy deletion beside a list that random choice can index.

    >>> arms = AwakeArms()
    >>> arms.put("a", 1.0); arms.put("b", 2.0); arms.best()
    'b'
    >>> arms.put("b", 0.5); arms.best()
    'a'
    >>> arms.remove("a"); arms.best()
    'b'
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, str]] = []
        self._current: dict[str, tuple[float, int]] = {}
        """Each awake arm's entry in the heap; others there are stale."""
        self._names: list[str] = []
        self._places: dict[str, int] = {}
        self._stamp = 0

    def __contains__(self, arm: str) -> bool:
        return arm in self._current

    def __len__(self) -> int:
        return len(self._names)

    def put(self, arm: str, value: float) -> None:
        """Add an arm, or change its value. Among equal values the arm that got its value first is best."""
        if (
            value != value
        ):  # not a number: comes last, and not never: nothing equals it, so it could not be found again in the heap
            value = -inf
        known = self._current.get(arm)
        if known is not None and known[0] == value:
            return
        if known is None:
            self._places[arm] = len(self._names)
            self._names.append(arm)
        self._stamp += 1
        self._current[arm] = (value, self._stamp)
        heapq.heappush(self._heap, (-value, self._stamp, arm))
        if len(self._heap) > 64 + 4 * len(self._current):
            self._heap = [(-value, stamp, name) for name, (value, stamp) in self._current.items()]
            heapq.heapify(self._heap)

    def remove(self, arm: str) -> None:
        if self._current.pop(arm, None) is None:
            return
        place = self._places.pop(arm)
        last = self._names.pop()
        if last != arm:
            self._names[place] = last
            self._places[last] = place

    def best(self) -> str | None:
        while self._heap:
            value, stamp, arm = self._heap[0]
            if self._current.get(arm) == (-value, stamp):
                return arm
            heapq.heappop(self._heap)
        return None

    def random(self, random: Random) -> str | None:
        """Any awake arm, each as likely as the others."""
        return self._names[random.randrange(len(self._names))] if self._names else None

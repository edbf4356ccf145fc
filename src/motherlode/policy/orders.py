"""Policies that learn nothing: breadth-first, depth-first, random. The yardsticks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import msgspec

from motherlode.model import Feedback, Link, Parent, Rating
from motherlode.policy.arms import AwakeArms
from motherlode.www.urls import host_of


class OrderPolicy:
    """Hosts as arms, and a score that alone decides: the best waiting URL of all hosts that are awake goes next."""

    def __init__(self, score: Callable[[int], float]) -> None:
        self._score = score
        """From the running number of a link to its score."""
        self._count = 0
        self._awake = AwakeArms()

    def rate(self, links: Sequence[Link], parent: Parent | None) -> Sequence[Rating]:
        ratings = []
        for link in links:
            self._count += 1
            ratings.append(Rating(arm=host_of(link.url), score=self._score(self._count)))
        return ratings

    def learn(self, feedback: Feedback) -> None:
        """Nothing is learned."""

    def wake(self, arm: str, best: float, waiting: int) -> None:
        self._awake.put(arm, best)

    def rest(self, arm: str) -> None:
        self._awake.remove(arm)

    def pick(self) -> str | None:
        return self._awake.best()

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(self._count)

    def load(self, state: bytes) -> None:
        self._count = msgspec.msgpack.decode(state, type=int)


def breadth_first() -> OrderPolicy:
    return OrderPolicy(lambda count: -count)


def depth_first() -> OrderPolicy:
    return OrderPolicy(lambda count: count)


def random_order(random: Random) -> OrderPolicy:
    return OrderPolicy(lambda count: random.random())

"""Policies that learn nothing: breadth-first, depth-first and random order. They are the baselines of comparisons.

Also here: the state of a random generator as bytes, so that a resumed crawl continues with the same random numbers.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from random import Random

import msgspec

from motherlode.model import Explanation, Link, Outcome, Rating
from motherlode.policies.priority_queue import ReadyArms
from motherlode.www.urls import host_of


def random_state(random: Random) -> bytes:
    """Serialize the state of a random generator.

    >>> one, other = Random(1), Random(2)
    >>> set_random_state(other, random_state(one)); one.random() == other.random()
    True
    """
    return array("I", random.getstate()[1]).tobytes()


def set_random_state(random: Random, state: bytes) -> None:
    """Restore the state of a random generator. Raises ValueError if the bytes are not such a state."""
    words = array("I")
    words.frombytes(state)
    random.setstate((3, tuple(words), None))


class OrderPolicy:
    """Picks the waiting URL with the highest score among all ready hosts. The arms are hosts."""

    def __init__(self, score: Callable[[int], float], random: Random | None = None, *, says: str = "") -> None:
        self._score = score
        """Maps the number of a link in the order of discovery to its score."""
        self._random = random
        """The generator that `score` uses, if it uses one."""
        self._says = says or "The waiting URL with the highest score is fetched next. Nothing is learned."
        self._count = 0
        self._ready = ReadyArms()

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        ratings = []
        for link in links:
            self._count += 1
            ratings.append(Rating(arm=host_of(link.url), score=self._score(self._count)))
        return ratings

    def learn(self, outcome: Outcome) -> None:
        """Do nothing: this policy does not learn."""

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        self._ready.put(arm, best)

    def arm_snoozed(self, arm: str) -> None:
        self._ready.remove(arm)

    def pick(self) -> str | None:
        return self._ready.best()

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        return Explanation(says=self._says, value=rating.score)

    def dump(self) -> bytes:
        return msgspec.msgpack.encode((self._count, b"" if self._random is None else random_state(self._random)))

    def load(self, state: bytes) -> None:
        self._count, randomness = msgspec.msgpack.decode(state, type=tuple[int, bytes])
        if self._random is not None:
            set_random_state(self._random, randomness)


def breadth_first() -> OrderPolicy:
    """Return the policy that fetches URLs in the order of their discovery."""
    says = "Breadth-first: URLs are fetched in the order of their discovery. Nothing is learned."
    return OrderPolicy(lambda count: -count, says=says)


def depth_first() -> OrderPolicy:
    """Return the policy that fetches URLs in the reverse order of their discovery."""
    says = "Depth-first: URLs are fetched in the reverse order of their discovery. Nothing is learned."
    return OrderPolicy(lambda count: count, says=says)


def random_order(random: Random) -> OrderPolicy:
    """Return the policy that fetches URLs in random order."""
    says = (
        "Random: each URL gets a random number when it is found, and the highest is fetched first. Nothing is learned."
    )
    return OrderPolicy(lambda count: random.random(), random, says=says)

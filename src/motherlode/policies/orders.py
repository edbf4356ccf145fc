"""The state of a random generator as bytes, so that a crawl which is taken up again goes on as it would have."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from random import Random

import msgspec

from motherlode.model import Explanation, Link, Outcome, Rating
from motherlode.policies.priority_queue import ReadyArms
from motherlode.www.urls import host_of


def random_state(random: Random) -> bytes:
    """
    >>> one, other = Random(1), Random(2)
    >>> set_random_state(other, random_state(one)); one.random() == other.random()
    True
    """
    return array("I", random.getstate()[1]).tobytes()


def set_random_state(random: Random, state: bytes) -> None:
    words = array("I")
    words.frombytes(state)
    random.setstate((3, tuple(words), None))


# ── Policies that learn nothing: breadth-first, depth-first, random. The yardsticks.


class OrderPolicy:
    """Hosts as arms, and a score that alone decides: the best waiting URL of all hosts that are awake goes next."""

    def __init__(self, score: Callable[[int], float], random: Random | None = None, *, says: str = "") -> None:
        self._score = score
        """From the running number of a link to its score."""
        self._random = random
        """What the score draws from."""
        self._says = says or "The waiting URL with the highest score goes next; nothing is learned."
        self._count = 0
        self._awake = ReadyArms()

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        ratings = []
        for link in links:
            self._count += 1
            ratings.append(Rating(arm=host_of(link.url), score=self._score(self._count)))
        return ratings

    def learn(self, outcome: Outcome) -> None:
        """Nothing is learned."""

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        self._awake.put(arm, best)

    def arm_snoozed(self, arm: str) -> None:
        self._awake.remove(arm)

    def pick(self) -> str | None:
        return self._awake.best()

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        return Explanation(says=self._says, value=rating.score)

    def dump(self) -> bytes:
        return msgspec.msgpack.encode((self._count, b"" if self._random is None else random_state(self._random)))

    def load(self, state: bytes) -> None:
        self._count, randomness = msgspec.msgpack.decode(state, type=tuple[int, bytes])
        if self._random is not None:
            set_random_state(self._random, randomness)


def breadth_first() -> OrderPolicy:
    says = "Breadth-first: what was found first goes first, whatever it is; nothing is learned."
    return OrderPolicy(lambda count: -count, says=says)


def depth_first() -> OrderPolicy:
    says = "Depth-first: what was found last goes first, whatever it is; nothing is learned."
    return OrderPolicy(lambda count: count, says=says)


def random_order(random: Random) -> OrderPolicy:
    says = "Random: every URL drew a number when it was found, and the highest goes first; nothing is learned."
    return OrderPolicy(lambda count: random.random(), random, says=says)

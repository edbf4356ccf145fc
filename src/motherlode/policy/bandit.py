"""The bandit over hosts of Meusel, Mika and Blanco (2014), section 3: each host is an arm, worth what it has given.

With probability λ a random host is picked, otherwise the one with the highest value. λ may decay: λ·m / (t + m)
after t picks.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from random import Random

import msgspec

from motherlode.model import FailureKind, Feedback, Link, Parent, Rating
from motherlode.policy.arms import AwakeArms
from motherlode.www.urls import host_of


class SuccessRateBandit:
    """Value of a host: (good + 1) / (bad + 1), the paper's success rate. Inside a host: first found, first fetched."""

    def __init__(self, *, random: Random, exploration: float = 0.1, decay: float | None = None) -> None:
        if not 0 <= exploration <= 1:
            raise ValueError(f"λ is a probability, from 0 to 1; got {exploration}")
        if decay is not None and not 0 < decay < inf:
            raise ValueError(f"the decay m is a number greater than 0; got {decay}")
        self._random = random
        self._exploration = exploration
        self._decay = decay
        self._awake = AwakeArms()
        self._record: dict[str, list[int]] = {}
        """Good and bad pages of each host."""
        self._picks = 0
        self._count = 0

    def _value(self, arm: str) -> float:
        good, bad = self._record.get(arm, (0, 0))
        return (good + 1) / (bad + 1)

    def exploration_now(self) -> float:
        """λ after the picks so far."""
        if self._decay is None:
            return self._exploration
        return self._exploration * self._decay / (self._picks + self._decay)

    def rate(self, links: Sequence[Link], parent: Parent | None) -> Sequence[Rating]:
        ratings = []
        for link in links:
            self._count += 1
            ratings.append(Rating(arm=host_of(link.url), score=-self._count))
        return ratings

    def learn(self, feedback: Feedback) -> None:
        if feedback.failure is FailureKind.REDIRECT:
            return  # says nothing about what the target holds
        record = self._record.setdefault(feedback.arm, [0, 0])
        record[0 if feedback.relevant else 1] += 1
        if feedback.arm in self._awake:
            self._awake.put(feedback.arm, self._value(feedback.arm))

    def wake(self, arm: str, best: float, waiting: int) -> None:
        self._awake.put(arm, self._value(arm))

    def rest(self, arm: str) -> None:
        self._awake.remove(arm)

    def pick(self) -> str | None:
        explore = self._random.random() < self.exploration_now()
        arm = self._awake.random(self._random) if explore else self._awake.best()
        if arm is not None:
            self._picks += 1
        return arm

    def dump(self) -> bytes:
        return msgspec.msgpack.encode((self._record, self._picks, self._count))

    def load(self, state: bytes) -> None:
        self._record, self._picks, self._count = msgspec.msgpack.decode(
            state, type=tuple[dict[str, list[int]], int, int]
        )

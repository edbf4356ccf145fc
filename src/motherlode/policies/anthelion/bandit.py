"""The bandit over hosts: algorithm 1 of the paper.

With probability λ any host that is awake is picked, otherwise the one with the highest value; in it goes the page that
the classifier rates highest. λ may decay: after t picks it is λ·m / (t + m). The program that the authors published
compares every host with zero instead of the best so far, and so takes the last in its hash map; this one takes the
best, which the tests check against a look at all hosts.

The paper's web has no redirects. Here a redirect counts as a page without data in the record of its host, because it
was a request that gave none; and if it led to another host and there to data, the host that redirected has a find, too.
Otherwise a host that answers every second request with a redirect would look as good as one that answers all with data.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from random import Random

import msgspec

from motherlode.model import Explanation, Link, LinkSource, Outcome, Rating, SummaryLine
from motherlode.policies.anthelion.bandit_explanation import explain, lessons
from motherlode.policies.anthelion.host_selection import ValueFunction, hosts_for
from motherlode.policies.anthelion.url_classifier import Rater
from motherlode.policies.model_io import NotCombinedError
from motherlode.policies.orders import random_state, set_random_state
from motherlode.www.urls import host_of

Record = tuple[float, float]
_NO_RECORD: Record = (0, 0)
_State = tuple[bytes, dict[str, Record], dict[str, str], int, bytes]


class HostBandit:
    """Hosts by value, pages inside them by rating."""

    def __init__(
        self,
        *,
        rater: Rater,
        function: ValueFunction,
        random: Random,
        exploration: float | None = None,
        decay: float | None = None,
    ) -> None:
        exploration = function.exploration if exploration is None else exploration
        if not 0 <= exploration <= 1:
            raise ValueError(f"λ is a probability, from 0 to 1; got {exploration}")
        if decay is not None and not 0 < decay < inf:
            raise ValueError(f"the decay m is a number greater than 0; got {decay}")
        self.rater = rater
        self._random = random
        self._exploration = exploration
        self._decay = decay
        self.function = function
        self._hosts = hosts_for(function)
        self._keeps_records = function.by_record
        self.records: dict[str, Record] = {}
        """Good and bad pages of each host; a reward between 0 and 1 counts in parts for both."""
        self._news: dict[str, Record] = {}
        """What `delta` has not told yet."""
        self._best: dict[str, float] = {}
        """Scores of the best pages, where they count and hosts are awake."""
        self._led_here: dict[str, str] = {}
        """URLs that a redirect on another host led to, and that host."""
        self._at_pick: dict[str, float] = {}
        """What each host was worth when it was last picked: once its page is taken, its best one is another."""
        self._picks = 0

    def exploration_now(self) -> float:
        """λ after the picks so far."""
        if self._decay is None:
            return self._exploration
        return self._exploration * self._decay / (self._picks + self._decay)

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        if self._keeps_records and parent is not None and len(links) == 1 and links[0].source is LinkSource.REDIRECT:
            self._remember(links[0].url, parent)
        return self.rater.rate(links, parent)

    def _remember(self, url: str, redirecting: Outcome) -> None:
        first = self._led_here.pop(redirecting.url, redirecting.host)
        if first != host_of(url):
            self._led_here[url] = first

    def learn(self, outcome: Outcome) -> None:
        self.rater.learn(outcome)
        if not self._keeps_records:
            return
        reward = outcome.reward
        self._learned(outcome.arm, good=reward, bad=1 - reward)
        led = self._led_here.pop(outcome.url, None) if self._led_here else None
        if led is not None and reward:
            self._learned(led, good=reward, bad=0)

    def _learned(self, host: str, *, good: float, bad: float) -> None:
        self._record(host, good=good, bad=bad)
        known = self._news.get(host, _NO_RECORD)
        self._news[host] = known[0] + good, known[1] + bad

    def _record(self, host: str, *, good: float, bad: float) -> None:
        known = self.records.get(host, _NO_RECORD)
        good, bad = self.records[host] = known[0] + good, known[1] + bad
        if host in self._hosts:
            self._hosts.record(host, good, bad)

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        good, bad = self.records.get(arm, _NO_RECORD)
        if self.function.by_best:
            self._best[arm] = best
        self._hosts.put(arm, good, bad, best)

    def arm_snoozed(self, arm: str) -> None:
        self._hosts.remove(arm)
        self._best.pop(arm, None)

    def pick(self) -> str | None:
        exploration = self.exploration_now()
        explore = exploration > 0 and self._random.random() < exploration
        arm = self._hosts.any(self._random) if explore else self._hosts.best(self._random)
        if arm is not None:
            self._picks += 1
            self._at_pick[arm] = self.value_now(arm) or 0.0
        return arm

    def merge_records(self, records: dict[str, Record]) -> None:
        """Add what another crawl found at its hosts."""
        for host, (good, bad) in records.items():
            self._record(host, good=good, bad=bad)

    def delta(self) -> bytes:
        """Finds at hosts since the last call: a redirect may have led here from a host that another shard owns."""
        news, self._news = self._news, {}
        return msgspec.msgpack.encode(news) if news else b""

    def absorb(self, delta: bytes) -> None:
        self.merge_records(msgspec.msgpack.decode(delta, type=dict[str, Record]) if delta else {})

    def dump(self) -> bytes:
        state = (self.rater.dump(), self.records, self._led_here, self._picks, random_state(self._random))
        return msgspec.msgpack.encode(state)

    def load(self, state: bytes) -> None:
        rated, self.records, self._led_here, self._picks, randomness = msgspec.msgpack.decode(state, type=_State)
        self.rater.load(rated)
        set_random_state(self._random, randomness)

    def merge(self, state: bytes) -> None:
        """Add the records of another crawl, and what its classifier has learned."""
        rated, records, _, _, _ = msgspec.msgpack.decode(state, type=_State)
        merge = getattr(self.rater, "merge", None)
        if merge is None:
            raise NotCombinedError("its classifier is no sum of what it has seen")
        merge(rated)
        self.merge_records(records)

    def value(self, arm: str) -> float:
        """What a host was worth when it was last picked; what it is worth now, where it was not."""
        picked = self._at_pick.get(arm)
        return self.value_now(arm) or 0.0 if picked is None else picked

    def value_now(self, arm: str) -> float | None:
        """s(h) as the record and the best waiting page make it; for a drawn function, its expectation.

        None where the best page counts and none waits, or the host must rest.
        """
        if self.function.by_best and arm not in self._best:
            return None
        return self.function.value(*self.records.get(arm, _NO_RECORD), self._best.get(arm, 0.0))

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        return explain(self, link, rating)

    def summary(self, most: int) -> Sequence[SummaryLine]:
        return lessons(self, most)

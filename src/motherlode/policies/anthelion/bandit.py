"""The bandit over hosts: algorithm 1 of the paper.

With probability λ the bandit picks a random ready host, otherwise the host with the highest value. In the host, the
page with the highest rating of the classifier is fetched. λ may decay: after t picks it is λ·m / (t + m). The authors'
published program compares each host with zero instead of the best host so far, so it takes the last host of its hash
map. This one takes the best host; tests compare it with an exhaustive search.

The paper does not mention redirects. Here a redirect counts as a page without data for its host, because it cost a
request. If it leads to a relevant page on another host, the redirecting host also gets the reward. Without this rule, a
host that responds to every second request with a redirect would look as good as a host that always returns data.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from random import Random

import msgspec

from motherlode.model import Combines, Explanation, Link, LinkSource, Outcome, Rating, SummaryLine
from motherlode.policies.anthelion.bandit_explanation import explain_link, summarize
from motherlode.policies.anthelion.host_selection import ValueFunction, make_ready_hosts
from motherlode.policies.anthelion.url_classifier import Rater
from motherlode.policies.model_io import NotCombinedError
from motherlode.policies.orders import random_state, set_random_state
from motherlode.www.urls import host_of

Record = tuple[float, float]
_NO_RECORD: Record = (0, 0)
_State = tuple[bytes, dict[str, Record], dict[str, str], int, bytes]


class HostBandit:
    """Picks hosts by value, and pages within a host by rating. The arms are hosts."""

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
            raise ValueError(f"λ is a probability from 0 to 1; got {exploration}")
        if decay is not None and not 0 < decay < inf:
            raise ValueError(f"the decay m is a number greater than 0; got {decay}")
        self.rater = rater
        self._random = random
        self._exploration = exploration
        self._decay = decay
        self.function = function
        self._hosts = make_ready_hosts(function)
        self._keeps_records = function.uses_record
        self.records: dict[str, Record] = {}
        """Number of good and bad pages of each host. A reward between 0 and 1 is divided between both."""
        self._delta: dict[str, Record] = {}
        """Good and bad pages since the last call of `delta`."""
        self._best: dict[str, float] = {}
        """Score of the best page of each ready host, if the value function uses it."""
        self._redirected_from: dict[str, str] = {}
        """Targets of redirects from other hosts, with the first redirecting host."""
        self._value_at_pick: dict[str, float] = {}
        """Value of each host at its last pick. After a pick, the host has another best page."""
        self._picks = 0

    def exploration_now(self) -> float:
        """Return λ after the picks so far."""
        if self._decay is None:
            return self._exploration
        return self._exploration * self._decay / (self._picks + self._decay)

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        if self._keeps_records and parent is not None and len(links) == 1 and links[0].source is LinkSource.REDIRECT:
            self._remember_redirect(links[0].url, parent)
        return self.rater.rate(links, parent)

    def _remember_redirect(self, url: str, redirecting: Outcome) -> None:
        first = self._redirected_from.pop(redirecting.url, redirecting.host)
        if first != host_of(url):
            self._redirected_from[url] = first

    def learn(self, outcome: Outcome) -> None:
        self.rater.learn(outcome)
        if not self._keeps_records:
            return
        reward = outcome.reward
        self._count_and_share(outcome.arm, good=reward, bad=1 - reward)
        led = self._redirected_from.pop(outcome.url, None) if self._redirected_from else None
        if led is not None and reward:
            self._count_and_share(led, good=reward, bad=0)

    def _count_and_share(self, host: str, *, good: float, bad: float) -> None:
        self._count(host, good=good, bad=bad)
        known = self._delta.get(host, _NO_RECORD)
        self._delta[host] = known[0] + good, known[1] + bad

    def _count(self, host: str, *, good: float, bad: float) -> None:
        known = self.records.get(host, _NO_RECORD)
        good, bad = self.records[host] = known[0] + good, known[1] + bad
        if host in self._hosts:
            self._hosts.record(host, good, bad)

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        good, bad = self.records.get(arm, _NO_RECORD)
        if self.function.uses_best_score:
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
            self._value_at_pick[arm] = self.value_now(arm) or 0.0
        return arm

    def merge_records(self, records: dict[str, Record]) -> None:
        """Add the records of hosts of another crawl."""
        for host, (good, bad) in records.items():
            self._count(host, good=good, bad=bad)

    def delta(self) -> bytes:
        """Return the records since the last call, for other shards: a redirect may come from a host of another
        shard."""
        news, self._delta = self._delta, {}
        return msgspec.msgpack.encode(news) if news else b""

    def absorb(self, delta: bytes) -> None:
        self.merge_records(msgspec.msgpack.decode(delta, type=dict[str, Record]) if delta else {})

    def dump(self) -> bytes:
        state = (self.rater.dump(), self.records, self._redirected_from, self._picks, random_state(self._random))
        return msgspec.msgpack.encode(state)

    def load(self, state: bytes) -> None:
        rated, self.records, self._redirected_from, self._picks, randomness = msgspec.msgpack.decode(state, type=_State)
        self.rater.load(rated)
        set_random_state(self._random, randomness)

    def merge(self, state: bytes) -> None:
        """Add the records and the classifier state of another crawl.

        Raises NotCombinedError if the classifier cannot be merged.
        """
        rated, records, _, _, _ = msgspec.msgpack.decode(state, type=_State)
        if not isinstance(self.rater, Combines):
            raise NotCombinedError("the state of its classifier is not a sum")
        self.rater.merge(rated)
        self.merge_records(records)

    def value(self, arm: str) -> float:
        """Return the value of a host at its last pick, or its current value if it was never picked."""
        picked = self._value_at_pick.get(arm)
        return self.value_now(arm) or 0.0 if picked is None else picked

    def value_now(self, arm: str) -> float | None:
        """Return the current value s(h) of a host; for a sampled function, its expectation.

        None if the function uses the best page and the host is not ready.
        """
        if self.function.uses_best_score and arm not in self._best:
            return None
        return self.function.value(*self.records.get(arm, _NO_RECORD), self._best.get(arm, 0.0))

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        return explain_link(self, link, rating)

    def summary(self, most: int) -> Sequence[SummaryLine]:
        return summarize(self, most)

"""The bandit over hosts: algorithm 1 of the paper.

With probability λ the bandit picks a random ready host, otherwise the host with the highest value. In the host, the
page with the highest rating of the classifier is fetched. λ may decay: after t picks it is λ·m / (t + m). The authors'
published program compares each host with zero instead of the best host so far, so it takes the last host of its hash
map. This one takes the best host; tests compare it with an exhaustive search.

The paper does not mention redirects. Here a redirect counts as a page without data for its host, because it cost a
request. If it leads to a relevant page on another host, the redirecting host also gets the reward. Without this rule, a
host that responds to every second request with a redirect would look as good as a host that always returns data.

*Value functions.* The seven functions of section 3.2 are products of at most two factors. One factor depends on the
record of the host: C_good and C_bad, the number of its pages that were and were not relevant, with priors α = β = 1.
The other factor is the *best score*: the classifier's probability for the page of the host that would be fetched next.
Values that depend only on the host are kept in a priority queue. For Thompson sampling, each pick draws a sample for
every ready host.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from random import Random

import msgspec
import numpy as np

from motherlode.model import Combines, Explanation, Link, LinkSource, Outcome, Rating, Reason, SummaryLine
from motherlode.policies.anthelion.classifiers import NaiveBayes
from motherlode.policies.anthelion.url_classifier import (
    DEFAULT_TOKENS,
    PARENT_BAD,
    PARENT_GOOD,
    PARENT_SIZES,
    PARENTS_GOOD,
    SIBLING_BAD,
    SIBLING_GOOD,
    SIBLING_SIZES,
    SIBLINGS_GOOD,
    Classifier,
    OnlineRater,
    Rater,
    TokenRules,
    decode_row,
    token_index,
)
from motherlode.policies.model_io import NotCombinedError, best_and_worst, random_state, set_random_state
from motherlode.policies.priority_queue import ReadyArms
from motherlode.www.urls import host_of

Factor = Callable[[float, float], float]
"""Maps the numbers of good (relevant) and bad (other) pages of a host to a factor of its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueFunction:
    """A value function of section 3.2: it gives each host a value, by which the bandit picks."""

    factor: Factor
    """Factor from the host's numbers of relevant and other pages. For Thompson sampling, its expected value."""
    uses_record: bool = True
    uses_best_score: bool = False
    is_sampled: bool = False
    """Whether the factor is sampled from Beta(good + 1, bad + 1) at every pick."""
    exploration: float = 0.0
    """Default of λ, the probability of a random pick. By section 5.2 of the paper, functions with the best score do not
    profit from λ > 0. Thompson sampling explores by itself."""

    def value(self, good: float, bad: float, best: float) -> float:
        """Return s(h), the value of a host (section 3.2 of the paper); for sampled functions, its expectation."""
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
"""The seven value functions of section 3.2, by the names that users type."""


class HostsByValue:
    """Ready hosts for value functions without sampling. The cost of a pick hardly depends on the number of hosts."""

    def __init__(self, function: ValueFunction) -> None:
        self._function = function
        self._ready = ReadyArms()

    def __contains__(self, host: str) -> bool:
        return host in self._ready

    def put(self, host: str, good: float, bad: float, best: float) -> None:
        """Add a host, or change its record and best score."""
        self._ready.put(host, self._function.value(good, bad, best))

    def remove(self, host: str) -> None:
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


Record = tuple[float, float]
_NO_RECORD: Record = (0, 0)
_LABELS = {
    PARENT_GOOD: "the page that links here is relevant",
    PARENT_BAD: "the page that links here is not relevant",
    SIBLING_GOOD: "a sibling is relevant",
    SIBLING_BAD: "a sibling is not relevant",
    **{number: f"about {1 << (number - SIBLINGS_GOOD)} siblings are relevant" for number in SIBLING_SIZES},
    **{number: f"about {1 << (number - PARENTS_GOOD)} pages that link here are relevant" for number in PARENT_SIZES},
}
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
        self.records: dict[str, Record] = {}
        """Number of good and bad pages of each host. A reward between 0 and 1 is divided between both."""
        self._delta: dict[str, Record] = {}
        """Good and bad pages since the last call of `delta`."""
        self._best: dict[str, float] = {}
        """Score of the best page of each ready host, if the value function uses it."""
        self._redirected_from: dict[str, str] = {}
        """Target of a redirect from another host → the host that redirected first."""
        self._value_at_pick: dict[str, float] = {}
        """Value of each host at its last pick. After a pick, the host has another best page."""
        self._picks = 0

    def exploration_now(self) -> float:
        """Return λ after the picks so far."""
        if self._decay is None:
            return self._exploration
        return self._exploration * self._decay / (self._picks + self._decay)

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        if (
            self.function.uses_record
            and parent is not None
            and len(links) == 1
            and links[0].source is LinkSource.REDIRECT
        ):
            self._remember_redirect(links[0].url, parent)
        return self.rater.rate(links, parent)

    def _remember_redirect(self, url: str, redirecting: Outcome) -> None:
        first = self._redirected_from.pop(redirecting.url, redirecting.host)
        if first != host_of(url):
            self._redirected_from[url] = first

    def learn(self, outcome: Outcome) -> None:
        self.rater.learn(outcome)
        if not self.function.uses_record:
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
            self._hosts.put(host, good, bad, self._best.get(host, 0.0))

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
        for host, (good, bad) in records.items():
            self._count(host, good=good, bad=bad)

    def delta(self) -> bytes:
        """Return the records since the last call, for other shards: a redirect may come from one of their hosts."""
        delta, self._delta = self._delta, {}
        return msgspec.msgpack.encode(delta) if delta else b""

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

    def _online_classifier(self) -> Classifier | None:
        return self.rater.classifier if isinstance(self.rater, OnlineRater) else None

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        good, bad = self.records.get(rating.arm, (0, 0))
        classifier = self._online_classifier()
        now = None if classifier is None else float(classifier.scores([rating.policy_state])[0])
        function = self.function
        factors = {"its record": function.uses_record, "its best page": function.uses_best_score}
        value = self.value_now(rating.arm)
        notes = {
            "the classifier is trained once and has no weights to show": classifier is None,
            "no page of its host is ready, so the host has no value now": value is None,
        }
        return Explanation(
            says=f"The host with the highest value is fetched from next. The value depends on "
            f"{' and '.join(name for name, is_used in factors.items() if is_used)}"
            f"{' (sampled at each pick)' if function.is_sampled else ''}. With a probability of "
            f"{self.exploration_now():.3f} a random host is taken. In the host, the page with the highest rating of "
            "the classifier goes first.",
            reasons=self._weights(classifier, link, rating) if isinstance(classifier, NaiveBayes) else (),
            prior=now,
            posterior=now,
            value=value,
            record={"good": good, "bad": bad} if function.uses_record else {},
            notes=tuple(note for note, holds in notes.items() if holds),
        )

    def summary(self, most: int) -> Sequence[SummaryLine]:
        """Return tables of the pages learned from, the weights of labels, and the records of hosts.

        Tokens are hashed, so their names are not known.
        """
        found = []
        classifier = self._online_classifier()
        if isinstance(classifier, NaiveBayes):
            bad, good = classifier.pages
            found.append(
                SummaryLine(title="pages", columns=("class", "pages"), rows=(("relevant", good), ("others", bad)))
            )
            labels = self._names_of_labels().items()
            weights = [(name, round(classifier.weight(number), 3)) for number, name in labels]
            rows = tuple(one for one in sorted(weights, key=lambda one: -abs(one[1])) if one[1])[:most]
            found.append(SummaryLine(title="labels of pages around", columns=("feature", "weight"), rows=rows))
        records = sorted(self.records.items(), key=lambda one: (-(one[1][0] + 1) / (sum(one[1]) + 2), one[0]))
        hosts = [(host, round(good, 3), round(bad, 3)) for host, (good, bad) in records]
        return [*found, *best_and_worst("hosts", ("host", "good", "bad"), hosts, most)]

    def _token_rules(self) -> TokenRules:
        return self.rater.features.rules if isinstance(self.rater, OnlineRater) else DEFAULT_TOKENS

    def _names_of_labels(self) -> dict[int, str]:
        shift = self._token_rules().shift
        return {number + shift: name for number, name in _LABELS.items()}

    def _weights(self, model: NaiveBayes, link: Link, rating: Rating) -> tuple[Reason, ...]:
        rules = self._token_rules()
        names = {token_index(token, rules.hashes): f"token {token}" for token in rules.tokens(link.url)}
        names |= self._names_of_labels()
        reasons = [
            Reason(name=names.get(feature, f"feature {feature}"), weight=model.weight(feature), about="is a find")
            for feature in dict.fromkeys(decode_row(rating.policy_state))
        ]
        return tuple(sorted(reasons, key=lambda reason: -abs(reason.weight)))

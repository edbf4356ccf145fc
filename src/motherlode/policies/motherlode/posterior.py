"""The probability that the next link of an arm leads to a relevant page, and the sums from which it is computed.

docs/policy.md, sections 2 to 4, has the formulas. The probability is a product, P(page)·P(relevant | page), because a
failed request says nothing about whether the pages of a host are relevant. For each of the two factors:

1. *Features.* Logistic regression over the features of the arm, learned by FTRL-Proximal (`policies/ftrl.py`).
2. *Host.* P(relevant) is corrected by the lift of the host: how much better it is than its features predict. P(page) is
   multiplied by the presence, the probability that the host responds at all.
3. *Arm and hub.* The decayed counts of the base arm, and then of the hub arm, gradually replace the prediction.

So a new host starts with what links of this kind did elsewhere. One good template does not make a whole host good, and
one dead hub does not make a good template bad.

What is learned is kept in `PolicyStatistics`, with the field names of format 1, which are given by `rename`. The module
`model_merge` says how the states of two crawls are merged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from math import log, sqrt
from sys import float_info
from typing import Final, NamedTuple, TypeVar

import msgspec

from motherlode.model import FailureKind, Outcome
from motherlode.policies.ftrl import sigmoid, weight_from_sums, z_increment
from motherlode.policies.motherlode.arm_key import GENERAL_FEATURES, ArmKey, Features, host_of_arm, host_of_feature
from motherlode.policies.motherlode.config import PolicyConfig
from motherlode.policies.motherlode.redirect_rules import RedirectRule, RedirectRules

RESPONSE: Final = 0
"""The predicted event "a request returns a page". The number is the index of the event's z in the sums of a feature;
its n follows (z and n are the sums of FTRL, see `policies.ftrl`)."""
RELEVANCE: Final = 2
"""The predicted event "a page is relevant", as an index like RESPONSE."""

_MAX_LINKED_ARMS = 48
_MAX_WEIGHT = 1e12
"""If the weight of the last try exceeds this, all weights of its arm are rescaled, to avoid an overflow."""

Sums = list[float]


class Tally(msgspec.Struct, gc=False):
    """Decayed counts of how often an event did (`yes`) and did not (`no`) happen: the latest results count most."""

    yes: float = 0.0
    no: float = 0.0

    def count(self, result: float, *, retention: float, share: float = 1.0) -> None:
        """Count a result: 0 for no, 1 for yes, in between for a partial yes. Earlier results decay by `retention`.

        Both counts decay with every result, so that their ratio is an unbiased estimate of a constant rate.

        >>> tally = Tally()
        >>> for result in (1.0, 1.0, 0.0):
        ...     tally.count(result, retention=0.5)
        >>> tally
        Tally(yes=0.75, no=1.0)
        """
        self.yes = self.yes * retention + result * share
        self.no = self.no * retention + (1.0 - result) * share

    def probability(self, prior: float, *, prior_tries: float) -> float:
        """Return the probability that the next result is yes: the mean of the counts and `prior_tries` at the prior."""
        return (self.yes + prior_tries * prior) / (self.yes + self.no + prior_tries)

    def add(self, other: Tally) -> None:
        self.yes += other.yes
        self.no += other.no


def _log_odds(probability: float) -> float:
    """Return the log-odds of a probability that is limited to what floats distinguish from 0 and 1."""
    limited = min(1.0 - float_info.epsilon, max(float_info.epsilon, probability))
    return log(limited / (1.0 - limited))


_HOST_NAMES = {"responses": "answers", "pages": "seen", "reward": "found", "expected_reward": "hoped"}


class HostStatistics(msgspec.Struct, gc=False, rename=_HOST_NAMES):
    """Totals of a host over all its arms.

    `pages`, `reward` and `expected_reward` are weighted sums: the n-th page of an arm counts 1/n, because many pages of
    one template say little about the other templates of the host.
    """

    tries: int = 0
    """Requests that did not end with a redirect."""
    responses: int = 0
    """Requests that returned a page or a redirect."""
    pages: float = 0.0
    reward: float = 0.0
    expected_reward: float = 0.0
    """Sum of the rewards that the features alone predicted."""

    def lift(self, prior_tries: float) -> float:
        """Return by how much the rewards of a host exceed the predictions from features, as a difference of log-odds.

        The mean reward is smoothed by `prior_tries` pages with the predicted reward.
        """
        if not prior_tries or not self.pages:
            return 0.0
        expected = self.expected_reward / self.pages
        now = (self.reward + prior_tries * expected) / (self.pages + prior_tries)
        return _log_odds(now) - _log_odds(expected)

    def add(self, other: HostStatistics) -> None:
        self.tries += other.tries
        self.responses += other.responses
        self.pages += other.pages
        self.reward += other.reward
        self.expected_reward += other.expected_reward


_ARM_NAMES = {"reward": "finds", "responses": "answered", "relevant": "found", "new_links": "led_to"}


class ArmStatistics(msgspec.Struct, gc=False, rename=_ARM_NAMES | {"total_weight": "pages"}):
    """Results of an arm's links."""

    tries: int = 0
    reward: float = 0
    """Sum of the rewards: the number of relevant pages, unless the user wants graded rewards."""
    responses: Tally = msgspec.field(default_factory=Tally)
    """Counts of requests that did and did not return a page."""
    relevant: Tally = msgspec.field(default_factory=Tally)
    """Counts of pages that were and were not relevant."""
    new_links: dict[str, float] = msgspec.field(default_factory=dict)
    """New links on the pages of the arm, by the arm of the link, each multiplied by the weight of its page."""
    total_weight: float = 0.0
    """Sum of the weights of all tries."""
    weight: float = 1.0
    """Weight of the last try. Weights grow from try to try, so that early pages count less and less: on a site that is
    nearly crawled, pages have few new links, however many the first pages had."""

    def count(self, *, reward: float, retention: float) -> None:
        """Count a try. Earlier tries are multiplied by `retention`, by giving the new try a higher weight."""
        self.tries += 1
        self.reward += reward
        self.weight /= retention
        self.total_weight += self.weight
        if self.weight > _MAX_WEIGHT:
            self._scale(1.0 / self.weight)

    def _scale(self, factor: float) -> None:
        self.weight *= factor
        self.total_weight *= factor
        self.new_links = {arm: links * factor for arm, links in self.new_links.items()}

    def links_per_page(self, *, empty_pages: float) -> dict[str, float]:
        """Return the expected number of new links on the next page by arm, as if `empty_pages` more pages had none."""
        sums, pages = self.sums_of_links(empty_pages=empty_pages)
        return {arm: links / pages for arm, links in sums.items()}

    def sums_of_links(self, *, empty_pages: float = 0.0) -> tuple[dict[str, float], float]:
        """Return numerators and the denominator of `links_per_page`; no numerators and 1 if there is no page."""
        pages = self.total_weight + empty_pages * self.weight
        return (self.new_links, pages) if pages else ({}, 1.0)

    def add_links(self, links_by_arm: Mapping[str, float]) -> None:
        """Add the new links of the last page. If there are too many arms, keep those with the most links."""
        known = self.new_links
        for arm, links in links_by_arm.items():
            known[arm] = known.get(arm, 0.0) + links * self.weight
        if len(known) > _MAX_LINKED_ARMS:
            self.new_links = dict(sorted(known.items(), key=lambda item: -item[1])[:_MAX_LINKED_ARMS])

    def add(self, other: ArmStatistics) -> None:
        """Add the results that another shard of the same crawl had meanwhile. Rescales `other`."""
        self.tries += other.tries
        self.reward += other.reward
        self.responses.add(other.responses)
        self.relevant.add(other.relevant)
        other._scale(1.0 / other.weight)
        self._scale(1.0 / self.weight)
        self.total_weight += other.total_weight
        self.add_links(other.new_links)


_NO_STATISTICS = ArmStatistics()


class PolicyStatistics(msgspec.Struct, gc=False, rename={"hub_arms": "lists", "unseen_hosts": "strangers"}):
    """All that a crawl has learned."""

    arms: dict[str, ArmStatistics] = msgspec.field(default_factory=dict)
    """Statistics of each base arm."""
    features: dict[str, Sums] = msgspec.field(default_factory=dict)
    """Feature → FTRL's z and n for RESPONSE, then z and n for RELEVANCE."""
    hub_arms: dict[str, ArmStatistics] = msgspec.field(default_factory=dict)
    """Statistics of each hub arm. Its results are counted in its base arm, too."""
    families: dict[str, ArmStatistics] = msgspec.field(default_factory=dict)
    """Statistics of each family: the arms of a host with the same extension (`ArmKey.family`)."""
    hosts: dict[str, HostStatistics] = msgspec.field(default_factory=dict)
    unseen_hosts: Tally = msgspec.field(default_factory=Tally)
    """Counts of hosts, found by cross-host links, that did and did not respond at their first try."""
    redirects: dict[str, list[RedirectRule]] = msgspec.field(default_factory=dict)
    """Rules of redirects by host."""
    assumed: dict[str, str] = msgspec.field(default_factory=dict)
    """Targets of redirects that were predicted and have not responded yet, with the URLs that lead to them."""

    def arm(self, base_arm: str) -> ArmStatistics:
        """Return the statistics of a base arm. As in the methods below, missing ones are created."""
        return _entry(self.arms, base_arm, ArmStatistics)

    def hub_arm(self, arm: str) -> ArmStatistics:
        return _entry(self.hub_arms, arm, ArmStatistics)

    def family(self, name: str) -> ArmStatistics:
        return _entry(self.families, name, ArmStatistics)

    def host(self, name: str) -> HostStatistics:
        return _entry(self.hosts, name, HostStatistics)

    def sums(self, feature: str) -> Sums:
        sums = self.features.get(feature)
        if sums is None:
            sums = self.features[feature] = [0.0, 0.0, 0.0, 0.0]
        return sums

    def add(self, delta: PolicyStatistics) -> None:
        """Add what another shard of the same crawl has learned since its last delta."""
        for own, its in self.arm_tables(delta):
            for name, arm in its.items():
                _entry(own, name, ArmStatistics).add(arm)
        self.add_sums(delta)
        for feature, sums in delta.features.items():
            own_sums = self.sums(feature)
            for index, value in enumerate(sums):
                own_sums[index] += value

    def forget(self, hosts: Set[str]) -> None:
        """Forget all that was learned about hosts, except what it says about links of the same kind elsewhere."""
        for name in hosts:
            self.hosts.pop(name, None)
            self.redirects.pop(name, None)
        for arms in (self.arms, self.hub_arms):
            for arm in [arm for arm in arms if host_of_arm(arm) in hosts]:
                del arms[arm]
        for family in [family for family in self.families if family.partition(" ")[0] in hosts]:
            del self.families[family]
        for feature in [feature for feature in self.features if host_of_feature(feature) in hosts]:
            del self.features[feature]

    def arm_tables(
        self, other: PolicyStatistics
    ) -> tuple[tuple[dict[str, ArmStatistics], dict[str, ArmStatistics]], ...]:
        """Return pairs of the tables of arms, hub arms and families."""
        return (self.arms, other.arms), (self.hub_arms, other.hub_arms), (self.families, other.families)

    def add_sums(self, other: PolicyStatistics) -> None:
        """Add the statistics that are sums over outcomes."""
        for name, host in other.hosts.items():
            self.host(name).add(host)
        self.unseen_hosts.add(other.unseen_hosts)
        RedirectRules(self.redirects).merge(other.redirects)


_T = TypeVar("_T")


def _entry(table: dict[str, _T], name: str, make: Callable[[], _T]) -> _T:
    entry = table.get(name)
    if entry is None:
        entry = table[name] = make()
    return entry


class ArmPosterior(NamedTuple):
    """For the next link of an arm: the probability that it returns a page, and that such a page is relevant."""

    response: float
    relevance: float

    @property
    def probability(self) -> float:
        """The probability that a request returns a relevant page."""
        return self.response * self.relevance

    def update(self, arm: ArmStatistics, *, prior_tries: float) -> ArmPosterior:
        """Return the posterior after the results of an arm. This posterior counts as much as `prior_tries` tries."""
        return ArmPosterior(
            arm.responses.probability(self.response, prior_tries=prior_tries),
            arm.relevant.probability(self.relevance, prior_tries=prior_tries),
        )


class PosteriorModel:
    """Learns from outcomes and predicts the outcome of an arm's next link."""

    def __init__(self, config: PolicyConfig) -> None:
        self._config = config
        self.target_priors: Mapping[str, float] = {}
        """Feature → log-odds that are added to those of RELEVANCE (`config.target_priors`)."""
        self.statistics = PolicyStatistics()
        self.delta = PolicyStatistics()
        """The part of `statistics` that was learned since the last delta was sent to other shards."""

    def weight(self, feature: str, event: int, *, is_general: bool) -> float:
        """Return what a feature adds to the log-odds of an event; `event` is RESPONSE or RELEVANCE."""
        prior = self.target_priors.get(feature, 0.0) if event == RELEVANCE else 0.0
        sums = self.statistics.features.get(feature)
        if sums is None:
            return prior
        rate = self._config.general_learning_rate if is_general else self._config.host_learning_rate
        return prior + weight_from_sums(sums[event], sqrt(sums[event + 1]), rate, self._config.beta)

    def log_odds(self, features: Features, event: int, lift: float = 0.0) -> float:
        """Return the log-odds of RESPONSE or RELEVANCE (`event`) for an arm with these features, plus `lift`."""
        config, known = self._config, self.statistics.features
        beta = config.beta
        total = lift + (config.response_bias if event == RESPONSE else config.relevance_bias)
        if self.target_priors and event == RELEVANCE:
            total += sum(self.target_priors.get(feature, 0.0) for feature in features[:GENERAL_FEATURES])
        rate = config.general_learning_rate
        for part in (features[:GENERAL_FEATURES], features[GENERAL_FEATURES:]):
            for feature in part:
                sums = known.get(feature)
                if sums is not None:  # `weight_from_sums`, written out, because a call takes longer than the formula
                    total -= sums[event] * rate / (beta + sqrt(sums[event + 1]))
            rate = config.host_learning_rate
        return total

    def learn_weights(self, features: Features, event: int, *, result: float, lift: float = 0.0) -> None:
        """Update the weights of features for RESPONSE or RELEVANCE by the result of one request, a number from 0 to 1.

        With `lift`, features learn only what the lift does not explain.
        """
        gradient = sigmoid(self.log_odds(features, event, lift)) - result
        beta = self._config.beta
        rate = self._config.general_learning_rate
        more_n = gradient * gradient
        for index, feature in enumerate(features):
            if index == GENERAL_FEATURES:
                rate = self._config.host_learning_rate
            sums, delta = self.statistics.sums(feature), self.delta.sums(feature)
            n = sums[event + 1]
            root_n = sqrt(n)
            weight = weight_from_sums(sums[event], root_n, rate, beta)
            more_z = z_increment(gradient, root_n, sqrt(n + more_n), weight, rate)
            for own in (sums, delta):
                own[event] += more_z
                own[event + 1] += more_n

    def tries(self, arm: str) -> int:
        """Return the number of tries of a base arm or a hub arm."""
        learned = self.statistics
        statistics = (learned.hub_arms if ArmKey.parse(arm).is_hub else learned.arms).get(arm)
        return statistics.tries if statistics is not None else 0

    def prior(self, key: ArmKey) -> ArmPosterior:
        """Return the probabilities from features and host, without the results of the arm (steps 1 and 2)."""
        features = key.features
        response = self._presence(key)
        if self._config.separate_responses:
            response *= sigmoid(self.log_odds(features, RESPONSE))
        return ArmPosterior(response, sigmoid(self.log_odds(features, RELEVANCE, self.lift(key.host))))

    def lift(self, host: str) -> float:
        statistics = self.statistics.hosts.get(host)
        return statistics.lift(self._config.host_prior_tries) if statistics is not None else 0.0

    def _presence(self, key: ArmKey) -> float:
        """Return the probability that the host exists and responds: 1 if it has responded before."""
        config, statistics = self._config, self.statistics.hosts.get(key.host)
        presence = 1.0
        if statistics is not None:
            if statistics.responses:
                return presence
            presence = config.silent_host_prior_tries / (config.silent_host_prior_tries + statistics.tries)
        if config.learns_unseen_hosts and key.from_host:
            responding = sigmoid(config.response_bias)
            presence *= self.statistics.unseen_hosts.probability(responding, prior_tries=config.prior_tries)
        return presence

    def probability(self, arm: str) -> float:
        """Return the probability that the arm's next link leads to a relevant page."""
        config, key = self._config, ArmKey.parse(arm)
        posterior = self.prior(key)
        statistics = self.statistics.arms.get(key.base_arm)
        if statistics is not None:
            posterior = posterior.update(statistics, prior_tries=config.prior_tries)
        statistics = self.statistics.hub_arms.get(arm)
        if statistics is not None:
            posterior = posterior.update(statistics, prior_tries=config.prior_tries)
        return posterior.probability

    def link_sums(self, key: ArmKey) -> tuple[dict[str, float], float, dict[str, float], float, float]:
        """Return sums of new links by arm and of pages, for an arm and for its family, and the share of the family.

        The expected number of new links on the next page is the quotient of the arm's sums, plus the share of that of
        the family.
        """
        prior_pages = self._config.prior_tries
        own = self.statistics.arms.get(key.base_arm) or _NO_STATISTICS
        family = self.statistics.families.get(key.family)
        share = prior_pages / (own.tries + prior_pages) if family is not None else 0.0
        return *own.sums_of_links(empty_pages=prior_pages), *(family or _NO_STATISTICS).sums_of_links(), share

    def learn_redirect(self, url: str, target: str) -> None:
        for statistics in self._targets:
            RedirectRules(statistics.redirects).learn_redirect(url, target)

    def learn(self, outcome: Outcome) -> None:
        key = ArmKey.parse(outcome.arm)
        self._learn_redirect_rules(outcome)
        host = self.statistics.hosts.get(outcome.host)
        has_responded = host is not None and host.responses > 0
        is_first_response = bool(key.from_host) and not has_responded
        if is_first_response and host is None:
            responded = outcome.failure in (None, FailureKind.REDIRECT)
            for statistics in self._targets:
                statistics.unseen_hosts.count(responded, retention=1.0)
        self._count_arm(outcome, key)
        expected = sigmoid(self.log_odds(key.features, RELEVANCE))
        if self._config.learns_features:
            # that a host does not respond explains a failure, so features need not explain it
            is_explained = is_first_response and self._config.learns_unseen_hosts
            self._learn_features(outcome, key, is_explained=is_explained)
        self._count_host(outcome, key, expected)

    def _learn_redirect_rules(self, outcome: Outcome) -> None:
        """Confirm or contradict rules by a response to a URL of theirs, or to a target that they predicted."""
        is_page = outcome.failure is None
        original = self.statistics.assumed.pop(outcome.url, "")
        for statistics in self._targets:
            if original:
                RedirectRules(statistics.redirects).learn_target(original, outcome.url, is_page=is_page)
            elif is_page and not outcome.hops and outcome.host in statistics.redirects:
                RedirectRules(statistics.redirects).learn_response(outcome.url)

    @property
    def _targets(self) -> tuple[PolicyStatistics, PolicyStatistics]:
        return self.statistics, self.delta

    def _count_arm(self, outcome: Outcome, key: ArmKey) -> None:
        """Count a try of the base arm, the hub arm if there is one, and the family.

        For the base arm, the n-th try of a hub arm counts 1/n, because links of one hub have much in common.
        """
        arm = outcome.arm
        share = 1.0 / (self.tries(arm) + 1) if key.is_hub else 1.0
        for statistics in self._targets:
            self._count_try(statistics.arm(key.base_arm), outcome, share)
            statistics.family(key.family).count(reward=outcome.reward, retention=self._config.retention)
            if key.is_hub:
                self._count_try(statistics.hub_arm(arm), outcome, 1.0)

    def _count_try(self, arm: ArmStatistics, outcome: Outcome, share: float) -> None:
        config, is_page = self._config, outcome.failure is None
        keep, separate = config.retention, config.separate_responses
        arm.count(reward=outcome.reward, retention=keep)
        if separate:
            arm.responses.count(is_page, retention=config.response_retention, share=share)
        if is_page or not separate:
            arm.relevant.count(outcome.reward, retention=keep, share=share)

    def _learn_features(self, outcome: Outcome, key: ArmKey, *, is_explained: bool) -> None:
        features, is_page = key.features, outcome.failure is None
        separate = self._config.separate_responses
        if separate and (is_page or not is_explained):
            self.learn_weights(features, RESPONSE, result=is_page)
        if is_page or not (separate or is_explained):
            self.learn_weights(features, RELEVANCE, result=outcome.reward, lift=self.lift(outcome.host))

    def _count_host(self, outcome: Outcome, key: ArmKey, expected: float) -> None:
        """Count a try of the host. `expected` is the reward that the features predicted before it."""
        share = 1.0 / self.statistics.arms[key.base_arm].tries
        for statistics in self._targets:
            host = statistics.host(outcome.host)
            host.responses += outcome.failure in (None, FailureKind.REDIRECT)
            host.tries += outcome.failure is not FailureKind.REDIRECT  # a redirect shows no content of the host
            if outcome.failure is None:
                host.pages += share
                host.reward += outcome.reward * share
                host.expected_reward += expected * share

"""The probability that the next link of an arm leads to a relevant page, and the sums from which it is computed.

docs/policy.md, sections 2 to 4, has the formulas. The probability is a product, P(page)·P(relevant | page), because a
failed request says nothing about whether the pages of a host are relevant. For each of the two factors:

1. *Features.* Logistic regression over the features of the arm, learned by FTRL-Proximal (`policies/ftrl.py`).
2. *Host.* P(relevant) is corrected by the lift of the host: how much better it is than its features predict. P(page) is
   multiplied by the presence, the probability that the host responds at all.
3. *Arm and hub.* The decayed counts of the base arm, and then of the hub arm, gradually replace the prediction.

So a new host starts with what links of this kind did elsewhere. One good template does not make a whole host good, and
one dead hub does not make a good template bad.

What is learned is kept in `PolicyStatistics` (`statistics`), which also says how the states of two crawls are merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import NamedTuple

from motherlode.model import FailureKind, Outcome
from motherlode.policies.ftrl import sigmoid, weight_from_sums, z_increment
from motherlode.policies.motherlode.arm_key import GENERAL_FEATURES, ArmKey, Features
from motherlode.policies.motherlode.config import PolicyConfig
from motherlode.policies.motherlode.redirect_rules import RedirectRules
from motherlode.policies.motherlode.statistics import RELEVANCE, RESPONSE, ArmStatistics, PolicyStatistics


class ArmPosterior(NamedTuple):
    """For the next link of an arm: the probability that it returns a page, and that such a page is relevant."""

    response: float
    relevance: float

    @property
    def probability(self) -> float:
        """The probability that a request returns a relevant page."""
        return self.response * self.relevance

    def update(self, arm: ArmStatistics, *, response_tries: float, relevance_tries: float) -> ArmPosterior:
        """Return the posterior after the results of an arm. The arguments are the prior strengths of this posterior."""
        return ArmPosterior(
            arm.responses.probability(self.response, prior_tries=response_tries),
            arm.relevant.probability(self.relevance, prior_tries=relevance_tries),
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
        rate = config.general_learning_rate
        total = lift + (config.response_bias if event == RESPONSE else config.relevance_bias)
        if self.target_priors and event == RELEVANCE:
            total += sum(self.target_priors.get(feature, 0.0) for feature in features[:GENERAL_FEATURES])
        for index, feature in enumerate(features):
            if index == GENERAL_FEATURES:
                rate = config.host_learning_rate
            sums = known.get(feature)
            if sums is not None:
                total += weight_from_sums(sums[event], sqrt(sums[event + 1]), rate, beta)
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
        return statistics.lift(self._config.host_prior_pages) if statistics is not None else 0.0

    def _presence(self, key: ArmKey) -> float:
        """Return the probability that the host exists and responds: 1 if it has responded before."""
        config, statistics = self._config, self.statistics.hosts.get(key.host)
        presence = 1.0
        if statistics is not None:
            if statistics.responses:
                return presence
            presence = config.silent_host_prior_tries / (config.silent_host_prior_tries + statistics.tries)
        if config.unseen_host_prior_tries and key.from_host:
            presence *= self.statistics.unseen_hosts.probability(
                config.unseen_host_response_rate, prior_tries=config.unseen_host_prior_tries
            )
        return presence

    def probability(self, arm: str) -> float:
        """Return the probability that the arm's next link leads to a relevant page."""
        config, key = self._config, ArmKey.parse(arm)
        posterior = self.prior(key)
        statistics = self.statistics.arms.get(key.base_arm)
        if statistics is not None:
            tries = config.seed_prior_tries if key.is_inner_seed else config.prior_tries
            posterior = posterior.update(statistics, response_tries=config.prior_tries, relevance_tries=tries)
        statistics = self.statistics.hub_arms.get(arm)
        if statistics is not None:
            tries = config.hub_prior_tries
            posterior = posterior.update(statistics, response_tries=tries, relevance_tries=tries)
        return posterior.probability

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
                statistics.unseen_hosts.count(responded, retention=1.0, opposite_retention=1.0)
        self._count_arm(outcome, key)
        expected = 0.0
        if self._config.learns_features:
            # that a host does not respond explains a failure, so features need not explain it
            is_explained = is_first_response and self._config.unseen_host_prior_tries > 0
            expected = self._learn_features(outcome, key, is_explained=is_explained)
        self._count_host(outcome, key, expected)

    def _learn_redirect_rules(self, outcome: Outcome) -> None:
        """Confirm or contradict rules by a response to a URL of theirs, or to a target that they predicted."""
        is_page = outcome.failure is None
        original = self.statistics.assumed.pop(outcome.url, "")
        for statistics in self._targets:
            rules = RedirectRules(statistics.redirects)
            if original:
                rules.learn_target(original, outcome.url, is_page=is_page)
            elif is_page and not outcome.hops and outcome.host in statistics.redirects:
                rules.learn_response(outcome.url)

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
            arm.responses.count(is_page, retention=keep, opposite_retention=config.response_retention, share=share)
        if is_page or not separate:
            arm.relevant.count(outcome.reward, retention=keep, opposite_retention=keep, share=share)

    def _learn_features(self, outcome: Outcome, key: ArmKey, *, is_explained: bool) -> float:
        """Learn the weights of features, and return the reward that they predicted before; 0 for a failure."""
        features, is_page = key.features, outcome.failure is None
        separate = self._config.separate_responses
        if separate and (is_page or not is_explained):
            self.learn_weights(features, RESPONSE, result=is_page)
        if not is_page and (separate or is_explained):
            return 0.0
        expected = sigmoid(self.log_odds(features, RELEVANCE))
        self.learn_weights(features, RELEVANCE, result=outcome.reward, lift=self.lift(outcome.host))
        return expected

    def _count_host(self, outcome: Outcome, key: ArmKey, expected: float) -> None:
        share = 1.0 / self.statistics.arms[key.base_arm].tries
        for statistics in self._targets:
            host = statistics.host(outcome.host)
            host.responses += outcome.failure in (None, FailureKind.REDIRECT)
            host.tries += outcome.failure is not FailureKind.REDIRECT  # a redirect shows no content of the host
            if outcome.failure is None:
                host.pages += share
                host.reward += outcome.reward * share
                host.expected_reward += expected * share

"""The probability that the next link of an arm leads to a relevant page.

The probability is a product, P(page)·P(relevant | page), because a failed request says nothing about whether the pages
of a host are relevant. For each of the two questions q:

1. *Features.* L_q = bias_q + Σ prior(f) + Σ w_q(f) over the features f of the arm (`arm_key`). The weights w_q(f) are
   learned by FTRL-Proximal (`policies/ftrl.py`) without L1 and L2, with one learning rate for features of every host
   and another one for features of one host. Target priors (`priors`) count for relevance only. P_q = σ(L_q).
2. *Host.* For relevance, the lift of the host is added to L_q before σ. With the host's pages N, rewards R and rewards
   E that features predicted, in which the n-th page of an arm counts 1/n, and with k = `host_prior_pages`, the lift is
   logit((R + k·E/N)/(N + k)) - logit(E/N). P(page) is multiplied by the presence, the probability that the host
   responds at all. The presence is 1 if the host has responded. Otherwise it is s/(s + tries of the host) with
   s = `silent_host_prior_tries`, and for cross-host links this is multiplied by the share of unseen hosts that
   responded, (yes + m·`unseen_host_response_rate`)/(yes + no + m) with m = `unseen_host_prior_tries`.
3. *Arm.* With the decayed counts of the base arm (`statistics.Tally`), p ← (yes + m·p)/(yes + no + m) for each
   question. The prior strength m is `prior_tries`, and `seed_prior_tries` for the relevance of seeds that are not home
   pages.
4. *Hub.* The same again with the counts of the hub arm and m = `hub_prior_tries`, if the link belongs to a hub arm.

Every outcome is learned as a response or a failure. Relevance is learned only from pages, and features learn only what
the lift of the host does not explain, because the lift is added to the prediction from which the gradient is computed.
An unseen host that does not respond explains the failure of its link, so this failure is not learned as a weight of the
link's features. Step 4 is useful because links of one hub page often have the same outcome.

So a new host starts with what links of this kind did elsewhere, and the results of the host, the arm and the hub
gradually replace it. One good template does not make a whole host good, and one dead hub does not make a good template
bad.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from motherlode.model import FailureKind, Outcome
from motherlode.policies.ftrl import sigmoid, weight_from_sums, z_increment
from motherlode.policies.motherlode.arm_key import GENERAL_FEATURES, ArmKey, Features
from motherlode.policies.motherlode.config import PolicyConfig
from motherlode.policies.motherlode.statistics import RELEVANCE, RESPONSE, ArmStatistics, PolicyStatistics


class FeatureModel:
    """Predicts and learns both questions from features. The sums of the features are kept in `PolicyStatistics`."""

    def __init__(self, config: PolicyConfig) -> None:
        self._config = config
        self.target_priors: Mapping[str, float] = {}
        """Log-odds of the relevance question by feature."""

    def weight(self, statistics: PolicyStatistics, feature: str, question: int, *, is_general: bool) -> float:
        """Return what a feature adds to the log-odds of a question."""
        prior = self.target_priors.get(feature, 0.0) if question == RELEVANCE else 0.0
        sums = statistics.features.get(feature)
        if sums is None:
            return prior
        rate = self._config.general_learning_rate if is_general else self._config.host_learning_rate
        return prior + weight_from_sums(sums[question], sqrt(sums[question + 1]), rate, self._config.beta)

    def log_odds(self, statistics: PolicyStatistics, features: Features, question: int, lift: float = 0.0) -> float:
        """Return the log-odds of a question for an arm with these features; `lift` is added."""
        config, known = self._config, statistics.features
        beta = config.beta
        rate = config.general_learning_rate
        total = lift + (config.response_bias if question == RESPONSE else config.relevance_bias)
        if self.target_priors and question == RELEVANCE:
            total += sum(self.target_priors.get(feature, 0.0) for feature in features[:GENERAL_FEATURES])
        for index, feature in enumerate(features):
            if index == GENERAL_FEATURES:
                rate = config.host_learning_rate
            sums = known.get(feature)
            if sums is not None:
                total += weight_from_sums(sums[question], sqrt(sums[question + 1]), rate, beta)
        return total

    def probability(self, statistics: PolicyStatistics, features: Features) -> float:
        """Return the probability that a request returns a relevant page."""
        response = sigmoid(self.log_odds(statistics, features, RESPONSE))
        return response * sigmoid(self.log_odds(statistics, features, RELEVANCE))

    def learn(
        self,
        targets: Sequence[PolicyStatistics],
        features: Features,
        question: int,
        *,
        result: float,
        lift: float = 0.0,
    ) -> None:
        """Learn the result of one request, from 0 to 1.

        The gradient is computed from the first element of `targets`, and the same increments are added to all of them.
        With `lift`, features learn only what the lift does not explain.
        """
        known = targets[0]
        gradient = sigmoid(self.log_odds(known, features, question, lift)) - result
        beta = self._config.beta
        rate = self._config.general_learning_rate
        more_n = gradient * gradient
        for index, feature in enumerate(features):
            if index == GENERAL_FEATURES:
                rate = self._config.host_learning_rate
            sums = known.sums(feature)
            n = sums[question + 1]
            root_n = sqrt(n)
            weight = weight_from_sums(sums[question], root_n, rate, beta)
            more_z = z_increment(gradient, root_n, sqrt(n + more_n), weight, rate)
            for statistics in targets:
                own = statistics.sums(feature)
                own[question] += more_z
                own[question + 1] += more_n


class ArmPosterior(NamedTuple):
    """The probabilities of both questions for the next link of an arm."""

    response: float
    """Probability that a request returns a page."""
    relevance: float
    """Probability that the page is relevant."""

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
        self.feature_model = FeatureModel(config)
        self.statistics = PolicyStatistics()
        self.delta = PolicyStatistics()
        """The part of `statistics` that was learned since the last delta was sent to other shards."""

    def tries(self, arm: str) -> int:
        """Return the number of tries of a base arm or a hub arm."""
        learned = self.statistics
        statistics = (learned.hub_arms if ArmKey.parse(arm).is_hub else learned.arms).get(arm)
        return statistics.tries if statistics is not None else 0

    def prior(self, key: ArmKey) -> ArmPosterior:
        """Return the probabilities from features and host, without the results of the arm (steps 1 and 2)."""
        statistics, features, host = self.statistics, key.features, key.host
        response = self._presence(key)
        if self._config.separate_responses:
            response *= sigmoid(self.feature_model.log_odds(statistics, features, RESPONSE))
        lift = self.lift(host)
        return ArmPosterior(response, sigmoid(self.feature_model.log_odds(statistics, features, RELEVANCE, lift)))

    def lift(self, host: str) -> float:
        """Return how much better than its features predict a host is, as a difference of log-odds."""
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

    def learn(self, outcome: Outcome) -> None:
        """Learn from the outcome of one request."""
        key = ArmKey.parse(outcome.arm)
        host = self.statistics.hosts.get(outcome.host)
        has_responded = host is not None and host.responses > 0
        is_first_response = key.is_cross_host and not has_responded
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
        features, is_page, targets = key.features, outcome.failure is None, self._targets
        separate = self._config.separate_responses
        if separate and (is_page or not is_explained):
            self.feature_model.learn(targets, features, RESPONSE, result=is_page)
        if not is_page and (separate or is_explained):
            return 0.0
        expected = sigmoid(self.feature_model.log_odds(self.statistics, features, RELEVANCE))
        lift = self.lift(outcome.host)
        self.feature_model.learn(targets, features, RELEVANCE, result=outcome.reward, lift=lift)
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

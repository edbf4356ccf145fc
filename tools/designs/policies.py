"""Designs that differ from the default policy in how they estimate probabilities, or in how they explore.

Each is registered as a policy, so `motherlode.simulate` can run it after `import tools.designs.policies`.

`thompson` keeps the estimates of the default policy. Instead of adding the value of information, it draws response and
relevance from the Beta posteriors of the arm, and values the arm by what was drawn (Thompson 1933). With many requests
in flight this is batched Thompson sampling: an arm has another draw for each of its requests in flight.

`logistic` replaces all estimates by one hierarchical Bayesian logistic model for each of the two questions. The
log-odds of an arm are the sum of shared effects, effects of its host, one effect of the arm and one of its list. Each
effect has a Gaussian posterior of its own (a diagonal posterior), which an extended Kalman filter updates. Before an
update, the variances of arm and list grow by 1 / retention, so both outcomes are discounted alike. The posterior itself
says what a relevant page would teach about the next links of the arm, which replaces the count of tries in the value of
information.

`logistic-thompson` draws the log-odds from that posterior instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import pi, sqrt
from random import Random
from typing import NamedTuple

import xxhash

import motherlode as ml
from motherlode.model import Outcome
from motherlode.policies.ftrl import sigmoid
from motherlode.policies.motherlode import Motherlode, PolicyConfig
from motherlode.policies.motherlode.arm_key import GENERAL_FEATURES, ArmKey
from motherlode.policies.motherlode.motherlode_policy import Plan
from motherlode.policies.motherlode.posterior import RELEVANCE, RESPONSE, PosteriorModel


class Variances(NamedTuple):
    """Prior variances of the effects."""

    shared: float
    host: float
    arm: float
    hub: float


PRIOR_VARIANCES = {RESPONSE: Variances(0.1, 0.5, 2.0, 1.0), RELEVANCE: Variances(0.1, 0.5, 2.0, 1.0)}
"""Variances that were set by hand. `python -m tools.designs --fit` prints fitted ones."""


class Normal(NamedTuple):
    """A Gaussian belief about the log-odds of an event."""

    mean: float
    variance: float

    @property
    def probability(self) -> float:
        """The mean of the sigmoid, by MacKay's approximation."""
        return sigmoid(self.mean / sqrt(1.0 + pi * self.variance / 8.0))

    def after_success(self) -> Normal:
        """Return the belief about the same log-odds after one more success."""
        gain, shrink = _kalman(self, 1.0)
        return Normal(self.mean + self.variance * gain, self.variance * (1.0 - self.variance * shrink))


def _kalman(belief: Normal, result: float) -> tuple[float, float]:
    """Return by how much mean and variance of each effect change, per unit of its variance."""
    predicted = sigmoid(belief.mean)
    information = predicted * (1.0 - predicted)
    scale = 1.0 / (1.0 + information * belief.variance)
    return (result - predicted) * scale, information * scale


class LogisticPosterior(PosteriorModel):
    """The model of `logistic`. The counts of arms are kept for the links behind a page only."""

    def __init__(self, config: PolicyConfig, variances: dict[int, Variances] = PRIOR_VARIANCES) -> None:
        super().__init__(config)
        self._variances = variances
        self._effects: dict[tuple[int, str], Normal] = {}

    def belief(self, arm: str, key: ArmKey, event: int) -> Normal:
        """Return the belief about the log-odds of RESPONSE or RELEVANCE for the next link of an arm."""
        config = self._config
        mean = config.response_bias if event == RESPONSE else config.relevance_bias
        if event == RELEVANCE:
            mean += sum(self.target_priors.get(feature, 0.0) for feature in key.features[:GENERAL_FEATURES])
        variance = 0.0
        for name, prior in self._priors(arm, key, event):
            effect = self._effects.get((event, name))
            mean += effect.mean if effect is not None else 0.0
            variance += effect.variance if effect is not None else prior
        return Normal(mean, variance)

    def _priors(self, arm: str, key: ArmKey, event: int) -> Iterable[tuple[str, float]]:
        """Yield the effects of an arm with their prior variances."""
        variances = self._variances[event]
        for index, feature in enumerate(key.features):
            yield feature, variances.shared if index < GENERAL_FEATURES else variances.host
        yield f"arm {key.base_arm}", variances.arm
        if key.is_hub:
            yield f"hub {arm}", variances.hub

    def update(self, arm: str, key: ArmKey, event: int, result: float) -> None:
        """Learn the result of one request, from 0 to 1."""
        retention = self._config.retention if event == RELEVANCE else self._config.response_retention
        for name, prior in self._priors(arm, key, event):
            if name.startswith(("arm ", "hub ")) and (known := self._effects.get((event, name))) is not None:
                self._effects[event, name] = Normal(known.mean, min(prior, known.variance / retention))
        gain, shrink = _kalman(self.belief(arm, key, event), result)
        for name, prior in self._priors(arm, key, event):
            mean, variance = self._effects.get((event, name), (0.0, prior))
            self._effects[event, name] = Normal(mean + variance * gain, variance * (1.0 - variance * shrink))

    def probability(self, arm: str) -> float:
        key = ArmKey.parse(arm)
        response, relevance = (self.belief(arm, key, event).probability for event in (RESPONSE, RELEVANCE))
        return self._presence(key) * response * relevance

    def _learn_features(self, outcome: Outcome, key: ArmKey, *, is_explained: bool) -> None:
        is_page = outcome.failure is None
        if is_page or not is_explained:
            self.update(outcome.arm, key, RESPONSE, float(is_page))
        if is_page:
            self.update(outcome.arm, key, RELEVANCE, outcome.reward)


class _Drawn(Motherlode):
    """A policy that values an arm by a draw from its posterior. Every state of an arm has one draw."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(config=PolicyConfig())
        self._seed = seed

    def _random(self, arm: str) -> Random:
        """Return the source of the draws of an arm, another one after each pick and each outcome of the arm."""
        state = f"{self.posterior.tries(arm)} {self._in_flight.get(arm, 0)} {arm}"
        return Random(xxhash.xxh3_64_intdigest(state.encode(), self._seed))


@ml.policy("thompson")
class Thompson(_Drawn):
    """Thompson sampling from the Beta posteriors of the default policy."""

    def _value_and_plan(self, arm: str, key: ArmKey) -> tuple[float, Plan]:
        random, config = self._random(arm), self.config
        drawn = 1.0
        learned = self.statistics
        own = learned.hub_arms.get(arm) if key.is_hub else learned.arms.get(arm)
        prior = self.posterior.prior(key)
        base = learned.arms.get(key.base_arm) if key.is_hub else None
        if base is not None:
            prior = prior.update(base, prior_tries=config.prior_tries)
        for mean, tally in (
            (prior.response, own.responses if own is not None else None),
            (prior.relevance, own.relevant if own is not None else None),
        ):
            yes, no = (tally.yes, tally.no) if tally is not None else (0.0, 0.0)
            strength = config.prior_tries
            drawn *= random.betavariate(yes + strength * mean + 1e-9, no + strength * (1.0 - mean) + 1e-9)
        return self.plan(arm, drawn).rate, self.plan(arm, self.probability(arm))


@ml.policy("logistic")
class Logistic(Motherlode):
    """The default policy with one Bayesian logistic model, whose posterior gives the value of information."""

    posterior: LogisticPosterior

    def __init__(self) -> None:
        super().__init__()
        self.posterior = LogisticPosterior(self.config)

    def _value_and_plan(self, arm: str, key: ArmKey) -> tuple[float, Plan]:
        probability = self.probability(arm)
        plan = self.plan(arm, probability)
        after = 1.0
        for event in (RESPONSE, RELEVANCE):
            belief = self.posterior.belief(arm, key, event)
            variance = belief.variance / (1.0 + self._in_flight.get(arm, 0))  # requests in flight will teach something
            after *= Normal(belief.mean, variance).after_success().probability
        _, more = self._tries_and_more_links(arm, key)
        requests = probability * more
        return (plan.reward + requests * max(probability, after)) / (plan.requests + requests), plan


@ml.policy("logistic-thompson")
class LogisticThompson(_Drawn):
    """Thompson sampling from the posterior of the Bayesian logistic model."""

    posterior: LogisticPosterior

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.posterior = LogisticPosterior(self.config)

    def _value_and_plan(self, arm: str, key: ArmKey) -> tuple[float, Plan]:
        random, drawn = self._random(arm), self.posterior._presence(key)
        for event in (RESPONSE, RELEVANCE):
            belief = self.posterior.belief(arm, key, event)
            drawn *= sigmoid(random.gauss(belief.mean, sqrt(belief.variance)))
        return self.plan(arm, drawn).rate, self.plan(arm, self.probability(arm))


DESIGNS = ("thompson", "logistic", "logistic-thompson")

"""The merged model of several crawls is close to the model of one crawl with all outcomes."""

from __future__ import annotations

from math import sqrt
from random import Random
from statistics import mean

import pytest

from motherlode.model import FailureKind, Outcome
from motherlode.policies.motherlode import Motherlode
from motherlode.policies.motherlode.config import PolicyConfig
from motherlode.policies.motherlode.model_merge import decayed_weight, merge_arms, merge_weights
from motherlode.policies.motherlode.posterior import RESPONSE, ArmStatistics, Sums

TOLERANCE = 0.07
"""Mean difference of probabilities, as stated in docs/policy.md."""


def outcomes() -> list[Outcome]:
    """Return the outcomes of 40 arms on eight hosts with different rates of responses and of relevant pages."""
    random = Random(5)
    made = []
    for number in range(1200):
        host, section = f"h{random.randrange(8)}.example", random.randrange(5)
        extension = (".html", "/", "", ".ttl", ".php")[section]
        arm = f"{host}\ts{section}\t1\t{extension}\tanchor\tli a"
        rate = Random(f"{host} {section}").random()
        failed = random.random() > 0.5 + rate / 2
        relevant = not failed and random.random() < rate
        made.append(
            Outcome(
                url=f"https://{host}/s{section}/{number}",
                host=host,
                arm=arm,
                failure=FailureKind.NOT_FOUND if failed else None,
                relevant=relevant,
                reward=float(relevant),
            )
        )
    return made


def learned(some: list[Outcome]) -> Motherlode:
    policy = Motherlode()
    for outcome in some:
        policy.learn(outcome)
    return policy


@pytest.mark.parametrize("shards", [2, 4, 8])
def test_merged_model_is_close_to_model_of_joined_outcomes(shards: int) -> None:
    everything = outcomes()
    joined, merged = learned(everything), Motherlode()
    for shard in range(shards):
        merged.merge(learned(everything[shard::shards]).dump())
    arms = sorted({outcome.arm for outcome in everything})
    assert merged.statistics.hosts.keys() == joined.statistics.hosts.keys()
    assert [merged.posterior.tries(arm) for arm in arms] == [joined.posterior.tries(arm) for arm in arms]
    assert mean(abs(merged.probability(arm) - joined.probability(arm)) for arm in arms) < TOLERANCE
    weights = [
        [abs(policy.posterior.weight(feature, 2, is_general=False)) for feature in joined.statistics.features]
        for policy in (merged, joined)
    ]
    assert mean(weights[0]) < 1.25 * mean(weights[1]), "weights do not grow with the number of crawls"


def test_merged_counts_of_an_arm_weigh_as_much_as_those_of_one_crawl() -> None:
    config, arms = PolicyConfig(), []
    for tries in (3, 5, 8):
        arm = ArmStatistics()
        for _ in range(tries):
            arm.count(reward=1.0, retention=config.retention)
            arm.responses.count(1.0, retention=config.response_retention)
            arm.relevant.count(1.0, retention=config.retention)
            arm.add_links({"next": 2.0})
        arms.append(arm)
    merged, other, joined = arms
    merge_arms(merged, other, config=config)
    assert (merged.tries, merged.reward) == (joined.tries, joined.reward) == (8, 8.0)
    assert merged.responses.yes == pytest.approx(joined.responses.yes)
    assert merged.relevant.yes == pytest.approx(joined.relevant.yes)
    assert merged.links_per_page(empty_pages=0.0) == pytest.approx({"next": 2.0})


def test_merge_of_untried_arms_leaves_them_empty() -> None:
    arm = ArmStatistics()
    merge_arms(arm, ArmStatistics(), config=PolicyConfig())
    assert (arm.tries, arm.relevant.yes, arm.relevant.no) == (0, 0.0, 0.0)


@pytest.mark.parametrize("retention", [0.5, 0.9, 1.0])
def test_decayed_weight_is_the_sum_of_its_terms(retention: float) -> None:
    assert decayed_weight(7, retention) == pytest.approx(sum(retention**age for age in range(7)))


def ftrl_weight(sums: Sums, *, beta: float) -> float:
    """Return the weight of the feature's first question, for a learning rate of 1."""
    return -sums[0] / (beta + sqrt(sums[1]))


def test_merged_weight_is_the_mean_of_both_weights_by_n() -> None:
    beta = 0.3
    own, other = [-1.5 * (beta + sqrt(4.0)), 4.0, 7.0, 8.0], [-0.5 * (beta + sqrt(12.0)), 12.0, 0.0, 0.0]
    merge_weights(own, other, RESPONSE, beta=beta)
    assert own[1:] == [16.0, 7.0, 8.0]
    assert ftrl_weight(own, beta=beta) == pytest.approx((4 * 1.5 + 12 * 0.5) / 16)


def test_merge_of_a_feature_without_outcomes_changes_nothing() -> None:
    own = [1.0, 4.0, 0.0, 0.0]
    merge_weights(own, [9.0, 0.0, 0.0, 0.0], RESPONSE, beta=0.3)
    assert own == [1.0, 4.0, 0.0, 0.0]

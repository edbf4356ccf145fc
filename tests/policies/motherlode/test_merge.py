"""The merged model of several crawls is close to the model of one crawl with all outcomes."""

from __future__ import annotations

from random import Random
from statistics import mean

import pytest

from motherlode.model import FailureKind, Outcome
from motherlode.policies.motherlode import Motherlode

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

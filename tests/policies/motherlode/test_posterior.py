"""The posterior of an arm: what features, host, arm and hub add, and the learner of feature weights."""

from __future__ import annotations

import pytest

from motherlode.model import FailureKind, Outcome
from motherlode.policies.motherlode.arm_key import ArmKey
from motherlode.policies.motherlode.config import PolicyConfig
from motherlode.policies.motherlode.posterior import FeatureModel, PosteriorModel
from motherlode.policies.motherlode.statistics import RELEVANCE, RESPONSE, PolicyStatistics

ITEMS = "a.example\titem/*\t2\t.html\tanchor\tli a"
NEWS = "a.example\tnews/*\t2\t.html\tanchor\tli a"
LIST = f"{ITEMS}\t7"
ABROAD = "b.example\t^\t0\t/\tanchor@a.example\tp a"

GOOD = ArmKey.parse("a.example\titem\t1\t.ttl\tanchor\tli a").features
PLAIN = ArmKey.parse("a.example\tnews\t1\t.html\tanchor\tli a").features
STRANGE_GOOD = ArmKey.parse("b.example\tthing\t1\t.ttl\tanchor\tli a").features
STRANGE_PLAIN = ArmKey.parse("b.example\tstory\t1\t.html\tanchor\tli a").features


def outcome(arm: str, *, find: bool = False, failure: FailureKind | None = None) -> Outcome:
    host = arm.partition("\t")[0]
    return Outcome(
        url=f"http://{host}/x",
        host=host,
        arm=arm,
        policy_state=b"",
        score=0.0,
        reward=float(find),
        relevant=find,
        failure=failure,
    )


def beliefs(*outcomes: Outcome) -> PosteriorModel:
    found = PosteriorModel(PolicyConfig())
    for one in outcomes:
        found.learn(one)
    return found


def test_relevant_pages_raise_probability_of_own_arm_most() -> None:
    before = PosteriorModel(PolicyConfig())
    after = beliefs(*[outcome(ITEMS, find=True)] * 5)
    assert after.probability(ITEMS) > after.probability(NEWS) > before.probability(NEWS)
    assert after.probability(ITEMS) > 0.8


def test_failures_do_not_change_probability_of_relevance() -> None:
    finds = [outcome(ITEMS, find=True)] * 5
    dead = [outcome(ITEMS, failure=FailureKind.NOT_FOUND)] * 5
    assert beliefs(*finds, *dead).prior(ArmKey.parse(ITEMS)).relevance == pytest.approx(
        beliefs(*finds).prior(ArmKey.parse(ITEMS)).relevance
    )
    assert beliefs(*finds, *dead).probability(ITEMS) < beliefs(*finds).probability(ITEMS)
    record = beliefs(*finds, *dead).statistics.arms[ITEMS]
    assert record.relevant.probability(0.5, prior_tries=1.0) == beliefs(*finds).statistics.arms[
        ITEMS
    ].relevant.probability(0.5, prior_tries=1.0)


def test_single_question_counts_failure_as_irrelevant_page() -> None:
    mixed = [outcome(ITEMS, find=True), outcome(ITEMS, failure=FailureKind.NOT_FOUND)] * 5
    one = PosteriorModel(PolicyConfig(separate_responses=False))
    for outcome_ in mixed:
        one.learn(outcome_)
    assert one.prior(ArmKey.parse(ITEMS)).response == 1.0
    assert one.prior(ArmKey.parse(ITEMS)).relevance < beliefs(*mixed).prior(ArmKey.parse(ITEMS)).relevance
    assert 0.3 < one.probability(ITEMS) < 0.7


def test_dead_hub_lowers_its_own_probability_more_than_its_base_arm() -> None:
    good = [outcome(ITEMS, find=True)] * 5
    together = beliefs(*good, *[outcome(LIST, failure=FailureKind.NOT_FOUND)] * 6)
    apart = beliefs(*good, *[outcome(ITEMS, failure=FailureKind.NOT_FOUND)] * 6)
    assert together.probability(LIST) < 0.3
    assert together.probability(ITEMS) > apart.probability(ITEMS)
    assert (together.tries(LIST), together.tries(ITEMS)) == (6, 11)


def test_silent_hosts_lower_probability_of_unseen_hosts() -> None:
    silent = [outcome(f"c{n}.example" + ABROAD[9:], failure=FailureKind.DNS) for n in range(10)]
    assert beliefs(*silent).probability(ABROAD) < PosteriorModel(PolicyConfig()).probability(ABROAD) / 2
    assert not beliefs(*silent).statistics.features, "their silence is not put down to the kind of link"


def test_response_of_host_raises_its_probability_of_response() -> None:
    silent = [outcome(f"c{n}.example" + ABROAD[9:], failure=FailureKind.DNS) for n in range(10)]
    met = beliefs(*silent, outcome(ABROAD))
    assert met.prior(ArmKey.parse(ABROAD)).response > beliefs(*silent).prior(ArmKey.parse(ABROAD)).response


def test_delta_has_what_was_learned_since_it_was_taken() -> None:
    found = beliefs(outcome(ITEMS, find=True), outcome(ITEMS))
    assert found.delta.arms[ITEMS].tries == found.statistics.arms[ITEMS].tries == 2


def taught(rounds: int = 20) -> tuple[FeatureModel, PolicyStatistics]:
    chances, evidence = FeatureModel(PolicyConfig()), PolicyStatistics()
    for _ in range(rounds):
        chances.learn([evidence], GOOD, RELEVANCE, result=1.0)
        chances.learn([evidence], PLAIN, RELEVANCE, result=0.0)
    return chances, evidence


def test_features_learned_on_one_host_apply_to_other_hosts() -> None:
    chances, evidence = taught()
    assert chances.probability(evidence, GOOD) > 0.6 > 0.2 > chances.probability(evidence, PLAIN)
    assert chances.probability(evidence, STRANGE_GOOD) > chances.probability(evidence, STRANGE_PLAIN)
    assert chances.probability(evidence, STRANGE_GOOD) < chances.probability(evidence, GOOD), (
        "but less is known of them"
    )


def test_failures_do_not_change_relevance_weights() -> None:
    chances, evidence = taught()
    before = chances.log_odds(evidence, GOOD, RELEVANCE)
    for _ in range(5):
        chances.learn([evidence], GOOD, RESPONSE, result=0.0)
    assert chances.log_odds(evidence, GOOD, RELEVANCE) == before
    assert chances.probability(evidence, GOOD) < 0.3


def test_added_sums_of_two_learners_have_more_effect() -> None:
    chances, mine = taught(3)
    _, theirs = taught(3)
    alone = chances.probability(mine, GOOD)
    mine.add(theirs)
    assert chances.probability(mine, GOOD) > alone


def test_learn_adds_the_same_increments_to_all_statistics() -> None:
    chances, known, news = FeatureModel(PolicyConfig()), PolicyStatistics(), PolicyStatistics()
    chances.learn([known, news], GOOD, RELEVANCE, result=1.0)
    assert known == news

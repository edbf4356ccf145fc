"""The posterior of an arm: what features, host, arm and hub add, and the learner of feature weights."""

from __future__ import annotations

import pytest

from motherlode.model import FailureKind, Outcome
from motherlode.policies.ftrl import sigmoid
from motherlode.policies.motherlode.arm_key import ArmKey, Features
from motherlode.policies.motherlode.config import PolicyConfig
from motherlode.policies.motherlode.posterior import RELEVANCE, RESPONSE, PosteriorModel

ITEMS = "a.example\titem/*\t2\t.html\tanchor\tli a"
NEWS = "a.example\tnews/*\t2\t.html\tanchor\tli a"
LIST = f"{ITEMS}\t7"
CROSS_HOST = "b.example\t^\t0\t/\tanchor@a.example\tp a"

GOOD = ArmKey.parse("a.example\titem\t1\t.ttl\tanchor\tli a").features
PLAIN = ArmKey.parse("a.example\tnews\t1\t.html\tanchor\tli a").features
OTHER_HOST_GOOD = ArmKey.parse("b.example\tthing\t1\t.ttl\tanchor\tli a").features
OTHER_HOST_PLAIN = ArmKey.parse("b.example\tstory\t1\t.html\tanchor\tli a").features


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


def trained(*outcomes: Outcome) -> PosteriorModel:
    found = PosteriorModel(PolicyConfig())
    for one in outcomes:
        found.learn(one)
    return found


def test_relevant_pages_raise_probability_of_own_arm_most() -> None:
    before = PosteriorModel(PolicyConfig())
    after = trained(*[outcome(ITEMS, find=True)] * 5)
    assert after.probability(ITEMS) > after.probability(NEWS) > before.probability(NEWS)
    assert after.probability(ITEMS) > 0.8


def test_failures_do_not_change_probability_of_relevance() -> None:
    finds = [outcome(ITEMS, find=True)] * 5
    dead = [outcome(ITEMS, failure=FailureKind.NOT_FOUND)] * 5
    assert trained(*finds, *dead).prior(ArmKey.parse(ITEMS)).relevance == pytest.approx(
        trained(*finds).prior(ArmKey.parse(ITEMS)).relevance
    )
    assert trained(*finds, *dead).probability(ITEMS) < trained(*finds).probability(ITEMS)
    record = trained(*finds, *dead).statistics.arms[ITEMS]
    assert record.relevant.probability(0.5, prior_tries=1.0) == trained(*finds).statistics.arms[
        ITEMS
    ].relevant.probability(0.5, prior_tries=1.0)


def test_single_question_counts_failure_as_irrelevant_page() -> None:
    mixed = [outcome(ITEMS, find=True), outcome(ITEMS, failure=FailureKind.NOT_FOUND)] * 5
    one = PosteriorModel(PolicyConfig(separate_responses=False))
    for outcome_ in mixed:
        one.learn(outcome_)
    assert one.prior(ArmKey.parse(ITEMS)).response == 1.0
    assert one.prior(ArmKey.parse(ITEMS)).relevance < trained(*mixed).prior(ArmKey.parse(ITEMS)).relevance
    assert 0.3 < one.probability(ITEMS) < 0.7


def test_dead_hub_lowers_its_own_probability_more_than_its_base_arm() -> None:
    good = [outcome(ITEMS, find=True)] * 5
    together = trained(*good, *[outcome(LIST, failure=FailureKind.NOT_FOUND)] * 6)
    apart = trained(*good, *[outcome(ITEMS, failure=FailureKind.NOT_FOUND)] * 6)
    assert together.probability(LIST) < 0.3
    assert together.probability(ITEMS) > apart.probability(ITEMS)
    assert (together.tries(LIST), together.tries(ITEMS)) == (6, 11)


def test_silent_hosts_lower_probability_of_unseen_hosts() -> None:
    silent = [outcome(f"c{n}.example" + CROSS_HOST[9:], failure=FailureKind.DNS) for n in range(10)]
    assert trained(*silent).probability(CROSS_HOST) < PosteriorModel(PolicyConfig()).probability(CROSS_HOST) / 2
    assert not trained(*silent).statistics.features, "features do not learn from the silence of unseen hosts"


def test_response_of_host_raises_its_probability_of_response() -> None:
    silent = [outcome(f"c{n}.example" + CROSS_HOST[9:], failure=FailureKind.DNS) for n in range(10)]
    met = trained(*silent, outcome(CROSS_HOST))
    assert met.prior(ArmKey.parse(CROSS_HOST)).response > trained(*silent).prior(ArmKey.parse(CROSS_HOST)).response


def test_delta_has_what_was_learned_since_it_was_taken() -> None:
    found = trained(outcome(ITEMS, find=True), outcome(ITEMS))
    assert found.delta.arms[ITEMS].tries == found.statistics.arms[ITEMS].tries == 2


def trained_features(rounds: int = 20) -> PosteriorModel:
    model = PosteriorModel(PolicyConfig())
    for _ in range(rounds):
        model.learn_weights(GOOD, RELEVANCE, result=1.0)
        model.learn_weights(PLAIN, RELEVANCE, result=0.0)
    return model


def predicted(model: PosteriorModel, features: Features) -> float:
    """Return the probability of a relevant page by features alone."""
    return sigmoid(model.log_odds(features, RESPONSE)) * sigmoid(model.log_odds(features, RELEVANCE))


def test_features_learned_on_one_host_apply_to_other_hosts() -> None:
    model = trained_features()
    assert predicted(model, GOOD) > 0.6 > 0.2 > predicted(model, PLAIN)
    assert predicted(model, OTHER_HOST_GOOD) > predicted(model, OTHER_HOST_PLAIN)
    assert predicted(model, OTHER_HOST_GOOD) < predicted(model, GOOD), "but less is known about the other host"


def test_failures_do_not_change_relevance_weights() -> None:
    model = trained_features()
    before = model.log_odds(GOOD, RELEVANCE)
    for _ in range(5):
        model.learn_weights(GOOD, RESPONSE, result=0.0)
    assert model.log_odds(GOOD, RELEVANCE) == before
    assert predicted(model, GOOD) < 0.3


def test_added_sums_of_two_learners_have_more_effect() -> None:
    model = trained_features(3)
    alone = predicted(model, GOOD)
    model.statistics.add(trained_features(3).statistics)
    assert predicted(model, GOOD) > alone


def test_learned_weights_are_the_same_in_statistics_and_delta() -> None:
    model = trained_features(1)
    assert model.statistics == model.delta
    assert model.statistics.features

"""The bandit over hosts, by the formulas of the paper."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motherlode.model import FailureKind
from motherlode.policy.bandit import SuccessRateBandit

from .fakes import feedback, links

ENDS = [(True, None), (False, None), (False, FailureKind.REDIRECT), (False, FailureKind.NOT_FOUND)]
OUTCOME = st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from(ENDS))


def bandit(*, exploration: float = 0.0, decay: float | None = None, seed: int = 3) -> SuccessRateBandit:
    return SuccessRateBandit(random=Random(seed), exploration=exploration, decay=decay)


@given(st.lists(OUTCOME, max_size=30))
def test_without_exploration_the_arm_with_the_best_success_rate_is_picked(
    outcomes: list[tuple[str, tuple[bool, FailureKind | None]]],
) -> None:
    policy = bandit()
    good, bad = Counter[str](), Counter[str]()
    for arm in "abc":
        policy.wake(arm, 0.0, 9)
    for arm, (relevant, failure) in outcomes:
        policy.learn(feedback(arm, relevant=relevant, failure=failure))
        if failure is not FailureKind.REDIRECT:
            (good if relevant else bad)[arm] += 1
        values = {arm: (good[arm] + 1) / (bad[arm] + 1) for arm in "abc"}
        picked = policy.pick()
        assert picked is not None
        assert values[picked] == max(values.values())


def test_what_is_learned_while_an_arm_rests_counts_when_it_wakes() -> None:
    policy = bandit()
    policy.wake("a", 0.0, 1)
    policy.learn(feedback("b", relevant=True))
    assert policy.pick() == "a"
    policy.wake("b", 0.0, 1)
    assert policy.pick() == "b"
    policy.rest("b")
    assert policy.pick() == "a"


def test_a_failure_is_a_bad_pick_and_a_redirect_is_none() -> None:
    policy = bandit()
    policy.wake("a", 0.0, 1)
    policy.wake("b", 0.0, 1)
    policy.learn(feedback("a", relevant=False, failure=FailureKind.REDIRECT))
    assert policy.pick() == "a", "nothing was learned, and a woke first"
    policy.learn(feedback("a", relevant=False, failure=FailureKind.NOT_FOUND))
    assert policy.pick() == "b"


@pytest.mark.parametrize(("exploration", "low", "high"), [(0.0, 0, 0), (1.0, 4_750, 5_250), (0.4, 1_850, 2_150)])
def test_lambda_is_the_share_of_random_picks(exploration: float, low: int, high: int) -> None:
    policy = bandit(exploration=exploration)
    policy.wake("good", 0.0, 1)
    policy.wake("poor", 0.0, 1)
    policy.learn(feedback("good", relevant=True))
    picks = Counter(policy.pick() for _ in range(10_000))
    assert low <= picks["poor"] <= high  # half of the random picks; three standard deviations either way


def test_lambda_decays_with_the_picks() -> None:
    policy = bandit(exploration=0.5, decay=10.0)
    policy.wake("a", 0.0, 1)
    for picks in range(50):
        assert policy.exploration_now() == pytest.approx(0.5 * 10 / (picks + 10))
        policy.pick()


def test_a_pick_of_nothing_is_no_pick() -> None:
    policy = bandit(exploration=0.5, decay=10.0)
    assert policy.pick() is None
    assert policy.exploration_now() == 0.5


def test_inside_a_host_the_first_found_goes_first() -> None:
    policy = bandit()
    first, second = policy.rate(links("http://a.example/1", "http://a.example/2"), None)
    (third,) = policy.rate(links("http://a.example/3"), None)
    assert first.score > second.score > third.score
    assert first.arm == third.arm == "a.example"


def test_what_was_learned_survives_a_dump_and_a_load() -> None:
    before = bandit(exploration=0.3, decay=5.0)
    before.rate(links("http://a.example/1"), None)
    before.wake("a", 0.0, 1)
    for relevant in (True, True, False):
        before.learn(feedback("a", relevant=relevant))
        before.learn(feedback("b", relevant=not relevant))
        before.pick()
    after = bandit(exploration=0.3, decay=5.0)
    after.load(before.dump())
    assert after.dump() == before.dump()
    assert after.exploration_now() == before.exploration_now()
    assert after.rate(links("http://a.example/2"), None) == before.rate(links("http://a.example/2"), None)
    greedy = bandit()
    greedy.load(before.dump())
    greedy.wake("b", 0.0, 1)
    greedy.wake("a", 0.0, 1)
    assert greedy.pick() == "a"


@pytest.mark.parametrize("exploration", [-0.1, 1.1, float("nan"), float("inf")])
def test_lambda_must_be_a_probability(exploration: float) -> None:
    with pytest.raises(ValueError, match="λ is a probability"):
        bandit(exploration=exploration)


@pytest.mark.parametrize("decay", [0.0, -1.0, float("nan"), float("inf")])
def test_the_decay_must_be_a_number_above_zero(decay: float) -> None:
    with pytest.raises(ValueError, match="decay m"):
        bandit(decay=decay)

"""Policies by name."""

from __future__ import annotations

import re

import pytest

from motherlode.policy import DEFAULT_POLICY, POLICIES, nearest, policy_from
from motherlode.policy.bandit import SuccessRateBandit
from motherlode.policy.orders import OrderPolicy

from .fakes import links


@pytest.mark.parametrize("name", [*POLICIES, DEFAULT_POLICY])
def test_every_name_that_is_told_gives_a_policy(name: str) -> None:
    policy = policy_from(name, seed=1)
    (rating,) = policy.rate(links("http://a.example/"), None)
    policy.wake(rating.arm, rating.score, 1)
    assert policy.pick() == "a.example"
    policy.load(policy.dump())


def test_breadth_and_depth_are_not_confused() -> None:
    scores = {}
    for name in ("bfs", "dfs"):
        first, second = policy_from(name).rate(links("http://a.example/1", "http://a.example/2"), None)
        scores[name] = first.score > second.score
    assert scores == {"bfs": True, "dfs": False}


def test_randomness_comes_from_the_seed() -> None:
    urls = [f"http://a.example/{number}" for number in range(5)]
    one, same, other = (
        [rating.score for rating in policy_from("random", seed).rate(links(*urls), None)] for seed in (1, 1, 2)
    )
    assert one == same != other
    assert len(set(one)) == 5


@pytest.mark.parametrize(
    ("name", "exploration"),
    [("bandit:success-rate", 0.1), ("bandit:success-rate:0.25", 0.25), ("bandit:success-rate:0.25:100", 0.25)],
)
def test_a_bandit_takes_its_numbers_from_its_name(name: str, exploration: float) -> None:
    policy = policy_from(name)
    assert isinstance(policy, SuccessRateBandit)
    assert policy.exploration_now() == exploration
    policy.wake("a", 0.0, 1)
    for _ in range(100):
        policy.pick()
    assert policy.exploration_now() == (exploration / 2 if name.endswith(":100") else exploration)


def test_the_others_are_orders() -> None:
    assert all(isinstance(policy_from(name), OrderPolicy) for name in ("bfs", "dfs", "random"))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("bsf", "did you mean bfs?"),
        ("randon", "did you mean random?"),
        ("bandit:sucess-rate", "did you mean bandit:success-rate?"),
        ("bandit:success-rate:0.1:10:7", "did you mean bandit:success-rate?"),
        ("bandit", "unknown policy 'bandit'"),
        ("", "unknown policy ''"),
        ("bfs:1", "did you mean bfs?"),
        ("bandit:success-rate:much", "λ and m are numbers"),
        ("bandit:success-rate:", "λ and m are numbers"),
        ("bandit:success-rate:2", "λ is a probability"),
        ("bandit:success-rate:0.1:0", "decay m"),
    ],
)
def test_a_wrong_name_is_answered_with_what_would_be_right(name: str, hint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(hint)) as error:
        policy_from(name)
    if "unknown" in str(error.value):
        assert "known: bfs, dfs, random, bandit:success-rate" in str(error.value)


def test_nearest_says_nothing_where_nothing_is_near() -> None:
    assert nearest("zzzzzz", POLICIES) == ""

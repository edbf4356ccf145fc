"""Bounded crawling: remaining depth of links, and refused links."""

from __future__ import annotations

import pytest

from motherlode.model import Link, LinkSource, Outcome
from motherlode.policies.baselines.orders import OTHER_DOMAIN, TOO_DEEP, BoundedPolicy

from ..fakes import links


def step(
    policy: BoundedPolicy, policy_state: bytes, *, relevant: bool, url: str = "http://a.example/next"
) -> tuple[bytes, str]:
    on = Outcome(url="http://a.example/", host="a.example", depth=0, relevant=relevant, policy_state=policy_state)
    (rating,) = policy.rate(links(url), on)
    return rating.policy_state, rating.refused


def test_remaining_depth_shrinks_at_irrelevant_pages() -> None:
    policy = BoundedPolicy(2)
    (seed,) = policy.rate(links("http://a.example/"), None)
    policy_state, refused = seed.policy_state, seed.refused
    steps = 0
    while not refused:
        policy_state, refused = step(policy, policy_state, relevant=False)
        steps += 1
    assert (steps, refused) == (3, TOO_DEEP)


def test_remaining_depth_grows_at_relevant_page() -> None:
    policy = BoundedPolicy(1, 2)
    (seed,) = policy.rate(links("http://a.example/"), None)
    policy_state, _ = step(policy, seed.policy_state, relevant=True)
    assert policy_state == bytes((3,))
    policy_state, _ = step(policy, policy_state, relevant=False)
    assert policy_state == bytes((2,))


def test_links_to_other_domains_are_refused_on_irrelevant_pages() -> None:
    policy = BoundedPolicy()
    (seed,) = policy.rate(links("http://a.example/"), None)
    other, own = "http://b.example.org/", "http://www.a.example/"
    assert step(policy, seed.policy_state, relevant=False, url=other)[1] == OTHER_DOMAIN
    assert step(policy, seed.policy_state, relevant=False, url=own)[1] == ""
    assert step(policy, seed.policy_state, relevant=True, url=other)[1] == ""


def test_redirect_does_not_change_remaining_depth() -> None:
    policy = BoundedPolicy()
    on = Outcome(url="http://a.example/", host="a.example", depth=0, relevant=False, policy_state=bytes((0,)))
    (rating,) = policy.rate([Link(url="http://other.org/", source=LinkSource.REDIRECT)], on)
    assert (rating.policy_state, rating.refused) == (bytes((0,)), "")


def test_order_of_discovery_continues_after_load() -> None:
    policy, after = BoundedPolicy(), BoundedPolicy()
    first, second = policy.rate(links("http://a.example/", "http://b.example/"), None)
    after.load(policy.dump())
    (third,) = after.rate(links("http://c.example/"), None)
    assert first.score > second.score > third.score
    for rating in (second, first):
        after.arm_ready(rating.arm, rating.score, 1)
    assert after.pick() == "a.example"
    after.arm_snoozed("a.example")
    assert after.pick() == "b.example"


@pytest.mark.parametrize("numbers", [(0,), (3, 0), (256,), (3, 999)])
def test_depth_or_growth_out_of_bounds_raises_value_error(numbers: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="from 1 to 255"):
        BoundedPolicy(*numbers)

"""Queues by registered domain."""

from __future__ import annotations

from motherlode.model import FailureKind
from motherlode.policies.baselines.pay_level_domains import RoundRobinPolicy, SharePolicy

from ..fakes import links, outcome


def test_domain_with_highest_share_of_relevant_pages_is_picked() -> None:
    policy = SharePolicy()
    for number, host in enumerate(("a.one.com", "b.one.com", "a.two.com", "a.new.com")):
        policy.arm_ready(host, -number, 3)
    assert policy.pick() == "a.one.com", "all are alike, and it woke first"
    policy.learn(outcome("b.one.com", relevant=True))
    policy.learn(outcome("a.two.com", relevant=False))
    assert policy.pick() == "a.one.com", "what its neighbour found counts for it; inside, the first found goes first"
    policy.arm_ready("a.one.com", -9, 2)
    assert policy.pick() == "b.one.com"
    policy.arm_snoozed("b.one.com")
    assert policy.pick() == "a.one.com"
    policy.arm_snoozed("a.one.com")
    assert policy.pick() == "a.new.com", "better unknown than bad"
    policy.arm_snoozed("a.new.com")
    assert policy.pick() == "a.two.com"
    policy.arm_snoozed("a.two.com")
    policy.arm_snoozed("a.two.com")
    assert policy.pick() is None


def test_redirect_does_not_change_share_of_domain() -> None:
    policy = SharePolicy()
    policy.arm_ready("a.one.com", 0.0, 1)
    policy.arm_ready("a.two.com", 0.0, 1)
    policy.learn(outcome("a.one.com", relevant=False, failure=FailureKind.REDIRECT))
    assert policy.pick() == "a.one.com"
    policy.learn(outcome("a.one.com", relevant=False, failure=FailureKind.NOT_FOUND))
    assert policy.pick() == "a.two.com"


def test_round_robin_alternates_between_domains() -> None:
    policy = RoundRobinPolicy()
    for number, host in enumerate(("a.one.com", "b.one.com", "a.two.com")):
        policy.arm_ready(host, -number, 9)
    picks = []
    for turn in range(6):
        picked = policy.pick()
        picks.append(picked)
        assert picked is not None
        policy.arm_ready(picked, -10 - turn, 8)
    assert picks == ["a.one.com", "a.two.com", "b.one.com", "a.two.com", "a.one.com", "a.two.com"]


def test_new_domain_goes_to_end_of_round() -> None:
    policy = RoundRobinPolicy()
    policy.arm_ready("one.com", 0.0, 9)
    policy.arm_ready("two.com", 0.0, 9)
    assert policy.pick() == "one.com"
    policy.arm_ready("new.com", 0.0, 9)
    assert [policy.pick() for _ in range(3)] == ["two.com", "one.com", "new.com"]


def test_domain_policies_continue_after_load() -> None:
    for make in (SharePolicy, RoundRobinPolicy):
        before, after = make(), make()
        hosts = [f"h{number}.example.com" for number in range(3)] + [f"d{number}.org" for number in range(4)]
        before.rate(links(*(f"http://{host}/" for host in hosts)), None)
        for number, host in enumerate(hosts):
            before.arm_ready(host, -number, 5)
            before.learn(outcome(host, relevant=number % 3 == 0))
            before.pick()
        for host in hosts:
            before.arm_snoozed(host)
        after.load(before.dump())
        for policy in (before, after):
            for number, host in enumerate(hosts):
                policy.arm_ready(host, -number, 5)
        assert [after.pick() for _ in range(9)] == [before.pick() for _ in range(9)]
        new = links("http://x.org/")
        assert after.rate(new, None) == before.rate(new, None)

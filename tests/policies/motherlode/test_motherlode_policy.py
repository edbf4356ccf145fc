"""The motherlode policy on small cases that can be checked by hand."""

from __future__ import annotations

from random import Random

import pytest

from motherlode.model import FailureKind, Link, LinkSource, Outcome
from motherlode.policies.motherlode import Motherlode
from motherlode.policies.motherlode.arm_key import ArmKey
from motherlode.policies.motherlode.motherlode_policy import (
    Plan,
    information_gain,
    make_plan,
    plan_with_links,
)
from motherlode.policies.motherlode.posterior import ArmStatistics


def link(url: str, place: str = "ul li a") -> Link:
    return Link(url=url, source=LinkSource.ANCHOR, tag_path=f"html body {place}")


def page(url: str, arm: str) -> Outcome:
    return Outcome(url=url, host="a.example", depth=0, relevant=False, arm=arm)


def outcome(arm: str, *, relevant: bool, failure: FailureKind | None = None) -> Outcome:
    host = arm.partition("\t")[0]
    return Outcome(
        url=f"http://{host}/", host=host, arm=arm, policy_state=b"", score=0.0, reward=float(relevant),
        relevant=relevant,
        failure=failure,
    )  # fmt: skip


def arm_of(policy: Motherlode, one: Link, parent: Outcome | None = None) -> str:
    return policy.rate([one], parent)[0].arm


def started() -> Motherlode:
    """Return a policy that has tried the host: before that, its links are not distinguished by path."""
    policy = Motherlode()
    policy.learn(outcome(arm_of(policy, link("http://a.example/")), relevant=False))
    return policy


def test_similar_links_share_an_arm_and_others_do_not() -> None:
    policy = started()
    first = arm_of(policy, link("http://a.example/item/1.html"))
    assert arm_of(policy, link("http://a.example/item/2.html")) == first
    assert arm_of(policy, link("http://a.example/about/team.html")) != first
    assert arm_of(policy, link("http://b.example/item/2.html")) != first


def test_arm_with_relevant_pages_is_picked() -> None:
    policy = started()
    good = arm_of(policy, link("http://a.example/item/1.html"))
    bad = arm_of(policy, link("http://a.example/news/1.html", "nav a"))
    for _ in range(5):
        policy.learn(outcome(good, relevant=True))
        policy.learn(outcome(bad, relevant=False))
    for arm in (bad, good):
        policy.arm_ready(arm, best=0.0, waiting=10)
    assert policy.pick() == good
    policy.arm_snoozed(good)
    assert policy.pick() == bad
    policy.arm_snoozed(bad)
    assert policy.pick() is None


def test_hub_arm_with_relevant_links_has_higher_value_than_page_without() -> None:
    policy = started()
    hubs = arm_of(policy, link("http://a.example/list/1.html", "nav a"))
    plain = arm_of(policy, link("http://a.example/about/1.html", "footer a"))
    items = [link(f"http://a.example/item/{number}.html") for number in range(20)]
    for _ in range(4):
        policy.learn(outcome(hubs, relevant=False))
        policy.learn(outcome(plain, relevant=False))
        found = policy.rate(items, page("http://a.example/list/1.html", hubs))[0].arm
        policy.learn(outcome(found, relevant=True))
    assert policy.probability(hubs) < 0.5 < policy.value(hubs)
    assert policy.value(hubs) > 1.5 * policy.value(plain)


def test_relevant_redirect_target_raises_value_of_redirecting_arm() -> None:
    policy = started()
    short = arm_of(policy, link("http://a.example/id/1"))
    policy.arm_ready(short, best=0.0, waiting=4)
    policy.learn(outcome(short, relevant=False, failure=FailureKind.REDIRECT))
    target = Link(url="http://a.example/doc/1.html", source=LinkSource.REDIRECT)
    long = arm_of(policy, target, page("http://a.example/id/1", short))
    before = policy.value(short)
    policy.learn(outcome(long, relevant=True))  # no other link of this arm waits
    assert policy.value(short) > 2 * before
    for _ in range(30):
        policy.learn(outcome(short, relevant=False, failure=FailureKind.REDIRECT))
        policy.rate([target], page("http://a.example/id/1", short))
        policy.learn(outcome(long, relevant=True))
    assert (
        policy.plan(short, policy.probability(short)).rate > 0.4
    )  # one relevant page in two requests, without a discount


def test_only_link_of_gateway_has_higher_value_than_one_of_many() -> None:
    gateway, full = started(), started()
    lone = arm_of(gateway, link("http://a.example/welcome/1.html", "footer a"))
    assert arm_of(full, link("http://a.example/welcome/1.html", "footer a")) == lone
    items = arm_of(full, link("http://a.example/item/1.html"))
    full.arm_ready(items, best=0.0, waiting=10)
    for policy in (gateway, full):
        policy.arm_ready(lone, best=0.0, waiting=1)
    assert gateway.probability(lone) == full.probability(lone)
    assert gateway.value(lone) > 1.1 * full.value(lone)
    full.arm_snoozed(items)
    assert gateway.value(lone) == full.value(lone)


def test_links_to_hosts_that_fail_have_low_probability() -> None:
    policy = started()
    home = page("http://a.example/", arm_of(policy, link("http://a.example/")))
    cross_host = [arm_of(policy, link(f"http://gone{number}.example/"), home) for number in range(8)]
    fresh = arm_of(policy, link("http://a.example/item/1.html"), home)
    for arm in cross_host[:6]:
        policy.learn(outcome(arm, relevant=False, failure=FailureKind.DNS))
    assert policy.probability(cross_host[6]) < policy.probability(fresh)


def test_failures_of_cross_host_links_lower_probability_of_others() -> None:
    policy = started()
    home = page("http://a.example/", arm_of(policy, link("http://a.example/")))
    cross_host = [arm_of(policy, link(f"http://gone{number}.example/"), home) for number in range(31)]
    before = policy.probability(cross_host[30])
    for arm in cross_host[:30]:
        policy.learn(outcome(arm, relevant=False, failure=FailureKind.NOT_FOUND))
    assert policy.probability(cross_host[30]) < before / 10


def test_host_without_response_has_low_probability_but_redirecting_host_has_not() -> None:
    policy = started()
    silent, moved = (arm_of(policy, link(f"http://{host}.example/item/1.html")) for host in ("silent", "moved"))
    policy.learn(outcome(silent, relevant=False, failure=FailureKind.NOT_FOUND))
    policy.learn(outcome(moved, relevant=False, failure=FailureKind.REDIRECT))
    others = [arm_of(policy, link(f"http://{host}.example/other/1.html")) for host in ("silent", "moved")]
    assert policy.probability(others[0]) < policy.probability(others[1]) / 3


def cross_host_arms(policy: Motherlode) -> list[str]:
    """Return the arms of links to two unseen hosts."""
    parent = page("http://a.example/", "")
    return [arm_of(policy, link(f"http://{host}.example/x"), parent) for host in ("b", "c")]


def test_unseen_host_with_many_waiting_links_is_picked_first() -> None:
    policy = Motherlode()
    few, many = cross_host_arms(policy)
    policy.arm_ready(few, 0.0, 1)
    for waiting in range(1, 101):
        policy.arm_ready(many, 0.0, waiting)
    assert policy.value_now(many) > policy.value_now(few)
    assert policy.pick() == many


def test_silent_host_is_valued_by_all_its_waiting_links() -> None:
    policy = Motherlode()
    first, other = cross_host_arms(policy)
    for arm in (first, other):
        policy.arm_ready(arm, 0.0, 1)
        policy.learn(outcome(arm, relevant=False, failure=FailureKind.NOT_FOUND))
    assert policy.value_now(first) == pytest.approx(policy.value_now(other), rel=0.2)
    policy.arm_ready(arm_of(policy, link("http://b.example/data/1", "td a"), page("http://a.example/", "")), 0.0, 100)
    assert policy.value_now(first) > 3 * policy.value_now(other)


def test_rare_relevant_page_raises_probability_of_its_host() -> None:
    policy = Motherlode()
    homes = [link(f"http://{number}.example/") for number in range(40)]
    for number, one in enumerate(homes):
        policy.learn(outcome(arm_of(policy, one), relevant=number == 39))
    poor, rich = (arm_of(policy, link(f"http://{number}.example/item/1.html")) for number in (38, 39))
    assert policy.probability(rich) > 2.5 * policy.probability(poor)


def test_dead_hub_does_not_lower_probability_of_another_hub_as_much() -> None:
    policy = started()
    home = arm_of(policy, link("http://a.example/"))
    dead, fresh = (
        policy.rate(
            [link(f"http://a.example/item/{page_number}-{number}.html") for number in range(10)],
            page(f"http://a.example/list/{page_number}.html", home),
        )[0].arm
        for page_number in (1, 2)
    )
    before = policy.probability(fresh)
    for _ in range(5):
        policy.learn(outcome(dead, relevant=False, failure=FailureKind.NOT_FOUND))
    assert policy.probability(dead) < policy.probability(fresh) / 3 < before / 3


def test_failure_of_unseen_host_does_not_change_other_links() -> None:
    policy = started()
    home = page("http://a.example/", arm_of(policy, link("http://a.example/")))
    near = arm_of(policy, link("http://a.example/item/1.html"), home)
    before = policy.probability(near)
    for number in range(20):
        cross_host = arm_of(policy, link(f"http://gone{number}.example/item/1.html"), home)
        policy.learn(outcome(cross_host, relevant=False, failure=FailureKind.DNS))
    assert policy.probability(near) == before


def test_inner_seeds_keep_value_after_irrelevant_ones() -> None:
    policy = Motherlode()
    named = [Link(url=f"http://a.example/part/{number}.html", source=LinkSource.SEED) for number in range(5)]
    seeds = policy.rate(named, None)[0].arm
    policy.arm_ready(seeds, 0.0, 9)
    for _ in range(3):
        policy.learn(outcome(seeds, relevant=False))
    plain = arm_of(policy, link("http://a.example/about/1.html"))
    policy.learn(outcome(plain, relevant=False))
    assert policy.value(seeds) > policy.value(plain)


def test_links_near_a_seed_come_first_within_an_arm() -> None:
    policy = started()
    deep = Outcome(url="http://a.example/x", host="a.example", depth=3, relevant=False)
    far, near = (policy.rate([link("http://a.example/item/1.html")], parent)[0] for parent in (deep, None))
    later = policy.rate([link("http://a.example/item/2.html")], None)[0]
    assert near.score == later.score > far.score, "the frontier returns the first of equal scores first"


def test_state_survives_dump_and_load_and_can_be_added() -> None:
    first, second = Motherlode(), Motherlode()
    arm = arm_of(first, link("http://a.example/item/1.html"))
    for policy in (first, second):
        policy.learn(outcome(arm, relevant=True))
    restored = Motherlode()
    restored.load(first.dump())
    assert restored.value(arm) == first.value(arm)
    restored.absorb(second.delta())
    assert restored.statistics.arms[arm].tries == 2
    assert second.delta() == b"", "each delta is returned once"


def waiting_policy() -> tuple[Motherlode, str, str]:
    """Return a policy with a relevant and an irrelevant host, both ready with some links, and the arms of both."""
    policy = Motherlode()
    policy.wait_threshold = 0.5
    good, bad = (arm_of(policy, link(f"http://{host}.example/")) for host in ("good", "bad"))
    for _ in range(5):
        policy.learn(outcome(good, relevant=True))
        policy.learn(outcome(bad, relevant=False))
    for arm in (bad, good):
        policy.arm_ready(arm, best=0.0, waiting=10)
    return policy, good, bad


def test_policy_with_wait_threshold_waits_for_better_host() -> None:
    policy, good, bad = waiting_policy()
    assert policy.pick() == good
    policy.arm_ready(good, best=0.0, waiting=9)  # more links are waiting
    policy.arm_snoozed(good)  # and its host is snoozed
    assert (policy.pick(), policy.awaited) == (None, "good.example")
    policy.arm_ready(good, best=0.0, waiting=9)
    assert (policy.pick(), policy.awaited) == (good, "")
    policy.arm_ready(good, best=0.0, waiting=8)
    policy.arm_snoozed(good)
    policy.leave("good.example")
    assert (policy.pick(), policy.awaited) == (bad, ""), "it is unknown when the other host is ready"


def test_policy_does_not_wait_for_empty_arm_or_without_threshold() -> None:
    policy, good, bad = waiting_policy()
    assert policy.pick() == good
    policy.arm_snoozed(good)  # directly after the pick: that was its last link
    assert policy.pick() == bad
    policy, good, bad = waiting_policy()
    policy.wait_threshold = 0.0
    assert policy.pick() == good
    policy.arm_ready(good, best=0.0, waiting=9)
    policy.arm_snoozed(good)
    assert policy.pick() == bad


def test_relevant_page_has_higher_rate_than_page_with_relevant_links() -> None:
    item = make_plan(1.0, 1.0)
    assert item.rate > plan_with_links(0.0, [(*item, 10.0)]).rate > plan_with_links(0.0, [(*item, 1.0)]).rate


def test_discount_lowers_rate_of_plan() -> None:
    item = make_plan(1.0, 1.0)
    discounted = make_plan(0.6 * item.reward, item.requests)
    assert plan_with_links(0.0, [(*discounted, 10.0)]).rate == pytest.approx(
        0.6 * plan_with_links(0.0, [(*item, 10.0)]).rate
    )


def test_links_that_lower_the_rate_are_not_in_the_plan() -> None:
    assert plan_with_links(0.5, [(*make_plan(0.1, 1.0), 100.0)]) == make_plan(0.5, 1.0)


def test_every_step_of_a_plan_costs_for_any_number_of_links() -> None:
    """Otherwise arms that link to each other in circles would all have the value of the best of them."""
    found = make_plan(1.0, 1.0)
    for _ in range(10):
        found = plan_with_links(0.0, [(*make_plan(0.6 * found.reward, found.requests), 50.0)])
    assert found.rate < 0.01


def test_plan_is_limited_to_150_requests() -> None:
    found = plan_with_links(0.0, [(*make_plan(1.0, 1.0), 10_000.0)])
    assert found.requests == pytest.approx(150.0)
    assert found.rate == pytest.approx(10_000 / 10_001)


def plan_from_all_links(policy: Motherlode, arm: str, probability: float) -> Plan:
    """Return the plan of an arm by the definition: all links, none left out early."""
    key, learned, config = ArmKey.parse(arm), policy.statistics, policy.config
    own = learned.arms.get(key.base_arm, ArmStatistics())
    expected = own.links_per_page(empty_pages=config.prior_tries)
    share = config.prior_tries / (own.tries + config.prior_tries)
    for to, count in learned.families[key.family].links_per_page(empty_pages=0.0).items():
        expected[to] = expected.get(to, 0.0) + count * share
    links = []
    for to, count in expected.items():
        rate, reward, requests = policy._plan_of(to)
        statistics = learned.arms.get(to)
        is_relevant_target = statistics and statistics.reward and ArmKey.parse(to).is_redirect_target
        factor = 1.0 if is_relevant_target else config.discount
        links.append((rate * factor, reward * factor, requests, count))
    return plan_with_links(probability, links)


def test_plan_is_the_plan_from_all_links_bit_for_bit() -> None:
    policy, draw = started(), Random(1)
    arms: set[str] = set()
    for step in range(300):
        redirected = step % 7 == 0
        source = LinkSource.REDIRECT if redirected else LinkSource.ANCHOR
        urls = [
            f"http://a.example/{draw.choice('abcdefgh')}/{draw.randrange(99)}.html"
            for _ in range(1 if redirected else 6)
        ]
        links = [Link(url=url, source=source, tag_path="html body ul li a") for url in urls]
        failure = FailureKind.REDIRECT if redirected else None
        parent = outcome(
            draw.choice(sorted(arms)) if arms else arm_of(policy, links[0]), relevant=False, failure=failure
        )
        arms.update(rating.arm for rating in policy.rate(links, parent))
        arm = draw.choice(sorted(arms))
        policy.learn(outcome(arm, relevant="\tg\t" not in arm and draw.random() < 0.5))
    plans = {arm: policy.plan(arm, policy.probability(arm)) for arm in sorted(arms)}
    assert plans == {arm: plan_from_all_links(policy, arm, policy.probability(arm)) for arm in sorted(arms)}
    assert any(plan.requests > 1.0 for plan in plans.values())
    rewards = [statistics.reward for arm, statistics in policy.statistics.arms.items() if "redirect" in arm]
    assert 0 in rewards and max(rewards) > 0


def test_redirect_targets_without_reward_are_discounted() -> None:
    policy = started()
    source = arm_of(policy, link("http://a.example/id/1.html"))
    target = Link(url="http://a.example/page/1.html", source=LinkSource.REDIRECT)
    parent = outcome(source, relevant=False, failure=FailureKind.REDIRECT)
    policy.learn(parent)
    target_arm = arm_of(policy, target, parent)
    for is_relevant in (False, True):
        policy.learn(outcome(target_arm, relevant=is_relevant))
        assert policy.plan(source, 0.0) == plan_from_all_links(policy, source, 0.0)
        assert policy.plan(source, 0.0).requests > 1.0


def test_information_gain_is_higher_for_arms_with_few_tries() -> None:
    def rate(tries: float, more: float) -> float:
        finds, requests = information_gain(0.1, tries, more)
        return (0.1 + finds) / (1.0 + requests)

    assert rate(1.0, 20.0) > rate(10.0, 20.0) > rate(1000.0, 20.0) > 0.1
    assert rate(1.0, 20.0) > rate(1.0, 5.0) > rate(1.0, 0.0) == 0.1


def test_forget_removes_hosts_without_reward_that_are_not_needed() -> None:
    policy = Motherlode()
    arms = {host: arm_of(policy, link(f"http://{host}.example/")) for host in ("barren", "needed", "useful")}
    for host, arm in arms.items():
        policy.learn(outcome(arm, relevant=host == "useful"))
        policy.rate([link(f"http://{host}.example/item/1.html")], page(f"http://{host}.example/", arm))
    before = policy.probability(arms["useful"])
    assert policy.forget(lambda host: host == "needed.example") == 1
    assert set(policy.statistics.hosts) == {"needed.example", "useful.example"}
    assert arms["barren"] not in policy.statistics.arms and arms["useful"] in policy.statistics.arms
    assert not [feature for feature in policy.statistics.features if "barren.example" in feature]
    assert policy.probability(arms["useful"]) == before
    policy.arm_ready(arms["barren"], 0.0, 1)
    assert policy.pick() == arms["barren"], "a forgotten host counts as unseen again"
    policy.learn(outcome(arms["barren"], relevant=False))


def test_forget_leaves_a_state_that_can_be_saved_and_loaded() -> None:
    policy = started()
    assert policy.forget(lambda host: False) == 1
    other = Motherlode()
    other.load(policy.dump())
    assert not other.statistics.hosts and other.statistics.features["bias"] == policy.statistics.features["bias"]


def test_value_of_unseen_host_whose_links_lead_back_to_their_arm_is_finite() -> None:
    policy = Motherlode()
    arm = arm_of(policy, link("http://a.example/list/1.html"))
    policy.rate([link("http://a.example/list/2.html")], page("http://a.example/list/1.html", arm))
    assert 0.0 < policy.value(arm) < 1.0

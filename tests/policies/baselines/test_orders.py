"""Policies that learn nothing."""

from __future__ import annotations

from random import Random

import pytest

from motherlode.policies.baselines.orders import OrderPolicy
from tests.policies.fakes import links, outcome

URLS = ["http://a.example/1", "http://b.example:8080/1", "http://a.example/2", "https://b.example:8080/2"]


def made(order: str, seed: int = 0) -> OrderPolicy:
    return OrderPolicy(order, Random(seed))


def order_of(policy: OrderPolicy) -> list[str]:
    """Return the URLs in the order in which a frontier would lease them if all hosts were always ready."""
    queues: dict[str, list[tuple[float, str]]] = {}
    for rating, url in zip(policy.rate(links(*URLS), None), URLS, strict=True):
        queues.setdefault(rating.arm, []).append((rating.score, url))
    picked: list[str] = []
    for queue in queues.values():
        queue.sort(reverse=True)
    for arm, queue in queues.items():
        policy.arm_ready(arm, queue[0][0], len(queue))
    while (chosen := policy.pick()) is not None:
        picked.append(queues[chosen].pop(0)[1])
        if queues[chosen]:
            policy.arm_ready(chosen, queues[chosen][0][0], len(queues[chosen]))
        else:
            policy.arm_snoozed(chosen)
    return picked


def test_breadth_first_is_order_of_discovery() -> None:
    assert order_of(made("bfs")) == URLS


def test_depth_first_is_reverse_order_of_discovery() -> None:
    assert order_of(made("dfs")) == URLS[::-1]


def test_random_order_depends_on_the_seed_only() -> None:
    assert order_of(made("random", 5)) == order_of(made("random", 5))
    assert len({tuple(order_of(made("random", seed))) for seed in range(200)}) == 24


def test_arms_are_hosts_with_ports() -> None:
    arms = [rating.arm for rating in made("bfs").rate(links(*URLS), None)]
    assert arms == ["a.example", "b.example:8080", "a.example", "b.example:8080"]


def test_snoozed_arm_is_not_picked() -> None:
    policy = made("bfs")
    policy.arm_ready("a.example", -1.0, 1)
    policy.arm_snoozed("a.example")
    assert policy.pick() is None


@pytest.mark.parametrize("order", ["bfs", "dfs"])
def test_order_continues_after_load(order: str) -> None:
    before, after = made(order), made(order)
    first = before.rate(links(*URLS), None)
    before.learn(outcome("a.example", relevant=True))
    after.load(before.dump())
    assert [rating.score for rating in after.rate(links(URLS[0]), None)] == [
        rating.score for rating in before.rate(links(URLS[0]), None)
    ]
    assert after.rate(links(URLS[0]), None)[0].score not in [rating.score for rating in first]

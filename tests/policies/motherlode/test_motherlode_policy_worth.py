"""What a request is worth: lists, redirects, unknown arms, circles."""

from __future__ import annotations

import pytest

from motherlode.policies.motherlode.motherlode_policy import behind, discounted, follow_up, plan


def test_a_sure_find_is_worth_more_than_a_list_of_finds() -> None:
    item = plan(1.0, 1.0)
    assert item.rate > behind(0.0, [(item, 10.0)]).rate > behind(0.0, [(item, 1.0)]).rate


def test_what_is_counted_on_in_part_is_worth_less() -> None:
    item = plan(1.0, 1.0)
    assert behind(0.0, [(discounted(item, 0.6), 10.0)]).rate == pytest.approx(0.6 * behind(0.0, [(item, 10.0)]).rate)


def test_what_makes_a_plan_worse_is_left_out() -> None:
    assert behind(0.5, [(plan(0.1, 1.0), 100.0)]) == plan(0.5, 1.0)


def test_every_step_costs_however_many_links_there_are() -> None:
    """Otherwise arms that lead to each other in circles, with many links each, would all be worth the best of them."""
    found = plan(1.0, 1.0)
    for _ in range(10):
        found = behind(0.0, [(discounted(found, 0.6), 50.0)])
    assert found.rate < 0.01


def test_a_plan_has_an_end() -> None:
    found = behind(0.0, [(plan(1.0, 1.0), 10_000.0)])
    assert found.requests == pytest.approx(200.0)
    assert found.rate == pytest.approx(10_000 / 10_001)


def test_little_known_arms_are_worth_more_than_well_known_ones_with_the_same_chance() -> None:
    def rate(tries: float, more: float) -> float:
        finds, requests = follow_up(0.1, tries, more)
        return (0.1 + finds) / (1.0 + requests)

    assert rate(1.0, 20.0) > rate(10.0, 20.0) > rate(1000.0, 20.0) > 0.1
    assert rate(1.0, 20.0) > rate(1.0, 5.0) > rate(1.0, 0.0) == 0.1

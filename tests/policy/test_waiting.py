"""What resting hosts promise."""

from __future__ import annotations

from motherlode.policy.waiting import RestingHosts


def test_the_best_promise_counts_and_a_host_is_worth_its_best_link() -> None:
    resting = RestingHosts()
    resting.rests("good.example", 0.2)
    resting.rests("good.example", 0.8)
    resting.rests("fair.example", 0.4)
    assert resting.better_than(0.39, choosy=0.5) == "good.example"
    assert resting.better_than(0.41, choosy=0.5) is None
    resting.wakes("good.example")
    assert resting.better_than(0.19, choosy=0.5) == "fair.example"


def test_nobody_is_waited_for_where_nobody_rests_or_nothing_is_promised() -> None:
    resting = RestingHosts()
    assert resting.better_than(0.0, choosy=1.0) is None
    resting.rests("bad.example", 0.0)
    assert resting.better_than(0.0, choosy=1.0) is None
    resting.wakes("unknown.example")


def test_a_promise_ends_when_its_host_wakes_and_begins_anew() -> None:
    resting = RestingHosts()
    resting.rests("a.example", 0.9)
    resting.wakes("a.example")
    resting.rests("a.example", 0.1)
    assert resting.better_than(0.3, choosy=0.5) is None

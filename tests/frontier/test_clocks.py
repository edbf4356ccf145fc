"""Clocks: many hosts at once are woken a few at a time, and none is forgotten."""

from __future__ import annotations

from motherlode.frontier import Frontier, MemoryLedger, Politeness

from .fakes import BestOf, fetch, offer


def test_a_look_at_the_clocks_wakes_only_so_many() -> None:
    policy = BestOf()
    frontier = Frontier(
        ledger=MemoryLedger(),
        policy=policy,
        scope=lambda url: "",
        read_rules=None,
        politeness=Politeness(delay=1.0, wake_at_once=3),
    )
    offer(frontier, *(f"http://h{number}.example/" for number in range(10)))
    found = [fetch(frontier, 0.0)]
    assert len(policy.awake) == 2
    found += [fetch(frontier, 0.0) for _ in range(9)]
    assert len(set(found)) == 10
    assert frontier.exhausted


def test_hosts_that_are_due_but_of_no_use_do_not_hide_the_others() -> None:
    policy = BestOf()
    frontier = Frontier(
        ledger=MemoryLedger(),
        policy=policy,
        scope=lambda url: "",
        read_rules=None,
        politeness=Politeness(delay=5.0, wake_at_once=1),
    )
    offer(frontier, "http://a.example/1", "http://a.example/2", "http://b.example/1")
    assert fetch(frontier, 0.0) == "http://a.example/1"
    assert fetch(frontier, 0.0) == "http://b.example/1"
    assert frontier.next(4.9) is None
    assert fetch(frontier, 5.0) == "http://a.example/2"

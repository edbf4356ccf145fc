"""What resting hosts promise, and when it is worth waiting for."""

from __future__ import annotations

from motherlode.policies.priority_queue import WaitRule


class Policy(WaitRule):
    """A policy of nothing but patience; an arm is its host."""

    def __init__(self, *, wait_threshold: float) -> None:
        super().__init__()
        self.wait_threshold = wait_threshold

    def rests(self, host: str, value: float | None) -> None:
        self._on_snoozed(host, host, value)

    def wakes(self, host: str) -> None:
        self._on_ready(host, host)

    def offered(self, value: float, host: str = "other.example") -> str:
        """The host that is waited for where one of such a value is awake; "" where that is taken."""
        taken = self._pick_or_wait(host, value)
        assert (taken is None) == bool(self.awaited)
        return self.awaited


def test_the_best_promise_counts_and_a_host_is_worth_its_best_link() -> None:
    policy = Policy(wait_threshold=0.5)
    policy.rests("good.example", 0.2)
    policy.rests("good.example", 0.8)
    policy.rests("good.example", 0.3)
    policy.rests("fair.example", 0.4)
    assert policy.offered(0.39) == "good.example"
    assert policy.offered(0.41) == ""
    policy.wakes("good.example")
    assert policy.offered(0.19) == "fair.example"
    policy.leave("fair.example")
    assert policy.offered(0.19) == ""


def test_nobody_is_waited_for_where_nobody_rests_or_nothing_is_promised() -> None:
    policy = Policy(wait_threshold=1.0)
    assert policy.offered(0.0) == ""
    policy.rests("bad.example", 0.0)
    policy.rests("asleep.example", None)
    assert policy.offered(0.0) == ""


def test_a_promise_ends_when_its_host_wakes_and_begins_anew() -> None:
    policy = Policy(wait_threshold=0.5)
    policy.rests("a.example", 0.9)
    policy.wakes("a.example")
    policy.rests("a.example", 0.1)
    assert policy.offered(0.3) == ""


def test_an_arm_that_is_used_up_promises_nothing_and_one_with_more_does() -> None:
    policy = Policy(wait_threshold=0.5)
    policy.offered(0.9, "empty.example")
    policy.rests("empty.example", 0.9)  # at once
    assert policy.offered(0.1, "more.example") == ""
    policy.wakes("more.example")  # there are more
    policy.rests("more.example", 0.9)
    assert policy.offered(0.1) == "more.example"


def test_what_was_awaited_is_forgotten_with_the_next_pick_and_who_is_not_choosy_waits_for_nobody() -> None:
    policy = Policy(wait_threshold=0.5)
    policy.rests("a.example", 0.9)
    assert policy.offered(0.1) == "a.example"
    assert (policy._pick_or_wait(None, 0.0), policy.awaited) == (None, "")
    policy.wait_threshold = 0.0
    assert policy.offered(0.1) == ""

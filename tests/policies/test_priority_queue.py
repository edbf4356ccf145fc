"""The queue of ready arms compared with a plain dictionary, and the rule of waiting."""

from __future__ import annotations

from collections import Counter
from math import inf, nan
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from motherlode.policies.priority_queue import ReadyArms, WaitRule

NAMES = st.sampled_from([f"arm{number}" for number in range(8)])
VALUES = st.floats(allow_nan=False) | st.integers(-2, 2).map(float)
STEPS = st.lists(st.tuples(st.just("put"), NAMES, VALUES) | st.tuples(st.just("remove"), NAMES, st.just(0.0)))


class PlainArms:
    """Reference implementation: the highest value, and among equals the arm that got its value first."""

    def __init__(self) -> None:
        self.values: dict[str, tuple[float, int]] = {}
        self._stamp = 0

    def put(self, arm: str, value: float) -> None:
        if arm not in self.values or self.values[arm][0] != value:
            self._stamp += 1
            self.values[arm] = (value, self._stamp)

    def remove(self, arm: str) -> None:
        self.values.pop(arm, None)

    def best(self) -> str | None:
        return min(self.values, key=lambda arm: (-self.values[arm][0], self.values[arm][1]), default=None)


@given(STEPS)
def test_best_equals_exhaustive_search(steps: list[tuple[str, str, float]]) -> None:
    arms, plain = ReadyArms(), PlainArms()
    for verb, arm, value in steps:
        if verb == "put":
            arms.put(arm, value)
            plain.put(arm, value)
        else:
            arms.remove(arm)
            plain.remove(arm)
        assert arms.best() == plain.best()
        assert arms.best() == plain.best(), "reading changes nothing"
        assert len(arms) == len(plain.values)
        assert all(name in arms for name in plain.values)


def test_many_changes_of_few_arms_keep_the_queue_small() -> None:
    arms, random = ReadyArms(), Random(1)
    for _ in range(10_000):
        arms.put(f"arm{random.randrange(5)}", random.random())
    assert len(arms._heap) < 1_000
    assert len(arms) == 5


def test_heap_that_was_made_anew_keeps_the_exact_order() -> None:
    """Thousands of arms with changing values, some removed: enough for many stale entries."""
    arms, plain, random = ReadyArms(), PlainArms(), Random(3)
    for _ in range(3_000):
        name = f"arm{random.randrange(900)}"
        value = random.choice((random.random(), 0.5))
        arms.put(name, value)
        plain.put(name, value)
    for step in range(12_000):
        name = arms.best()
        assert name is not None
        if step % 40 == 0:
            assert name == plain.best()
        arms.remove(name)
        plain.remove(name)
        again = f"arm{random.randrange(900)}" if step % 3 else name
        value = random.choice((random.random(), 0.5))
        arms.put(again, value)
        plain.put(again, value)
        if not plain.values:
            break
    while (name := arms.best()) is not None:
        assert name == plain.best()
        arms.remove(name)
        plain.remove(name)
    assert not plain.values


def test_random_arm_is_uniform_after_removals() -> None:
    arms, random = ReadyArms(), Random(11)
    for number in range(500):
        arms.put(f"arm{number}", 0.0)
        arms.random(random)
    for number in range(495):
        arms.remove(f"arm{number}")
    arms.put("arm3", 1.0)
    counts = Counter(arms.random(random) for _ in range(6_000))
    assert len(counts) == 6
    # chi-square with 5 degrees of freedom: 20.5 is the 99.9 % quantile
    assert sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 20.5


def test_value_of_arm_is_last_value_or_none() -> None:
    arms = ReadyArms()
    arms.put("a", 0.25)
    assert arms.value("a") == 0.25
    assert arms.value("b") is None


def test_random_arm_is_uniform() -> None:
    arms, random = ReadyArms(), Random(7)
    for number in range(12):
        arms.put(f"arm{number}", float(number))
    for gone in ("arm0", "arm5", "arm11"):
        arms.remove(gone)
    counts = Counter(arms.random(random) for _ in range(9_000))
    assert len(counts) == 9
    # chi-square with 8 degrees of freedom: 26.1 is the 99.9 % quantile
    assert sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 26.1


@given(STEPS, st.integers(0, 9))
def test_random_arm_is_ready(steps: list[tuple[str, str, float]], seed: int) -> None:
    arms, plain = ReadyArms(), PlainArms()
    for verb, arm, value in steps:
        if verb == "put":
            arms.put(arm, value)
            plain.put(arm, value)
        else:
            arms.remove(arm)
            plain.remove(arm)
    for number in range(5):
        picked = arms.random(Random(seed + number))
        assert picked in plain.values if plain.values else picked is None


def test_infinite_values_are_ordered_and_nan_comes_last() -> None:
    arms = ReadyArms()
    arms.put("lost", nan)
    assert arms.best() == "lost"
    arms.put("low", -inf)
    arms.put("high", inf)
    arms.put("lost", nan)
    order = []
    while (best := arms.best()) is not None:
        order.append(best)
        arms.remove(best)
    assert order == ["high", "lost", "low"]


def test_empty_queue_has_no_best_and_no_random_arm() -> None:
    arms = ReadyArms()
    assert arms.best() is None
    assert arms.random(Random(1)) is None
    arms.remove("unknown")
    assert len(arms) == 0


class Policy(WaitRule):
    """The rule alone; the arm of a host is the host."""

    def __init__(self, *, wait_threshold: float) -> None:
        super().__init__()
        self.wait_threshold = wait_threshold

    def snooze(self, host: str, value: float | None) -> None:
        self._on_snoozed(host, host, value)

    def make_ready(self, host: str) -> None:
        self._on_ready(host, host)

    def offer(self, value: float, host: str = "other.example") -> str:
        """Offer an arm of this value, and return the awaited host; "" if the arm was picked."""
        taken = self._pick_or_wait(host, value)
        assert (taken is None) == bool(self.awaited)
        return self.awaited


def test_best_snoozed_host_is_awaited_by_its_best_value() -> None:
    policy = Policy(wait_threshold=0.5)
    policy.snooze("good.example", 0.2)
    policy.snooze("good.example", 0.8)
    policy.snooze("good.example", 0.3)
    policy.snooze("fair.example", 0.4)
    assert policy.offer(0.39) == "good.example"
    assert policy.offer(0.41) == ""
    policy.make_ready("good.example")
    assert policy.offer(0.19) == "fair.example"
    policy.leave("fair.example")
    assert policy.offer(0.19) == ""


def test_no_host_is_awaited_if_none_is_snoozed_or_has_value() -> None:
    policy = Policy(wait_threshold=1.0)
    assert policy.offer(0.0) == ""
    policy.snooze("bad.example", 0.0)
    policy.snooze("not-ready.example", None)
    assert policy.offer(0.0) == ""


def test_value_of_host_is_forgotten_when_it_is_ready() -> None:
    policy = Policy(wait_threshold=0.5)
    policy.snooze("a.example", 0.9)
    policy.make_ready("a.example")
    policy.snooze("a.example", 0.1)
    assert policy.offer(0.3) == ""


def test_empty_arm_is_not_awaited_but_arm_with_more_links_is() -> None:
    policy = Policy(wait_threshold=0.5)
    policy.offer(0.9, "empty.example")
    policy.snooze("empty.example", 0.9)  # directly after the pick: it has no more links
    assert policy.offer(0.1, "more.example") == ""
    policy.make_ready("more.example")  # it has more links
    policy.snooze("more.example", 0.9)
    assert policy.offer(0.1) == "more.example"


def test_awaited_host_is_reset_at_next_pick_and_threshold_zero_never_waits() -> None:
    policy = Policy(wait_threshold=0.5)
    policy.snooze("a.example", 0.9)
    assert policy.offer(0.1) == "a.example"
    assert (policy._pick_or_wait(None, 0.0), policy.awaited) == (None, "")
    policy.wait_threshold = 0.0
    assert policy.offer(0.1) == ""

"""The bandit over hosts compared with an exhaustive implementation of algorithm 1 of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from motherlode.model import FailureKind, Link, LinkSource, Outcome, Rating
from motherlode.policies.anthelion.bandit import FUNCTIONS, HostBandit
from motherlode.www.urls import host_of

from ..fakes import outcome


class NoRater:
    """Gives every page the same score."""

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> list[Rating]:
        return [Rating(arm=host_of(link.url), score=0.5) for link in links]

    def learn(self, outcome: Outcome) -> None: ...

    def dump(self) -> bytes:
        return b""

    def load(self, state: bytes) -> None: ...


def bandit(
    function: str = "success-rate", *, exploration: float = 0.0, decay: float | None = None, seed: int = 3
) -> HostBandit:
    return HostBandit(
        rater=NoRater(), function=FUNCTIONS[function], random=Random(seed), exploration=exploration, decay=decay
    )


class EveryHost:
    """Algorithm 1 by brute force: the score of every host is computed for every pick, from the paper's formulas."""

    def __init__(self, function: str) -> None:
        self._function = function
        self.good: Counter[str] = Counter()
        self.bad: Counter[str] = Counter()
        self.best: dict[str, float] = {}
        """Best scores of the ready hosts."""

    def score(self, host: str) -> float:
        good, bad, best = self.good[host], self.bad[host], self.best[host]
        return {
            "negative-bad": lambda: -bad,
            "best-score": lambda: best,
            "success-rate": lambda: (good + 1) / (bad + 1),
            "good-best-score": lambda: good * best,
            "success-best-score": lambda: (good + 1) / (bad + 1) * best,
        }[self._function]()

    def maxima(self) -> set[str]:
        scores = {host: self.score(host) for host in self.best}
        return {host for host, score in scores.items() if score == max(scores.values())}


@pytest.mark.parametrize("function", [name for name, line in FUNCTIONS.items() if not line.is_sampled])
@pytest.mark.parametrize("seed", range(5))
def test_pick_equals_exhaustive_search_over_all_hosts(function: str, seed: int) -> None:
    random = Random(seed)
    policy, plain = bandit(function), EveryHost(function)
    hosts = [f"h{number}.example" for number in range(12)]
    ties = 0
    for _ in range(1_500):
        host = random.choice(hosts)
        event = random.random()
        if event < 0.4:
            best = random.choice((random.random(), 0.25, 0.0, 1.0))
            policy.arm_ready(host, best, random.randrange(1, 9))
            plain.best[host] = best
        elif event < 0.6:
            policy.arm_snoozed(host)
            plain.best.pop(host, None)
        else:
            relevant = random.random() < 0.4
            policy.learn(outcome(host, relevant=relevant))
            (plain.good if relevant else plain.bad)[host] += 1
        picked = policy.pick()
        if plain.best:
            assert picked in plain.maxima()
            ties += len(plain.maxima()) > 1
        else:
            assert picked is None
    assert ties < 1_400, "most picks are no ties"


@pytest.mark.parametrize("function", ["thompson", "thompson-best-score"])
def test_thompson_sampling_picks_hosts_with_the_frequencies_of_a_reference(function: str) -> None:
    records = {"new": (0, 0, 0.5), "good": (8, 2, 0.4), "bad": (1, 9, 0.9), "even": (3, 3, 0.6), "gone": (50, 0, 1.0)}
    policy = bandit(function)
    for host, (good, bad, best) in records.items():
        policy.merge_records({host: (good, bad)})
        policy.arm_ready(host, 0.01, 1)
        policy.arm_ready(host, best, 1)
    policy.arm_snoozed("gone")
    picks = Counter(policy.pick() for _ in range(8_000))
    names = [name for name in records if name != "gone"]
    draws = np.random.default_rng(1)
    table = np.array([records[name] for name in names])
    samples = draws.beta(table[:, 0] + 1, table[:, 1] + 1, size=(80_000, len(names)))
    if function == "thompson-best-score":
        samples *= table[:, 2]
    expected = np.bincount(samples.argmax(axis=1), minlength=len(names)) / 10
    assert set(picks) <= set(names)
    for name, often in zip(names, expected, strict=True):
        assert abs(picks[name] - often) < 5 * (often**0.5 + 1), name


@pytest.mark.parametrize("function", ["thompson", "thompson-best-score"])
def test_thompson_sampling_picks_only_ready_hosts(function: str) -> None:
    policy, random = bandit(function), Random(2)
    ready: set[str] = set()
    for _ in range(3_000):
        host = f"h{random.randrange(100)}"
        if random.random() < 0.55:
            policy.arm_ready(host, random.random(), 1)
            ready.add(host)
        else:
            policy.arm_snoozed(host)
            ready.discard(host)
        policy.learn(outcome(host, relevant=random.random() < 0.5))
        picked = policy.pick()
        assert picked in ready if ready else picked is None


def test_outcome_of_snoozed_host_counts_when_it_is_ready_again() -> None:
    policy = bandit()
    policy.arm_ready("a", 0.0, 1)
    policy.learn(outcome("b", relevant=True))
    assert policy.pick() == "a"
    policy.arm_ready("b", 0.0, 1)
    assert policy.pick() == "b"
    policy.arm_snoozed("b")
    assert policy.pick() == "a"


@pytest.mark.parametrize("failure", [FailureKind.REDIRECT, FailureKind.NOT_FOUND])
def test_redirect_or_failure_counts_as_bad_page(failure: FailureKind) -> None:
    policy = bandit()
    policy.arm_ready("a", 0.0, 1)
    policy.arm_ready("b", 0.0, 1)
    assert policy.pick() == "a", "it was ready first"
    policy.learn(outcome("a", relevant=False, failure=failure))
    assert policy.pick() == "b"


def test_redirect_to_relevant_page_on_another_host_rewards_redirecting_host() -> None:
    policy = bandit()
    for host in ("short.example", "other.example"):
        policy.arm_ready(host, 0.5, 1)
    on = Outcome(url="http://short.example/", host="short.example", depth=0, relevant=False)
    for step in ("http://middle.example/", "http://data.example/"):
        policy.rate([Link(url=step, source=LinkSource.REDIRECT)], on)
        policy.learn(outcome(on.host, relevant=False, failure=FailureKind.REDIRECT))
        on = Outcome(url=step, host=host_of(step), depth=0, relevant=False)
    assert policy.pick() == "other.example"
    again = bandit()
    again.load(policy.dump())
    again.learn(outcome("data.example", relevant=True))
    again.arm_ready("other.example", 0.5, 1)
    again.arm_ready("short.example", 0.5, 1)
    again.learn(outcome("other.example", relevant=False))
    assert again.pick() == "short.example", "one bad page and one relevant page"


@pytest.mark.parametrize(("exploration", "low", "high"), [(0.0, 0, 0), (1.0, 4_750, 5_250), (0.4, 1_850, 2_150)])
def test_lambda_is_share_of_random_picks(exploration: float, low: int, high: int) -> None:
    policy = bandit(exploration=exploration)
    policy.arm_ready("good", 0.0, 1)
    policy.arm_ready("poor", 0.0, 1)
    policy.learn(outcome("good", relevant=True))
    picks = Counter(policy.pick() for _ in range(10_000))
    assert low <= picks["poor"] <= high  # half of the random picks; three standard deviations either way


def test_lambda_decays_with_number_of_picks() -> None:
    policy = bandit(exploration=0.5, decay=10.0)
    policy.arm_ready("a", 0.0, 1)
    for picks in range(50):
        assert policy.exploration_now() == pytest.approx(0.5 * 10 / (picks + 10))
        policy.pick()


def test_pick_without_ready_host_does_not_count() -> None:
    policy = bandit(exploration=0.5, decay=10.0)
    assert policy.pick() is None
    assert policy.exploration_now() == 0.5


@pytest.mark.parametrize("exploration", [-0.1, 1.1, float("nan"), float("inf")])
def test_lambda_outside_0_to_1_raises_value_error(exploration: float) -> None:
    with pytest.raises(ValueError, match="λ is a probability"):
        bandit(exploration=exploration)


@pytest.mark.parametrize("decay", [0.0, -1.0, float("nan"), float("inf")])
def test_decay_that_is_not_a_positive_number_raises_value_error(decay: float) -> None:
    with pytest.raises(ValueError, match="decay m"):
        bandit(decay=decay)


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_value_after_pick_is_value_at_pick(function: str) -> None:
    policy, line = bandit(function), FUNCTIONS[function]
    policy.learn(outcome("http://a.example/0", relevant=True))
    policy.arm_ready("a.example", 0.5, 2)
    value = line.value(*policy.records.get("a.example", (0, 0)), 0.5)
    assert policy.pick() == "a.example"
    policy.arm_ready("a.example", 0.25, 1)  # its next page is worse
    assert policy.value("a.example") == value
    policy.arm_snoozed("a.example")
    assert policy.value("a.example") == value
    now = policy.value_now("a.example")
    assert (now is None) if line.uses_best_score else (now == value)

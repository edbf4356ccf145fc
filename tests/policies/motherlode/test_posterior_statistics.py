"""Statistics: decay of old results, addition, bounds and serialization."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from random import Random

import msgspec
import pytest

from motherlode.policies.motherlode.posterior import ArmStatistics, HostStatistics, PolicyStatistics, Tally


def test_recent_pages_have_more_weight() -> None:
    record = ArmStatistics()
    for links in (100, 0, 0, 0, 0, 0, 0, 0):
        record.count(reward=0.0, retention=0.5)
        record.add_links({"item": links})
    assert record.links_per_page(empty_pages=0.0)["item"] < 1.0
    assert record.tries == 8


def test_links_per_page_without_decay_is_the_mean() -> None:
    record = ArmStatistics()
    for links in (4, 0, 2):
        record.count(reward=1.0, retention=1.0)
        record.add_links({"item": links})
    assert record.links_per_page(empty_pages=0.0) == {"item": 2.0}
    assert record.links_per_page(empty_pages=1.0) == {"item": 1.5}
    assert record.reward == 3


def test_weights_of_long_crawl_do_not_overflow() -> None:
    record = ArmStatistics()
    for _ in range(20_000):
        record.count(reward=1.0, retention=0.8)
        record.add_links({"item": 3})
    assert record.links_per_page(empty_pages=0.0)["item"] == pytest.approx(3.0)


def told(outcomes: Iterable[float], *, retention: float = 0.9, share: float = 1.0) -> Tally:
    tally = Tally()
    for outcome in outcomes:
        tally.count(outcome, retention=retention, share=share)
    return tally


def test_probability_falls_soon_after_series_of_failures() -> None:
    assert told([1.0] * 200 + [0.0] * 25).probability(0.5, prior_tries=1.0) < 0.12


def test_lower_retention_forgets_sooner() -> None:
    story = [1.0] * 200 + [0.0] * 4
    assert (
        told(story, retention=0.8).probability(0.9, prior_tries=1.0)
        < 0.5
        < told(story, retention=0.9).probability(0.9, prior_tries=1.0)
    )


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_probability_of_constant_rate_is_unbiased(rate: float) -> None:
    random = Random(f"rate {rate}")
    tally, total = Tally(), 0.0
    for _ in range(4000):
        tally.count(float(random.random() < rate), retention=0.9)
        total += tally.probability(rate, prior_tries=1.0)
    assert total / 4000 == pytest.approx(rate, abs=0.02)


def test_probability_recovers_after_failures() -> None:
    assert told([0.0] * 20 + [1.0] * 8, retention=0.8).probability(0.5, prior_tries=1.0) > 0.7


def test_graded_results_count_in_proportion() -> None:
    assert told([0.3] * 50).probability(0.5, prior_tries=1.0) == pytest.approx(0.3, abs=0.03)


def test_lift_is_difference_to_expected_reward() -> None:
    surprising, expected = (
        HostStatistics(pages=1.0, reward=1.0, expected_reward=0.01),
        HostStatistics(pages=1.0, reward=1.0, expected_reward=0.99),
    )
    poor = HostStatistics(pages=5.0, reward=0.0, expected_reward=2.5)
    assert surprising.lift(3.0) > 3.0 > 0.5 > expected.lift(3.0)
    assert poor.lift(3.0) < -0.5
    assert poor.lift(0.0) == HostStatistics().lift(3.0) == 0.0


def test_lift_is_finite_if_features_were_certain() -> None:
    for predicted in (0.0, 1e4):
        for found in (0.0, 1e4):
            assert isfinite(HostStatistics(pages=1e4, reward=found, expected_reward=predicted).lift(3.0))
    assert HostStatistics(pages=1.0, reward=1.0, expected_reward=1e-6).lift(3.0) == pytest.approx(12.7, abs=0.1)


def test_statistics_with_different_scales_can_be_added() -> None:
    old, young = ArmStatistics(), ArmStatistics()
    for record, pages in ((old, 50), (young, 1)):
        for _ in range(pages):
            record.count(reward=0.5, retention=0.9)
            record.add_links({"item": 2})
    old.add(young)
    assert old.tries == 51
    assert old.links_per_page(empty_pages=0.0)["item"] == pytest.approx(2.0)


def test_arm_without_tries_expects_no_links() -> None:
    assert ArmStatistics().links_per_page(empty_pages=0.0) == {}


def test_number_of_linked_arms_is_bounded() -> None:
    record = ArmStatistics()
    record.count(reward=0.0, retention=1.0)
    record.add_links({f"arm {number}": number for number in range(1000)})
    assert len(record.new_links) < 50
    assert "arm 999" in record.new_links


def test_statistics_survive_serialization() -> None:
    evidence = PolicyStatistics()
    evidence.arm("x").count(reward=1.0, retention=0.9)
    evidence.family("f").add_links({"y": 2})
    evidence.sums("bias")[0] = 0.5
    evidence.hub_arm("x on a page").responses.count(1.0, retention=0.9)
    evidence.host("a.example").tries = 3
    evidence.unseen_hosts.no = 2.0
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(evidence), type=PolicyStatistics)
    assert again == evidence


def test_statistics_of_two_crawls_can_be_added() -> None:
    books = []
    for _ in range(2):
        evidence = PolicyStatistics()
        evidence.hub_arm("x on a page").responses.yes = 2.0
        evidence.host("a.example").responses = 3
        evidence.unseen_hosts.no = 4.0
        books.append(evidence)
    books[0].add(books[1])
    assert books[0].hub_arms["x on a page"].responses.yes == 4.0
    assert books[0].hosts["a.example"].responses == 6
    assert books[0].unseen_hosts.no == 8.0


def test_statistics_are_saved_under_the_names_of_format_1() -> None:
    """Models and crawl folders of earlier versions have these names."""
    statistics = PolicyStatistics()
    statistics.arm("x").count(reward=1.0, retention=0.9)
    statistics.host("a.example").tries = 1
    saved = msgspec.msgpack.decode(msgspec.msgpack.encode(statistics))
    assert list(saved) == ["arms", "features", "lists", "families", "hosts", "strangers", "redirects", "assumed"]
    assert list(saved["arms"]["x"]) == ["tries", "finds", "answered", "found", "led_to", "pages", "weight"]
    assert list(saved["hosts"]["a.example"]) == ["tries", "answers", "seen", "found", "hoped"]
    assert list(saved["strangers"]) == ["yes", "no"]

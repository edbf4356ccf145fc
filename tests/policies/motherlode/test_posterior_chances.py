"""The learner: both questions apart, shared between hosts, and its sums add up."""

from __future__ import annotations

from motherlode.policies.motherlode.arm_key import features_of
from motherlode.policies.motherlode.config import PolicyConfig
from motherlode.policies.motherlode.posterior import ResponseModel
from motherlode.policies.motherlode.statistics import ANSWERS, IS_FIND, PolicyStatistics

GOOD = features_of("a.example\titem\t1\t.ttl\tanchor\tli a")
PLAIN = features_of("a.example\tnews\t1\t.html\tanchor\tli a")
STRANGE_GOOD = features_of("b.example\tthing\t1\t.ttl\tanchor\tli a")
STRANGE_PLAIN = features_of("b.example\tstory\t1\t.html\tanchor\tli a")


def taught(rounds: int = 20) -> tuple[ResponseModel, PolicyStatistics]:
    chances, evidence = ResponseModel(PolicyConfig()), PolicyStatistics()
    for _ in range(rounds):
        chances.learn([evidence], GOOD, IS_FIND, came_true=1.0)
        chances.learn([evidence], PLAIN, IS_FIND, came_true=0.0)
    return chances, evidence


def test_what_is_learned_on_one_host_holds_for_its_kind_on_others() -> None:
    chances, evidence = taught()
    assert chances.chance(evidence, GOOD) > 0.6 > 0.2 > chances.chance(evidence, PLAIN)
    assert chances.chance(evidence, STRANGE_GOOD) > chances.chance(evidence, STRANGE_PLAIN)
    assert chances.chance(evidence, STRANGE_GOOD) < chances.chance(evidence, GOOD), "but less is known of them"


def test_failures_say_nothing_about_pages() -> None:
    chances, evidence = taught()
    before = chances.log_odds(evidence, GOOD, IS_FIND)
    for _ in range(5):
        chances.learn([evidence], GOOD, ANSWERS, came_true=0.0)
    assert chances.log_odds(evidence, GOOD, IS_FIND) == before
    assert chances.chance(evidence, GOOD) < 0.3


def test_sums_of_two_learners_add_up_to_what_both_saw() -> None:
    chances, mine = taught(3)
    _, theirs = taught(3)
    alone = chances.chance(mine, GOOD)
    mine.add(theirs)
    assert chances.chance(mine, GOOD) > alone


def test_every_book_gets_the_same_additions() -> None:
    chances, known, news = ResponseModel(PolicyConfig()), PolicyStatistics(), PolicyStatistics()
    chances.learn([known, news], GOOD, IS_FIND, came_true=1.0)
    assert known == news

"""What the policy believes of an arm, from each of its witnesses in turn."""

from __future__ import annotations

import pytest

from motherlode.model import FailureKind, Outcome
from motherlode.policies.motherlode.config import PolicyConfig
from motherlode.policies.motherlode.posterior import PosteriorModel

ITEMS = "a.example\titem/*\t2\t.html\tanchor\tli a"
NEWS = "a.example\tnews/*\t2\t.html\tanchor\tli a"
LIST = f"{ITEMS}\t7"
ABROAD = "b.example\t^\t0\t/\tanchor@a.example\tp a"


def outcome(arm: str, *, find: bool = False, failure: FailureKind | None = None) -> Outcome:
    host = arm.partition("\t")[0]
    return Outcome(
        url=f"http://{host}/x",
        host=host,
        arm=arm,
        policy_state=b"",
        score=0.0,
        reward=float(find),
        relevant=find,
        failure=failure,
    )


def beliefs(*outcomes: Outcome) -> PosteriorModel:
    found = PosteriorModel(PolicyConfig())
    for one in outcomes:
        found.learn(one)
    return found


def test_finds_lift_their_own_arm_more_than_its_neighbours_and_those_more_than_strangers() -> None:
    before = PosteriorModel(PolicyConfig())
    after = beliefs(*[outcome(ITEMS, find=True)] * 5)
    assert after.chance(ITEMS) > after.chance(NEWS) > before.chance(NEWS)
    assert after.chance(ITEMS) > 0.8


def test_dead_links_say_nothing_of_whether_pages_are_finds() -> None:
    finds = [outcome(ITEMS, find=True)] * 5
    dead = [outcome(ITEMS, failure=FailureKind.NOT_FOUND)] * 5
    assert beliefs(*finds, *dead).expected(ITEMS).find == pytest.approx(beliefs(*finds).expected(ITEMS).find)
    assert beliefs(*finds, *dead).chance(ITEMS) < beliefs(*finds).chance(ITEMS)
    record = beliefs(*finds, *dead).evidence.arms[ITEMS]
    assert record.found.chance(0.5, tries=1.0) == beliefs(*finds).evidence.arms[ITEMS].found.chance(0.5, tries=1.0)


def test_with_one_question_a_dead_link_is_a_page_without_a_find() -> None:
    mixed = [outcome(ITEMS, find=True), outcome(ITEMS, failure=FailureKind.NOT_FOUND)] * 5
    one = PosteriorModel(PolicyConfig(asks_apart=False))
    for outcome_ in mixed:
        one.learn(outcome_)
    assert one.expected(ITEMS).answers == 1.0
    assert one.expected(ITEMS).find < beliefs(*mixed).expected(ITEMS).find
    assert 0.3 < one.chance(ITEMS) < 0.7


def test_a_dead_list_condemns_itself_and_hardly_its_arm() -> None:
    good = [outcome(ITEMS, find=True)] * 5
    together = beliefs(*good, *[outcome(LIST, failure=FailureKind.NOT_FOUND)] * 6)
    apart = beliefs(*good, *[outcome(ITEMS, failure=FailureKind.NOT_FOUND)] * 6)
    assert together.chance(LIST) < 0.3
    assert together.chance(ITEMS) > apart.chance(ITEMS)
    assert (together.tries(LIST), together.tries(ITEMS)) == (6, 11)


def test_strangers_that_never_answer_are_expected_less_of() -> None:
    silent = [outcome(f"c{n}.example" + ABROAD[9:], failure=FailureKind.DNS) for n in range(10)]
    assert beliefs(*silent).chance(ABROAD) < PosteriorModel(PolicyConfig()).chance(ABROAD) / 2
    assert not beliefs(*silent).evidence.features, "their silence is not put down to the kind of link"


def test_a_host_that_has_answered_is_there() -> None:
    silent = [outcome(f"c{n}.example" + ABROAD[9:], failure=FailureKind.DNS) for n in range(10)]
    met = beliefs(*silent, outcome(ABROAD))
    assert met.expected(ABROAD).answers > beliefs(*silent).expected(ABROAD).answers


def test_news_is_what_was_learned_since_it_was_taken() -> None:
    found = beliefs(outcome(ITEMS, find=True), outcome(ITEMS))
    assert found.news.arms[ITEMS].tries == found.evidence.arms[ITEMS].tries == 2

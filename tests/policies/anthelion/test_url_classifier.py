"""Pages by an online classifier."""

from __future__ import annotations

import pytest

from motherlode.model import FailureKind, Outcome
from motherlode.policies.anthelion import Classifier, Features, HoeffdingTree, NaiveBayes, OnlineRater

from ..fakes import links


def outcome(rater: OnlineRater, url: str, *, relevant: bool, failure: FailureKind | None = None) -> Outcome:
    (rating,) = rater.rate(links(url), None)
    return Outcome(
        url=url,
        host=rating.arm,
        arm=rating.arm,
        policy_state=rating.policy_state,
        score=rating.score,
        reward=float(relevant),
        relevant=relevant,
        failure=failure,
    )


@pytest.mark.parametrize("make", [NaiveBayes, HoeffdingTree])
def test_it_learns_from_what_it_rated(make: type[Classifier]) -> None:
    rater = OnlineRater(Features(), make())
    for number in range(150):
        for kind in ("recipe", "imprint"):
            url = f"http://a.example/{kind}/dish{number}"
            rater.learn(outcome(rater, url, relevant=kind == "recipe"))
    good, bad = rater.rate(links("http://b.example/recipe/new", "http://b.example/imprint/new"), None)
    assert good.score > 0.9 and bad.score < 0.1
    assert (good.arm, bad.arm) == ("b.example", "b.example")
    assert rater.judged == 300
    assert 0.95 < rater.right / rater.judged < 1
    again = OnlineRater(Features(), make())
    again.load(rater.dump())
    assert again.rate(links("http://b.example/recipe/x"), None) == rater.rate(links("http://b.example/recipe/x"), None)
    assert again.dump() == rater.dump()


def test_while_nothing_is_known_all_links_are_alike() -> None:
    ratings = OnlineRater(Features(), NaiveBayes()).rate(links("http://a.example/x", "http://b.example/why"), None)
    assert [rating.score for rating in ratings] == [0.5, 0.5]


def test_a_failure_teaches_and_a_redirect_does_not() -> None:
    rater = OnlineRater(Features(), NaiveBayes())
    before = rater.dump()
    rater.learn(outcome(rater, "http://a.example/old", relevant=False, failure=FailureKind.REDIRECT))
    assert rater.dump() == before
    rater.learn(outcome(rater, "http://a.example/old", relevant=False, failure=FailureKind.NOT_FOUND))
    assert rater.rate(links("http://a.example/old"), None)[0].score < 0.5

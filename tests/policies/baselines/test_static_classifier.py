"""Policies with a classifier that is trained once."""

from __future__ import annotations

import pytest

from motherlode.model import FailureKind
from motherlode.policies.anthelion.classifiers import HoeffdingTree, NaiveBayes
from motherlode.policies.anthelion.url_classifier import Features
from motherlode.policies.baselines.static_classifier import Fit, StaticRater, fit_online, sklearn_fit

from ..fakes import links, rated_outcome

KINDS = ("svm", "knn", "nb", "ht")


def fit(kind: str) -> Fit:
    if kind in ("ht", "nb"):
        return fit_online(HoeffdingTree if kind == "ht" else NaiveBayes)
    pytest.importorskip("sklearn")
    return sklearn_fit(kind)


def learn(rater: StaticRater, url: str, *, relevant: bool, failure: FailureKind | None = None) -> None:
    (rating,) = rater.rate(links(url), None)
    rater.learn(rated_outcome(url, rating, relevant=relevant, failure=failure))


def trained(kind: str, pages: int = 60) -> StaticRater:
    rater = StaticRater(Features(), fit(kind), pages)
    for number in range(pages):
        relevant = number % 2 == 0
        learn(rater, f"http://a.example/{'recipe' if relevant else 'imprint'}/dish{number}", relevant=relevant)
    return rater


def test_links_before_training_are_rated_in_order_of_discovery() -> None:
    rater = StaticRater(Features(), fit_online(HoeffdingTree), 10)
    scores = [rating.score for rating in rater.rate(links("http://a.example/1", "http://b.example/2"), None)]
    scores += [rating.score for rating in rater.rate(links("http://a.example/3"), None)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 3
    assert all(0.49 < score <= 0.5 for score in scores)


@pytest.mark.parametrize("kind", KINDS)
def test_classifier_after_k_pages_separates_classes_and_learns_no_more(kind: str) -> None:
    rater = trained(kind)
    assert rater.is_trained
    asked = links("http://b.example/recipe/new", "http://b.example/imprint/new")
    good, bad = rater.rate(asked, None)
    assert 1 >= good.score > 0.5 > bad.score >= 0
    for _ in range(50):
        learn(rater, "http://b.example/imprint/new", relevant=True)
    assert rater.rate(asked, None) == [good, bad]
    assert rater.rate([], None) == []


@pytest.mark.parametrize("kind", KINDS)
def test_ratings_are_the_same_after_dump_and_load(kind: str) -> None:
    asked = links("http://b.example/recipe/new", "http://b.example/imprint/new", "http://c.example/")
    before = trained(kind)
    after = StaticRater(Features(), fit(kind), 60)
    after.load(before.dump())
    assert after.rate(asked, None) == before.rate(asked, None)


def test_training_waits_until_both_labels_occur() -> None:
    rater = StaticRater(Features(), fit_online(HoeffdingTree), 5)
    for number in range(20):
        learn(rater, f"http://a.example/x{number}", relevant=False)
    assert not rater.is_trained
    learn(rater, "http://a.example/moved", relevant=False, failure=FailureKind.REDIRECT)
    assert not rater.is_trained
    learn(rater, "http://a.example/find", relevant=True)
    assert rater.is_trained


def test_k_below_one_raises_value_error() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        StaticRater(Features(), fit_online(HoeffdingTree), 0)

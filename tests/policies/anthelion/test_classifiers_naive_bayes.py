"""Naive Bayes compared with scikit-learn and with the formula of the m-estimate."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from math import log
from random import Random

import numpy as np
import pytest

from motherlode.policies.anthelion.classifiers import NaiveBayes, Smoothing

SIZE = 48


def stream(count: int, seed: int = 5) -> list[tuple[array[int], bool]]:
    """Return rows whose first features depend on the label; one in six is relevant."""
    random = Random(seed)
    found = []
    for _ in range(count):
        relevant = random.random() < 1 / 6
        probabilities = [0.7 if (feature < 8) is relevant else 0.15 for feature in range(16)] + [0.1] * (SIZE - 16)
        ids = [feature for feature, probability in enumerate(probabilities) if random.random() < probability]
        found.append((array("H", ids), relevant))
    return found


def trained(smoothing: Smoothing, rows: list[tuple[array[int], bool]]) -> NaiveBayes:
    model = NaiveBayes(SIZE, smoothing)
    for features, relevant in rows:
        model.learn(features, relevant=relevant)
    return model


@pytest.mark.parametrize("size", [SIZE, SIZE + 5])
def test_laplace_smoothing_equals_scikit_learn(size: int) -> None:
    bernoulli = pytest.importorskip("sklearn.naive_bayes").BernoulliNB(alpha=1.0)
    model = NaiveBayes(size, Smoothing.LAPLACE)
    rows = stream(600)
    for number, (features, relevant) in enumerate(rows):
        dense = np.zeros((1, size))
        dense[0, features] = 1
        if number > 100:
            negative, positive = bernoulli.predict_log_proba(dense)[0]
            bad, good = bernoulli.class_count_
            prior = log((good + 1) / (bad + 1)) - log(good / bad)  # ours is smoothed, theirs is not
            assert model.log_odds([features.tobytes()])[0] == pytest.approx(positive - negative + prior, abs=1e-7)
        bernoulli.partial_fit(dense, [relevant], classes=[False, True])
        model.learn(features, relevant=relevant)


@pytest.mark.parametrize("size", [SIZE, SIZE + 5])
def test_moa_smoothing_equals_formula(size: int) -> None:
    """MOA: (n + 1) / (N + values), where values are those that the class has had: 1 or 2."""
    rows = stream(60)
    model = NaiveBayes(size)
    for features, relevant in rows:
        model.learn(features, relevant=relevant)
    for features, _ in stream(20, seed=6):
        odds = log((sum(label for _, label in rows) + 1) / (sum(not label for _, label in rows) + 1))
        for feature in range(size):
            logs = []
            for wanted in (True, False):
                having = [feature in row for row, label in rows if label is wanted]
                count = sum(having) if feature in features else len(having) - sum(having)
                logs.append(log((count + 1) / (len(having) + (2 if any(having) else 1))))
            odds += logs[0] - logs[1]
        assert model.log_odds([features.tobytes()])[0] == pytest.approx(odds, abs=1e-9)


def test_frequency_smoothing_equals_formula() -> None:
    rows = stream(200)
    model = trained(Smoothing.BY_FREQUENCY, rows)
    for features, _ in stream(20, seed=6):
        classes = {label: [set(row) for row, relevant in rows if relevant is label] for label in (True, False)}
        odds = log((len(classes[True]) + 1) / (len(classes[False]) + 1))
        for feature in range(SIZE):
            share = sum(feature in row for row, _ in rows) / (len(rows) + 1)
            probabilities = []
            for label in (True, False):
                having = sum(feature in row for row in classes[label])
                probability = (having + share) / (len(classes[label]) + 1)
                probabilities.append(probability if feature in features else 1 - probability)
            odds += log(probabilities[0] / probabilities[1])
        assert model.log_odds([features.tobytes()])[0] == pytest.approx(odds, abs=1e-9)


@pytest.mark.parametrize("smoothing", Smoothing)
def test_classifier_learns_separable_classes(smoothing: Smoothing) -> None:
    model = trained(smoothing, stream(500))
    test = stream(300, seed=9)
    scores = model.scores([features.tobytes() for features, _ in test])
    right = sum((score > 0.5) is relevant for score, (_, relevant) in zip(scores, test, strict=True))
    assert right / len(test) > 0.93


def test_unseen_words_have_no_effect_by_frequency_but_by_laplace() -> None:
    """One page in a hundred is relevant: words of neither class must not raise the probability of relevance."""
    rows = [(array("H", [1, 2]), False)] * 100 + [(array("H", [3, 4]), True)]
    known, new = array("H", [5]).tobytes(), array("H", [6, 7, 8, 9]).tobytes()
    for smoothing, much in ((Smoothing.BY_FREQUENCY, False), (Smoothing.LAPLACE, True)):
        one, four = trained(smoothing, rows).log_odds([known, new])
        assert bool(four - one > 5) is much
        assert four == one or much


@pytest.mark.parametrize("smoothing", Smoothing)
def test_merged_counts_equal_counts_of_all_pages(smoothing: Smoothing) -> None:
    rows = stream(100)
    half, other, whole = (trained(smoothing, part) for part in (rows[:50], rows[50:], rows))
    half.merge(other.dump())
    assert half.dump() == whole.dump()
    policy_states = [features.tobytes() for features, _ in rows]
    assert half.scores(policy_states) == whole.scores(policy_states)


@pytest.mark.parametrize("make", [NaiveBayes])
def test_scores_are_the_same_after_dump_and_load(make: Callable[[], NaiveBayes]) -> None:
    before = make()
    for features, relevant in stream(80):
        before.learn(features, relevant=relevant)
    after = make()
    after.learn(array("H", [1]), relevant=True)
    after.load(before.dump())
    policy_states = [features.tobytes() for features, _ in stream(10, seed=2)]
    assert after.scores(policy_states) == before.scores(policy_states)


def test_empty_model_predicts_one_half_and_extreme_log_odds_are_certain() -> None:
    model = NaiveBayes()
    assert model.scores([array("H", [1, 2]).tobytes(), b""]) == [0.5, 0.5]
    assert model.scores([]) == []
    for _ in range(50):
        model.learn(array("H", range(2000)), relevant=True)
        model.learn(array("H"), relevant=False)
    assert model.scores([array("H", range(2000)).tobytes(), b""]) == [1.0, 0.0]

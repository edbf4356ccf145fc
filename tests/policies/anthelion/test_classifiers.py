"""Naive Bayes compared with scikit-learn and with formulas, and the Hoeffding tree compared with river."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from math import log, log2
from random import Random

import numpy as np
import pytest

from motherlode.policies.anthelion.classifiers import HoeffdingTree, Leaf, NaiveBayes, Smoothing, entropy

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


def test_moa_class_without_pages_has_probability_zero_and_rows_differ_afterwards() -> None:
    rows = stream(200)
    states = [features.tobytes() for features, _ in rows]
    model = NaiveBayes(10_000)
    for features, relevant in rows:
        if not relevant:
            model.learn(features, relevant=False)
    assert set(model.scores(states)) == {0.0}
    model.learn(next(features for features, relevant in rows if relevant), relevant=True)
    scores = model.scores(states)
    assert 0.0 < min(scores) < max(scores) < 1.0
    assert len(set(scores)) > 0.9 * len(set(states)), "hardly any two rows have the same rank"


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


# Hoeffding tree

FEATURES = 12


def tree_stream(count: int, seed: int) -> list[tuple[array[int], bool]]:
    """Return rows that are relevant if they have 3 but not 7, or 5 but not 3; one label in twenty is wrong."""
    random = Random(seed)
    rows = []
    for _ in range(count):
        has = [random.random() < 0.5 for _ in range(FEATURES)]
        relevant = (has[3] and not has[7]) or (has[5] and not has[3])
        rows.append((array("H", [n for n, yes in enumerate(has) if yes]), relevant ^ (random.random() < 0.05)))
    return rows


def test_tree_is_as_accurate_as_river_and_splits_by_the_same_features() -> None:
    river = pytest.importorskip("river.tree")
    names = [str(number) for number in range(FEATURES)]
    theirs = river.HoeffdingTreeClassifier(nominal_attributes=names, binary_split=True)
    ours = HoeffdingTree()
    right = {"ours": 0, "theirs": 0}
    rows = tree_stream(12_000, seed=4)
    for number, (features, relevant) in enumerate(rows):
        dense = {name: int(place in features) for place, name in enumerate(names)}
        if number >= 6_000:
            right["ours"] += (ours.scores([features.tobytes()])[0] > 0.5) is relevant
            right["theirs"] += (theirs.predict_one(dense) or False) is relevant
        ours.learn(features, relevant=relevant)
        theirs.learn_one(dense, relevant)
    assert right["ours"] / 6_000 > 0.93
    assert abs(right["ours"] - right["theirs"]) / 6_000 < 0.02
    branches = [node for node in theirs._root.iter_bfs() if hasattr(node, "feature")]
    assert ours.splits()[0] == int(branches[0].feature)
    assert {3, 5, 7} <= set(ours.splits())
    assert {3, 5, 7} <= {int(node.feature) for node in branches}


def test_tree_does_not_split_on_noise() -> None:
    random = Random(1)
    tree = HoeffdingTree()
    for _ in range(2_500):  # ties cause splits only after about three thousand pages
        ids = [n for n in range(FEATURES) if random.random() < 0.5]
        tree.learn(array("H", ids), relevant=random.random() < 0.5)
    assert tree.splits() == []


def test_feature_of_few_pages_causes_no_split() -> None:
    tree = HoeffdingTree()
    for number in range(4_000):
        rare = number % 200 == 0
        tree.learn(array("H", [9] if rare else [1]), relevant=rare)
    assert tree.splits() == []
    good, bad = tree.scores([array("H", [9]).tobytes(), array("H", [1]).tobytes()])
    assert good > 0.5 > bad, "the Naive Bayes of the leaf uses the feature nevertheless"


def test_tree_after_dump_and_load_learns_and_predicts_the_same() -> None:
    before, after = HoeffdingTree(), HoeffdingTree()
    rows = tree_stream(5_000, seed=8)
    for features, relevant in rows[:4_000]:
        before.learn(features, relevant=relevant)
    assert before.splits()
    after.load(before.dump())
    for features, relevant in rows[4_000:]:
        before.learn(features, relevant=relevant)
        after.learn(features, relevant=relevant)
    rows_as_bytes = [features.tobytes() for features, _ in tree_stream(50, seed=9)]
    assert after.scores(rows_as_bytes) == before.scores(rows_as_bytes)
    assert after.dump() == before.dump()


def test_empty_tree_predicts_one_half() -> None:
    assert HoeffdingTree().scores([array("H", [1, 2]).tobytes(), b""]) == [0.5, 0.5]
    assert HoeffdingTree().scores([]) == []


def test_leaf_distinguishes_rows_with_many_features() -> None:
    """The columns of a leaf grow while a row is learned."""
    tree = HoeffdingTree()
    for number in range(150):
        tree.learn(array("H", range(number * 40, number * 40 + 40)), relevant=number % 2 == 0)
    scores = tree.scores([array("H", range(number * 40, number * 40 + 40)).tobytes() for number in range(150)])
    assert all((score > 0.5) is (number % 2 == 0) for number, score in enumerate(scores))


def bits(*counts: int) -> float:
    total = sum(counts)
    return -sum(count / total * log2(count / total) for count in counts if count)


def test_gain_is_reduction_of_entropy() -> None:
    leaf = Leaf()
    for has, relevant, times in (([4], True, 30), ([4, 6], False, 10), ([6], False, 40), ([], True, 20)):
        for _ in range(times):
            leaf.learn(array("H", has), relevant=relevant)
    gains = dict(zip((4, 6), leaf.gains(), strict=True))
    assert leaf.feature_at(1) == 6
    assert gains[4] == pytest.approx(bits(50, 50) - 0.4 * bits(30, 10) - 0.6 * bits(20, 40))
    assert gains[6] == pytest.approx(bits(50, 50) - 0.5 * bits(50) - 0.5 * bits(50))


def test_children_of_split_have_class_counts_only() -> None:
    leaf = Leaf()
    for number in range(10):
        leaf.learn(array("H", [2] if number < 4 else []), relevant=number < 3)
    absent, present = leaf.children(0)
    assert (absent.classes, present.classes) == ([6, 0], [1, 3])
    assert len(present.gains()) == 0


def test_entropy_of_zero_counts_is_zero() -> None:
    assert entropy(np.zeros((2, 1))).tolist() == [0.0]

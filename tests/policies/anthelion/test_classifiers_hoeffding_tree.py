"""The Hoeffding tree compared with river on a stream with a known rule, and the gains of its leaves."""

from __future__ import annotations

from array import array
from math import log2
from random import Random

import numpy as np
import pytest

from motherlode.policies.anthelion.classifiers import HoeffdingTree, Leaf, entropy

FEATURES = 12


def stream(count: int, seed: int) -> list[tuple[array[int], bool]]:
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
    rows = stream(12_000, seed=4)
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
    rows = stream(5_000, seed=8)
    for features, relevant in rows[:4_000]:
        before.learn(features, relevant=relevant)
    assert before.splits()
    after.load(before.dump())
    for features, relevant in rows[4_000:]:
        before.learn(features, relevant=relevant)
        after.learn(features, relevant=relevant)
    rows_as_bytes = [features.tobytes() for features, _ in stream(50, seed=9)]
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

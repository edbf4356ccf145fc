"""The Hoeffding tree against river's, on a stream with a known rule."""

from __future__ import annotations

from array import array
from random import Random

import pytest

from motherlode.policies.anthelion.hoeffding_tree import HoeffdingTree

FEATURES = 12


def stream(count: int, seed: int) -> list[tuple[array[int], bool]]:
    """Relevant where 3 and not 7, or 5 without 3; one label in twenty is wrong."""
    random = Random(seed)
    rows = []
    for _ in range(count):
        has = [random.random() < 0.5 for _ in range(FEATURES)]
        relevant = (has[3] and not has[7]) or (has[5] and not has[3])
        rows.append((array("H", [n for n, yes in enumerate(has) if yes]), relevant ^ (random.random() < 0.05)))
    return rows


def test_it_is_as_good_as_river_and_asks_for_the_same_features() -> None:
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


def test_it_does_not_split_on_noise() -> None:
    random = Random(1)
    tree = HoeffdingTree()
    for _ in range(2_500):  # a tie is a reason to split only from some three thousand pages on
        ids = [n for n in range(FEATURES) if random.random() < 0.5]
        tree.learn(array("H", ids), relevant=random.random() < 0.5)
    assert tree.splits() == []


def test_a_feature_that_hardly_any_page_has_is_no_reason_to_split() -> None:
    tree = HoeffdingTree()
    for number in range(4_000):
        rare = number % 200 == 0
        tree.learn(array("H", [9] if rare else [1]), relevant=rare)
    assert tree.splits() == []
    good, bad = tree.scores([array("H", [9]).tobytes(), array("H", [1]).tobytes()])
    assert good > 0.5 > bad, "the leaf's Naive Bayes knows it nevertheless"


def test_what_was_learned_survives_a_dump_and_a_load() -> None:
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


def test_an_empty_tree_is_of_two_minds() -> None:
    assert HoeffdingTree().scores([array("H", [1, 2]).tobytes(), b""]) == [0.5, 0.5]
    assert HoeffdingTree().scores([]) == []


def test_rows_with_many_features_are_kept_apart() -> None:
    """A leaf's columns grow while a row is learned."""
    tree = HoeffdingTree()
    for number in range(150):
        tree.learn(array("H", range(number * 40, number * 40 + 40)), relevant=number % 2 == 0)
    scores = tree.scores([array("H", range(number * 40, number * 40 + 40)).tobytes() for number in range(150)])
    assert all((score > 0.5) is (number % 2 == 0) for number, score in enumerate(scores))

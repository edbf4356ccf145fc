"""The regression tree of tres."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from motherlode.policies.tres.tree_frontier import MAX_EXAMPLES_PER_LEAF, TreeFrontier, best_split


def test_best_split_equals_exhaustive_search() -> None:
    generator = np.random.Generator(np.random.PCG64(1))
    for _ in range(50):
        rows = (generator.integers(0, 5, (25, 4)) / 4).astype(np.float32)
        rewards = generator.integers(0, 2, 25).astype(np.float64)
        highest = 0.0
        for feature in range(4):
            for value in np.unique(rows[:, feature])[:-1]:
                left, right = rewards[rows[:, feature] <= value], rewards[rows[:, feature] > value]
                gain = rewards.var() - (left.var() * len(left) + right.var() * len(right)) / 25
                highest = max(highest, float(gain))
        gain, feature, threshold = best_split(rows, rewards)
        assert gain == pytest.approx(highest)
        left, right = rewards[rows[:, feature] <= threshold], rewards[rows[:, feature] > threshold]
        assert rewards.var() - (left.var() * len(left) + right.var() * len(right)) / 25 == pytest.approx(highest)


def test_best_split_of_equal_rewards_or_equal_rows_gains_nothing() -> None:
    rows = np.arange(6, dtype=np.float32).reshape(6, 1)
    assert best_split(rows, np.ones(6))[0] == 0.0
    assert best_split(np.ones_like(rows), np.arange(6.0))[0] == 0.0


def grown(examples: int = 400, depth: int = 18) -> TreeFrontier:
    random, tree = Random(1), TreeFrontier(max_depth=depth)
    for _ in range(examples):
        row = np.array([random.randrange(11) / 10 for _ in range(3)], dtype=np.float32)
        tree.add(row, float(row[1] > 0.5))
    return tree


def test_tree_separates_the_feature_that_decides_the_reward() -> None:
    tree = grown()
    assert tree.leaf_count > 1
    low = {tree.leaf(np.array([a / 10, 0.2, b / 10])) for a in range(11) for b in range(11)}
    high = {tree.leaf(np.array([a / 10, 0.9, b / 10])) for a in range(11) for b in range(11)}
    assert not low & high


def test_tree_of_depth_zero_is_never_split_and_forgets_old_examples() -> None:
    tree = grown(3 * MAX_EXAMPLES_PER_LEAF, depth=0)
    assert tree.leaf_count == 1
    assert len(tree.dump()) < 60 * MAX_EXAMPLES_PER_LEAF


def test_load_restores_the_tree() -> None:
    one, other = grown(), TreeFrontier()
    other.load(one.dump())
    assert (other.leaf_count, other.dump()) == (one.leaf_count, one.dump())

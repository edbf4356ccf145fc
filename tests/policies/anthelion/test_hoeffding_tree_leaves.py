"""What a leaf says would be gained by a split."""

from __future__ import annotations

from array import array
from math import log2

import numpy as np
import pytest

from motherlode.policies.anthelion.hoeffding_tree import Leaf, entropy


def bits(*counts: int) -> float:
    total = sum(counts)
    return -sum(count / total * log2(count / total) for count in counts if count)


def test_the_gain_is_the_entropy_that_goes_away() -> None:
    leaf = Leaf()
    for has, relevant, times in (([4], True, 30), ([4, 6], False, 10), ([6], False, 40), ([], True, 20)):
        for _ in range(times):
            leaf.learn(array("H", has), relevant=relevant)
    gains = dict(zip((4, 6), leaf.gains(), strict=True))
    assert leaf.feature_at(1) == 6
    assert gains[4] == pytest.approx(bits(50, 50) - 0.4 * bits(30, 10) - 0.6 * bits(20, 40))
    assert gains[6] == pytest.approx(bits(50, 50) - 0.5 * bits(50) - 0.5 * bits(50))


def test_children_know_their_classes_and_nothing_else() -> None:
    leaf = Leaf()
    for number in range(10):
        leaf.learn(array("H", [2] if number < 4 else []), relevant=number < 3)
    absent, present = leaf.children(0)
    assert (absent.classes, present.classes) == ([6, 0], [1, 3])
    assert len(present.gains()) == 0


def test_entropy_of_nothing_is_nothing() -> None:
    assert entropy(np.zeros((2, 1))).tolist() == [0.0]

"""The ready arms of tres, and their representatives."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest

from motherlode.policies.tres.ready_links import ReadyLinks


def row(value: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array([value, 1.0], dtype=np.float32)


def test_representatives_are_one_arm_per_leaf_in_proportion_to_its_links() -> None:
    ready, random = ReadyLinks(2), Random(1)
    for name, leaf, waiting in (("a", 3, 1), ("b", 3, 3), ("c", 8, 1)):
        ready.put(name, row(leaf), leaf, waiting)
    seen: Counter[str] = Counter()
    for _ in range(2000):
        names, rows = ready.representatives(random)
        assert rows[:, 0].tolist() == [3.0, 8.0]
        seen.update(names)
    assert seen["c"] == seen["a"] + seen["b"] == 2000
    assert seen["b"] / 2000 == pytest.approx(0.75, abs=0.05)


def test_removed_arm_is_no_representative_and_others_keep_their_columns() -> None:
    ready = ReadyLinks(2)
    for number in range(200):
        ready.put(str(number), row(number), number, 1)
    for number in range(0, 200, 2):
        ready.remove(str(number))
    names, rows = ready.representatives(Random(1))
    assert sorted(map(int, names)) == list(range(1, 200, 2))
    assert rows[:, 0].tolist() == [float(name) for name in names]


def test_locate_and_set_features_change_the_leaves() -> None:
    ready = ReadyLinks(2)
    ready.put("a", row(0.1), 0, 1)
    ready.put("b", row(0.2), 0, 1)
    ready.set_features(["b"], 1, np.array([0.5], dtype=np.float32))
    ready.locate(lambda features: int(10 * features[1]))
    names, rows = ready.representatives(Random(1))
    assert (names, rows[:, 1].tolist()) == (["b", "a"], [0.5, 1.0])

"""Feature hashing: indices are stable, in bounds and without duplicates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motherlode.policies import ftrl as hashing
from motherlode.policies.ftrl import FeatureRows, Hasher

NAMES = st.lists(st.text(max_size=12), max_size=30)


@given(NAMES, st.integers(1, 5000), st.integers(0, 2**32))
def test_indices_are_in_bounds_and_without_duplicates(names: list[str], size: int, seed: int) -> None:
    indices = Hasher(size, seed).row(names).tolist()
    assert indices == sorted(set(indices))
    assert all(0 <= index < size for index in indices)
    assert len(indices) <= len(set(names))


@given(st.lists(NAMES, max_size=6))
def test_rows_of_a_page_equal_rows_of_its_links(pages: list[list[str]]) -> None:
    hasher = Hasher(1 << 16, seed=3)
    together = [row.tolist() for row in hasher.rows(pages)]
    assert together == [Hasher(1 << 16, 3).row(names).tolist() for names in pages]


def test_indices_are_the_same_on_every_machine() -> None:
    assert Hasher(1 << 20, 0).row(["host=a.example", "bias"]).tolist() == [418_429, 428_004]


def test_another_seed_gives_other_indices() -> None:
    names = [f"f{number}" for number in range(100)]
    assert Hasher(1 << 20, 0).row(names).tolist() != Hasher(1 << 20, 1).row(names).tolist()


def test_few_names_collide_at_default_size() -> None:
    names = [f"place=host{number % 300}.example/{number}" for number in range(10_000)]
    assert len(Hasher().row(names)) > 9_900  # 10,000 in 2²⁰ indices: about 48 collisions are expected


def test_cache_of_hasher_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "_MAX_CACHED_NAMES", 100)
    hasher = Hasher()
    for number in range(50):
        row = [f"{number}-{other}" for other in range(10)]
        assert hasher.row(row).tolist() == Hasher().row(row).tolist()
    assert len(hasher._known) <= 110


def test_lone_surrogate_can_be_hashed() -> None:
    assert len(Hasher().row(["\ud800"])) == 1


def test_rows_may_be_empty() -> None:
    assert len(FeatureRows.of([])) == 0
    assert [row.tolist() for row in FeatureRows.of([[], np.array([4, 2])])] == [[], [4, 2]]


def test_size_below_one_raises_value_error() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Hasher(0)

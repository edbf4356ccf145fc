"""Statements that were met before."""

from __future__ import annotations

import numpy as np
import pytest

from motherlode.policies.rewards import SeenStatements


def hashes(count: int, seed: int) -> bytes:
    return np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64).astype("<u8").tobytes()


def test_nothing_known_is_taken_for_new_and_hardly_anything_new_for_known() -> None:
    seen = SeenStatements(bits=1 << 20)
    first = hashes(20_000, seed=1)
    assert seen.count_new(first) > 19_950
    assert seen.count_new(first) == 0
    assert seen.count_new(hashes(20_000, seed=2)) > 19_800


def test_a_resumed_crawl_knows_what_was_seen() -> None:
    one, other = SeenStatements(), SeenStatements()
    one.count_new(hashes(100, seed=3))
    other.load(one.dump())
    assert other.count_new(hashes(100, seed=3)) == 0
    assert SeenStatements().dump() == b""
    other.load(b"")


def test_what_does_not_fit_is_an_error() -> None:
    small = SeenStatements(bits=1 << 10)
    small.count_new(hashes(3, seed=1))
    with pytest.raises(ValueError, match="does not fit"):
        SeenStatements().load(small.dump())
    with pytest.raises(ValueError, match="cannot be read"):
        SeenStatements().load(b"no such thing")

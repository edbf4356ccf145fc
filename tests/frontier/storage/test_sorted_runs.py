"""Keys that sort as they should."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from motherlode.frontier.storage.sorted_runs import descending, descending_all, score_of

SCORE = st.floats(allow_nan=False)


@given(SCORE, SCORE)
@example(0.0, -0.0)
@example(float("inf"), 1.7976931348623157e308)
@example(-5e-324, 5e-324)
def test_keys_sort_against_scores(one: float, other: float) -> None:
    assert (descending(one) < descending(other)) == (one > other)
    assert (descending(one) == descending(other)) == (one == other)


@given(SCORE)
def test_a_score_can_be_read_from_its_key(score: float) -> None:
    assert score_of(descending(score)) == score
    assert 0 <= descending(score) < 1 << 64


@given(st.lists(SCORE))
@example([0.0, -0.0, float("inf"), -float("inf")])
def test_many_at_once_are_spelled_like_each_alone(scores: list[float]) -> None:
    assert descending_all(np.array(scores, np.float64)).tolist() == [descending(score) for score in scores]

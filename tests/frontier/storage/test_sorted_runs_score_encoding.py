"""The encoding of scores in queue keys."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from motherlode.frontier.storage.sorted_runs import decode_score, encode_score, encode_scores

SCORE = st.floats(allow_nan=False)


@given(SCORE, SCORE)
@example(0.0, -0.0)
@example(float("inf"), 1.7976931348623157e308)
@example(-5e-324, 5e-324)
def test_encoded_scores_sort_in_descending_order(one: float, other: float) -> None:
    assert (encode_score(one) < encode_score(other)) == (one > other)
    assert (encode_score(one) == encode_score(other)) == (one == other)


@given(SCORE)
def test_decode_score_inverts_encode_score(score: float) -> None:
    assert decode_score(encode_score(score)) == score
    assert 0 <= encode_score(score) < 1 << 64


@given(st.lists(SCORE))
@example([0.0, -0.0, float("inf"), -float("inf")])
def test_encode_scores_equals_encode_score(scores: list[float]) -> None:
    assert encode_scores(np.array(scores, np.float64)).tolist() == [encode_score(score) for score in scores]

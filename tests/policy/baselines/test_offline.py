"""What happens without scikit-learn, and that rows reach it as they are."""

from __future__ import annotations

from array import array

import pytest

from motherlode.policy import policy_from
from motherlode.policy.baselines import offline


def test_without_scikit_learn_the_user_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r'svm-static needs scikit-learn: pip install "motherlode\[offline\]"'):
        policy_from("svm-static:10")
    policy_from("ht-static:10")


def test_rows_reach_the_matrix_as_they_are() -> None:
    pytest.importorskip("sklearn")
    matrix = offline._matrix([array("H", [7, 9]).tobytes(), b"", array("H", [7]).tobytes()])
    assert [sorted(matrix[row].indices.tolist()) for row in range(3)] == [[7, 9], [], [7]]
    assert matrix.sum() == 3

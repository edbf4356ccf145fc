"""Classifiers of scikit-learn: missing installation, feature matrix; and Naive Bayes without it."""

from __future__ import annotations

from array import array

import pytest

from motherlode.policies import policy_from
from motherlode.policies.anthelion.classifiers import NaiveBayes
from motherlode.policies.baselines import static_classifier as offline


def test_missing_scikit_learn_raises_error_with_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r'svm-static needs scikit-learn: pip install "motherlode\[offline\]"'):
        policy_from("svm-static:10")
    policy_from("ht-static:10")


def test_matrix_has_the_features_of_the_rows() -> None:
    pytest.importorskip("sklearn")
    matrix = offline._matrix([array("H", [7, 9]).tobytes(), b"", array("H", [7]).tobytes()], 20)
    assert [sorted(matrix[row].indices.tolist()) for row in range(3)] == [[7, 9], [], [7]]
    assert matrix.sum() == 3


def test_naive_bayes_static_needs_no_scikit_learn_and_predicts_a_rare_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "find_spec", lambda name: None)
    policy_from("nb-static:10")
    rows = [array("H", [1, 2]).tobytes()] * 5 + [array("H", [3, 4]).tobytes()] * 95
    scores = offline.fit_online(NaiveBayes)(rows, [True] * 5 + [False] * 95)
    assert scores([rows[0], rows[-1]])[0] > 0.5 > scores([rows[-1]])[0]

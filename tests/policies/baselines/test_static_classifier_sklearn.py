"""Classifiers of scikit-learn: missing installation, feature matrix, and Naive Bayes."""

from __future__ import annotations

from array import array
from random import Random

import pytest

from motherlode.policies import policy_from
from motherlode.policies.baselines import static_classifier as offline


def test_missing_scikit_learn_raises_error_with_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r'svm-static needs scikit-learn: pip install "motherlode\[offline\]"'):
        policy_from("svm-static:10")
    policy_from("ht-static:10")


def test_matrix_has_the_features_of_the_rows() -> None:
    pytest.importorskip("sklearn")
    matrix = offline._matrix([array("H", [7, 9]).tobytes(), b"", array("H", [7]).tobytes()])
    assert [sorted(matrix[row].indices.tolist()) for row in range(3)] == [[7, 9], [], [7]]
    assert matrix.sum() == 3


def test_naive_bayes_equals_scikit_learn_on_features_of_the_training_set() -> None:
    naive_bayes = pytest.importorskip("sklearn.naive_bayes")
    random = Random(1)
    rows = [array("H", sorted(random.sample(range(100, 130), 6))).tobytes() for _ in range(60)]
    labels = [random.random() < 0.2 for _ in rows]
    met = sorted({column for row in rows for column in array("H", row)})
    reference = naive_bayes.BernoulliNB(alpha=1.0).fit(offline._matrix(rows)[:, met], labels)
    asked = [array("H", [100, 105, 9000]).tobytes(), b"", rows[0]]
    wanted = reference.predict_proba(offline._matrix(asked)[:, met])[:, 1]
    assert offline.sklearn_fit("nb")(rows, labels)(asked) == pytest.approx(wanted.tolist())


def test_naive_bayes_can_predict_a_rare_class() -> None:
    pytest.importorskip("sklearn")
    rows = [array("H", [1, 2]).tobytes()] * 5 + [array("H", [3, 4]).tobytes()] * 95
    model = offline.sklearn_fit("nb")(rows, [True] * 5 + [False] * 95)
    assert model([rows[0], rows[-1]])[0] > 0.5

"""What happens without scikit-learn, and that rows reach it as they are."""

from __future__ import annotations

from array import array
from random import Random

import pytest

from motherlode.policies import policy_from
from motherlode.policies.baselines import static_classifier as offline


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


def test_naive_bayes_is_that_of_scikit_learn_over_the_features_it_met() -> None:
    naive_bayes = pytest.importorskip("sklearn.naive_bayes")
    random = Random(1)
    rows = [array("H", sorted(random.sample(range(100, 130), 6))).tobytes() for _ in range(60)]
    labels = [random.random() < 0.2 for _ in rows]
    met = sorted({column for row in rows for column in array("H", row)})
    reference = naive_bayes.BernoulliNB(alpha=1.0).fit(offline._matrix(rows)[:, met], labels)
    asked = [array("H", [100, 105, 9000]).tobytes(), b"", rows[0]]
    wanted = reference.predict_proba(offline._matrix(asked)[:, met])[:, 1]
    assert offline.sklearn_fit("nb")(rows, labels).scores(asked) == pytest.approx(wanted.tolist())


def test_naive_bayes_does_not_hold_a_rare_class_for_impossible() -> None:
    pytest.importorskip("sklearn")
    rows = [array("H", [1, 2]).tobytes()] * 5 + [array("H", [3, 4]).tobytes()] * 95
    model = offline.sklearn_fit("nb")(rows, [True] * 5 + [False] * 95)
    assert model.scores([rows[0], rows[-1]])[0] > 0.5

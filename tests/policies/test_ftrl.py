"""FTRL-Proximal compared with the pseudo-code of McMahan et al. (2013) and with Vowpal Wabbit; the sigmoid."""

from __future__ import annotations

import os
from math import exp, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motherlode.policies.ftrl import EquationOneFtrl, FeatureRows, Ftrl, sigmoid, weight_from_sums, z_increment

SETTINGS = [(0.5, 1.0, 0.1, 1.0), (0.1, 1.0, 1.0, 1.0), (1.0, 0.0, 0.0, 0.1), (0.05, 2.0, 0.5, 0.0)]
ROW = st.sets(st.integers(0, 15), min_size=1, max_size=6).map(sorted)


class PseudoCode:
    """Algorithm 1 of the paper, line by line, for x_i in {0, 1}, with the importance weight of its section 6.1."""

    def __init__(self, alpha: float, beta: float, l1: float, l2: float) -> None:
        self.alpha, self.beta, self.l1, self.l2 = alpha, beta, l1, l2
        self.z: dict[int, float] = {}
        self.n: dict[int, float] = {}

    def weight(self, i: int) -> float:
        z, n = self.z.get(i, 0.0), self.n.get(i, 0.0)
        if abs(z) <= self.l1:
            return 0.0
        sign = 1.0 if z > 0 else -1.0
        return -1 / ((self.beta + sqrt(n)) / self.alpha + self.l2) * (z - sign * self.l1)

    def predict(self, row: list[int]) -> float:
        return 1 / (1 + exp(-sum(self.weight(i) for i in row)))

    def learn(self, row: list[int], label: float, importance: float) -> None:
        p = self.predict(row)
        weights = {i: self.weight(i) for i in row}
        for i in row:
            gradient = importance * (p - label)
            n = self.n.get(i, 0.0)
            sigma = (sqrt(n + gradient**2) - sqrt(n)) / self.alpha
            self.z[i] = self.z.get(i, 0.0) + gradient - sigma * weights[i]
            self.n[i] = n + gradient**2


def examples(count: int, seed: int, size: int = 1000) -> list[tuple[list[int], int, float]]:
    """Return rows whose label depends on some of their indices, some with a higher importance."""
    random = Random(seed)
    made = []
    for _ in range(count):
        row = sorted(random.sample(range(size), 20))
        label = int(sum(place % 7 == 0 for place in row) >= 3) if random.random() < 0.9 else random.randint(0, 1)
        made.append((row, label, random.choice([1.0, 1.0, 1 / 0.17])))
    return made


@pytest.mark.parametrize("settings", SETTINGS)
def test_learner_equals_pseudo_code_of_the_paper(settings: tuple[float, float, float, float]) -> None:
    learner, reference = Ftrl(1000, *settings), PseudoCode(*settings)
    for row, label, importance in examples(1500, seed=1):
        expected = reference.predict(row)
        assert learner.probability(row) == pytest.approx(expected, abs=1e-12)
        assert learner.learn(row, label, importance) == pytest.approx(expected, abs=1e-12)
        reference.learn(row, label, importance)
    assert learner.weights(range(1000)).tolist() == pytest.approx([reference.weight(i) for i in range(1000)], abs=1e-10)


@given(st.lists(st.tuples(ROW, st.sampled_from([0.0, 1.0]), st.sampled_from([1.0, 5.88])), max_size=40))
def test_learner_equals_pseudo_code_on_any_rows(stream: list[tuple[list[int], float, float]]) -> None:
    learner, reference = Ftrl(16, 0.5, 1.0, 0.3, 0.5), PseudoCode(0.5, 1.0, 0.3, 0.5)
    for row, label, importance in stream:
        reference.learn(row, label, importance)
        learner.learn(row, label, importance)
    together = learner.predict([row for row, _, _ in stream]).tolist()
    assert together == pytest.approx([reference.predict(row) for row, _, _ in stream], abs=1e-12)


@pytest.mark.parametrize("settings", SETTINGS[:2])
def test_learner_agrees_with_vowpal_wabbit(settings: tuple[float, float, float, float]) -> None:
    if os.environ.get("CI") != "true":
        pytest.importorskip("vowpalwabbit")
    from vowpalwabbit import Workspace

    alpha, beta, l1, l2 = settings
    peer = Workspace(
        f"--ftrl --ftrl_alpha {alpha} --ftrl_beta {beta} --l1 {l1} --l2 {l2} --noconstant -b 18 --quiet "
        "--loss_function logistic --link logistic"
    )
    learner = Ftrl(1000, *settings)
    max_difference = 0.0
    for row, label, importance in examples(2000, seed=2):
        text = " ".join(map(str, row))
        max_difference = max(max_difference, abs(peer.predict(f"| {text}") - learner.learn(row, label, importance)))
        peer.learn(f"{1 if label else -1} {importance} | {text}")
    peer.finish()
    assert max_difference < 1e-4, "Vowpal Wabbit uses single precision"


def test_learner_improves_with_examples() -> None:
    learner = Ftrl(1000, alpha=0.5, l1=0.1)
    right = [(learner.learn(row, label) > 0.5) == bool(label) for row, label, _ in examples(6000, seed=3)]
    assert sum(right[-1000:]) > 800
    assert sum(right[-1000:]) > sum(right[:1000]) + 50


def test_weight_under_l1_is_zero_until_evidence_and_returns_to_zero() -> None:
    learner = Ftrl(8, alpha=0.5, beta=1.0, l1=1.0, l2=0.0)
    learner.learn([1], 1)
    assert learner.weights([1]).tolist() == [0.0]
    for _ in range(5):
        learner.learn([1], 1)
    assert learner.weights([1])[0] > 0
    learner.learn([1], 0)
    for _ in range(5):
        if learner.weights([1])[0] == 0:
            break
        learner.learn([1], 0)
    assert learner.weights([1])[0] == 0


def test_predictions_use_the_latest_example() -> None:
    learner = Ftrl(8, alpha=1.0, l1=0.0, l2=0.0)
    learner.learn([3], 1)
    assert learner.probability([3]) > 0.5
    assert learner.predict([[3], [4], []]).tolist() == [learner.probability([3]), 0.5, 0.5]


def test_state_survives_dump_and_load_and_is_small() -> None:
    learner = Ftrl(1 << 20)
    for row, label, importance in examples(300, seed=4):
        learner.learn(row, label, importance)
    state = learner.dump()
    assert len(state) < 24 * learner.touched() + 100
    again = Ftrl(1 << 20)
    again.learn([7], 1)
    again.load(state)
    assert again.dump() == state
    rows = [row for row, _, _ in examples(50, seed=5)]
    assert again.predict(rows).tolist() == learner.predict(rows).tolist()


def test_merged_learners_equal_one_learner_on_disjoint_coordinates() -> None:
    one, two, both = Ftrl(64, l1=0.0), Ftrl(64, l1=0.0), Ftrl(64, l1=0.0)
    for number, (row, label, importance) in enumerate(examples(60, seed=6, size=32)):
        shift = 32 * (number % 2)  # with disjoint indices the sum equals the state of one learner
        places = [place + shift for place in row]
        (two if shift else one).learn(places, label, importance)
        both.learn(places, label, importance)
    one.merge(two.dump())
    assert one.weights(range(64)).tolist() == pytest.approx(both.weights(range(64)).tolist(), abs=1e-12)
    other = Ftrl(64, l1=0.0)
    other.merge(one)
    assert other.dump() == one.dump()


def test_since_returns_only_what_is_new() -> None:
    common = Ftrl(32)
    common.learn([1, 2], 1)
    base = common.dump()
    one, two = Ftrl(32), Ftrl(32)
    one.load(base)
    two.load(base)
    one.learn([3], 1)
    two.learn([4, 5], 0)
    one.merge(two.since(base))
    expected = Ftrl(32)
    expected.load(base)
    expected.learn([3], 1)
    expected.learn([4, 5], 0)
    assert one.dump() == expected.dump()
    assert Ftrl(32).dump() == common.since(base), "without examples the difference is empty"


def test_different_sizes_raise_value_error() -> None:
    with pytest.raises(ValueError, match="the state of one with 32"):
        Ftrl(16).load(Ftrl(32).dump())
    with pytest.raises(ValueError, match="cannot be merged"):
        Ftrl(16).merge(Ftrl(32))


@pytest.mark.parametrize("wrong", [(0, 0.1, 1, 1, 1), (8, 0.0, 1, 1, 1), (8, 0.1, -1, 1, 1), (8, 0.1, 1, -0.1, 1)])
def test_parameters_out_of_bounds_raise_value_error(wrong: tuple[int, float, float, float, float]) -> None:
    with pytest.raises(ValueError, match="FTRL needs"):
        Ftrl(*wrong)


def test_extreme_weights_do_not_overflow() -> None:
    learner = Ftrl(4, alpha=100.0, beta=0.0, l1=0.0, l2=0.0)
    for _ in range(50):
        learner.learn([0, 1], 1, weight=1e6)
        learner.learn([0, 2], 0, weight=1e6)
    assert np.isfinite(learner.predict(FeatureRows.of([[0, 1], [0, 2], [3]]))).all()


@given(st.lists(st.floats(-1000, 1000), min_size=1, max_size=20))
def test_sigmoid_of_floats_equals_sigmoid_of_arrays(log_odds: list[float]) -> None:
    together = sigmoid(np.array(log_odds)).tolist()
    assert [sigmoid(value) for value in log_odds] == pytest.approx(together, abs=1e-15)
    assert all(0.0 <= value <= 1.0 for value in together)


def test_formulas_for_floats_equal_formulas_for_arrays() -> None:
    z, root_n, weight = np.array([0.5, -2.0]), np.array([1.0, 3.0]), np.array([0.1, -0.2])
    for index in range(2):
        scalar = weight_from_sums(float(z[index]), float(root_n[index]), 0.5, 0.3)
        assert scalar == weight_from_sums(z, root_n, 0.5, 0.3)[index]
        step = z_increment(0.4, float(root_n[index]), 4.0, float(weight[index]), 0.5)
        assert step == z_increment(0.4, root_n, np.array([4.0, 4.0]), weight, 0.5)[index]


def _equation_one(stream: list[tuple[list[int], float, float]], size: int, l1: float) -> list[float]:
    """Solve equation (1) of Huang and Gandon with all coordinates at every step, as it is written."""
    weights, gradients, proximal = [0.0] * size, [0.0] * size, [0.0] * size
    for number, (row, label, importance) in enumerate(stream, 1):
        predicted = 1 / (1 + exp(-sum(weights[index] for index in row)))
        rate = sqrt(number) - sqrt(number - 1)
        for index in range(size):
            gradients[index] += importance * (predicted - label) if index in row else 0.0
            proximal[index] += rate * weights[index]
        for index in range(size):
            linear = gradients[index] - proximal[index]
            shrunk = max(abs(linear) - l1, 0.0)
            weights[index] = -shrunk / sqrt(number) if linear > 0 else shrunk / sqrt(number)
    return weights


def _mixed_stream(examples: int, seed: int) -> list[tuple[list[int], float, float]]:
    random = Random(seed)
    return [
        (random.sample(range(12), random.randint(1, 5)), float(random.random() < 0.4), random.choice((1.0, 1 / 0.17)))
        for _ in range(examples)
    ]


@pytest.mark.parametrize("l1", [0.0, 0.1, 1.0])
def test_equation_one_learner_equals_the_equation_solved_for_all_coordinates(l1: float) -> None:
    stream = _mixed_stream(200, seed=3)
    learner = EquationOneFtrl(12, l1=l1)
    for row, label, importance in stream:
        learner.learn(row, label, importance)
    assert learner.weights(list(range(12))).tolist() == pytest.approx(_equation_one(stream, 12, l1), abs=1e-9)


def test_equation_one_learner_after_dump_and_load_continues_equally() -> None:
    stream = _mixed_stream(120, seed=5)
    straight, stopped = EquationOneFtrl(12, l1=0.1), EquationOneFtrl(12, l1=0.1)
    for row, label, importance in stream[:60]:
        straight.learn(row, label, importance)
        stopped.learn(row, label, importance)
    restored = EquationOneFtrl(12, l1=0.1)
    restored.load(stopped.dump())
    for row, label, importance in stream[60:]:
        straight.learn(row, label, importance)
        restored.learn(row, label, importance)
    every = list(range(12))
    assert restored.weights(every).tolist() == pytest.approx(straight.weights(every).tolist())


def test_equation_one_learner_absorbs_what_another_learned_since() -> None:
    stream = _mixed_stream(100, seed=7)
    one, other = EquationOneFtrl(12, l1=0.1), EquationOneFtrl(12, l1=0.1)
    for row, label, importance in stream[:50]:
        one.learn(row, label, importance)
    other.load(one.dump())
    before = one.dump()
    for row, label, importance in stream[50:]:
        one.learn(row, label, importance)
    other.merge(one.since(before))
    every = list(range(12))
    assert other.weights(every).tolist() == pytest.approx(one.weights(every).tolist())

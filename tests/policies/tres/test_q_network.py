"""The Q-network of tres and its replay buffer."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from motherlode.policies.tres.q_network import Experience, QNetwork, ReplayBuffer, goals


def rows(count: int, seed: int = 1) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.random.Generator(np.random.PCG64(seed)).random((count, 4), dtype=np.float32)


def test_gradients_equal_finite_differences() -> None:
    network = QNetwork(4, Random(2))
    network.weights = [weight.astype(np.float64) for weight in network.weights]  # type: ignore[misc]
    given, wanted = rows(7), rows(7, 2)[:, 0]
    found = network.gradients(given, wanted)
    for weight, gradient in zip(network.weights, found, strict=True):
        place = tuple(0 for _ in weight.shape)
        losses = []
        for shift in (1e-5, -2e-5):
            weight[place] += shift
            losses.append(float(((network.values(given) - wanted) ** 2).mean()))
        weight[place] += 1e-5
        assert gradient[place] == pytest.approx((losses[0] - losses[1]) / 2e-5, abs=1e-3)


def test_training_lowers_the_error() -> None:
    network = QNetwork(4, Random(1))
    given = rows(60)
    wanted = given[:, 0] * given[:, 1]
    before = float(((network.values(given) - wanted) ** 2).mean())
    for _ in range(800):
        network.train(given, wanted)
    assert float(((network.values(given) - wanted) ** 2).mean()) < before / 20


def test_goals_take_the_choice_of_one_network_and_the_value_of_the_other() -> None:
    one, other = QNetwork(4, Random(1)), QNetwork(4, Random(2))
    after = rows(6, 3)
    batch = [Experience(after[0].tobytes(), 1.0, [row.tobytes() for row in after]), Experience(b"", 0.5)]
    chosen = int(one.values(after).argmax())
    expected = 1.0 + 0.9 * float(other.values(after)[chosen])
    assert goals(batch, one, other, 0.9).tolist() == pytest.approx([expected, 0.5], abs=1e-5)
    assert int(other.values(after).argmax()) != chosen  # otherwise both networks would give the same goal


def test_replay_buffer_forgets_the_oldest_experience() -> None:
    buffer = ReplayBuffer(3)
    for number in range(5):
        buffer.add(Experience(b"", float(number)))
    assert sorted(experience.reward for experience in buffer.sample(60, Random(1))) == [2.0, 3.0, 4.0]


def test_load_restores_network_and_moments() -> None:
    one, other = QNetwork(4, Random(1)), QNetwork(4, Random(9))
    one.train(rows(5), rows(5, 2)[:, 0])
    other.load(one.dump())
    for network in (one, other):
        network.train(rows(5, 4), rows(5, 5)[:, 0])
    assert one.dump() == other.dump()

"""The Q-network: the expected sum of discounted rewards behind a link, learned from a replay buffer.

A network with two hidden layers of 30 and 15 units (leaky ReLU with slope 0.1) and one linear output is trained with
Adam on the squared error, as in the authors' program. Gradients are clipped to ±1. It is double deep Q-learning: the
network chooses the best next link, and a second network, which is a copy from time to time, gives its value.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from random import Random

import msgspec
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
HIDDEN = (30, 15)
_SLOPE = np.float32(0.1)
_RATE, _DECAY_MEAN, _DECAY_SQUARE, _TINY = 0.001, 0.9, 0.999, 1e-7
"""Learning rate, decay rates of the two moments, and ε of the optimizer Adam."""
_MAX_GRADIENT = 1.0


class QNetwork:
    """The network. Weights are drawn as by Glorot and Bengio (2010); biases are 0.

    >>> network = QNetwork(2, Random(1))
    >>> rows, goals = np.eye(2, dtype=np.float32), np.array([1.0, 0.0], dtype=np.float32)
    >>> for _ in range(2000):
    ...     network.train(rows, goals)
    >>> network.values(rows).round(1).tolist()
    [1.0, 0.0]
    """

    def __init__(self, inputs: int, random: Random, *, rate: float = _RATE) -> None:
        generator = np.random.Generator(np.random.PCG64(random.getrandbits(64)))
        sizes = (inputs, *HIDDEN, 1)
        self._rate = rate
        self.weights: list[Array] = []
        """Weights and biases of each layer in turn."""
        for fan_in, fan_out in itertools.pairwise(sizes):
            limit = (6 / (fan_in + fan_out)) ** 0.5
            self.weights += [
                generator.uniform(-limit, limit, (fan_in, fan_out)).astype(np.float32),
                np.zeros(fan_out, dtype=np.float32),
            ]
        self._means = [np.zeros_like(weight) for weight in self.weights]
        self._squares = [np.zeros_like(weight) for weight in self.weights]
        self._steps = 0

    def values(self, rows: Array) -> Array:
        """Return the Q-value that the network predicts for each row of features."""
        return self._forward(rows)[-1][:, 0]

    def _forward(self, rows: Array) -> list[Array]:
        """Return the input and the output of each layer."""
        layers = [rows]
        for number in range(0, len(self.weights), 2):
            out = layers[-1] @ self.weights[number] + self.weights[number + 1]
            layers.append(np.where(out > 0, out, _SLOPE * out) if number + 2 < len(self.weights) else out)
        return layers

    def gradients(self, rows: Array, goals: Array) -> list[Array]:
        """Return the gradients of the mean squared error with respect to `weights`."""
        layers = self._forward(rows)
        error = (2 / len(rows)) * (layers[-1] - goals[:, None])
        found: list[Array] = []
        for number in range(len(self.weights) - 2, -1, -2):
            before = layers[number // 2]
            found = [before.T @ error, error.sum(axis=0), *found]
            error = (error @ self.weights[number].T) * np.where(before > 0, np.float32(1), _SLOPE)
        return found

    def train(self, rows: Array, goals: Array) -> None:
        """Make one step of Adam."""
        self._steps += 1
        rate = self._rate * (1 - _DECAY_SQUARE**self._steps) ** 0.5 / (1 - _DECAY_MEAN**self._steps)
        for number, raw in enumerate(self.gradients(rows, goals)):
            gradient = raw.clip(-_MAX_GRADIENT, _MAX_GRADIENT)
            mean, square = self._means[number], self._squares[number]
            mean += np.float32(1 - _DECAY_MEAN) * (gradient - mean)
            square += np.float32(1 - _DECAY_SQUARE) * (gradient * gradient - square)
            self.weights[number] -= np.float32(rate) * mean / (np.sqrt(square) + np.float32(_TINY))

    def copy_from(self, other: QNetwork) -> None:
        self.weights = [weight.copy() for weight in other.weights]

    def dump(self) -> bytes:
        arrays = [array.tobytes() for group in (self.weights, self._means, self._squares) for array in group]
        return msgspec.msgpack.encode((self._steps, arrays))

    def load(self, state: bytes) -> None:
        self._steps, arrays = msgspec.msgpack.decode(state, type=tuple[int, list[bytes]])
        groups = (self.weights, self._means, self._squares)
        if len(arrays) != 3 * len(self.weights):
            raise ValueError(f"a network with {len(self.weights)} arrays cannot load {len(arrays)}")
        for position, group in enumerate(groups):
            for number, known in enumerate(group):
                packed = arrays[position * len(group) + number]
                group[number] = np.frombuffer(packed, dtype=np.float32).reshape(known.shape).copy()


class Experience(msgspec.Struct, array_like=True):
    """One followed link: its features, its reward, and the features of the links that it led to."""

    row: bytes
    reward: float
    after: list[bytes] = []


class ReplayBuffer:
    """The latest experiences, in a ring."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self.experiences: list[Experience] = []
        self._next = 0

    def __len__(self) -> int:
        return len(self.experiences)

    def add(self, experience: Experience) -> None:
        if len(self.experiences) < self._capacity:
            self.experiences.append(experience)
        else:
            self.experiences[self._next] = experience
        self._next = (self._next + 1) % self._capacity

    def sample(self, count: int, random: Random) -> list[Experience]:
        """Return distinct random experiences; all if there are fewer."""
        return random.sample(self.experiences, min(count, len(self.experiences)))

    def dump(self) -> bytes:
        return msgspec.msgpack.encode((self._next, self.experiences))

    def load(self, state: bytes) -> None:
        self._next, self.experiences = msgspec.msgpack.decode(state, type=tuple[int, list[Experience]])


def goals(batch: Sequence[Experience], network: QNetwork, delayed: QNetwork, discount: float) -> Array:
    """Return what the network should predict: the reward, and the discounted value of the best link behind it.

    `network` chooses that link, and `delayed` gives its value. Without further links, the goal is the reward.
    """
    found = np.array([experience.reward for experience in batch], dtype=np.float32)
    owners = [number for number, experience in enumerate(batch) for _ in experience.after]
    if owners:
        rows = rows_of([row for experience in batch for row in experience.after])
        chosen, given = network.values(rows), delayed.values(rows)
        best: dict[int, int] = {}
        for index, owner in enumerate(owners):
            if owner not in best or chosen[index] > chosen[best[owner]]:
                best[owner] = index
        for owner, index in best.items():
            found[owner] += discount * given[index]
    return found


def rows_of(packed: Sequence[bytes]) -> Array:
    """Decode rows of features that are stored as bytes into one array with a line for each row."""
    return np.frombuffer(b"".join(packed), dtype=np.float32).reshape(len(packed), -1)

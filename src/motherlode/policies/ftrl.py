"""FTRL-Proximal with a learning rate per coordinate, for binary features, and feature hashing.

*FTRL-Proximal* is Algorithm 1 of McMahan et al. (2013).
Two sums are kept per coordinate: n, the sum of its squared gradients, and z, the sum of its gradients minus the
proximal terms. With learning rate α, smoothing β, L1 weight λ₁ and L2 weight λ₂, the weight of a coordinate is

    w = 0                                              if |z| ≤ λ₁
    w = -(z - sign(z)·λ₁)·α / (β + √n + α·λ₂)          otherwise

The prediction for a row is p = sigmoid(Σ w) over its coordinates. An example with label y and importance c has the
gradient g = c·(p - y) at each of its coordinates, and the update is

    z ← z + g - (√(n + g²) - √n)/α·w,    n ← n + g²

The weight is not stored but computed from the sums, so it is always up to date. Because both numbers are sums, what two
learners gathered since they were equal can be added. Shards share what they learn in this way.

`EquationOneFtrl` is equation (1) of Huang and Gandon (2020) instead: one learning rate for all coordinates, which falls
with the number t of examples, Σσ = √t, and no L2 weight.

`weight_from_sums` and `z_increment` are these formulas for floats and for arrays. `Ftrl` applies them to arrays with
hashed features. The motherlode policy applies them to floats with named features (`policies/motherlode/posterior.py`).

*Feature hashing* (Weinberger et al. 2009): names of features become indices into a vector of fixed size. The number of
words and hosts on the web is unbounded. Hashed features need no dictionary and no second pass over the data, and two
machines compute the same indices without communication. Rows are binary: a feature is present or not, so a row contains
each index once. The rows of a page are stored in one array, because `Ftrl` processes all links of a page together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp
from typing import TypeVar

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

Indices = NDArray[np.int64]
_MAX_CACHED_NAMES = 200_000
"""Maximum number of names whose indices a hasher caches; about 25 MB."""
Numbers = NDArray[np.float64]
_FloatOrArray = TypeVar("_FloatOrArray", float, Numbers)
_MIN_LOG_ODDS = -700.0
"""Below this, the exponential of a float overflows."""


def sigmoid(log_odds: _FloatOrArray) -> _FloatOrArray:
    """Return the probability for log-odds: 1 / (1 + e^-x), without overflow.

    >>> sigmoid(0.0), sigmoid(-1000.0) > 0, sigmoid(np.array([0.0, 1000.0, -1000.0])).tolist()
    (0.5, True, [0.5, 1.0, 0.0])
    """
    if isinstance(log_odds, float):
        return 1.0 / (1.0 + exp(-log_odds if log_odds > _MIN_LOG_ODDS else -_MIN_LOG_ODDS))
    with np.errstate(over="ignore"):
        probabilities: Numbers = 1.0 / (1.0 + np.exp(-log_odds))
    return probabilities


def weight_from_sums(z: _FloatOrArray, root_n: _FloatOrArray, alpha: float, beta: float) -> _FloatOrArray:
    """Return the weight of a coordinate from z and √n.

    For L1 regularisation, pass z reduced by λ₁ towards 0; for L2 regularisation, pass β + α·λ₂ as `beta`.
    """
    return -z * alpha / (beta + root_n)


def z_increment(
    gradient: float, root_n: _FloatOrArray, new_root_n: _FloatOrArray, weight: _FloatOrArray, alpha: float
) -> _FloatOrArray:
    """Return what an example adds to z. `root_n` and `new_root_n` are √n before and after the example."""
    return gradient - (new_root_n - root_n) / alpha * weight


@dataclass(frozen=True, slots=True)
class FeatureRows:
    """Binary rows in one array: row i is `indices[starts[i]:starts[i + 1]]`, without duplicates."""

    indices: Indices
    starts: Indices
    """Start of each row, and the end of the last one."""

    @classmethod
    def of(cls, rows: Sequence[Sequence[int] | Indices]) -> FeatureRows:
        """Make rows from lists or arrays, each without duplicates."""
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=starts[1:])
        flat: list[int] = []
        for row in rows:
            flat.extend(row)
        return cls(np.array(flat, dtype=np.int64), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[Indices]:
        return (self.indices[start:end] for start, end in zip(self.starts[:-1], self.starts[1:], strict=True))


class Hasher:
    """Maps names to indices below `size`. The seed decides which names collide."""

    def __init__(self, size: int = 1 << 20, seed: int = 0) -> None:
        if size < 1:
            raise ValueError(f"the size of a feature vector must be at least 1; got {size}")
        self.size = size
        self.seed = seed
        self._known: dict[str, int] = {}

    def row(self, names: Iterable[str]) -> Indices:
        """Return the indices of one row, without duplicates, in ascending order."""
        return np.array(sorted(self._indices(names)), dtype=np.int64)

    def rows(self, names: Iterable[Iterable[str]]) -> FeatureRows:
        """Return the indices of many rows, for example of all links of a page."""
        return FeatureRows.of([sorted(self._indices(row)) for row in names])

    def _indices(self, names: Iterable[str]) -> set[int]:
        wanted = tuple(names)
        known = self._known
        try:
            return set(map(known.__getitem__, wanted))  # the usual case: links of a page share most features
        except KeyError:
            if len(known) >= _MAX_CACHED_NAMES:
                known.clear()
        for name in wanted:
            if name not in known:
                known[name] = xxhash.xxh3_64_intdigest(name.encode("utf-8", "replace"), self.seed) % self.size
        return {known[name] for name in wanted}


class _State(msgspec.Struct, frozen=True, array_like=True):
    """The saved sums z and n of FTRL, only of those coordinates that were nonzero in some example."""

    size: int
    indices: bytes
    """Indices of the coordinates, as little-endian 32-bit unsigned integers."""
    z: bytes
    """z of each coordinate in `indices`, as little-endian 64-bit floats."""
    n: bytes
    """n of each coordinate in `indices`, as little-endian 64-bit floats."""


class Ftrl:
    """Logistic regression on hashed features that learns from one example at a time.

    >>> learner = Ftrl(size=16, alpha=0.5, l1=0.0, l2=0.0)
    >>> learner.probability([1, 2])
    0.5
    >>> for _ in range(20):
    ...     _ = learner.learn([1, 2], 1), learner.learn([1, 3], 0)
    >>> learner.probability([1, 2]) > 0.8, learner.probability([1, 3]) < 0.2
    (True, True)
    """

    def __init__(
        self, size: int = 1 << 20, alpha: float = 0.1, beta: float = 1.0, l1: float = 1.0, l2: float = 1.0
    ) -> None:
        if size < 1 or not alpha > 0 or min(beta, l1, l2) < 0:
            raise ValueError(f"FTRL needs size ≥ 1, α > 0 and β, λ₁, λ₂ ≥ 0; got {size}, {alpha}, {beta}, {l1}, {l2}")
        self.size = size
        self.alpha, self.beta, self.l1, self.l2 = alpha, beta, l1, l2
        self._z: Numbers = np.zeros(size)
        self._n: Numbers = np.zeros(size)

    def blank(self) -> Ftrl:
        """Return a learner with the same settings that has learned nothing."""
        return Ftrl(self.size, self.alpha, self.beta, self.l1, self.l2)

    def weights(self, indices: Sequence[int] | Indices) -> Numbers:
        rows = np.asarray(indices, dtype=np.int64)
        return self._weights(self._z[rows], np.sqrt(self._n[rows]))

    def _weights(self, z: Numbers, root_n: Numbers) -> Numbers:
        shrunk_z = np.copysign(np.maximum(np.abs(z) - self.l1, 0.0), z)
        beta = self.beta + self.alpha * self.l2
        # if β = λ₂ = 0, a coordinate without examples has z = 0 and √n = 0: avoid 0 / 0
        return weight_from_sums(shrunk_z, root_n if beta else np.where(root_n > 0, root_n, 1.0), self.alpha, beta)

    def predict(self, rows: FeatureRows | Sequence[Sequence[int] | Indices]) -> Numbers:
        """Return the probability of each row to be positive."""
        rows = rows if isinstance(rows, FeatureRows) else FeatureRows.of(rows)
        if not len(rows):
            return np.zeros(0)
        weights = self._weights(self._z[rows.indices], np.sqrt(self._n[rows.indices]))
        row_of = np.repeat(np.arange(len(rows)), np.diff(rows.starts))
        sums: Numbers = np.bincount(row_of, weights=weights, minlength=len(rows)).astype(np.float64)
        return sigmoid(sums)

    def probability(self, indices: Sequence[int] | Indices) -> float:
        """Return the probability of one row to be positive."""
        return float(sigmoid(self.weights(indices).sum(keepdims=True))[0])

    def learn(self, indices: Sequence[int] | Indices, label: float, weight: float = 1.0) -> float:
        """Learn from one example, and return the probability that was predicted before. The indices must be distinct.

        `weight` is the importance of the example: its loss is multiplied by it (section 6.1 of the paper, subsampling).
        """
        rows = np.asarray(indices, dtype=np.int64)
        z, n = self._z[rows], self._n[rows]
        root_n = np.sqrt(n)
        weights = self._weights(z, root_n)
        predicted = float(sigmoid(weights.sum(keepdims=True))[0])
        gradient = (predicted - label) * weight
        new_n = n + gradient * gradient
        self._z[rows] = z + z_increment(gradient, root_n, np.sqrt(new_n), weights, self.alpha)
        self._n[rows] = new_n
        return predicted

    def touched(self) -> int:
        """Return the number of coordinates that at least one example had."""
        return int(np.count_nonzero(self._n))

    def merge(self, other: Ftrl | bytes) -> None:
        """Add the sums of another learner or of its dump.

        If both started from the same state, merge the result of `since` instead, so that this state counts once.
        """
        rows, z, n = _read(other, self.size) if isinstance(other, bytes) else other._sparse()
        if isinstance(other, Ftrl) and other.size != self.size:
            raise ValueError(f"learners with {self.size} and {other.size} coordinates cannot be merged")
        self._z[rows] += z
        self._n[rows] += n

    def since(self, earlier: bytes) -> bytes:
        """Return the difference to an earlier dump, as a dump that another learner can `merge`."""
        change = Ftrl(self.size)
        change._z[:], change._n[:] = self._z, self._n
        rows, z, n = _read(earlier, self.size)
        change._z[rows] -= z
        change._n[rows] -= n
        return change.dump()

    def dump(self) -> bytes:
        """Serialize the sums; about 20 bytes per coordinate that an example had."""
        return _serialize(self.size, *self._sparse())

    def load(self, state: bytes) -> None:
        rows, z, n = _read(state, self.size)
        self._z[:] = 0.0
        self._n[:] = 0.0
        self._z[rows], self._n[rows] = z, n

    def _sparse(self) -> tuple[Indices, Numbers, Numbers]:
        rows = np.flatnonzero((self._n != 0) | (self._z != 0))
        return rows, self._z[rows], self._n[rows]


class EquationOneFtrl(Ftrl):
    """FTRL-Proximal with one learning rate for all coordinates: equation (1) of Huang and Gandon (2020).

    After t examples with gradients g_s, w = argmin Σ w·g_s + ½ Σ σ_s‖w - w_s‖² + λ₁‖w‖₁ with Σ σ_s = √t. With
    z = Σ (g_s - σ_s·w_s) the solution is w = 0 if |z| ≤ λ₁, else w = -(z - sign(z)·λ₁) / √t.

    An example without a coordinate leaves the weight of the coordinate unchanged, because the new proximal term is 0 at
    the old weight. So z and t are stored as they were after the last example with the coordinate; `_n` holds this t.
    """

    def __init__(self, size: int = 1 << 20, l1: float = 1.0) -> None:
        super().__init__(size, alpha=1.0, beta=0.0, l1=l1, l2=0.0)
        self._examples = 0
        """t of equation (1): the number of examples so far."""

    def blank(self) -> EquationOneFtrl:
        return EquationOneFtrl(self.size, self.l1)

    def learn(self, indices: Sequence[int] | Indices, label: float, weight: float = 1.0) -> float:
        rows = np.asarray(indices, dtype=np.int64)
        weights = self.weights(rows)
        predicted = float(sigmoid(weights.sum(keepdims=True))[0])
        self._examples += 1
        self._z[rows] = self._z_after(self._examples, rows, weights) + (predicted - label) * weight
        self._n[rows] = self._examples
        return predicted

    def _z_after(self, examples: float, rows: Indices, weights: Numbers) -> Numbers:
        """Return z after `examples` examples of which the latest ones have gradient 0 at the coordinates."""
        # z follows from the unchanged weight; only a weight of 0 leaves z unchanged
        moved: Numbers = -weights * np.sqrt(examples) - np.sign(weights) * self.l1
        return np.where(weights == 0, self._z[rows], moved)

    def _sparse(self) -> tuple[Indices, Numbers, Numbers]:
        rows = np.flatnonzero((self._n != 0) | (self._z != 0))
        z = self._z_after(self._examples, rows, self.weights(rows))
        return rows, z, np.full(len(rows), float(self._examples))

    def load(self, state: bytes) -> None:
        super().load(state)
        self._examples = int(self._n.max())

    def merge(self, other: Ftrl | bytes) -> None:
        rows, self_z, _ = self._sparse()
        self._z[rows] = self_z
        added, its_z, its_n = _read(other, self.size) if isinstance(other, bytes) else other._sparse()
        self._z[added] += its_z
        self._examples += int(its_n.max(initial=0))
        self._n[np.union1d(rows, added)] = self._examples

    def since(self, earlier: bytes) -> bytes:
        rows, z, n = _read(earlier, self.size)
        change = self.blank()
        now, its_z, _ = self._sparse()
        change._z[now] = its_z
        change._z[rows] -= z
        changed = np.flatnonzero(change._z)
        examples = self._examples - n.max(initial=0)
        return _serialize(self.size, changed, change._z[changed], np.full(len(changed), examples))


def _serialize(size: int, rows: Indices, z: Numbers, n: Numbers) -> bytes:
    return msgspec.msgpack.encode(
        _State(size, rows.astype("<u4").tobytes(), z.astype("<f8").tobytes(), n.astype("<f8").tobytes())
    )


def _read(state: bytes, size: int) -> tuple[Indices, Numbers, Numbers]:
    read = msgspec.msgpack.decode(state, type=_State)
    if read.size != size:
        raise ValueError(f"a learner with {size} coordinates cannot load the state of one with {read.size}")
    return (
        np.frombuffer(read.indices, dtype="<u4").astype(np.int64),
        np.frombuffer(read.z, dtype="<f8").astype(np.float64),
        np.frombuffer(read.n, dtype="<f8").astype(np.float64),
    )

"""FTRL-Proximal with a learning rate for each coordinate: McMahan et al. (2013), Algorithm 1, for binary features.

Two numbers are kept for each coordinate: n, the sum of its squared gradients, and z, the sum of its gradients less the
proximal terms. The weight is not kept but derived from them whenever it is needed, so it is never older than they are,
and under L1 it is exactly 0 until |z| passes λ₁. Both numbers are sums: what two learners have gathered since they were
equal can be added up, which is how shards share what they learn.

numpy and not numba: a page asks for one prediction of all its links and gives one update. For 100 links of 40 features
in 2²⁰ places numpy takes 0.15 ms and numba 0.04 ms, and an update 0.02 ms; to name and hash the features takes ten
times that, and a compiler is a heavy thing to depend on.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from motherlode.policies.hashing import FeatureRows, Indices

Numbers = NDArray[np.float64]
_FURTHEST = 35.0
"""Beyond this a logistic function is 0 or 1 in double precision, and the exponential may overflow."""


class _State(msgspec.Struct, frozen=True, array_like=True):
    """What is kept: only coordinates that were ever touched."""

    size: int
    places: bytes
    z: bytes
    n: bytes


class Ftrl:
    """Logistic regression, one example at a time.

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

    def weights(self, indices: Sequence[int] | Indices) -> Numbers:
        """The weights of some coordinates, as they are now."""
        places = np.asarray(indices, dtype=np.int64)
        return self._weights(self._z[places], np.sqrt(self._n[places]))

    def _weights(self, z: Numbers, root_n: Numbers) -> Numbers:
        size = np.maximum(np.abs(z) - self.l1, 0.0)
        rate = (self.beta + root_n) / self.alpha + self.l2
        # with β = λ₂ = 0 a coordinate that was never touched has no rate, and its size is 0
        weights: Numbers = -np.copysign(size, z) / np.where(rate > 0, rate, 1.0)
        return weights

    def predict(self, rows: FeatureRows | Sequence[Sequence[int] | Indices]) -> Numbers:
        """The probability of each row to be positive; all the links of a page in one go."""
        rows = rows if isinstance(rows, FeatureRows) else FeatureRows.of(rows)
        if not len(rows):
            return np.zeros(0)
        weights = self._weights(self._z[rows.indices], np.sqrt(self._n[rows.indices]))
        row_of = np.repeat(np.arange(len(rows)), np.diff(rows.starts))
        sums: Numbers = np.bincount(row_of, weights=weights, minlength=len(rows)).astype(np.float64)
        return _sigmoid(sums)

    def probability(self, indices: Sequence[int] | Indices) -> float:
        """The probability of one row."""
        return float(_sigmoid(self.weights(indices).sum()))

    def learn(self, indices: Sequence[int] | Indices, label: float, weight: float = 1.0) -> float:
        """Take up one example, whose places are distinct; what was predicted before.

        `weight` is its importance: the loss counts so many times (section 6.1 of the paper, on subsampling).
        """
        places = np.asarray(indices, dtype=np.int64)
        z, n = self._z[places], self._n[places]
        root_n = np.sqrt(n)
        weights = self._weights(z, root_n)
        predicted = float(_sigmoid(weights.sum()))
        gradient = (predicted - label) * weight
        grown = n + gradient * gradient
        sigma = (np.sqrt(grown) - root_n) / self.alpha
        self._z[places] = z + gradient - sigma * weights
        self._n[places] = grown
        return predicted

    def touched(self) -> int:
        """Coordinates that any example had."""
        return int(np.count_nonzero(self._n))

    def merge(self, other: Ftrl | bytes) -> None:
        """Add what another learner, or a dump of one, has gathered. For two that began as equals, merge a `since`."""
        places, z, n = _read(other, self.size) if isinstance(other, bytes) else other._sparse()
        if isinstance(other, Ftrl) and other.size != self.size:
            raise ValueError(f"learners of {self.size} and {other.size} places cannot be merged")
        self._z[places] += z
        self._n[places] += n

    def since(self, earlier: bytes) -> bytes:
        """What was gathered since an earlier dump, as a dump: the part that another learner may `merge`."""
        change = Ftrl(self.size)
        change._z[:], change._n[:] = self._z, self._n
        places, z, n = _read(earlier, self.size)
        change._z[places] -= z
        change._n[places] -= n
        return change.dump()

    def dump(self) -> bytes:
        """Everything learned; about 20 bytes for each coordinate that was touched."""
        places, z, n = self._sparse()
        return msgspec.msgpack.encode(
            _State(self.size, places.astype("<u4").tobytes(), z.astype("<f8").tobytes(), n.astype("<f8").tobytes())
        )

    def load(self, state: bytes) -> None:
        """Take up what an earlier dump holds, in place of what was learned here."""
        places, z, n = _read(state, self.size)
        self._z[:] = 0.0
        self._n[:] = 0.0
        self._z[places], self._n[places] = z, n

    def _sparse(self) -> tuple[Indices, Numbers, Numbers]:
        places = np.flatnonzero((self._n != 0) | (self._z != 0))
        return places, self._z[places], self._n[places]


def _read(state: bytes, size: int) -> tuple[Indices, Numbers, Numbers]:
    read = msgspec.msgpack.decode(state, type=_State)
    if read.size != size:
        raise ValueError(f"a learner of {size} places cannot take up what one of {read.size} has learned")
    return (
        np.frombuffer(read.places, dtype="<u4").astype(np.int64),
        np.frombuffer(read.z, dtype="<f8").astype(np.float64),
        np.frombuffer(read.n, dtype="<f8").astype(np.float64),
    )


def _sigmoid(value: Numbers | np.float64) -> Numbers:
    probability: Numbers = 1.0 / (1.0 + np.exp(-np.clip(value, -_FURTHEST, _FURTHEST)))
    return probability

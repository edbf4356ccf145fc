"""Deterministic random draws: every property of the synthetic web is drawn from a hash of the seed and of its URL."""

from collections.abc import Callable
from math import exp
from statistics import NormalDist
from struct import Struct

import numpy as np
import numpy.typing as npt
import xxhash

_pack = Struct("<q").pack
_digest: Callable[[bytes, int], int] = xxhash.xxh3_64_intdigest


def mix(seed: int, value: int) -> int:
    """Return 64 well-mixed bits for a stream (`seed`) and a position in it (`value`)."""
    return _digest(_pack(value), seed)


def named(seed: int, name: str) -> int:
    """Return the seed of the stream called `name` inside another stream."""
    return _digest(name.encode(), seed)


def below(bits: int, permille: int) -> bool:
    """Return whether an event with probability `permille`/1000 happens for these bits."""
    return bits % 1000 < permille


def lognormal_table(*, median: float, sigma: float, low: float, high: float, steps: int = 256) -> tuple[int, ...]:
    """Return equally likely values of a clipped log-normal distribution, so that one look-up replaces a draw."""
    normal = NormalDist()
    values = (median * exp(sigma * normal.inv_cdf((step + 0.5) / steps)) for step in range(steps))
    return tuple(round(min(high, max(low, value))) for value in values)


def uniforms(seed: int, count: int) -> npt.NDArray[np.float64]:
    """Return `count` numbers in [0, 1), the k-th of which depends on the seed and on k alone (splitmix64)."""
    with np.errstate(over="ignore"):
        bits = (np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) + np.uint64(seed)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        bits ^= bits >> np.uint64(31)
    return (bits >> np.uint64(11)).astype(np.float64) / float(1 << 53)


_GRID = np.linspace(0.0005, 0.9995, 2000)
_NORMAL = np.array([NormalDist().inv_cdf(float(share)) for share in _GRID])


def normals(seed: int, count: int) -> npt.NDArray[np.float64]:
    """Return `count` numbers of the standard normal distribution, clipped at about ±3.3."""
    drawn: npt.NDArray[np.float64] = np.interp(uniforms(seed, count), _GRID, _NORMAL)
    return drawn

"""Which statements a crawl has met before, in memory that does not grow: a Bloom filter (Bloom 1970) of 64-bit hashes.

It never takes a known statement for a new one. A new one is taken for known with a probability that grows with what was
met: with four bits a statement in 2²⁶, one in a hundred after six million statements, one in ten after fourteen.
"""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

_BITS = 1 << 26
_PROBES = 4
_EMPTY = b""


class SeenStatements:
    """Counts what is new among hashes.

    >>> seen = SeenStatements()
    >>> page = np.array([3, 2**40, 2**63], dtype="<u8").tobytes()
    >>> seen.count_new(page), seen.count_new(page)
    (3, 0)
    """

    def __init__(self, bits: int = _BITS) -> None:
        self._bits = bits
        self._bytes: NDArray[np.uint8] | None = None
        """Made when first needed: most crawls never do."""

    def count_new(self, hashes: bytes) -> int:
        """How many of a page's hashes, each of which stands there once, were not met before; they are now."""
        if not hashes:
            return 0
        bits = self._made()
        places = self._places(np.frombuffer(hashes, dtype="<u8"))
        cells, masks = places >> 3, (1 << (places & 7)).astype(np.uint8)
        known = ((bits[cells] & masks) != 0).all(axis=0)
        np.bitwise_or.at(bits, cells.ravel(), masks.ravel())
        return int(len(known) - known.sum())

    def _made(self) -> NDArray[np.uint8]:
        if self._bytes is None:
            self._bytes = np.zeros(self._bits >> 3, dtype=np.uint8)
        return self._bytes

    def _places(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Four places for each, from the two halves of its hash (Kirsch and Mitzenmacher 2006)."""
        first, second = hashes >> np.uint64(32), (hashes & np.uint64(0xFFFFFFFF)) | np.uint64(1)
        probes = np.arange(_PROBES, dtype=np.uint64)[:, None]
        places: NDArray[np.int64] = ((first + probes * second) % np.uint64(self._bits)).astype(np.int64)
        return places

    def dump(self) -> bytes:
        return _EMPTY if self._bytes is None else zlib.compress(self._bytes.tobytes(), level=1)

    def load(self, state: bytes) -> None:
        """Take up an earlier dump; ValueError where it is none."""
        if not state:
            return
        try:
            found = np.frombuffer(zlib.decompress(state), dtype=np.uint8)
        except zlib.error as error:
            raise ValueError(f"the statements that were seen cannot be read: {error}") from error
        if len(found) != self._bits >> 3:
            raise ValueError(f"a memory of {len(found) << 3} bits does not fit one of {self._bits}")
        self._bytes = found.copy()

"""The state of a random generator as bytes, so that a crawl which is taken up again goes on as it would have."""

from __future__ import annotations

from array import array
from random import Random


def random_state(random: Random) -> bytes:
    """
    >>> one, other = Random(1), Random(2)
    >>> set_random_state(other, random_state(one)); one.random() == other.random()
    True
    """
    return array("I", random.getstate()[1]).tobytes()


def set_random_state(random: Random, state: bytes) -> None:
    words = array("I")
    words.frombytes(state)
    random.setstate((3, tuple(words), None))

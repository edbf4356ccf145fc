"""What a simulation is worth: the harvest, and how much of the oracle's lead over breadth-first a policy makes good."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Points = Sequence[tuple[int, int]]
"""A harvest curve: requests, and relevant pages so far."""


def relevant_at(curve: Points, fetched: float) -> float:
    """Relevant pages after so many requests, between two points of a curve in proportion.

    >>> relevant_at([(100, 50), (200, 60)], 150), relevant_at([(100, 50)], 20), relevant_at([(100, 50)], 500)
    (55.0, 10.0, 50.0)
    """
    before = (0, 0)
    for point in curve:
        if point[0] >= fetched:
            share = (fetched - before[0]) / max(1, point[0] - before[0])
            return before[1] + share * (point[1] - before[1])
        before = point
    return float(before[1])


def area(curve: Points, pages: int) -> float:
    """Area under the harvest curve up to the budget; a crawl that ended early stays where it ended.

    >>> area([(100, 50)], 100), area([(100, 50)], 200)
    (2500.0, 7500.0)
    """
    points = [(0, 0), *curve, (pages, curve[-1][1] if curve else 0)]
    return sum((after[0] - before[0]) * (after[1] + before[1]) / 2 for before, after in pairwise(points))


def focus(policy: float, bfs: float, oracle: float) -> float | None:
    """The share of the oracle's gain over breadth-first that a policy reaches; None where there is nothing to gain.

    >>> focus(80, 30, 100)
    0.7142857142857143
    """
    return (policy - bfs) / (oracle - bfs) if oracle > bfs else None

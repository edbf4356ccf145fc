"""Rows that have just come to wait, and that nobody has asked for yet.

Most links of a large crawl go to hosts that sleep, so nothing is sorted here, and nothing is looked up while rows only
come. When somebody asks for an arm, each row is linked to the one that came before it in its arm. Numbers in arrays,
not a list for each arm, because the garbage collector looks at millions of lists again and again: that was 8 % of an
offer.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from motherlode.frontier.runs import Array

_TAKEN = (1 << 32) - 1
"""In the place of an arm's number."""
_NONE = -1


class Arrivals:
    """In the order in which they came: arm, score and row, and where the one before it in the same arm stands."""

    def __init__(self) -> None:
        self._arms = array("I")
        self._scores = array("d")
        self._rows = array("I")
        self._before = array("q")
        """Shorter than the others, by those that came since somebody asked."""
        self._last: dict[int, int] = {}
        """For each arm where its last one stands."""

    def extend(self, arms: Sequence[int], scores: Sequence[float], first_row: int) -> None:
        self._arms.extend(arms)
        self._scores.extend(scores)
        self._rows.extend(range(first_row, first_row + len(arms)))

    def _link(self) -> None:
        last, before, place = self._last, self._before, len(self._before)
        for arm in self._arms[place:]:
            before.append(last.get(arm, _NONE))
            last[arm] = place
            place += 1

    def take(self, arm: int) -> list[tuple[float, int]]:
        """All of an arm, which are no longer here: scores with the sign turned, and rows."""
        if len(self._before) < len(self._arms):
            self._link()
        found, place = [], self._last.pop(arm, _NONE)
        while place != _NONE:
            found.append((-self._scores[place], self._rows[place]))
            self._arms[place] = _TAKEN
            place = self._before[place]
        return found

    def left(self) -> tuple[Array, Array, Array]:
        """Arms, scores and rows of all that are still here."""
        arms = np.array(self._arms, np.uint32)
        here = arms != _TAKEN
        return arms[here], np.array(self._scores, np.float64)[here], np.array(self._rows, np.uint32)[here]

"""A limit on the text that is taken out of one page.

Elements are nested, and a property at each level says the text of all that is inside: a page can make a quadratic
amount of text out of what it sends. A few times its own size is enough for every honest page.
"""

from __future__ import annotations

_PER_BYTE = 8
_LEAST = 1_000_000


class TextBudget:
    """Characters that may still be taken out of a page.

    >>> budget = TextBudget(0)
    >>> budget.is_spent, budget.affordable("x" * 300_000, 9), budget.is_spent, budget.was_short
    (False, 4, True, True)
    """

    __slots__ = ("_left", "was_short")

    def __init__(self, page_size: int) -> None:
        self._left = _PER_BYTE * page_size + _LEAST
        self.was_short = False
        """Something had to be left out."""

    @property
    def is_spent(self) -> bool:
        """True where nothing more may be taken; whoever asks leaves something out."""
        if self._left <= 0:
            self.was_short = True
            return True
        return False

    def spend(self, text: str) -> None:
        self._left -= len(text)

    def affordable(self, text: str, times: int) -> int:
        """How many more statements may repeat a text, of so many that would; they are paid for."""
        granted = min(times, max(0, self._left) // max(1, len(text)) + 1)
        self._left -= granted * len(text)
        if granted < times:
            self.was_short = True
        return granted

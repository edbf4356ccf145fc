"""How long a host rests between two requests, and how it slows down and recovers."""

from __future__ import annotations

from random import Random

from motherlode.frontier.entries import HostRecord
from motherlode.frontier.tickets import Politeness

_WEIGHT = 0.3
"""Of the newest answer in the smoothed response time."""
_MOST_FOR_SLOWNESS = 60.0
"""Seconds: the longest delay that follows from slow answers alone."""
_MOST_SLOWDOWN = 300.0
"""Seconds: the longest delay that follows from being told to slow down, beside what the server itself names."""
_RECOVERY = 0.7
"""Of the slowdown is left after each page that came."""
_LEAST_SLOWDOWN = 0.05
LONGEST_WAIT = 86_400.0
"""Seconds: a Retry-After beyond a day is taken for a day."""
MAX_JITTER = 0.25
"""Share of a wait that `Pace.jittered` may add."""


class Pace:
    """Pure but for its own source of randomness."""

    def __init__(self, politeness: Politeness, random: Random) -> None:
        self._politeness = politeness
        self._random = random

    def delay(self, record: HostRecord) -> float:
        """The largest of what the user configured, what the host asks for, and what its answers suggest."""
        delay = max(self._politeness.delay, record.delay or 0.0)
        if self._politeness.adaptive:
            if self._politeness.delay > 0:  # who asks for no delay wants none for slow answers either
                delay = max(delay, min(self._politeness.patience * record.response, _MOST_FOR_SLOWNESS))
            delay += record.slowdown
        return delay

    def note_answer(self, record: HostRecord, elapsed: float) -> None:
        if elapsed > 0:
            known = record.response
            record.response = elapsed if known == 0 else known + _WEIGHT * (elapsed - known)

    def slow_down(self, record: HostRecord) -> None:
        """The host said that we ask too much (429, 503)."""
        if self._politeness.adaptive:
            least = max(self._politeness.delay, 0.5)
            record.slowdown = min(max(2 * record.slowdown, least), _MOST_SLOWDOWN)

    def recover(self, record: HostRecord) -> None:
        if record.slowdown:
            left = record.slowdown * _RECOVERY
            record.slowdown = left if left >= _LEAST_SLOWDOWN else 0.0

    def jittered(self, wait: float) -> float:
        """Up to a quarter longer, so that what was refused together does not come back together."""
        return wait * (1 + MAX_JITTER * self._random.random()) if self._politeness.adaptive else wait


def retry_wait(asked: float | None, backoff: float) -> float:
    """The larger of what the server asked for and what the table of failures says."""
    return max(min(asked or 0.0, LONGEST_WAIT), backoff)

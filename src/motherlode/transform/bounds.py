"""Time limits for extractors: the one place in this room that looks at a clock.

In the main thread of a process (where the transform workers run) an interval timer raises `OutOfTime` inside whatever
Python code is running. In other threads no signal can be had, so only code that asks its `Deadline` will stop.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_REPEAT_SECONDS = 0.25
"""The alarm rings again: the first may be lost where Python cannot raise, in a finaliser for one."""


class OutOfTime(BaseException):
    """Raised inside an extractor whose time is up. Not an Exception, so that no extractor catches it by accident."""


class Deadline:
    """A moment after which work must stop."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def check(self) -> None:
        """Raises OutOfTime once the moment has passed; for loops that may run where no alarm can be set."""
        if time.monotonic() > self._at:
            raise OutOfTime


@contextmanager
def time_limit(seconds: float) -> Iterator[Deadline]:
    """Raises OutOfTime inside the block after so many seconds, or when an alarm that was set around it is due.

    >>> try:
    ...     with time_limit(0.01):
    ...         while True:
    ...             pass
    ... except OutOfTime:
    ...     print("stopped")
    stopped
    """
    if threading.current_thread() is not threading.main_thread():
        yield Deadline(seconds)
        return
    armed = True

    def ring(_signal: int, _frame: FrameType | None) -> None:
        if armed:  # a signal may be delivered just after the block has ended
            raise OutOfTime

    started = time.monotonic()
    waiting, interval = signal.setitimer(signal.ITIMER_REAL, 0)
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, min(seconds, waiting or seconds), _REPEAT_SECONDS)
    try:
        yield Deadline(seconds)
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before if before is not None else signal.SIG_DFL)
        if waiting:
            left = waiting - (time.monotonic() - started)
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001), interval)
            if left <= 0:
                signal.raise_signal(signal.SIGALRM)

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


class _Alarm:
    """The process's one interval timer, shared by limits inside limits."""

    def __init__(self) -> None:
        self.is_ready = False
        self.due: list[float] = []
        """When each limit that is in force ends, the outermost first; none later than the one around it."""

    def ring(self, _signal: int, _frame: FrameType | None) -> None:
        if self.due and time.monotonic() >= self.due[-1]:  # otherwise it was meant for a block that has just ended
            raise OutOfTime

    def set(self, seconds: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.0001), _REPEAT_SECONDS)


_ALARM = _Alarm()


@contextmanager
def alarm_ready() -> Iterator[None]:
    """Makes the limits inside the block cheap: the handler of the alarm is put in its place once for all of them.

    What was there before comes back at the end, with the time that it still has.
    """
    if _ALARM.is_ready or threading.current_thread() is not threading.main_thread():
        yield
        return
    started = time.monotonic()
    waiting, interval = signal.setitimer(signal.ITIMER_REAL, 0)
    before = signal.signal(signal.SIGALRM, _ALARM.ring)
    _ALARM.is_ready = True
    try:
        yield
    finally:
        _ALARM.is_ready = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before if before is not None else signal.SIG_DFL)
        if waiting:
            signal.setitimer(signal.ITIMER_REAL, max(waiting - (time.monotonic() - started), 0.001), interval)


@contextmanager
def time_limit(seconds: float) -> Iterator[Deadline]:
    """Raises OutOfTime inside the block after so many seconds, or when a limit that was set around it is due.

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
    if not _ALARM.is_ready:
        with alarm_ready(), time_limit(seconds) as deadline:
            yield deadline
        return
    due = _ALARM.due
    ends = time.monotonic() + seconds
    due.append(min(ends, due[-1]) if due else ends)
    _ALARM.set(due[-1] + seconds - ends)
    try:
        yield Deadline(seconds)
    finally:
        due.pop()
        if due:
            _ALARM.set(due[-1] - time.monotonic())
        else:
            signal.setitimer(signal.ITIMER_REAL, 0)

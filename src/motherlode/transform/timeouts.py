"""Time limits for extractors. No other module of the package reads a clock.

In the main thread, where the transform workers run, an interval timer raises `ExtractorTimeout` inside the running
Python code. Other threads cannot receive signals, so there only code that checks its `Deadline` is stopped.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, FunctionType

_REPEAT_SECONDS = 0.25
"""Interval of the timer. It repeats, because Python discards some exceptions, such as those of a finalizer."""
_TOLERANCE_SECONDS = 0.1
"""A second signal within this much CPU time is ignored, because the code that catches the first exception may not have
run yet. A deadline that expires this many seconds before a limit counts as that limit."""
_SUSPENDED_SECONDS = 60.0
"""Time that the code which catches a timeout has to save its results."""


class ExtractorTimeout(BaseException):
    """Raised inside an extractor when its time is up. A BaseException, so that it is not caught by accident."""


class Deadline:
    """A time after which work must stop."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def check(self) -> None:
        """Raise ExtractorTimeout if the deadline has passed. For loops that may run in threads without a timer."""
        now = time.monotonic()
        if now > self._at:
            if _is_main_thread():
                _TIMER.suspend_if_due(now)
            raise ExtractorTimeout


class _TimeoutTimer:
    """The interval timer of the process, shared by nested and consecutive limits.

    The timer is armed for the first limit only. A limit that ends in time does not touch it. If the timer fires too
    early for the limit then in force, it is armed again. Two system calls per limit would cost as much time as
    extracting a small syntax. If the program had no handler for SIGALRM, our handler stays installed and does nothing.
    """

    def __init__(self) -> None:
        self.due: list[float] = []
        """End of each limit in force, outermost first. No limit ends later than the one around it."""
        self._next_signal = math.inf
        """Latest time of the next signal."""
        self._raised_at_cpu = -math.inf
        """CPU time of the last exception for the innermost limit. On a busy machine a process may be paused for longer
        than the repeat interval, and the code that handles the first exception must not be interrupted by a second
        one."""
        self._is_installed = False
        self._previous_handler: Callable[[int, FrameType | None], object] | int = signal.SIG_DFL
        """Handler to restore, with the remaining time of its timer, its interval, and when that was read."""
        self._previous_delay = self._previous_interval = self._installed_at = 0.0

    def start_limit(self, ends: float) -> None:
        """Start a limit inside the limits in force."""
        if self.due and self.due[-1] < ends:
            ends = self.due[-1]
        self.due.append(ends)
        self._raised_at_cpu = -math.inf
        if ends < self._next_signal:
            self._arm(ends)

    def handle_signal(self, _signal: int, frame: FrameType | None) -> None:
        """Raise ExtractorTimeout if the innermost limit has expired, else arm the timer again."""
        if frame is not None and frame.f_code in _OWN_CODE:  # an exception here could leave a limit in force forever
            self._next_signal = time.monotonic() + _REPEAT_SECONDS
            return
        now = time.monotonic()
        if not self.due:  # the limit has ended
            self._disarm()
        elif now < self.due[-1]:
            self._arm(self.due[-1])
        else:
            self._next_signal = now + _REPEAT_SECONDS
            worked = time.process_time()
            if worked - self._raised_at_cpu >= _TOLERANCE_SECONDS:
                self._raised_at_cpu = worked
                raise ExtractorTimeout

    def suspend_if_due(self, now: float) -> None:
        """Suspend the innermost limit if it ends about now: a `Deadline` has raised, and a signal may follow."""
        if self.due and now >= self.due[-1] - _TOLERANCE_SECONDS:
            self.suspend()

    def _arm(self, moment: float) -> None:
        self._next_signal = moment
        signal.setitimer(signal.ITIMER_REAL, max(moment - time.monotonic(), 0.0001), _REPEAT_SECONDS)

    def _disarm(self) -> None:
        self._next_signal = math.inf
        signal.setitimer(signal.ITIMER_REAL, 0)

    def suspend(self) -> None:
        """Move the end of the innermost limit to that of the limit around it, else to a minute from now."""
        if self.due:
            self.due[-1] = self.due[-2] if len(self.due) > 1 else time.monotonic() + _SUSPENDED_SECONDS

    def install(self) -> bool:
        """Install the signal handler. Return False if an outer limit has already installed it."""
        if self._is_installed:
            return False
        if signal.getsignal(signal.SIGALRM) != self.handle_signal:
            self._installed_at = time.monotonic()
            self._previous_delay, self._previous_interval = signal.setitimer(signal.ITIMER_REAL, 0)
            self._previous_handler = signal.signal(signal.SIGALRM, self.handle_signal) or signal.SIG_DFL
        self._is_installed = True
        return True

    def uninstall(self) -> None:
        """Restore the previous handler with the remaining time of its timer."""
        self._disarm()
        self._is_installed = False
        if self._previous_handler == signal.SIG_DFL and not self._previous_delay:
            return
        signal.signal(signal.SIGALRM, self._previous_handler)
        if self._previous_delay:
            left = self._previous_delay - (time.monotonic() - self._installed_at)
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001), self._previous_interval)


_TIMER = _TimeoutTimer()


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def suspend_timeout() -> None:
    """Prevent further signals for the innermost limit while the code that caught ExtractorTimeout saves its results."""
    if _is_main_thread():
        _TIMER.suspend()


@contextmanager
def shared_timer() -> Iterator[None]:
    """Install the signal handler once for all limits inside the block, which saves two system calls per document."""
    installed_timer = _is_main_thread() and _TIMER.install()
    try:
        yield
    finally:
        if installed_timer:
            _TIMER.uninstall()


class TimeLimit(Deadline):
    """Raises ExtractorTimeout inside the block after the given seconds, or when an outer limit expires.

    A class, because a page has several limits and a `contextlib` generator takes three times as long.

    >>> try:
    ...     with TimeLimit(0.01):
    ...         while True:
    ...             pass
    ... except ExtractorTimeout:
    ...     print("stopped")
    stopped
    """

    def __enter__(self) -> Deadline:
        self._has_timer = _is_main_thread()
        if self._has_timer:
            self._installed_timer = _TIMER.install()
            self._depth = len(_TIMER.due)
            _TIMER.start_limit(self._at)
        return self

    def __exit__(self, *_raised: object) -> None:
        if self._has_timer:
            del _TIMER.due[self._depth :]
            if self._installed_timer:
                _TIMER.uninstall()


_OWN_CODE = frozenset(
    method.__code__
    for owner in (_TimeoutTimer, TimeLimit)
    for method in vars(owner).values()
    if isinstance(method, FunctionType)
)
"""Code in which the timer does not raise. The signal repeats shortly after."""

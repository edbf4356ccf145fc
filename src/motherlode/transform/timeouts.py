"""Time limits for extractors: the one place in this room that looks at a clock.

In the main thread of a process (where the transform workers run) an interval timer raises `ExtractorTimeout` inside whatever
Python code is running. In other threads no signal can be had, so only code that asks its `Deadline` will stop.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, FunctionType

_REPEAT_SECONDS = 0.25
"""The alarm rings again: the first may be lost where Python cannot raise, in a finaliser for one."""
_TOLERANCE_SECONDS = 0.1
"""Seconds: of work, in which nobody can have caught a ring; and before a limit, in which it counts as reached."""
_SUSPENDED_SECONDS = 60.0
"""For who keeps what there is once the time is up."""


class ExtractorTimeout(BaseException):
    """Raised inside an extractor whose time is up. Not an Exception, so that no extractor catches it by accident."""


class Deadline:
    """A moment after which work must stop."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def check(self) -> None:
        """Raises ExtractorTimeout once the moment has passed; for loops that may run where no alarm can be set."""
        now = time.monotonic()
        if now > self._at:
            if _is_main_thread():
                _TIMER.suspend_if_due(now)
            raise ExtractorTimeout


class _TimeoutTimer:
    """The process's one interval timer, shared by limits after limits and inside limits.

    Limits that end in time do not touch it: it is set for the first of them, and when it rings too early for the one
    that is then in force, it is set again. Where nobody used the alarm before, our handler stays, and does nothing.
    System calls for each limit cost a page as much as a small syntax.
    """

    def __init__(self) -> None:
        self.due: list[float] = []
        """When each limit that is in force ends, the outermost first; none later than the one around it."""
        self._next_signal = math.inf
        """When the timer will ring next, at the latest."""
        self._raised_at_cpu = -math.inf
        """When it rang last for the limit in force, in seconds of work: on a busy machine a process may stand still for
        longer than the alarm takes to ring again, and whoever catches the first ring must not be met by the second."""
        self._is_installed = False
        self._previous_handler: Callable[[int, FrameType | None], object] | int = signal.SIG_DFL
        """Whose handler must come back, with the time that its own timer had, and when that was."""
        self._previous_delay = self._previous_interval = self._installed_at = 0.0

    def start_limit(self, ends: float) -> None:
        """Puts a limit in force, inside those that are."""
        if self.due and self.due[-1] < ends:
            ends = self.due[-1]
        self.due.append(ends)
        self._raised_at_cpu = -math.inf
        if ends < self._next_signal:
            self._arm(ends)

    def handle_signal(self, _signal: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code in _OWN_CODE:  # a limit half set or half taken away would stay for ever
            self._next_signal = time.monotonic() + _REPEAT_SECONDS
            return
        now = time.monotonic()
        if not self.due:  # it was meant for a block that has ended
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
        """Somebody stops by the clock: the alarm for the same moment, which may be on its way, must not come, too."""
        if self.due and now >= self.due[-1] - _TOLERANCE_SECONDS:
            self.suspend()

    def _arm(self, moment: float) -> None:
        self._next_signal = moment
        signal.setitimer(signal.ITIMER_REAL, max(moment - time.monotonic(), 0.0001), _REPEAT_SECONDS)

    def _disarm(self) -> None:
        self._next_signal = math.inf
        signal.setitimer(signal.ITIMER_REAL, 0)

    def suspend(self) -> None:
        """Lets the innermost limit be: its end is that of the one around it, or a while from now."""
        if self.due:
            self.due[-1] = self.due[-2] if len(self.due) > 1 else time.monotonic() + _SUSPENDED_SECONDS

    def install(self) -> bool:
        """Puts the handler in its place; False where a limit around this one has done so."""
        if self._is_installed:
            return False
        if signal.getsignal(signal.SIGALRM) != self.handle_signal:
            self._installed_at = time.monotonic()
            self._previous_delay, self._previous_interval = signal.setitimer(signal.ITIMER_REAL, 0)
            self._previous_handler = signal.signal(signal.SIGALRM, self.handle_signal) or signal.SIG_DFL
        self._is_installed = True
        return True

    def uninstall(self) -> None:
        """What was there before comes back, with the time that it still has."""
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
    """ExtractorTimeout was caught: while its catcher keeps what there is, the alarm must not ring again for the same limit."""
    if _is_main_thread():
        _TIMER.suspend()


@contextmanager
def shared_timer() -> Iterator[None]:
    """Makes the limits inside the block cheap: the alarm is taken and given back once for all of them.

    Who transforms many documents puts all of them into one block: two system calls less for each.
    """
    installed_timer = _is_main_thread() and _TIMER.install()
    try:
        yield
    finally:
        if installed_timer:
            _TIMER.uninstall()


class TimeLimit(Deadline):
    """Raises ExtractorTimeout inside the block after so many seconds, or when a limit that was set around it is due.

    A page has several, hence a class: what `contextlib` makes of a generator costs three times as much.

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
"""Where the alarm must not raise; it rings again a moment later."""

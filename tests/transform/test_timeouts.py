"""Time limits of extractors."""

from __future__ import annotations

import contextlib
import random
import signal
import threading
import time
from types import FrameType, SimpleNamespace
from typing import cast

import pytest

from motherlode.transform import timeouts
from motherlode.transform.timeouts import Deadline, ExtractorTimeout, TimeLimit, shared_timer, suspend_timeout


def test_time_limit_endless_loop_is_stopped() -> None:
    started = time.monotonic()
    with pytest.raises(ExtractorTimeout), TimeLimit(0.05):
        while True:
            pass
    assert time.monotonic() - started < 10


def test_time_limit_stops_code_that_catches_exceptions() -> None:
    with pytest.raises(ExtractorTimeout), TimeLimit(0.05):
        while True:
            try:
                int("x")
            except Exception:  # noqa: BLE001 - what a careless extractor would do
                continue


def test_time_limit_caught_timeout_is_raised_again() -> None:
    lost = 0
    with pytest.raises(ExtractorTimeout), TimeLimit(0.02):
        while True:
            try:
                while True:
                    pass
            except ExtractorTimeout:
                lost += 1
                if lost > 1:
                    raise
    assert lost == 2


def test_suspend_timeout_code_after_it_is_not_interrupted() -> None:
    with TimeLimit(0.02):
        try:
            while True:
                pass
        except ExtractorTimeout:
            suspend_timeout()
        ends = time.monotonic() + 0.6  # twice the repeat interval of the timer
        while time.monotonic() < ends:
            pass


def test_deadline_expired_suppresses_signal_for_same_limit() -> None:
    with TimeLimit(60):
        timeouts._TIMER.due[-1] = time.monotonic()
        with pytest.raises(ExtractorTimeout):
            Deadline(-1).check()
        signal.raise_signal(signal.SIGALRM)


def test_time_limit_second_signal_without_cpu_time_is_ignored() -> None:
    with TimeLimit(0.02):
        with pytest.raises(ExtractorTimeout):
            while True:
                pass
        signal.raise_signal(signal.SIGALRM)
        suspend_timeout()


def test_deadline_shorter_than_limit_leaves_limit_in_force() -> None:
    with TimeLimit(60):
        due = list(timeouts._TIMER.due)
        with pytest.raises(ExtractorTimeout):
            Deadline(-1).check()
        assert timeouts._TIMER.due == due


def test_suspend_timeout_outer_limit_stays_in_force() -> None:
    with pytest.raises(ExtractorTimeout), TimeLimit(0.3), TimeLimit(0.02):
        try:
            while True:
                pass
        except ExtractorTimeout:
            suspend_timeout()
        while True:
            pass


def test_time_limit_restores_previous_handler() -> None:
    def handler(_signal: int, _frame: FrameType | None) -> None:
        pass

    before = signal.signal(signal.SIGALRM, handler)
    try:
        with TimeLimit(60):
            pass
        assert signal.getsignal(signal.SIGALRM) is handler
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_time_limit_late_signal_does_nothing() -> None:
    with TimeLimit(60):
        pass
    signal.raise_signal(signal.SIGALRM)


def test_shared_timer_is_disarmed_after_last_limit() -> None:
    with shared_timer():
        with TimeLimit(60):
            pass
        signal.raise_signal(signal.SIGALRM)
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
        with pytest.raises(ExtractorTimeout), TimeLimit(0.02):
            while True:
                pass


def test_shared_timer_second_limit_has_its_full_length() -> None:
    with shared_timer():
        with TimeLimit(60):
            pass
        started = time.monotonic()
        with pytest.raises(ExtractorTimeout), TimeLimit(0.3):
            signal.raise_signal(signal.SIGALRM)  # as if the timer of the first limit fired now
            while True:
                pass
        assert time.monotonic() - started >= 0.3


def test_shared_timer_longer_limit_after_expired_one_works() -> None:
    with shared_timer():
        with pytest.raises(ExtractorTimeout), TimeLimit(0.02):
            time.sleep(1)
        with pytest.raises(ExtractorTimeout), TimeLimit(0.6):
            while True:
                pass


def test_time_limit_outer_limit_interrupts_inner_ones() -> None:
    with pytest.raises(ExtractorTimeout), TimeLimit(0.1):
        for _ in range(1000):
            with TimeLimit(60):
                time.sleep(0.01)


def test_time_limit_shorter_inner_limit_expires_first() -> None:
    inner = 0
    with TimeLimit(60):
        try:
            with TimeLimit(0.02):
                time.sleep(1)
        except ExtractorTimeout:
            inner += 1
    assert inner == 1


def test_time_limit_signal_in_own_code_is_postponed() -> None:
    ended = TimeLimit(60).__exit__.__func__.__code__  # type: ignore[attr-defined]
    with shared_timer(), TimeLimit(60):
        timeouts._TIMER.due[-1] = 0.0  # the limit has expired
        timeouts._TIMER.handle_signal(signal.SIGALRM, cast(FrameType, SimpleNamespace(f_code=ended)))
        with pytest.raises(ExtractorTimeout):
            timeouts._TIMER.handle_signal(signal.SIGALRM, None)


def test_time_limit_expiring_at_any_moment_leaves_no_limit_in_force() -> None:
    rng = random.Random(3)
    with shared_timer():
        for _ in range(20_000):
            with contextlib.suppress(ExtractorTimeout), TimeLimit(rng.uniform(0, 0.00005)):
                sum(range(rng.randrange(20)))
            assert not timeouts._TIMER.due


def test_time_limit_in_other_thread_only_deadline_stops() -> None:
    outcomes: list[str] = []

    def work() -> None:
        try:
            with TimeLimit(0.02) as deadline:
                time.sleep(0.05)
                outcomes.append("not interrupted")
                deadline.check()
        except ExtractorTimeout:
            outcomes.append("stopped")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert outcomes == ["not interrupted", "stopped"]


def test_deadline_in_future_does_not_raise() -> None:
    Deadline(60).check()

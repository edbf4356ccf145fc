from __future__ import annotations

import contextlib
import random
import signal
import threading
import time
from types import FrameType, SimpleNamespace
from typing import cast

import pytest

from motherlode.transform import timeouts as bounds
from motherlode.transform.timeouts import Deadline, ExtractorTimeout, TimeLimit, shared_timer, suspend_timeout


def test_a_loop_is_stopped_in_time() -> None:
    started = time.monotonic()
    with pytest.raises(ExtractorTimeout), TimeLimit(0.05):
        while True:
            pass
    assert time.monotonic() - started < 10


def test_code_that_catches_exceptions_is_stopped_too() -> None:
    with pytest.raises(ExtractorTimeout), TimeLimit(0.05):
        while True:
            try:
                int("x")
            except Exception:  # noqa: BLE001 - what a careless extractor would do
                continue


def test_an_alarm_that_is_lost_rings_again() -> None:
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


def test_who_keeps_what_there_is_is_not_disturbed() -> None:
    with TimeLimit(0.02):
        try:
            while True:
                pass
        except ExtractorTimeout:
            suspend_timeout()
        ends = time.monotonic() + 0.6  # twice as long as the alarm takes to ring again
        while time.monotonic() < ends:
            pass


def test_who_stops_by_the_clock_hears_no_alarm_for_the_same_moment() -> None:
    with TimeLimit(0.02):
        deadline = Deadline(0.02)
        signal.setitimer(signal.ITIMER_REAL, 0)  # as on a busy machine, where it comes late
        time.sleep(0.05)
        with pytest.raises(ExtractorTimeout):
            deadline.check()
        signal.raise_signal(signal.SIGALRM)


def test_who_was_told_and_has_not_run_since_is_not_told_again() -> None:
    with TimeLimit(0.02):
        with pytest.raises(ExtractorTimeout):
            while True:
                pass
        signal.raise_signal(signal.SIGALRM)
        suspend_timeout()


def test_a_shorter_deadline_leaves_the_limit_around_it_alone() -> None:
    with pytest.raises(ExtractorTimeout), TimeLimit(0.5):
        deadline = Deadline(0.02)
        with pytest.raises(ExtractorTimeout):
            while True:
                deadline.check()
        while True:
            pass


def test_the_limit_around_it_holds_for_who_keeps_what_there_is() -> None:
    with pytest.raises(ExtractorTimeout), TimeLimit(0.3), TimeLimit(0.02):
        try:
            while True:
                pass
        except ExtractorTimeout:
            suspend_timeout()
        while True:
            pass


def test_work_that_ends_in_time_gives_back_what_it_took() -> None:
    def handler(_signal: int, _frame: FrameType | None) -> None:
        pass

    before = signal.signal(signal.SIGALRM, handler)
    try:
        with TimeLimit(5):
            pass
        assert signal.getsignal(signal.SIGALRM) is handler
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_ring_that_comes_too_late_does_nothing() -> None:
    with TimeLimit(5):
        pass
    signal.raise_signal(signal.SIGALRM)


def test_nothing_rings_while_no_limit_is_in_force() -> None:
    with shared_timer():
        with TimeLimit(0.02):
            pass
        time.sleep(0.1)
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
        with pytest.raises(ExtractorTimeout), TimeLimit(0.02):
            while True:
                pass


def test_the_second_limit_is_as_long_as_the_first() -> None:
    with shared_timer():
        with TimeLimit(0.1):
            time.sleep(0.05)
        started = time.monotonic()
        with pytest.raises(ExtractorTimeout), TimeLimit(0.3):
            while True:
                pass
        assert time.monotonic() - started >= 0.3


def test_a_longer_limit_holds_after_a_shorter_one_has_rung() -> None:
    with shared_timer():
        with pytest.raises(ExtractorTimeout), TimeLimit(0.02):
            time.sleep(1)
        with pytest.raises(ExtractorTimeout), TimeLimit(0.6):
            while True:
                pass


def test_an_alarm_around_it_still_rings() -> None:
    with pytest.raises(ExtractorTimeout), TimeLimit(0.1):
        for _ in range(1000):
            with TimeLimit(5):
                time.sleep(0.01)


def test_the_inner_limit_may_be_the_shorter() -> None:
    inner = 0
    with TimeLimit(5):
        try:
            with TimeLimit(0.02):
                time.sleep(1)
        except ExtractorTimeout:
            inner += 1
    assert inner == 1


def test_alarm_during_the_bookkeeping_of_a_limit_leaves_no_limit_behind() -> None:
    ended = TimeLimit(60).__exit__.__func__.__code__  # type: ignore[attr-defined]
    with shared_timer(), TimeLimit(60):
        bounds._TIMER.due[-1] = 0.0  # its time is up
        bounds._TIMER.handle_signal(signal.SIGALRM, cast(FrameType, SimpleNamespace(f_code=ended)))
        with pytest.raises(ExtractorTimeout):
            bounds._TIMER.handle_signal(signal.SIGALRM, None)


def test_limits_that_end_at_any_moment_leave_no_limit_behind() -> None:
    chance = random.Random(3)
    with shared_timer():
        for _ in range(20_000):
            with contextlib.suppress(ExtractorTimeout), TimeLimit(chance.uniform(0, 0.00005)):
                sum(range(chance.randrange(20)))
            assert not bounds._TIMER.due


def test_other_threads_ask_their_deadline() -> None:
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


def test_a_deadline_that_lies_ahead_says_nothing() -> None:
    Deadline(60).check()

"""The delay of a host, its slowdown and its recovery."""

from __future__ import annotations

from random import Random

import pytest

from motherlode.frontier import End, Frontier, HostRecord, MemoryStorage, Politeness
from motherlode.frontier.records import MAX_WAIT_SECONDS, HostDelay, retry_wait
from motherlode.model import FailureKind

from .fakes import BestOf, failure, offer, take


def pace(*, delay: float = 1.0, adaptive: bool = True, delay_factor: float = 2.0) -> HostDelay:
    return HostDelay(Politeness(delay=delay, adaptive=adaptive, delay_factor=delay_factor), Random(1))


def test_delay_is_the_largest_of_all_sources() -> None:
    assert pace().delay(HostRecord(name="a")) == 1.0
    assert pace().delay(HostRecord(name="a", delay=5.0, response=1.0)) == 5.0
    assert pace().delay(HostRecord(name="a", delay=0.5)) == 1.0
    assert pace().delay(HostRecord(name="a", response=4.0)) == 8.0
    assert pace(adaptive=False).delay(HostRecord(name="a", response=4.0, slowdown=3.0)) == 1.0


def test_response_delay_is_bounded_and_zero_delay_stays_zero() -> None:
    assert pace().delay(HostRecord(name="a", response=1e6)) == 60.0
    assert pace(delay=0.0).delay(HostRecord(name="a", response=4.0)) == 0.0


def test_response_times_are_smoothed() -> None:
    record = HostRecord(name="a")
    for elapsed in (1.0, 1.0, 11.0):
        pace().note_answer(record, elapsed)
    assert record.response == pytest.approx(4.0)
    pace().note_answer(record, 0.0)
    assert record.response == pytest.approx(4.0), "no time is no news"


def test_slowdown_increases_on_complaints_and_decays_on_pages() -> None:
    record, at = HostRecord(name="a"), pace()
    delays = []
    for _ in range(3):
        at.slow_down(record)
        delays.append(at.delay(record))
    assert delays == [2.0, 3.0, 5.0]
    for _ in range(30):
        at.slow_down(record)
    assert at.delay(record) == 301.0
    seen = []
    while record.slowdown:
        at.recover(record)
        seen.append(at.delay(record))
    assert 10 < len(seen) < 40
    assert sorted(seen, reverse=True) == seen
    assert seen[-1] == 1.0


def test_jitter_only_lengthens_waits() -> None:
    at = pace()
    waits = [at.add_jitter(10.0) for _ in range(50)]
    assert all(10.0 <= wait <= 12.5 for wait in waits)
    assert len(set(waits)) > 20
    assert pace(adaptive=False).add_jitter(10.0) == 10.0


def test_retry_after_is_obeyed_up_to_a_maximum() -> None:
    assert retry_wait(100.0, 30.0) == 100.0
    assert retry_wait(1.0, 30.0) == 30.0
    assert retry_wait(None, 30.0) == 30.0
    assert retry_wait(1e12, 30.0) == MAX_WAIT_SECONDS


def test_frontier_contacts_slow_and_busy_hosts_less_often() -> None:
    frontier = Frontier(
        storage=MemoryStorage(),
        policy=BestOf(),
        scope=lambda url: "",
        read_rules=None,
        politeness=Politeness(delay=1.0, adaptive=True, retry_wait=10.0),
        random=Random(3),
    )
    offer(frontier, *(f"http://a.example/{number}" for number in range(5)))
    first = take(frontier, 0.0)
    assert frontier.usual_response_time(first) == 0.0
    frontier.response_received(first, 6.0, elapsed=6.0)
    assert frontier.usual_response_time(first) == 6.0
    frontier.end(first, End.FETCHED, 0.0)
    assert frontier.lease(11.9) is None
    second = take(frontier, 12.0)
    frontier.response_received(second, 18.0, elapsed=6.0)
    assert frontier.end(second, End.FAILED, 18.0, failure=failure(FailureKind.TOO_MANY, 50.0)) is not None
    assert frontier.lease(67.9) is None
    assert 68.0 < (frontier.idle_until() or 0.0) <= 80.5
    third = take(frontier, 81.0)
    frontier.response_received(third, 87.0, elapsed=6.0)
    assert frontier.idle_until() == 94.0, "a second more than for its slow answers: it complained"

"""Back-off of hosts: which failures count against a host, which do not, and when a host is given up."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from random import Random

import pytest

from motherlode.frontier import (
    End,
    Frontier,
    FrontierStorage,
    HostBudget,
    HostRecord,
    MemoryStorage,
    Politeness,
    UrlState,
    revisit_arm,
)
from motherlode.frontier.leases import (
    HOST_GIVEN_UP_AFTER,
    MAX_UNREADABLE_RULES_UNITS,
    NO_RULES,
    TOO_MANY_FAILURES,
    given_up,
)
from motherlode.model import FailureKind, RequestKind

from .fakes import BestOf, FakeRules, ended, failure, fetch, frontier_on, offer, take, wait

A, B = "http://a.example", "http://b.example"
UNIT = 10.0
MAX_UNREADABLE_SECONDS = MAX_UNREADABLE_RULES_UNITS * UNIT
BUSY = [FailureKind.TOO_MANY, FailureKind.UNAVAILABLE, FailureKind.SERVER_ERROR]


def record_of(frontier: Frontier) -> HostRecord:
    return next(record for record in frontier.host_records() if record.name == "a.example")


def request_unreadable_robots_txt(
    frontier: Frontier, kind: FailureKind, *, retry_after: float | None = None
) -> Iterator[float]:
    """Return the times of the requests for a robots.txt that is never readable, until the frontier is exhausted."""
    lease, now = wait(frontier, 0.0)
    while lease is not None:
        assert lease.kind is RequestKind.ROBOTS, "nothing is fetched without rules"
        yield now
        frontier.response_received(lease, now)
        frontier.end(lease, End.ROBOTS_UNREADABLE, now, failure=failure(kind, retry_after))
        lease, now = wait(frontier, now)


@pytest.mark.parametrize("kind", BUSY)
def test_host_with_busy_robots_txt_is_retried_for_hours_then_refused(
    kind: FailureKind, storage: FrontierStorage
) -> None:
    frontier = frontier_on(storage, robots=True, delay=0.0, retry_wait=UNIT)
    offer(frontier, f"{A}/1", f"{A}/2")
    asked = list(request_unreadable_robots_txt(frontier, kind))
    assert MAX_UNREADABLE_SECONDS <= asked[-1] <= 1.25 * MAX_UNREADABLE_SECONDS, "in finite time, and not sooner"
    assert HOST_GIVEN_UP_AFTER < len(asked) < 20, "at growing intervals"
    gaps = [after - before for before, after in pairwise(asked)]
    assert gaps == sorted(gaps)
    assert gaps[0] == 2 * UNIT
    assert frontier.refused == {NO_RULES: 2}
    found = storage.find(f"{A}/1")
    assert found is not None
    assert found[2] == NO_RULES
    assert ended(frontier)


@pytest.mark.parametrize("kind", BUSY)
def test_busy_robots_txt_does_not_count_against_host(kind: FailureKind) -> None:
    frontier = frontier_on(robots=True, delay=0.0, retry_wait=UNIT)
    offer(frontier, f"{A}/1")
    for number, _ in enumerate(request_unreadable_robots_txt(frontier, kind)):
        assert record_of(frontier).failures == 0
        if number == HOST_GIVEN_UP_AFTER:
            break


def test_readable_robots_txt_resets_the_host() -> None:
    frontier = frontier_on(robots=True, delay=0.0, retry_wait=UNIT)
    offer(frontier, f"{A}/1")
    now = 0.0
    for _ in range(HOST_GIVEN_UP_AFTER + 1):
        lease = take(frontier, now)
        frontier.response_received(lease, now)
        frontier.end(lease, End.ROBOTS_UNREADABLE, now, failure=failure(FailureKind.UNAVAILABLE))
        now = record_of(frontier).ready_at
    lease = take(frontier, now)
    frontier.response_received(lease, now)
    frontier.end(lease, End.ROBOTS_READ, now)
    record = record_of(frontier)
    assert (record.unread_since, record.unread_for, record.failures) == (None, "", 0)
    assert fetch(frontier, now) == f"{A}/1"


def test_host_that_resets_connections_is_given_up() -> None:
    frontier = frontier_on(robots=True, delay=0.0, retry_wait=UNIT)
    offer(frontier, f"{A}/1")
    assert len(list(request_unreadable_robots_txt(frontier, FailureKind.RESET))) == HOST_GIVEN_UP_AFTER
    assert sum(frontier.refused.values()) == 1


def test_long_retry_after_for_robots_txt_is_kept() -> None:
    frontier = frontier_on(robots=True, delay=0.0, retry_wait=UNIT)
    offer(frontier, f"{A}/1")
    asked = list(
        request_unreadable_robots_txt(frontier, FailureKind.UNAVAILABLE, retry_after=MAX_UNREADABLE_SECONDS - 1)
    )
    assert [round(after - before) for before, after in pairwise(asked)] == [round(MAX_UNREADABLE_SECONDS) - 1] * 2


def test_hosts_busy_together_are_retried_at_different_times() -> None:
    frontier = Frontier(
        storage=MemoryStorage(),
        policy=BestOf(),
        scope=lambda url: "",
        read_rules=FakeRules,
        politeness=Politeness(delay=0.0, retry_wait=UNIT, adaptive=True),
        random=Random(1),
    )
    offer(frontier, f"{A}/1", f"{B}/1")
    for _ in range(2):
        lease = take(frontier, 0.0)
        frontier.response_received(lease, 0.0)
        frontier.end(lease, End.ROBOTS_UNREADABLE, 0.0, failure=failure(FailureKind.UNAVAILABLE, 100.0))
    first, second = (record.ready_at for record in frontier.host_records())
    assert 100.0 <= first < 125.0 and 100.0 <= second < 125.0
    assert first != second


def test_busy_host_is_snoozed_even_if_retry_wait_is_zero() -> None:
    frontier = frontier_on(robots=True, delay=0.0, retry_wait=0.0)
    offer(frontier, f"{A}/1")
    asked = list(request_unreadable_robots_txt(frontier, FailureKind.UNAVAILABLE))
    assert asked[1] == 30.0
    assert len(asked) < 20


def test_time_between_runs_does_not_count_as_unreadable_rules(storage: FrontierStorage) -> None:
    first = frontier_on(storage, robots=True, delay=0.0, retry_wait=UNIT)
    offer(first, f"{A}/1")
    lease = take(first, 0.0)
    first.response_received(lease, 0.0)
    first.end(lease, End.ROBOTS_UNREADABLE, 0.0, failure=failure(FailureKind.UNAVAILABLE))
    first.commit()
    later = 10 * MAX_UNREADABLE_SECONDS
    second = frontier_on(storage, robots=True, delay=0.0, retry_wait=UNIT)
    lease = take(second, later)
    second.response_received(lease, later)
    second.end(lease, End.ROBOTS_UNREADABLE, later, failure=failure(FailureKind.UNAVAILABLE))
    record = record_of(second)
    assert record.unread_since == later
    assert not given_up(record)


def test_clock_set_back_does_not_count_as_unreadable_rules() -> None:
    record = HostRecord(name="a.example", unread_since=50.0)
    record.correct_times(lambda time: time - 20.0, lambda time: time - 20.0)
    assert record.unread_since == 30.0


def test_revisit_requests_unreadable_rules_once_more() -> None:
    frontier = frontier_on(robots=True, delay=0.0, retry_wait=UNIT)
    offer(frontier, f"{A}/1")
    (*_, last) = request_unreadable_robots_txt(frontier, FailureKind.SERVER_ERROR)
    offer(frontier, f"{B}/1")
    lease = take(frontier, last)
    frontier.response_received(lease, last)
    frontier.end(lease, End.ROBOTS_READ, last)
    page = take(frontier, last)
    frontier.response_received(page, last)
    frontier.end(page, End.FETCHED, 0.0)
    known = page.entry
    frontier.revisit(type(known)(url=f"{A}/1", arm=revisit_arm("a.example"), score=0.0, sequence=9))
    again = take(frontier, last + 1)
    assert again.url == f"{A}/robots.txt"
    frontier.response_received(again, last + 1)
    frontier.end(again, End.ROBOTS_UNREADABLE, last + 1, failure=failure(FailureKind.SERVER_ERROR))
    assert frontier.lease(last + 1) is None
    assert ended(frontier)


def test_given_up_returns_the_reason() -> None:
    assert given_up(HostRecord(name="a", failures=HOST_GIVEN_UP_AFTER)) == TOO_MANY_FAILURES
    assert given_up(HostRecord(name="a", failures=HOST_GIVEN_UP_AFTER, unread_since=0.0)) == NO_RULES
    assert given_up(HostRecord(name="a", failures=HOST_GIVEN_UP_AFTER - 1, unread_since=0.0)) == ""


# ── outages of our own network ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("robots", [True, False])
@pytest.mark.parametrize("kind", [FailureKind.CONNECT, FailureKind.NO_DNS, FailureKind.TIMEOUT])
def test_network_down_counts_neither_attempts_nor_failures(
    *, robots: bool, kind: FailureKind, storage: FrontierStorage
) -> None:
    frontier = frontier_on(storage, robots=robots, delay=0.0, retry_wait=UNIT)
    offer(frontier, f"{A}/1")
    now = 0.0
    for _ in range(3 * HOST_GIVEN_UP_AFTER):
        lease, now = wait(frontier, now)
        assert lease is not None
        assert (lease.kind is RequestKind.ROBOTS) is robots
        frontier.response_received(lease, now)
        frontier.end(lease, End.NETWORK_DOWN, now, failure=failure(kind))
        assert not ended(frontier)
        assert frontier.lease(now) is None, "the host rests"
    record = record_of(frontier)
    assert (record.failures, record.fetched) == (0, 0)
    found = storage.find(f"{A}/1")
    assert found is not None
    assert (found[0].attempts, found[1]) == (0, UrlState.WAITING)
    assert frontier.waiting == 1


def test_failed_dns_lookup_while_network_down_is_repeated() -> None:
    frontier = Frontier(
        storage=MemoryStorage(),
        policy=BestOf(),
        scope=lambda url: "",
        read_rules=None,
        politeness=Politeness(delay=1.0, retry_wait=UNIT, by_address=True),
    )
    offer(frontier, f"{A}/1")
    lease = take(frontier, 0.0)
    assert lease.kind is RequestKind.RESOLVE
    frontier.end(lease, End.NETWORK_DOWN, 0.0, failure=failure(FailureKind.NO_DNS))
    assert frontier.in_flight == 0
    again, now = wait(frontier, 0.0)
    assert again is not None and again.kind is RequestKind.RESOLVE
    frontier.end(again, End.RESOLVED, 0.0, address="192.0.2.1")
    assert fetch(frontier, now) == f"{A}/1"


def test_url_queued_again_waits_after_a_kill(storage: FrontierStorage) -> None:
    first = frontier_on(storage, delay=0.0, retry_wait=UNIT)
    offer(first, f"{A}/1", f"{A}/2")
    lease = take(first, 0.0)
    first.response_received(lease, 0.0)
    first.end(lease, End.NETWORK_DOWN, 0.0, failure=failure(FailureKind.CONNECT))
    first.commit()
    second = frontier_on(storage, delay=0.0, retry_wait=UNIT)
    assert second.waiting == 2
    found, now = wait(second, 1.0)
    assert found is not None
    assert now == 4 * UNIT, "and keeps the rest of its host"
    assert found.entry.attempts == 0


def test_host_budget_does_not_count_urls_queued_again() -> None:
    frontier = Frontier(
        storage=MemoryStorage(),
        policy=BestOf(),
        scope=lambda url: "",
        read_rules=None,
        politeness=Politeness(delay=0.0, retry_wait=UNIT),
        budget=HostBudget(pages=1),
    )
    offer(frontier, f"{A}/1")
    now = 0.0
    for _ in range(5):
        lease, now = wait(frontier, now)
        assert lease is not None
        frontier.response_received(lease, now)
        frontier.end(lease, End.NETWORK_DOWN, now, failure=failure(FailureKind.TIMEOUT))
    assert fetch(frontier, now + 4 * UNIT) == f"{A}/1"

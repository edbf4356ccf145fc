"""Waits and retries of an idle frontier, with virtual time."""

from __future__ import annotations

from motherlode.frontier import End, Frontier, MemoryStorage, UrlState
from motherlode.model import FailureKind, RequestKind

from .fakes import failure, frontier_on, offer, take

URL = "http://a.example/x"


def fail(frontier: Frontier, kind: FailureKind, now: float, *, retry_after: float | None = None) -> None:
    """Lease a URL and end it with a failure."""
    lease = take(frontier, now)
    frontier.response_received(lease, now)
    frontier.end(lease, End.FAILED, now, failure=failure(kind, retry_after))


def test_next_wait_of_a_retry_names_url_failure_and_time() -> None:
    frontier = frontier_on()
    offer(frontier, URL)
    fail(frontier, FailureKind.SERVER_ERROR, 0.0)
    wait = frontier.retries.next_wait()
    assert wait == (20.0, f"{URL} will be tried again after server-error")
    assert len(frontier.retries) == 1


def test_next_wait_of_a_delay_names_the_host() -> None:
    frontier = frontier_on()
    offer(frontier, URL, "http://a.example/y")
    lease = take(frontier, 0.0)
    frontier.response_received(lease, 0.0)
    frontier.end(lease, End.FETCHED, 0.0)
    wait = frontier.retries.next_wait()
    assert wait is not None
    assert wait.reason == "the delay of a.example"
    assert wait.until == frontier.idle_until()


def test_next_wait_for_an_unreadable_robots_txt_says_so() -> None:
    frontier = frontier_on(robots=True)
    offer(frontier, URL)
    lease = take(frontier, 0.0)
    assert lease.kind is RequestKind.ROBOTS
    frontier.response_received(lease, 0.0)
    frontier.end(lease, End.ROBOTS_UNREADABLE, 0.0, failure=failure(FailureKind.SERVER_ERROR))
    wait = frontier.retries.next_wait()
    assert wait is not None
    assert wait.reason == "the robots.txt of a.example cannot be read (server-error)"
    assert frontier.retries.are_all_that_is_left
    assert frontier.retries.give_up(1.0) == []
    assert frontier.lease(1.0) is None
    assert frontier.exhausted
    assert frontier.refused == {"the host's robots.txt could not be read": 1}


def test_retries_are_all_that_is_left_unless_a_url_waits_or_is_in_flight() -> None:
    frontier = frontier_on()
    offer(frontier, URL)
    assert not frontier.retries.are_all_that_is_left
    fail(frontier, FailureKind.SERVER_ERROR, 0.0)
    assert frontier.retries.are_all_that_is_left
    offer(frontier, "http://a.example/y")
    assert not frontier.retries.are_all_that_is_left
    lease = take(frontier, 5.0)
    assert not frontier.retries.are_all_that_is_left, "a request is in flight"
    frontier.response_received(lease, 5.0)
    frontier.end(lease, End.FETCHED, 5.0)
    assert frontier.retries.are_all_that_is_left


def test_give_up_ends_the_urls_with_their_last_failure() -> None:
    storage = MemoryStorage()
    frontier = frontier_on(storage)
    offer(frontier, URL)
    fail(frontier, FailureKind.UNAVAILABLE, 0.0, retry_after=3600.0)
    ((entry, reason),) = frontier.retries.give_up(1.0)
    assert (entry.url, reason) == (URL, "unavailable")
    assert frontier.exhausted
    found = storage.find(URL)
    assert found is not None
    assert found[1:] == (UrlState.FAILED, "unavailable")
    assert frontier.lease(4000.0) is None, "it is given up and not requested later"

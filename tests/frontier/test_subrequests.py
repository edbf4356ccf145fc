"""Subrequests (JSON-LD contexts, services) keep the same delays and robots.txt rules as pages."""

from __future__ import annotations

from motherlode.frontier import End, Frontier, Lease
from motherlode.model import FailureKind, RequestKind

from .fakes import ended, failure, fetch, frontier_on, offer, redirect, take

A, B = "http://a.example", "http://b.example"


def subrequest(frontier: Frontier, url: str, now: float) -> Lease:
    leave = frontier.lease_for(url, now)
    assert isinstance(leave, Lease), leave
    return leave


def test_subrequest_starts_the_delay_of_its_host() -> None:
    frontier = frontier_on(delay=5.0)
    offer(frontier, f"{A}/1")
    leave = subrequest(frontier, f"{A}/context", 0.0)
    assert (leave.url, leave.kind) == (f"{A}/context", RequestKind.SUBREQUEST)
    assert frontier.in_flight == 1
    assert frontier.lease(3.0) is None, "one request at a time"
    frontier.response_received(leave, 4.0)
    assert frontier.lease(8.9) is None
    assert fetch(frontier, 9.0) == f"{A}/1"
    assert ended(frontier)


def test_subrequest_waits_for_the_delay_of_its_host() -> None:
    frontier = frontier_on(delay=5.0)
    offer(frontier, f"{A}/1")
    lease = take(frontier, 0.0)
    busy = frontier.lease_for(f"{A}/context", 1.0)
    assert isinstance(busy, float), "a request is under way"
    assert busy > 1.0
    frontier.response_received(lease, 2.0)
    frontier.end(lease, End.FETCHED, 0.0)
    assert frontier.lease_for(f"{A}/context", 3.0) == 7.0
    assert subrequest(frontier, f"{A}/context", 7.0).url == f"{A}/context"


def test_subrequest_requests_robots_txt_first_and_obeys_it() -> None:
    frontier = frontier_on(delay=0.0, robots=True)
    asked = subrequest(frontier, f"{A}/private/context", 0.0)
    assert (asked.url, asked.kind) == (f"{A}/robots.txt", RequestKind.ROBOTS)
    assert isinstance(frontier.lease_for(f"{A}/other", 0.0), float), "the rules are on their way"
    frontier.response_received(asked, 0.0)
    frontier.end(asked, End.ROBOTS_READ, 0.0, robots=b"no:/private")
    assert frontier.lease_for(f"{A}/private/context", 0.0) is None
    assert subrequest(frontier, f"{A}/open/context", 0.0).kind is RequestKind.SUBREQUEST


def test_robots_txt_read_for_a_subrequest_is_used_for_pages() -> None:
    frontier = frontier_on(delay=0.0, robots=True)
    asked = subrequest(frontier, f"{A}/context", 0.0)
    offer(frontier, f"{A}/1", f"{A}/no")
    assert frontier.lease(0.0) is None, "no second question for the same rules"
    frontier.response_received(asked, 0.0)
    assert frontier.lease(0.0) is None
    frontier.end(asked, End.ROBOTS_READ, 0.0, robots=b"no:/no")
    assert fetch(frontier, 0.0) == f"{A}/1"
    assert frontier.lease(0.0) is None
    assert frontier.refused == {"robots": 1}
    assert ended(frontier)


def test_subrequest_with_unreadable_robots_txt_is_dropped() -> None:
    frontier = frontier_on(delay=0.0, robots=True)
    asked = subrequest(frontier, f"{A}/context", 0.0)
    offer(frontier, f"{A}/1")
    frontier.response_received(asked, 0.0)
    assert frontier.lease(0.0) is None
    frontier.end(asked, End.FAILED, 0.0, failure=failure(FailureKind.CONNECT))
    lease = take(frontier, 0.0)
    assert (lease.kind, lease.entry.url) == (RequestKind.ROBOTS, f"{A}/1")


def test_subrequest_named_by_user_needs_no_rules_but_keeps_the_delay() -> None:
    frontier = frontier_on(delay=5.0, robots=True)
    leave = frontier.lease_for(f"{A}/service", 0.0, obey_robots=False)
    assert isinstance(leave, Lease)
    assert (leave.url, leave.kind) == (f"{A}/service", RequestKind.SUBREQUEST)
    frontier.response_received(leave, 1.0)
    assert frontier.lease_for(f"{A}/service", 2.0, obey_robots=False) == 6.0


def test_subrequest_url_is_not_known() -> None:
    frontier = frontier_on(delay=0.0)
    leave = subrequest(frontier, f"{A}/context", 0.0)
    frontier.response_received(leave, 0.0)
    assert frontier.known_urls == 0
    assert ended(frontier)
    assert offer(frontier, f"{A}/context") == 1, "a page may still link to it"


def test_subrequest_with_redirected_robots_txt_keeps_the_delay_of_that_host() -> None:
    frontier = frontier_on(delay=5.0, robots=True)
    asked = subrequest(frontier, f"{A}/context", 0.0)
    frontier.response_received(asked, 1.0)
    assert frontier.end(asked, End.ROBOTS_MOVED, 0.0, failure=redirect(f"{B}/rules.txt")) is not None
    assert frontier.lease_for(f"{A}/context", 2.0) == 6.0, "the host that sent us on has a clock as well"
    elsewhere = subrequest(frontier, f"{A}/context", 6.0)
    assert (elsewhere.url, elsewhere.host, elsewhere.kind) == (f"{B}/rules.txt", "a.example", RequestKind.ROBOTS)
    assert isinstance(frontier.lease_for(f"{B}/other", 6.5), float), "a request to the other host is under way"
    frontier.response_received(elsewhere, 7.0)
    frontier.end(elsewhere, End.ROBOTS_READ, 7.0, robots=b"no:/private")
    assert frontier.lease_for(f"{A}/private/context", 20.0) is None
    assert subrequest(frontier, f"{A}/context", 20.0).kind is RequestKind.SUBREQUEST

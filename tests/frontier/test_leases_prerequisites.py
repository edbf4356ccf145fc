"""robots.txt is requested first and once, its rules are obeyed, and no page is lost while it is awaited."""

from __future__ import annotations

import pytest

from motherlode.frontier import End, Frontier, FrontierStorage, Lease, MemoryStorage, UrlState
from motherlode.frontier.leases import MAX_RULES_HOPS, RULES_LAST, RULES_LAST_AT_LEAST, TREATMENTS
from motherlode.model import FailureKind, Link, LinkSource, Outcome, RequestKind

from .fakes import ended, failure, fetch, frontier_on, offer, redirect, take, take_page

A, B = "http://a.example", "http://b.example"


def ask(frontier: Frontier, now: float) -> Lease:
    """Return the next lease, which must be for a robots.txt."""
    lease = take(frontier, now)
    assert lease.kind is RequestKind.ROBOTS
    return lease


def introduce(frontier: Frontier, rules: bytes, now: float) -> Lease:
    lease = ask(frontier, now)
    frontier.response_received(lease, now)
    frontier.end(lease, End.ROBOTS_READ, now, robots=rules)
    return lease


def test_robots_txt_is_requested_once_before_the_held_page() -> None:
    frontier = frontier_on(robots=True, delay=1.0)
    offer(frontier, f"{A}/1", f"{A}/2", f"{A}/3")
    lease = ask(frontier, 0.0)
    assert (lease.url, lease.host, lease.entry.url) == (f"{A}/robots.txt", "a.example", f"{A}/1")
    assert frontier.lease(50.0) is None, "nobody fetches before the rules are known"
    frontier.response_received(lease, 50.0)
    assert frontier.lease(60.0) is None, "nor before they have been read"
    frontier.end(lease, End.ROBOTS_READ, 60.0)
    assert [fetch(frontier, now) for now in (60.0, 61.0, 62.0)] == [f"{A}/1", f"{A}/2", f"{A}/3"]
    assert ended(frontier)


def test_held_page_keeps_the_delay_after_robots_txt() -> None:
    frontier = frontier_on(robots=True, delay=3.0)
    offer(frontier, f"{A}/1", f"{A}/2")
    introduce(frontier, b"", 10.0)
    assert frontier.lease(12.9) is None
    assert frontier.idle_until() == 13.0
    assert fetch(frontier, 13.0) == f"{A}/1"


def test_held_page_is_leased_before_better_pages_of_other_hosts() -> None:
    frontier = frontier_on(robots=True, delay=0.0)
    offer(frontier, f"{A}/1")
    asked = ask(frontier, 0.0)
    offer(frontier, f"{B}/1", f"{A}/2")
    frontier.response_received(asked, 0.0)
    frontier.end(asked, End.ROBOTS_READ, 0.0)
    assert take(frontier, 0.0).url == f"{A}/1"


def test_host_without_delay_uses_all_slots_after_robots_txt() -> None:
    frontier = frontier_on(robots=True, delay=0.0, per_host=3)
    offer(frontier, *(f"{A}/{number}" for number in range(5)))
    lease = ask(frontier, 0.0)
    frontier.response_received(lease, 0.0)
    assert frontier.lease(0.0) is None, "its time comes while the rules are being read, and must come again"
    frontier.end(lease, End.ROBOTS_READ, 0.0)
    assert [take(frontier, 0.0).url for _ in range(3)] == [f"{A}/0", f"{A}/1", f"{A}/2"]
    assert frontier.lease(0.0) is None


def test_crawl_delay_raises_but_never_lowers_the_delay() -> None:
    frontier = frontier_on(robots=True, delay=2.0)
    offer(frontier, f"{A}/1", f"{A}/2", f"{B}/1", f"{B}/2")
    introduce(frontier, b"delay:10", 0.0)
    introduce(frontier, b"delay:0.5", 0.0)
    assert frontier.lease(1.9) is None
    assert fetch(frontier, 2.0) == f"{B}/1"
    assert frontier.lease(3.9) is None
    assert fetch(frontier, 4.0) == f"{B}/2"
    assert frontier.lease(9.9) is None
    assert fetch(frontier, 10.0) == f"{A}/1"
    assert fetch(frontier, 20.0) == f"{A}/2"


def test_crawl_delay_ends_parallel_requests_to_a_host() -> None:
    frontier = frontier_on(robots=True, delay=0.0, per_host=4)
    offer(frontier, f"{A}/1", f"{A}/2")
    introduce(frontier, b"delay:5", 0.0)
    assert frontier.lease(4.9) is None
    take(frontier, 5.0)
    assert frontier.lease(50.0) is None


def test_disallowed_urls_are_refused_and_counted(storage: FrontierStorage) -> None:
    frontier = frontier_on(storage, robots=True, delay=0.0)
    offer(frontier, f"{A}/private/1", f"{A}/open", f"{A}/private/2", f"{B}/private/1")
    introduce(frontier, b"no:/private", 0.0)
    assert fetch(frontier, 0.0) == f"{A}/open", "the held page was forbidden, and the next goes in the same moment"
    assert take_page(frontier, 0.0).url == f"{B}/private/1", "one host's rules are not another's"
    assert frontier.refused == {"robots": 2}
    found = storage.find(f"{A}/private/1")
    assert found is not None
    assert found[1:] == (UrlState.REFUSED, "robots")


def test_link_that_known_rules_forbid_is_refused_with_its_page(storage: FrontierStorage) -> None:
    frontier = frontier_on(storage, robots=True, delay=0.0)
    offer(frontier, f"{A}/open")
    introduce(frontier, b"no:/private", 0.0)
    assert fetch(frontier, 0.0) == f"{A}/open"
    parent = Outcome(url=f"{A}/open", host="a.example", depth=2, relevant=False)
    frontier.add_links([Link(url=f"{A}/private/1", source=LinkSource.ANCHOR, anchor="secret")], parent=parent)
    found = storage.find(f"{A}/private/1")
    assert found is not None
    entry, state, reason = found
    assert (state, reason) == (UrlState.REFUSED, "robots")
    assert (entry.parent_url, entry.source, entry.anchor, entry.depth) == (parent.url, "anchor", "secret", 3)


def test_frontier_is_exhausted_if_all_urls_are_disallowed() -> None:
    frontier = frontier_on(robots=True, delay=0.0)
    offer(frontier, f"{A}/1", f"{A}/2")
    introduce(frontier, b"no:/", 0.0)
    assert not ended(frontier), "the held page is still to be decided on"
    assert frontier.lease(0.0) is None
    assert ended(frontier)
    assert frontier.idle_until() is None


def test_lease_is_none_only_if_no_url_may_be_fetched() -> None:
    """Several hosts hold disallowed pages, and one page is allowed."""
    frontier = frontier_on(robots=True, delay=0.0)
    hosts = [f"http://h{number}.example" for number in range(4)]
    offer(frontier, *(f"{host}/no" for host in hosts))
    asked = [ask(frontier, 0.0) for _ in hosts]
    offer(frontier, f"{hosts[3]}/yes")
    for lease in asked:
        frontier.response_received(lease, 0.0)
        frontier.end(lease, End.ROBOTS_READ, 0.0, robots=b"no:/no")
    assert take(frontier, 0.0).url == f"{hosts[3]}/yes"


@pytest.mark.parametrize(("retry_after", "ready"), [(None, 20.0), (500.0, 500.0), (0.0, 20.0)])
def test_unreadable_robots_txt_snoozes_the_host(retry_after: float | None, ready: float) -> None:
    frontier = frontier_on(robots=True, delay=1.0, retry_wait=10.0)
    offer(frontier, f"{A}/1", f"{A}/2")
    lease = ask(frontier, 0.0)
    frontier.response_received(lease, 0.0)
    frontier.end(lease, End.ROBOTS_UNREADABLE, 0.0, failure=failure(FailureKind.SERVER_ERROR, retry_after))
    assert not ended(frontier)
    assert frontier.lease(ready - 0.1) is None
    again = ask(frontier, ready)
    assert again.entry.url == f"{A}/1"
    assert again.entry.attempts == 0, "the page itself was never asked for"


@pytest.mark.parametrize("kind", [FailureKind.CONNECT, FailureKind.DNS])
def test_unreachable_host_fails_the_page_by_the_retry_rules(kind: FailureKind) -> None:
    frontier = frontier_on(robots=True, delay=1.0, retry_wait=10.0)
    offer(frontier, f"{A}/1", f"{A}/2")
    lease = ask(frontier, 0.0)
    frontier.response_received(lease, 0.0)
    assert frontier.end(lease, End.FAILED, 0.0, failure=failure(kind)) is not None
    pause = TREATMENTS[kind].wait * 10.0
    assert pause > 1.0, "longer than the delay, or this shows nothing"
    assert frontier.lease(pause - 0.1) is None
    again = ask(frontier, pause)
    assert again.entry.url == f"{A}/1", "the page that failed is back, and still the best"
    assert again.entry.attempts == 1


@pytest.mark.parametrize("look_between", [True, False])
def test_permanent_failure_of_robots_txt_does_not_block_other_pages(*, look_between: bool) -> None:
    frontier = frontier_on(robots=True, delay=0.0)
    offer(frontier, f"{A}/1", f"{A}/2")
    for url in (f"{A}/1", f"{A}/2"):
        lease = ask(frontier, 0.0)
        assert lease.entry.url == url
        frontier.response_received(lease, 0.0)
        if look_between:
            assert frontier.lease(0.0) is None
        assert frontier.end(lease, End.FAILED, 0.0, failure=failure(FailureKind.GUARD)) is None
    assert ended(frontier)


def test_replay_gives_up_host_with_unreadable_robots_txt_at_once() -> None:
    frontier = frontier_on(robots=True, delay=0.0, retries=False)
    offer(frontier, f"{A}/1", f"{A}/2", f"{B}/1")
    asked = ask(frontier, 0.0)
    frontier.response_received(asked, 0.0)
    frontier.end(asked, End.ROBOTS_UNREADABLE, 0.0, failure=failure(FailureKind.SERVER_ERROR, 3600.0))
    introduce(frontier, b"", 0.0)
    assert fetch(frontier, 0.0) == f"{B}/1"
    assert frontier.lease(0.0) is None
    assert ended(frontier)
    assert sum(frontier.refused.values()) == 2


@pytest.mark.parametrize("robots", [True, False])
def test_refused_lease_ends_only_its_page(*, robots: bool) -> None:
    frontier = frontier_on(robots=robots, delay=0.0)
    offer(frontier, f"{A}/1", f"{A}/2")
    for _ in range(2):
        lease = take(frontier, 0.0)
        frontier.response_received(lease, 0.0)
        frontier.end(lease, End.REFUSED, 0.0, reason="address-guard")
    assert ended(frontier)
    assert frontier.refused == {"address-guard": 2}
    assert [record.fetched for record in frontier.host_records()] == [0]


def test_robots_txt_redirect_on_same_host_keeps_its_delay() -> None:
    frontier = frontier_on(robots=True, delay=2.0)
    offer(frontier, f"{A}/1")
    lease = ask(frontier, 0.0)
    frontier.response_received(lease, 1.0)
    assert frontier.end(lease, End.ROBOTS_MOVED, 0.0, failure=redirect("https://a.example/robots.txt")) is not None
    assert not ended(frontier)
    assert frontier.lease(2.9) is None
    assert frontier.idle_until() == 3.0
    moved = ask(frontier, 3.0)
    assert (moved.url, moved.host, moved.entry.url) == ("https://a.example/robots.txt", "a.example", f"{A}/1")
    frontier.response_received(moved, 3.0)
    frontier.end(moved, End.ROBOTS_READ, 3.0)
    assert fetch(frontier, 5.0) == f"{A}/1"
    assert ended(frontier)


def test_robots_txt_redirect_to_other_host_keeps_and_starts_its_delay() -> None:
    frontier = frontier_on(robots=True, delay=10.0)
    offer(frontier, f"{B}/1", f"{B}/2", f"{A}/1")
    introduce(frontier, b"", 0.0)
    asked = ask(frontier, 0.0)
    busy = take(frontier, 10.0)
    assert busy.url == f"{B}/1"
    frontier.response_received(asked, 10.0)
    assert frontier.end(asked, End.ROBOTS_MOVED, 0.0, failure=redirect(f"{B}/robots.txt")) is not None
    assert frontier.lease(20.0) is None, "a request to the other host is under way"
    frontier.response_received(busy, 25.0)
    frontier.end(busy, End.FETCHED, 0.0)
    assert frontier.lease(34.9) is None, "and its delay runs from the end"
    moved = ask(frontier, 35.0)
    assert (moved.url, moved.host) == (f"{B}/robots.txt", "a.example")
    assert frontier.lease(44.0) is None, "nothing else goes to the other host meanwhile"
    frontier.response_received(moved, 50.0)
    frontier.end(moved, End.ROBOTS_READ, 50.0)
    assert frontier.lease(59.9) is None
    assert {fetch(frontier, 60.0), fetch(frontier, 60.0)} == {f"{A}/1", f"{B}/2"}
    assert ended(frontier)


def test_robots_txt_redirect_chain_is_bounded() -> None:
    frontier = frontier_on(robots=True, delay=0.0)
    offer(frontier, f"{A}/1")
    lease = ask(frontier, 0.0)
    for number in range(MAX_RULES_HOPS):
        frontier.response_received(lease, 0.0)
        assert (
            frontier.end(lease, End.ROBOTS_MOVED, 0.0, failure=redirect(f"http://h{number}.example/robots.txt"))
            is not None
        )
        lease = ask(frontier, 0.0)
    frontier.response_received(lease, 0.0)
    assert frontier.end(lease, End.ROBOTS_MOVED, 0.0, failure=redirect(f"{A}/elsewhere.txt")) is None
    assert fetch(frontier, 0.0) == f"{A}/1"


def test_failed_robots_txt_redirect_restarts_at_the_host_itself() -> None:
    frontier = frontier_on(robots=True, delay=0.0, retry_wait=10.0)
    offer(frontier, f"{A}/1")
    lease = ask(frontier, 0.0)
    frontier.response_received(lease, 0.0)
    frontier.end(lease, End.ROBOTS_MOVED, 0.0, failure=redirect(f"{B}/robots.txt"))
    moved = ask(frontier, 0.0)
    frontier.response_received(moved, 0.0)
    frontier.end(moved, End.ROBOTS_UNREADABLE, 0.0, failure=failure(FailureKind.SERVER_ERROR))
    assert ask(frontier, 20.0).url == f"{A}/robots.txt"


def test_robots_txt_older_than_a_day_is_requested_again() -> None:
    frontier = frontier_on(robots=True, delay=1.0)
    offer(frontier, *(f"{A}/{number}" for number in range(5)))
    introduce(frontier, b"delay:5", 0.0)
    assert fetch(frontier, 5.0) == f"{A}/0"
    assert RULES_LAST == 24 * 60 * 60, "RFC 9309, 2.4"
    assert fetch(frontier, RULES_LAST - 1) == f"{A}/1"
    introduce(frontier, b"no:/4", RULES_LAST + 4)
    assert fetch(frontier, RULES_LAST + 9) == f"{A}/2"
    assert fetch(frontier, RULES_LAST + 10) == f"{A}/3", "the delay is gone from the rules"
    assert frontier.lease(RULES_LAST + 11) is None
    assert frontier.refused == {"robots": 1}
    assert ended(frontier)


def test_restart_after_a_day_requests_robots_txt_again(storage: FrontierStorage) -> None:
    first = frontier_on(storage, robots=True, delay=0.0)
    offer(first, f"{A}/1", f"{A}/2", f"{A}/3")
    introduce(first, b"", 0.0)
    fetch(first, 0.0)
    first.commit()
    soon = frontier_on(storage, robots=True, delay=0.0)
    assert fetch(soon, RULES_LAST / 2) == f"{A}/2"
    soon.commit()
    late = frontier_on(storage, robots=True, delay=0.0)
    introduce(late, b"no:/", 7 * RULES_LAST)
    assert late.lease(7 * RULES_LAST) is None
    assert late.refused == {"robots": 1}


def test_host_with_crawl_delay_of_a_day_is_still_crawled() -> None:
    frontier = frontier_on(robots=True, delay=0.0)
    offer(frontier, f"{A}/1", f"{A}/2")
    introduce(frontier, f"delay:{RULES_LAST}".encode(), 0.0)
    assert fetch(frontier, RULES_LAST) == f"{A}/1"
    introduce(frontier, f"delay:{RULES_LAST}".encode(), 2 * RULES_LAST)
    assert fetch(frontier, 3 * RULES_LAST) == f"{A}/2"


def test_unreadable_new_robots_txt_snoozes_the_host() -> None:
    frontier = frontier_on(robots=True, delay=0.0)
    offer(frontier, f"{A}/1", f"{A}/2")
    introduce(frontier, b"", 0.0)
    fetch(frontier, 0.0)
    again = ask(frontier, RULES_LAST)
    frontier.response_received(again, RULES_LAST)
    frontier.end(again, End.ROBOTS_UNREADABLE, RULES_LAST, failure=failure(FailureKind.SERVER_ERROR, 500.0))
    assert frontier.lease(RULES_LAST + 499) is None
    introduce(frontier, b"", RULES_LAST + 500)
    assert fetch(frontier, RULES_LAST + 500) == f"{A}/2"


def test_without_rules_reader_robots_txt_is_not_requested() -> None:
    frontier = frontier_on()
    offer(frontier, f"{A}/1")
    lease = take(frontier, 0.0)
    assert lease.kind is RequestKind.PAGE
    with pytest.raises(ValueError, match="requests no robots"):
        frontier.end(lease, End.ROBOTS_READ, 0.0)


SECURE = "https://a.example"


def test_each_scheme_has_its_own_robots_txt() -> None:
    frontier = frontier_on(robots=True, delay=0.0)
    offer(frontier, f"{A}/private", f"{SECURE}/private", f"{SECURE}/open")
    introduce(frontier, b"", 0.0)
    assert fetch(frontier, 0.0) == f"{A}/private"
    asked = introduce(frontier, b"no:/private delay:7", 1.0)
    assert asked.url == f"{SECURE}/robots.txt"
    assert frontier.lease(7.9) is None, "the host's delay is that of either"
    assert fetch(frontier, 8.0) == f"{SECURE}/open"
    assert frontier.refused == {"robots": 1}
    assert ended(frontier)


def test_longer_crawl_delay_of_two_schemes_counts() -> None:
    frontier = frontier_on(robots=True, delay=0.0)
    offer(frontier, f"{A}/1", f"{SECURE}/1", f"{SECURE}/2")
    introduce(frontier, b"delay:7", 0.0)
    assert fetch(frontier, 7.0) == f"{A}/1"
    introduce(frontier, b"delay:2", 14.0)
    assert fetch(frontier, 21.0) == f"{SECURE}/1"
    assert frontier.lease(27.9) is None
    assert fetch(frontier, 28.0) == f"{SECURE}/2"


def test_robots_txt_redirected_from_http_is_used_for_https() -> None:
    storage = MemoryStorage()
    frontier = frontier_on(storage, robots=True, delay=0.0)
    offer(frontier, f"{A}/1", f"{SECURE}/private", f"{SECURE}/2")
    asked = ask(frontier, 0.0)
    frontier.response_received(asked, 0.0)
    assert frontier.end(asked, End.ROBOTS_MOVED, 0.0, failure=redirect(f"{SECURE}/robots.txt")) is not None
    assert introduce(frontier, b"no:/private", 1.0).url == f"{SECURE}/robots.txt"
    assert [fetch(frontier, 2.0), fetch(frontier, 2.0)] == [f"{A}/1", f"{SECURE}/2"]
    frontier.commit()
    (record,) = storage.hosts()
    assert record.robots == record.secure_robots == b"no:/private"


def test_redirected_robots_txt_belongs_to_the_redirecting_scheme() -> None:
    frontier = frontier_on(robots=True, delay=0.0)
    offer(frontier, f"{A}/1", f"{SECURE}/2")
    asked = ask(frontier, 0.0)
    frontier.response_received(asked, 0.0)
    assert frontier.end(asked, End.ROBOTS_MOVED, 0.0, failure=redirect("https://b.example/robots.txt")) is not None
    introduce(frontier, b"", 1.0)
    assert fetch(frontier, 1.0) == f"{A}/1"
    assert ask(frontier, 1.0).url == f"{SECURE}/robots.txt"


@pytest.mark.parametrize(
    ("lasts", "rules", "until"),
    [
        (7200.0, b"", 7200.0),
        (0.0, b"", RULES_LAST_AT_LEAST),
        (10 * RULES_LAST, b"", RULES_LAST),
        (0.0, b"delay:3000", 6000.0),
    ],
)
def test_robots_txt_max_age_is_bounded_to_an_hour_and_a_day(lasts: float, rules: bytes, until: float) -> None:
    frontier = frontier_on(robots=True, delay=0.0)
    offer(frontier, f"{A}/1", f"{A}/2", f"{A}/3")
    lease = ask(frontier, 0.0)
    frontier.response_received(lease, 0.0)
    frontier.end(lease, End.ROBOTS_READ, 0.0, robots=rules, lasts=lasts)
    assert fetch(frontier, until - 1.0) == f"{A}/1"
    assert ask(frontier, until + 3000.0).url == f"{A}/robots.txt"


def test_rules_that_arrive_remove_forbidden_urls_from_the_queue() -> None:
    frontier = frontier_on(robots=True, delay=1.0)
    offer(frontier, f"{A}/1", f"{A}/no/1", f"{A}/no/2", f"{A}/2")
    asked = take(frontier, 0.0)
    frontier.response_received(asked, 0.0)
    frontier.end(asked, End.ROBOTS_READ, 0.0, robots=b"no:/no")
    assert (frontier.waiting, dict(frontier.refused)) == (1, {"robots": 2}), "and one page is held"
    for number in (1, 2):
        page = take(frontier, float(number))
        assert page.url == f"{A}/{number}"
        frontier.response_received(page, float(number))
        frontier.end(page, End.FETCHED, float(number))
    assert frontier.exhausted


def test_forbidden_link_is_refused_when_it_is_discovered() -> None:
    frontier = frontier_on(robots=True, delay=0.0)
    offer(frontier, f"{A}/1")
    asked = take(frontier, 0.0)
    frontier.response_received(asked, 0.0)
    frontier.end(asked, End.ROBOTS_READ, 0.0, robots=b"no:/no")
    assert offer(frontier, f"{A}/no/1", f"{A}/2") == 1
    assert offer(frontier, f"{A}/no/1") == 0, "it is known, and counted once"
    assert (frontier.waiting, frontier.known_urls, dict(frontier.refused)) == (1, 3, {"robots": 1})

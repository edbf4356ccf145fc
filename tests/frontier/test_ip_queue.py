"""IP addresses are looked up before the first request, have one delay each, and alternate between their hosts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from motherlode.frontier import End, Frontier, HostBudget, Lease, LmdbStorage, MemoryStorage, Politeness
from motherlode.frontier.host_queue import MAX_READY_HOSTS
from motherlode.frontier.leases import NO_ADDRESS
from motherlode.frontier.storage import FrontierStorage
from motherlode.model import FailureKind, RequestKind

from .fakes import BestOf, FakeRules, ended, failure, offer, redirect, take

A, B, C = "http://a.example", "http://b.example", "http://c.example"


def frontier_by_address(
    storage: FrontierStorage | None = None, *, delay: float = 10.0, robots: bool = False, per_address: int = 2
) -> Frontier:
    return Frontier(
        storage=storage or MemoryStorage(),
        policy=BestOf(),
        scope=lambda url: "",
        read_rules=FakeRules if robots else None,
        politeness=Politeness(delay=delay, by_address=True, retry_wait=10.0, per_address=per_address),
    )


def find(frontier: Frontier, now: float, *addresses: str) -> None:
    """Resolve the next leases, which must be for DNS look-ups."""
    leases = [take(frontier, now) for _ in addresses]
    for lease, address in zip(leases, addresses, strict=True):
        assert lease.kind is RequestKind.RESOLVE
        frontier.end(lease, End.RESOLVED, 0.0, address=address)


def finish(frontier: Frontier, lease: Lease, now: float) -> None:
    frontier.response_received(lease, now)
    frontier.end(lease, End.FETCHED, 0.0)


def test_dns_lookup_is_first_and_starts_no_delay() -> None:
    frontier = frontier_by_address()
    offer(frontier, f"{A}/1", f"{A}/2")
    asked = take(frontier, 0.0)
    assert (asked.kind, asked.url, asked.host) == (RequestKind.RESOLVE, f"{A}/1", "a.example")
    assert (frontier.in_flight, ended(frontier)) == (1, False)
    assert frontier.lease(0.0) is None, "nothing of the host before its address is known"
    frontier.end(asked, End.RESOLVED, 0.0, address="192.0.2.1")
    page = take(frontier, 0.0)
    assert (page.kind, page.url, page.address) == (RequestKind.PAGE, f"{A}/1", "192.0.2.1")
    finish(frontier, page, 1.0)
    assert frontier.lease(10.9) is None
    assert take(frontier, 11.0).url == f"{A}/2", "and it is asked for once"


def test_two_hosts_at_one_address_keep_its_delay() -> None:
    frontier = frontier_by_address(delay=10.0)
    offer(frontier, f"{A}/1", f"{B}/1", f"{C}/1")
    find(frontier, 0.0, "192.0.2.1", "192.0.2.1", "192.0.2.2")
    first, other = take(frontier, 0.0), take(frontier, 0.0)
    assert (first.url, other.url) == (f"{A}/1", f"{C}/1"), "another address has its own clock"
    assert frontier.lease(100.0) is None, "one request at a time"
    finish(frontier, first, 100.0)
    assert frontier.lease(104.9) is None
    assert frontier.idle_until() == 105.0, "half the delay of a host"
    assert take(frontier, 105.0).url == f"{B}/1"


def test_robots_txt_and_subrequests_keep_the_delay_of_the_address() -> None:
    frontier = frontier_by_address(delay=10.0, robots=True)
    offer(frontier, f"{A}/1")
    find(frontier, 0.0, "192.0.2.1")
    rules = take(frontier, 0.0)
    assert rules.kind is RequestKind.ROBOTS
    asked = frontier.lease_for(f"{B}/context", 0.0)
    assert isinstance(asked, Lease)
    assert asked.kind is RequestKind.RESOLVE
    frontier.end(asked, End.RESOLVED, 0.0, address="192.0.2.1")
    busy = frontier.lease_for(f"{B}/context", 0.0)
    assert isinstance(busy, float), "a request to the address is under way"
    assert busy > 0.0
    frontier.response_received(rules, 2.0)
    frontier.end(rules, End.ROBOTS_READ, 2.0)
    assert frontier.lease_for(f"{B}/context", 3.0) == 7.0
    leave = frontier.lease_for(f"{B}/context", 7.0)
    assert isinstance(leave, Lease)
    assert (leave.kind, leave.address) == (RequestKind.ROBOTS, "192.0.2.1")
    frontier.response_received(leave, 11.0)
    assert frontier.lease(15.9) is None, "the held page keeps the delay of the address, though its host is ready"
    assert take(frontier, 16.0).url == f"{A}/1"


def test_redirected_robots_txt_keeps_the_delay_of_its_address() -> None:
    frontier = frontier_by_address(delay=10.0, robots=True)
    offer(frontier, f"{A}/1", f"{C}/1")
    find(frontier, 0.0, "192.0.2.1", "192.0.2.3")
    rules, busy = take(frontier, 0.0), take(frontier, 0.0)
    assert (rules.address, busy.address) == ("192.0.2.1", "192.0.2.3")
    frontier.response_received(rules, 0.0)
    assert frontier.end(rules, End.ROBOTS_MOVED, 0.0, failure=redirect(f"{B}/robots.txt")) is not None
    moved = take(frontier, 10.0)
    assert (moved.kind, moved.url, moved.host) == (RequestKind.RESOLVE, f"{B}/robots.txt", "a.example")
    frontier.end(moved, End.RESOLVED, 0.0, address="192.0.2.3")
    assert frontier.lease(30.0) is None, "a request to that address is under way"
    frontier.response_received(busy, 30.0)
    assert frontier.lease(34.9) is None
    elsewhere = take(frontier, 35.0)
    assert (elsewhere.url, elsewhere.host, elsewhere.address) == (f"{B}/robots.txt", "a.example", "192.0.2.3")


def test_many_hosts_at_one_address_alternate() -> None:
    frontier = frontier_by_address(delay=1.0)
    hosts = 3 * MAX_READY_HOSTS
    offer(frontier, *(f"http://h{number}.example/{page}" for number in range(hosts) for page in range(3)))
    now, served, last = 0.0, Counter[str](), -1.0
    while not frontier.exhausted:
        lease = frontier.lease(now)
        if lease is None:
            ripe = frontier.idle_until()
            assert ripe is not None
            now = ripe
        elif lease.kind is RequestKind.RESOLVE:
            frontier.end(lease, End.RESOLVED, 0.0, address="192.0.2.1")
        else:
            assert now >= last + 0.5
            last = now
            served[lease.host] += 1
            assert max(served.values()) <= 1 + 1 + min(served.values()), "no host is far ahead of the others"
            finish(frontier, lease, now)
    assert served == Counter({f"h{number}.example": 3 for number in range(hosts)})
    assert now == pytest.approx(0.5 * (3 * hosts - 1)), "and the address is never idle"


def test_address_without_delay_has_a_limit_of_requests_in_flight() -> None:
    frontier = frontier_by_address(delay=0.0, per_address=2)
    offer(frontier, f"{A}/1", f"{B}/1", f"{C}/1")
    find(frontier, 0.0, *["192.0.2.1"] * 3)
    leases = [take(frontier, 0.0), take(frontier, 0.0)]
    assert frontier.lease(5.0) is None
    finish(frontier, leases[0], 5.0)
    assert take(frontier, 5.0).url == f"{C}/1"


def test_host_address_is_the_last_that_responded() -> None:
    frontier = frontier_by_address(delay=10.0)
    offer(frontier, f"{A}/1", f"{A}/2", f"{B}/1")
    find(frontier, 0.0, "192.0.2.1", "192.0.2.2")
    first, second = take(frontier, 0.0), take(frontier, 0.0)
    frontier.response_received(first, 4.0, address="192.0.2.2")
    frontier.end(first, End.FETCHED, 0.0)
    finish(frontier, second, 12.0)
    assert frontier.lease(16.9) is None, "the other address was asked at 12"
    assert take(frontier, 17.0).address == "192.0.2.2"


@pytest.mark.parametrize("kind", [FailureKind.CONNECT, FailureKind.TLS, FailureKind.TIMEOUT])
def test_failed_dns_lookup_is_retried_by_the_retry_rules(kind: FailureKind) -> None:
    frontier = frontier_by_address()
    offer(frontier, f"{A}/1", f"{A}/2")
    asked = take(frontier, 0.0)
    assert frontier.end(asked, End.FAILED, 0.0, failure=failure(FailureKind.DNS)) is not None
    assert frontier.in_flight == 0
    find(frontier, 100.0, "192.0.2.1")
    page = take(frontier, 100.0)
    frontier.response_received(page, 100.0)
    frontier.end(page, End.FAILED, 100.0, failure=failure(kind))
    assert take(frontier, 1000.0).kind is RequestKind.RESOLVE


def test_subrequest_with_failed_dns_lookup_is_dropped() -> None:
    frontier = frontier_by_address()
    asked = frontier.lease_for(f"{A}/context", 0.0)
    assert isinstance(asked, Lease)
    frontier.end(asked, End.FAILED, 0.0, failure=failure(FailureKind.CONNECT))
    assert frontier.in_flight == 0
    offer(frontier, f"{A}/1")
    assert take(frontier, 0.0).kind is RequestKind.RESOLVE


def test_addresses_are_looked_up_again_and_delayed_once_after_restart(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path / "f")
    frontier = frontier_by_address(storage, delay=2.0)
    offer(frontier, f"{A}/1", f"{B}/1")
    find(frontier, 0.0, "192.0.2.1", "192.0.2.1")
    frontier.commit()
    storage.close()
    storage = LmdbStorage(tmp_path / "f")
    frontier = frontier_by_address(storage, delay=2.0)
    assert frontier.lease(100.0) is None, "hosts rest once"
    find(frontier, 102.0, "192.0.2.1", "192.0.2.1")
    page = take(frontier, 102.0)
    assert (page.kind, page.address) == (RequestKind.PAGE, "192.0.2.1")
    finish(frontier, page, 103.0)
    assert frontier.lease(103.9) is None
    assert take(frontier, 104.0).url == f"{B}/1"
    storage.close()


def test_robots_txt_is_requested_at_next_address_with_its_delay() -> None:
    frontier = frontier_by_address(delay=2.0, robots=True)
    offer(frontier, f"{A}/1", f"{B}/1")
    find(frontier, 0.0, "192.0.2.1", "192.0.2.2")
    rules, busy = take(frontier, 0.0), take(frontier, 0.0)
    frontier.response_received(rules, 1.0)
    frontier.end(rules, End.NEXT_ADDRESS, 1.0)
    again = take(frontier, 3.0)
    assert (again.kind, again.url) == (RequestKind.RESOLVE, f"{A}/1")
    frontier.end(again, End.RESOLVED, 0.0, address=busy.address)
    assert frontier.lease(4.0) is None, "somebody else is asked there"
    frontier.response_received(busy, 4.0)
    rules = take(frontier, 5.0)
    assert (rules.kind, rules.url, rules.address) == (RequestKind.ROBOTS, f"{A}/robots.txt", busy.address)


@pytest.mark.parametrize("per_host", [1, 4])
def test_page_is_requested_again_at_next_address(per_host: int) -> None:
    frontier = Frontier(
        storage=MemoryStorage(),
        policy=BestOf(),
        scope=lambda url: "",
        read_rules=None,
        politeness=Politeness(delay=0.0, by_address=True, per_host=per_host),
        budget=HostBudget(pages=1),
    )
    offer(frontier, f"{A}/1")
    find(frontier, 0.0, "192.0.2.1")
    page = take(frontier, 0.0)
    frontier.response_received(page, 1.0)
    frontier.end(page, End.NEXT_ADDRESS, 1.0)
    find(frontier, 1.0, "192.0.2.2")
    page = take(frontier, 1.0)
    assert (page.url, page.address, page.entry.attempts) == (f"{A}/1", "192.0.2.2", 0)
    finish(frontier, page, 2.0)
    assert ended(frontier)


def test_next_address_without_a_connection_waits_for_its_own_delay_but_not_for_the_delay_of_the_host() -> None:
    frontier = frontier_by_address(delay=4.0)
    offer(frontier, f"{A}/1", f"{B}/1")
    find(frontier, 0.0, "192.0.2.1", "192.0.2.2")
    page, other = take(frontier, 0.0), take(frontier, 0.0)
    frontier.response_received(other, 0.4)
    frontier.response_received(page, 0.5, was_sent=False)
    frontier.end(page, End.NEXT_ADDRESS, 0.5)
    find(frontier, 0.5, "192.0.2.2")
    assert frontier.lease(2.3) is None, "the address has had a request of another host"
    again = take(frontier, 2.4)
    assert (again.url, again.address) == (f"{A}/1", "192.0.2.2")


def test_parallel_pages_with_failed_connections_are_all_requested_again() -> None:
    frontier = frontier_by_address(delay=0.0, per_address=4)
    offer(frontier, *(f"{A}/{number}" for number in range(3)))
    find(frontier, 0.0, "192.0.2.1")
    pages = [take(frontier, 0.0) for _ in range(3)]
    for page in pages:
        frontier.response_received(page, 1.0)
        frontier.end(page, End.NEXT_ADDRESS, 1.0)
    fetched = set()
    while (lease := frontier.lease(2.0)) is not None:
        if lease.kind is RequestKind.RESOLVE:
            frontier.end(lease, End.RESOLVED, 0.0, address="192.0.2.2")
        else:
            fetched.add((lease.url, lease.address))
            finish(frontier, lease, 2.0)
    assert fetched == {(f"{A}/{number}", "192.0.2.2") for number in range(3)}
    assert ended(frontier)


def test_expired_address_is_looked_up_before_the_lease_and_the_host_moves() -> None:
    """The next page of the host waits for the delay of its new address, which another host has just used."""
    stale: set[str] = set()
    frontier = Frontier(
        storage=MemoryStorage(),
        policy=BestOf(),
        scope=lambda url: "",
        read_rules=None,
        politeness=Politeness(delay=10.0, by_address=True, address_delay=30.0),
        is_stale=stale.__contains__,
    )
    offer(frontier, f"{A}/1", f"{A}/2", f"{B}/1")
    find(frontier, 0.0, "192.0.2.1", "192.0.2.2")
    pages = [take(frontier, 0.0), take(frontier, 0.0)]
    finish(frontier, pages[0], 1.0)
    finish(frontier, pages[1], 20.0)
    stale.add("a.example")
    asked = take(frontier, 31.0)
    assert (asked.kind, asked.host) == (RequestKind.RESOLVE, "a.example")
    stale.clear()
    frontier.end(asked, End.RESOLVED, 31.0, address="192.0.2.2")
    assert frontier.lease(49.9) is None
    assert take(frontier, 50.0).address == "192.0.2.2"


def test_host_without_answer_of_name_servers_waits_and_is_given_up_in_the_end() -> None:
    frontier = frontier_by_address()
    offer(frontier, f"{A}/1", f"{A}/2", f"{B}/1")
    lost, found = take(frontier, 0.0), take(frontier, 0.0)
    frontier.end(found, End.RESOLVED, 0.0, address="192.0.2.2")
    assert take(frontier, 0.0).url == f"{B}/1", "another host does not wait"
    no_answer, now, times = failure(FailureKind.NO_DNS), 0.0, []
    while frontier.waits_for_address(lost, now):
        frontier.end(lost, End.UNRESOLVED, now, failure=no_answer)
        record = next(record for record in frontier.host_records() if record.name == "a.example")
        assert record.failures == 0
        now = max(now, record.ready_at)
        times.append(now)
        lost = take(frontier, now)
        assert lost.kind is RequestKind.RESOLVE
    assert times == [10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0]
    assert frontier.end(lost, End.FAILED, now, failure=no_answer) is None, "the page has failed"
    assert frontier.lease(now + 1) is None
    assert frontier.refused == {NO_ADDRESS: 1}


def test_take_unresolved_returns_best_rated_ready_hosts_once() -> None:
    frontier = frontier_by_address()
    offer(frontier, f"{A}/1", f"{B}/1", f"{C}/1")
    taken = take(frontier, 0.0)
    queue = frontier.host_queue
    others = [name for name in ("a.example", "b.example", "c.example") if name != taken.host]
    assert queue.take_unresolved(1) + queue.take_unresolved(5) == others
    assert not queue.has_unresolved

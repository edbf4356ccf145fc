"""Grants of IP addresses that several shards use: no request goes to an IP address without its grant."""

from __future__ import annotations

from motherlode.frontier import AddressGrant, End, Frontier, Lease, MemoryStorage, Politeness
from motherlode.model import Link, LinkSource, RequestKind
from tests.frontier.fakes import BestOf

HERE = "10.0.0.1"
DELAY, ADDRESS_DELAY = 4.0, 1.0


def make_frontier(*urls: str, delay: float = DELAY) -> Frontier:
    """Return a frontier with URLs of several hosts at one known IP address."""
    politeness = Politeness(delay=delay, by_address=True, address_delay=delay / 4, uses_grants=True)
    frontier = Frontier(
        storage=MemoryStorage(), policy=BestOf(), scope=lambda url: "", read_rules=None, politeness=politeness
    )
    links = [Link(url=url, source=LinkSource.SEED) for url in urls]
    frontier.add_links(links, parent=None)
    while (lease := frontier.lease(0.0)) is not None and lease.kind is RequestKind.RESOLVE:
        frontier.end(lease, End.RESOLVED, 0.0, address=HERE)
    if lease is not None:
        end(frontier, lease, 0.0)
    return frontier


def end(frontier: Frontier, lease: Lease, now: float) -> None:
    frontier.response_received(lease, now, address=HERE)
    frontier.end(lease, End.FETCHED, 0.0)


def test_no_request_is_leased_before_the_grant() -> None:
    frontier = make_frontier("http://a.example/", "http://b.example/")
    assert frontier.lease(100.0) is None
    assert frontier.host_queue.take_needed_grants() == [HERE]
    assert frontier.host_queue.take_needed_grants() == [], "named once"
    frontier.host_queue.add_grants([AddressGrant(HERE, 2.0, {})], 100.0)
    assert frontier.lease(101.9) is None, "the delay came with the grant"
    assert frontier.lease(102.0) is not None
    assert frontier.lease(102.0) is None, "one request at a time"


def test_hosts_keep_the_delays_that_came_with_the_grant() -> None:
    frontier = make_frontier("http://a.example/")
    frontier.lease(50.0)
    frontier.host_queue.add_grants([AddressGrant(HERE, 0.0, {"a.example": 3.0})], 50.0)
    early = frontier.lease(52.9)
    assert early is None, "another crawl has asked this host a moment ago"
    assert frontier.lease(53.0) is not None


def test_recalled_address_is_given_back_after_its_last_request() -> None:
    frontier = make_frontier("http://a.example/", "http://b.example/")
    frontier.lease(10.0)
    frontier.host_queue.add_grants([AddressGrant(HERE, 0.0, {})], 10.0)
    lease = frontier.lease(10.0)
    assert lease is not None
    frontier.host_queue.recall_grants([HERE])
    assert frontier.host_queue.take_returned_grants(10.5) == [], "a request is under way"
    end(frontier, lease, 11.0)
    (grant,) = frontier.host_queue.take_returned_grants(11.25)
    assert grant == AddressGrant(HERE, ADDRESS_DELAY - 0.25, {lease.host: DELAY - 0.25})
    assert frontier.lease(100.0) is None
    assert frontier.host_queue.take_needed_grants() == [HERE], "the other host still waits"
    frontier.host_queue.add_grants([AddressGrant(HERE, 0.0, {})], 100.0)
    other = frontier.lease(100.0)
    assert other is not None and other.host != lease.host


def test_ready_hosts_are_snoozed_if_their_address_is_recalled() -> None:
    frontier = make_frontier("http://a.example/", "http://b.example/", "http://c.example/")
    frontier.lease(10.0)
    frontier.host_queue.add_grants([AddressGrant(HERE, 0.0, {})], 10.0)
    first = frontier.lease(10.0)
    assert first is not None
    end(frontier, first, 10.0)
    frontier.host_queue.recall_grants([HERE])
    assert frontier.lease(1000.0) is None
    frontier.host_queue.take_returned_grants(1000.0)
    frontier.host_queue.add_grants([AddressGrant(HERE, 0.0, {})], 1000.0)
    assert frontier.lease(1000.0) is not None, "and are ready when it is back"


def test_addresses_without_delay_need_no_grant() -> None:
    frontier = make_frontier("http://a.example/1", "http://a.example/2", delay=0.0)
    assert frontier.lease(1.0) is not None
    assert frontier.host_queue.take_needed_grants() == []

"""The shard's side of the leases, on a real frontier and against the real book."""

from __future__ import annotations

from itertools import pairwise

from motherlode.cluster.grants import AddressGrant, GrantBook, GrantClient
from motherlode.frontier import End, Frontier, Lease, MemoryStorage, Politeness
from motherlode.model import RequestKind
from tests.frontier.fakes import BestOf, offer

HERE = "10.0.0.1"
DELAY, ADDRESS_DELAY = 4.0, 1.0


def take(frontier: Frontier, now: float) -> Lease:
    ticket = frontier.lease(now)
    assert ticket is not None
    return ticket


def waiting(*urls: str) -> tuple[Frontier, GrantClient]:
    """A shard with pages at one address for which it has no lease yet."""
    politeness = Politeness(delay=DELAY, by_address=True, address_delay=ADDRESS_DELAY, leased=True)
    frontier = Frontier(
        storage=MemoryStorage(), policy=BestOf(), scope=lambda url: "", read_rules=None, politeness=politeness
    )
    offer(frontier, *urls)
    while (ticket := frontier.lease(0.0)) is not None:
        assert ticket.kind is RequestKind.RESOLVE, "nothing goes to an address without its lease"
        frontier.end(ticket, End.RESOLVED, 0.0, address=HERE)
    return frontier, GrantClient(frontier)


def end(frontier: Frontier, lease: Lease, now: float) -> None:
    frontier.response_received(lease, now, address=HERE)
    frontier.end(lease, End.FETCHED, 0.0)


def test_what_the_frontier_wants_is_asked_for_and_a_grant_lets_it_go_on() -> None:
    frontier, keeper = waiting("http://a.example/")
    assert keeper.wanted() == [HERE]
    keeper.granted([AddressGrant(HERE, 2.0, {"a.example": 3.0})], 10.0)
    assert frontier.lease(12.9) is None, "address and host rest as they were handed on"
    assert take(frontier, 13.0).host == "a.example"


def test_a_lease_is_given_back_once_its_last_request_has_ended_and_only_once() -> None:
    frontier, keeper = waiting("http://a.example/", "http://b.example/")
    keeper.granted([AddressGrant(HERE, 0.0)], 10.0)
    ticket = take(frontier, 10.0)
    keeper.recalled([HERE])
    assert keeper.returned(10.5) == [], "a request is under way"
    end(frontier, ticket, 11.0)
    assert keeper.returned(11.0) == [AddressGrant(HERE, ADDRESS_DELAY, {ticket.host: DELAY})]
    assert keeper.returned(11.0) == []


def test_what_is_on_its_way_back_is_asked_for_only_when_it_is_back() -> None:
    frontier, keeper = waiting("http://a.example/", "http://b.example/")
    keeper.wanted()
    keeper.granted([AddressGrant(HERE, 0.0)], 10.0)
    ticket = take(frontier, 10.0)
    keeper.recalled([HERE])
    assert frontier.lease(10.1) is None
    assert keeper.wanted() == []
    end(frontier, ticket, 11.0)
    assert len(keeper.returned(11.0)) == 1
    assert frontier.lease(20.0) is None
    assert keeper.wanted() == [HERE], "the other host still waits"


def test_an_address_that_was_never_asked_is_given_back_at_once_and_owes_no_rest() -> None:
    _, keeper = waiting("http://a.example/")
    keeper.recalled(["10.9.9.9", "10.9.9.9"])
    assert keeper.returned(1.0) == [AddressGrant("10.9.9.9", 0.0)]
    assert keeper.returned(2.0) == []


def test_two_shards_take_turns_at_one_address_and_never_ask_it_at_once() -> None:
    """A simulation: both want the address all the time, and the book hands it to and fro."""
    urls = [[f"http://{shard}{number}.example/" for number in range(5)] for shard in "ab"]
    shards = [waiting(*own) for own in urls]
    book = GrantBook(rest=ADDRESS_DELAY, tenure=2.0)
    asked: list[tuple[float, int]] = []
    for step in range(2_000):
        now = 100.0 + step * 0.1
        for number, (frontier, keeper) in enumerate(shards):
            ticket = frontier.lease(now)
            if ticket is not None:
                asked.append((now, number))
                end(frontier, ticket, now)
            book.give_back(number, keeper.returned(now), now)
            book.want(number, keeper.wanted(), now)
        post = book.post(now)
        for number, (_, keeper) in enumerate(shards):
            keeper.granted(post.leases.get(number, []), now)
            keeper.recalled(post.recalls.get(number, []))
    assert sorted(number for _, number in asked) == [0] * 5 + [1] * 5
    times = [at for at, _ in asked]
    assert all(later - earlier > ADDRESS_DELAY - 0.01 for earlier, later in pairwise(times))
    assert {number for _, number in asked[:6]} == {0, 1}, "nobody waits until the other is done"

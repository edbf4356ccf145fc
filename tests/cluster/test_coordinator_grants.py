"""Grants of the page budget and of IP addresses, on both sides: coordinator and shard."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from motherlode.cluster.coordinator import AddressGrantTable, BudgetGrants
from motherlode.frontier import AddressGrant, End, Frontier, Lease, MemoryStorage, Politeness
from motherlode.frontier.host_queue import HostQueue
from motherlode.model import RequestKind
from tests.frontier.fakes import BestOf, offer

ADDRESS = "10.0.0.1"
HOST_DELAY, ADDRESS_DELAY = 4.0, 1.0
MIN_SECONDS = 4.0


# Budget grants


@pytest.mark.parametrize("budget", [1, 7, 100, 5000])
def test_budget_grants_never_exceed_the_budget_and_use_all_of_it(budget: int) -> None:
    random, shards = Random(budget), 5
    grants = BudgetGrants(budget, shards=shards)
    started, limits = [0] * shards, [0] * shards
    busy = set(range(shards))
    for step in range(4000):
        shard = random.randrange(shards)
        if step == 50:
            busy = {0, 1}  # the other shards have no more work and give back their unused pages
        if shard in busy:
            started[shard] += random.randint(0, limits[shard] - started[shard])
        else:
            limits[shard] = started[shard]
        limit = grants.renew(shard, started=started[shard], limit=limits[shard], wants_more=shard in busy)
        assert limit is not None
        limits[shard] = limit
        assert sum(limits) <= budget
    assert sum(started) == budget


def test_budget_grants_without_a_budget_set_no_limit() -> None:
    assert BudgetGrants(None, shards=2).renew(0, started=10**9, limit=0, wants_more=True) is None


def test_budget_grants_after_resume_count_pages_started_before() -> None:
    grants = BudgetGrants(100, shards=2)
    assert grants.renew(0, started=45, limit=45, wants_more=True) == 45, "the other shard may have used the rest"
    assert grants.renew(1, started=55, limit=55, wants_more=True) == 55
    assert grants.renew(0, started=45, limit=45, wants_more=True) == 45


# Address grants of the coordinator


def make_table(min_seconds: float = MIN_SECONDS) -> AddressGrantTable:
    return AddressGrantTable(delay=ADDRESS_DELAY, min_seconds=min_seconds)


def test_address_requested_by_two_shards_is_recalled_after_minimum_time_and_passed_on() -> None:
    table = make_table()
    table.request(0, [ADDRESS], 0.0)
    assert table.take_changes(0, 0.0)[0] == [AddressGrant(ADDRESS, 0.0)]
    table.request(1, [ADDRESS], 1.0)
    assert not table.take_changes(0, 3.9)[1]
    assert table.take_changes(0, 4.0)[1] == [ADDRESS]
    assert not table.take_changes(0, 5.0)[1], "an address is recalled once"
    returned = AddressGrant(ADDRESS, 0.4, {"a.example": 2.0})
    table.give_back(0, [returned], 5.5)
    assert table.take_changes(1, 5.5)[0] == [returned], "the remaining delays are passed on"


def test_address_requested_by_one_shard_is_never_recalled() -> None:
    table = make_table()
    table.request(0, [ADDRESS], 0.0)
    assert not table.take_changes(0, 1000.0)[1]


def test_address_of_dead_shard_is_granted_to_the_next_after_a_full_delay() -> None:
    table = make_table()
    table.request(0, [ADDRESS], 0.0)
    table.request(1, [ADDRESS], 0.0)
    table.take_changes(0, 0.0)
    table.release_shard(0, 10.0)
    assert table.take_changes(1, 10.0)[0] == [AddressGrant(ADDRESS, ADDRESS_DELAY)]
    table.give_back(0, [AddressGrant(ADDRESS, 0.0)], 11.0)
    assert not table.take_changes(0, 11.0)[0], "a shard cannot give back an address that it does not hold"


def test_address_grants_in_random_order_have_one_holder_and_starve_no_shard() -> None:
    random, table = Random(1), make_table()
    addresses = [f"10.0.0.{last}" for last in range(4)]
    held: dict[str, int] = {}
    recalled: set[str] = set()
    counts = {(shard, address): 0 for shard in range(5) for address in addresses}
    now = 0.0
    for _ in range(20_000):
        now += random.random()
        shard = random.randrange(5)
        choice = random.randrange(20)
        if choice < 10:
            table.request(shard, [random.choice(addresses)], now)
        elif choice < 19:
            returned = [address for address in recalled if held.get(address) == shard]
            for address in returned:
                del held[address]
                recalled.remove(address)
            table.give_back(shard, [AddressGrant(address, 0.0) for address in returned], now)
        else:  # the shard dies
            recalled -= {address for address, holder in held.items() if holder == shard}
            held = {address: holder for address, holder in held.items() if holder != shard}
            table.release_shard(shard, now)
        for to in range(5):
            grants, recalls = table.take_changes(to, now)
            for grant in grants:
                assert grant.address not in held, "an address has one holder at a time"
                held[grant.address] = to
                counts[to, grant.address] += 1
            recalled.update(recalls)
    assert min(counts.values()) > 20


# Address grants of a shard, on a real frontier


def take_lease(frontier: Frontier, now: float) -> Lease:
    lease = frontier.lease(now)
    assert lease is not None
    return lease


def make_host_queue(*urls: str) -> tuple[Frontier, HostQueue]:
    """Return a frontier with URLs at one address that was not granted yet, and its host queue."""
    politeness = Politeness(delay=HOST_DELAY, by_address=True, address_delay=ADDRESS_DELAY, uses_grants=True)
    frontier = Frontier(
        storage=MemoryStorage(), policy=BestOf(), scope=lambda url: "", read_rules=None, politeness=politeness
    )
    offer(frontier, *urls)
    while (lease := frontier.lease(0.0)) is not None:
        assert lease.kind is RequestKind.RESOLVE, "without a grant no request is sent to the address"
        frontier.end(lease, End.RESOLVED, 0.0, address=ADDRESS)
    return frontier, frontier.host_queue


def end(frontier: Frontier, lease: Lease, now: float) -> None:
    frontier.response_received(lease, now, address=ADDRESS)
    frontier.end(lease, End.FETCHED, 0.0)


def test_host_queue_requests_wanted_address_and_frontier_continues_after_the_grant() -> None:
    frontier, host_queue = make_host_queue("http://a.example/")
    assert host_queue.take_needed_grants() == [ADDRESS]
    host_queue.add_grants([AddressGrant(ADDRESS, 2.0, {"a.example": 3.0})], 10.0)
    assert frontier.lease(12.9) is None, "the remaining delays of the previous holder apply"
    assert take_lease(frontier, 13.0).host == "a.example"


def test_host_queue_gives_recalled_address_back_once_after_its_last_request() -> None:
    frontier, host_queue = make_host_queue("http://a.example/", "http://b.example/")
    host_queue.add_grants([AddressGrant(ADDRESS, 0.0)], 10.0)
    lease = take_lease(frontier, 10.0)
    host_queue.recall_grants([ADDRESS])
    assert host_queue.take_returned_grants(10.5) == [], "a request is in flight"
    end(frontier, lease, 11.0)
    assert host_queue.take_returned_grants(11.0) == [AddressGrant(ADDRESS, ADDRESS_DELAY, {lease.host: HOST_DELAY})]
    assert host_queue.take_returned_grants(11.0) == []


def test_host_queue_requests_recalled_address_again_only_after_giving_it_back() -> None:
    frontier, host_queue = make_host_queue("http://a.example/", "http://b.example/")
    host_queue.take_needed_grants()
    host_queue.add_grants([AddressGrant(ADDRESS, 0.0)], 10.0)
    lease = take_lease(frontier, 10.0)
    host_queue.recall_grants([ADDRESS])
    assert frontier.lease(10.1) is None
    assert host_queue.take_needed_grants() == []
    end(frontier, lease, 11.0)
    assert len(host_queue.take_returned_grants(11.0)) == 1
    assert frontier.lease(20.0) is None
    assert host_queue.take_needed_grants() == [ADDRESS], "the other host still waits"


def test_host_queue_gives_unused_address_back_at_once_without_delay() -> None:
    _, host_queue = make_host_queue("http://a.example/")
    host_queue.recall_grants(["10.9.9.9", "10.9.9.9"])
    assert host_queue.take_returned_grants(1.0) == [AddressGrant("10.9.9.9", 0.0)]
    assert host_queue.take_returned_grants(2.0) == []


def test_two_shards_alternate_at_one_address_and_keep_its_delay() -> None:
    """Simulate two shards that both want the address all the time."""
    urls = [[f"http://{shard}{number}.example/" for number in range(5)] for shard in "ab"]
    shards = [make_host_queue(*own) for own in urls]
    table = make_table(min_seconds=2.0)
    requests: list[tuple[float, int]] = []
    for step in range(2_000):
        now = 100.0 + step * 0.1
        for number, (frontier, host_queue) in enumerate(shards):
            lease = frontier.lease(now)
            if lease is not None:
                requests.append((now, number))
                end(frontier, lease, now)
            table.give_back(number, host_queue.take_returned_grants(now), now)
            table.request(number, host_queue.take_needed_grants(), now)
        for number, (_, host_queue) in enumerate(shards):
            grants, recalls = table.take_changes(number, now)
            host_queue.add_grants(grants, now)
            host_queue.recall_grants(recalls)
    assert sorted(number for _, number in requests) == [0] * 5 + [1] * 5
    times = [at for at, _ in requests]
    assert all(later - earlier > ADDRESS_DELAY - 0.01 for earlier, later in pairwise(times))
    assert {number for _, number in requests[:6]} == {0, 1}, "the second shard does not wait for the end of the first"

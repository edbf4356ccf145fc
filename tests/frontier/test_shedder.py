"""Arms and hosts that leave the memory: nothing is lost, and no promise to a host is forgotten."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

import pytest

from motherlode.frontier import (
    End,
    Entry,
    Frontier,
    FrontierStorage,
    HostRecord,
    LmdbStorage,
    MemoryStorage,
    Politeness,
    UrlState,
)
from motherlode.frontier.leases import HOST_GIVEN_UP_AFTER
from motherlode.model import FailureKind, Link, LinkSource, RequestKind

from .fakes import BestOf, FakeRules, failure, offer

LATER = 1000.0
"""Seconds after which a host without waiting URLs is idle."""


def frontier_on(
    storage: FrontierStorage, *, max_untried_hosts: int = 20, delay: float = 5.0, idle_hosts_on_disk: bool = False
) -> Frontier:
    return Frontier(
        storage=storage,
        policy=BestOf(),
        scope=lambda url: "",
        read_rules=FakeRules,
        politeness=Politeness(delay=delay),
        max_untried_hosts=max_untried_hosts,
        idle_hosts_on_disk=idle_hosts_on_disk,
    )


@pytest.fixture(params=["memory", "lmdb"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> FrontierStorage:
    return MemoryStorage() if request.param == "memory" else LmdbStorage(tmp_path)


def fetch_all(frontier: Frontier, now: float) -> list[str]:
    """Fetch everything that may be fetched at a time. Return the URLs of the requests."""
    urls = []
    while (lease := frontier.lease(now)) is not None:
        urls.append(lease.url)
        frontier.response_received(lease, now)
        if lease.kind is RequestKind.ROBOTS:
            frontier.end(lease, End.ROBOTS_READ, now, robots=b"rules")
        else:
            frontier.end(lease, End.FETCHED, now)
            frontier.record_visit(lease.host, relevant=0, quads=0, received=0)
    return urls


def test_set_aside_arm_leaves_queue_and_stays_known(storage: FrontierStorage) -> None:
    frontier = frontier_on(storage)
    offer(frontier, "http://a.example/1", "http://b.example/1", "http://b.example/2")
    assert frontier.shedder.set_aside("b.example") == 2
    assert frontier.waiting == 1
    assert frontier.shedder.arms() == ["a.example"]
    found = storage.find("http://b.example/2")
    assert found is not None and found[1] is UrlState.WAITING
    assert fetch_all(frontier, 0.0) == ["http://a.example/robots.txt"]
    assert fetch_all(frontier, LATER) == ["http://a.example/1"]
    assert frontier.exhausted


def test_set_aside_arm_of_ready_host_is_not_picked(storage: FrontierStorage) -> None:
    frontier = frontier_on(storage)
    offer(frontier, "http://a.example/1", "http://b.example/1", "http://b.example/2")
    first = frontier.lease(0.0)
    assert first is not None
    other = ({"a.example", "b.example"} - {first.host}).pop()
    frontier.shedder.set_aside(other)
    assert frontier.lease(0.0) is None


def test_arm_that_was_set_aside_gets_a_new_queue_with_its_next_url(storage: FrontierStorage) -> None:
    frontier = frontier_on(storage, delay=0.0)
    offer(frontier, "http://a.example/1")
    frontier.shedder.set_aside("a.example")
    offer(frontier, "http://a.example/1", "http://a.example/2")
    assert frontier.waiting == 1
    assert fetch_all(frontier, 0.0) == ["http://a.example/robots.txt", "http://a.example/2"]


def test_links_set_aside_wait_again_after_take_back(tmp_path: Path) -> None:
    urls = [f"http://a.example/{number}" for number in range(3)]
    storage = LmdbStorage(tmp_path, flush_rows=1)
    frontier = frontier_on(storage, delay=0.0)
    offer(frontier, *urls)
    frontier.commit()
    frontier.shedder.set_aside("a.example")
    offer(frontier, "http://a.example/3")
    frontier.commit()
    storage.close()

    storage = LmdbStorage(tmp_path)
    frontier = frontier_on(storage, delay=0.0)
    assert frontier.waiting == 1, "what was set aside stays aside"
    frontier.commit()
    storage.close()

    storage = LmdbStorage(tmp_path)
    assert storage.take_back() == 3
    frontier = frontier_on(storage, delay=0.0)
    assert frontier.waiting == 4
    frontier.commit()
    storage.close()

    storage = LmdbStorage(tmp_path)
    assert storage.take_back() == 0
    frontier = frontier_on(storage, delay=0.0)
    assert {url for url in fetch_all(frontier, LATER) if "robots" not in url} == {*urls, "http://a.example/3"}
    storage.close()


def test_idle_host_returns_from_the_storage_with_its_record(storage: FrontierStorage) -> None:
    frontier = frontier_on(storage)
    offer(frontier, "http://a.example/1")
    for now in (0.0, 100.0):
        fetch_all(frontier, now)
    assert frontier.shedder.remove_idle_hosts(LATER) == 0, "its record is not stored yet"
    frontier.commit()
    assert frontier.shedder.remove_idle_hosts(110.0) == 0, "it was contacted recently"
    assert frontier.shedder.remove_idle_hosts(LATER) == 1
    assert frontier.host_count == 1
    assert frontier.shedder.is_known("a.example") and not frontier.shedder.is_in_memory("a.example")
    offer(frontier, "http://a.example/2")
    assert fetch_all(frontier, LATER) == ["http://a.example/2"], "its robots.txt is known"
    [record] = frontier.host_records()
    assert (record.fetched, frontier.host_count) == (2, 1)


def test_host_with_request_in_flight_or_held_page_stays(storage: FrontierStorage) -> None:
    frontier = frontier_on(storage)
    offer(frontier, "http://a.example/1")
    robots = frontier.lease(0.0)
    assert robots is not None and robots.kind is RequestKind.ROBOTS
    frontier.commit()
    assert frontier.shedder.remove_idle_hosts(LATER) == 0
    frontier.response_received(robots, 1.0)
    frontier.end(robots, End.ROBOTS_READ, 1.0, robots=b"rules")
    frontier.commit()
    assert frontier.shedder.remove_idle_hosts(LATER) == 0, "its page is held"
    page = frontier.lease(LATER)
    assert page is not None and page.url == "http://a.example/1"
    frontier.response_received(page, LATER)
    frontier.commit()
    assert frontier.shedder.remove_idle_hosts(2 * LATER) == 0, "its page is not settled"
    frontier.end(page, End.FETCHED, LATER)
    frontier.record_visit(page.host, relevant=0, quads=0, received=0)


def test_value_of_withheld_arm_is_lowest_and_seed_hosts_have_none(storage: FrontierStorage) -> None:
    frontier = frontier_on(storage, max_untried_hosts=1)
    frontier.add_links([Link(url="http://seed.example/", source=LinkSource.SEED)], parent=None)
    offer(frontier, *(f"http://h{number}.zone.example/" for number in range(3)))
    value = frontier.shedder.value
    assert value("seed.example") is None
    assert value("h2.zone.example") == -inf and value("h0.zone.example") not in (None, -inf)
    assert frontier.withheld.hosts == 2
    frontier.shedder.set_aside("h2.zone.example")
    withheld = frontier.withheld
    assert (withheld.hosts, withheld.urls, frontier.waiting) == (1, 1, 3)


def test_unseen_host_that_was_set_aside_does_not_count_for_its_domain(storage: FrontierStorage) -> None:
    frontier = frontier_on(storage, max_untried_hosts=1, delay=0.0)
    offer(frontier, "http://h0.zone.example/")
    frontier.shedder.set_aside("h0.zone.example")
    offer(frontier, "http://h1.zone.example/")
    assert frontier.withheld.hosts == 0
    assert fetch_all(frontier, 0.0)[-1] == "http://h1.zone.example/"


def test_host_set_aside_and_found_again_is_contacted_once(storage: FrontierStorage) -> None:
    frontier = frontier_on(storage, delay=0.0)
    offer(frontier, "http://a.example/1")
    frontier.shedder.set_aside("a.example")
    offer(frontier, "http://a.example/2")
    frontier.shedder.remove_idle_hosts(0.0)
    assert fetch_all(frontier, 0.0) == ["http://a.example/robots.txt", "http://a.example/2"]


# ── idle hosts after a restart ───────────────────────────────────────────────────────────────────────────


def restarted(storage: FrontierStorage, **settings: Any) -> Frontier:
    return frontier_on(storage, idle_hosts_on_disk=True, **settings)


def test_restart_leaves_idle_hosts_on_disk_until_they_are_needed(storage: FrontierStorage) -> None:
    first = frontier_on(storage)
    offer(first, *(f"http://{name}.example/1" for name in "abcd"))
    fetch_all(first, 0.0)
    assert len(fetch_all(first, 100.0)) == 4
    offer(first, "http://d.example/2")
    assert first.lease(LATER) is not None, "d waits again when the run ends"
    first.commit()

    frontier = restarted(storage)
    assert not any(frontier.shedder.is_in_memory(f"{name}.example") for name in "abc")
    assert frontier.host_count == 4
    assert {record.name for record in frontier.host_records()} == {f"{name}.example" for name in "abcd"}
    offer(frontier, "http://a.example/2")
    assert fetch_all(frontier, LATER + 1) == [], "a request of the killed run may just have ended"
    assert frontier.shedder.is_in_memory("a.example")
    assert sorted(fetch_all(frontier, LATER + 10)) == ["http://a.example/2", "http://d.example/2"], "rules are known"
    assert frontier.host_count == 4
    assert {record.name: record.fetched for record in frontier.host_records()}["a.example"] == 2


def test_restart_keeps_hosts_in_memory_that_wait_for_something(storage: FrontierStorage) -> None:
    first = frontier_on(storage)
    offer(first, "http://late.example/", "http://blind.example/")
    while (lease := first.lease(LATER)) is not None:
        first.response_received(lease, LATER)
        how, asked = End.ROBOTS_UNREADABLE, failure(FailureKind.SERVER_ERROR)
        if lease.host == "late.example":
            how, asked = End.FAILED, failure(FailureKind.UNAVAILABLE, 900.0)
        first.end(lease, how, LATER, failure=asked)
    first.commit()
    frontier = restarted(storage)
    assert frontier.shedder.is_in_memory("late.example") and frontier.shedder.is_in_memory("blind.example")


def test_stored_crawl_delay_is_kept_after_a_restart(storage: FrontierStorage) -> None:
    storage.put_host(HostRecord(name="a.example", delay=60.0, robots=b"delay:60", ready_at=1.0))
    first = frontier_on(storage)
    first.lease(LATER)
    first.commit()
    frontier = restarted(storage)
    offer(frontier, "http://a.example/1")
    assert fetch_all(frontier, 2 * LATER) == fetch_all(frontier, 2 * LATER + 59) == []
    assert fetch_all(frontier, 2 * LATER + 61)[-1] == "http://a.example/1"


@pytest.mark.parametrize("idle_hosts_on_disk", [False, True])
@pytest.mark.parametrize(("limit", "withheld"), [(4, 1), (5, 0)])
def test_hosts_of_a_domain_are_counted_alike_wherever_their_records_are(
    storage: FrontierStorage,
    limit: int,
    withheld: int,
    idle_hosts_on_disk: bool,  # noqa: FBT001
) -> None:
    for name in ("zone.example", "a.zone.example", "www.zone.example", "b.zone.example"):
        storage.put_host(HostRecord(name=name, fetched=1))
    frontier_on(storage).commit()
    frontier = frontier_on(storage, max_untried_hosts=limit, idle_hosts_on_disk=idle_hosts_on_disk)
    offer(frontier, "http://new.zone.example/")
    assert frontier.withheld.hosts == withheld
    assert frontier.host_count == 5


def test_contacted_host_still_counts_for_its_domain_after_its_new_link_is_set_aside(storage: FrontierStorage) -> None:
    storage.put_host(HostRecord(name="a.zone.example", fetched=1))
    frontier_on(storage).commit()
    frontier = restarted(storage, max_untried_hosts=1)
    offer(frontier, "http://a.zone.example/2")
    assert frontier.host_count == 1
    frontier.shedder.set_aside("a.zone.example")
    assert frontier.host_count == 1
    offer(frontier, "http://b.zone.example/1")
    assert frontier.withheld.hosts == 1


def test_clock_set_back_moves_the_times_of_stored_hosts(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path)
    names = [f"h{number}.example" for number in range(3000)]
    for name in names:
        storage.put_host(HostRecord(name=name, robots=b"", robots_at=9 * LATER, ready_at=9 * LATER))
    first = frontier_on(storage)
    first.lease(9 * LATER)
    first.host_queue.changed.clear()
    first.commit()
    frontier = restarted(storage)
    assert not any(frontier.shedder.is_in_memory(name) for name in names)
    frontier.lease(LATER)
    assert sorted(record.name for record in storage.hosts()) == sorted(names)
    assert {(record.robots_at, record.ready_at) for record in storage.hosts()} == {(LATER, LATER)}
    storage.close()


def test_revisit_of_stored_host_that_was_given_up_is_requested(storage: FrontierStorage) -> None:
    storage.put_host(HostRecord(name="a.example", robots=b"", robots_at=1.0, failures=HOST_GIVEN_UP_AFTER))
    first = frontier_on(storage)
    first.lease(LATER)
    first.host_queue.changed.clear()
    first.commit()
    frontier = restarted(storage)
    assert not frontier.shedder.is_in_memory("a.example")
    frontier.revisit(Entry(url="http://a.example/1", arm="a.example", score=1.0, sequence=1))
    assert fetch_all(frontier, 2 * LATER) == [] and frontier.refused == {}
    assert fetch_all(frontier, 2 * LATER + 10) == ["http://a.example/1"]

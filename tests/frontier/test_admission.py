"""The limit on untried hosts of one registrable domain."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from motherlode.frontier import End, Frontier, FrontierStorage, Lease, LmdbStorage, MemoryStorage, Politeness
from motherlode.frontier.admission import MAX_WITHHELD_HOSTS, TOO_MANY_HOSTS
from motherlode.frontier.domain_limit import domain_refusal
from motherlode.model import Link, LinkSource, RequestKind

from .fakes import BestOf, FakeRules, offer, page_outcome, redirect

ZONE = "zone.example"


def frontier_with(limit: int, storage: FrontierStorage | None = None, *, robots: bool = False) -> Frontier:
    return Frontier(
        storage=MemoryStorage() if storage is None else storage,
        policy=BestOf(),
        scope=lambda url: "",
        read_rules=FakeRules if robots else None,
        politeness=Politeness(delay=0.0),
        max_untried_hosts=limit,
    )


def hosts(count: int, *, domain: str = ZONE, first: int = 0) -> list[str]:
    return [f"http://h{number}.{domain}/" for number in range(first, first + count)]


def seed(frontier: Frontier, *urls: str) -> None:
    frontier.add_links([Link(url=url, source=LinkSource.SEED) for url in urls], parent=None)


def contacted(frontier: Frontier, *, relevant: Iterable[str] = (), now: float = 100.0) -> list[str]:
    """Fetch all URLs that may be fetched. Return the hosts in the order of their first request."""
    found: dict[str, None] = {}
    while (lease := frontier.lease(now)) is not None:
        frontier.response_received(lease, now)
        found[lease.host] = None
        if lease.kind is RequestKind.ROBOTS:
            frontier.end(lease, End.ROBOTS_READ, now)
            continue
        is_relevant = lease.host in relevant
        frontier.end(lease, End.FETCHED, 0.0, relevant=is_relevant)
        frontier.record_visit(lease.host, relevant=is_relevant, quads=0, received=0)
    return list(found)


def test_domain_without_relevant_host_is_contacted_on_limit_hosts_only() -> None:
    frontier = frontier_with(3)
    offer(frontier, *hosts(10), "http://other.example/")
    assert contacted(frontier) == ["h0.zone.example", "h1.zone.example", "h2.zone.example", "other.example"]
    assert (frontier.waiting, frontier.exhausted, frontier.idle_until()) == (7, True, None)
    withheld = frontier.withheld
    assert (withheld.domains, withheld.hosts, withheld.urls) == (1, 7, 7)


def test_each_relevant_host_releases_as_many_more_in_order_of_discovery() -> None:
    frontier = frontier_with(3)
    offer(frontier, *hosts(20))
    found = contacted(frontier, relevant={"h1.zone.example", "h4.zone.example"})
    assert found == [f"h{number}.zone.example" for number in range(9)]
    assert frontier.withheld.hosts == 11


def test_second_relevant_page_of_a_host_releases_nothing_more() -> None:
    frontier = frontier_with(2)
    offer(frontier, *(f"{url}{page}" for url in hosts(9) for page in "ab"))
    assert len(contacted(frontier, relevant={"h0.zone.example"})) == 4


def test_domain_whose_hosts_are_all_relevant_loses_none() -> None:
    frontier = frontier_with(5)
    offer(frontier, *hosts(200))
    assert len(contacted(frontier, relevant={f"h{number}.zone.example" for number in range(200)})) == 200
    assert (frontier.withheld.urls, frontier.exhausted) == (0, True)


def test_urls_of_a_withheld_host_are_fetched_once_it_is_released() -> None:
    frontier = frontier_with(1)
    offer(frontier, "http://a.zone.example/", "http://b.zone.example/1", "http://b.zone.example/2")
    offer(frontier, "http://c.zone.example/", "http://b.zone.example/3")
    lease = frontier.lease(0.0)
    assert lease is not None
    frontier.response_received(lease, 0.0)
    assert (frontier.withheld.urls, frontier.lease(0.0)) == (4, None)
    frontier.end(lease, End.FETCHED, 0.0, relevant=True)
    assert contacted(frontier) == ["b.zone.example"]
    assert (frontier.waiting, frontier.withheld.urls) == (1, 1)


@pytest.mark.parametrize("first", [f"http://{ZONE}/", f"http://www.{ZONE}/", f"http://{ZONE}:8080/"])
def test_main_hosts_of_a_domain_count_like_others(first: str) -> None:
    frontier = frontier_with(2)
    offer(frontier, first, *hosts(3))
    assert len(contacted(frontier)) == 2
    frontier = frontier_with(2)
    offer(frontier, *hosts(3), first)
    assert contacted(frontier) == ["h0.zone.example", "h1.zone.example"]


def test_relevant_main_host_releases_hosts_that_are_found_later() -> None:
    frontier = frontier_with(2)
    offer(frontier, f"http://www.{ZONE}/")
    assert contacted(frontier, relevant={f"www.{ZONE}"}) == [f"www.{ZONE}"]
    offer(frontier, *hosts(9))
    assert len(contacted(frontier)) == 3, "twice two, and one is used up"


def test_private_section_of_the_public_suffix_list_separates_customers() -> None:
    frontier = frontier_with(2)
    offer(frontier, *hosts(9, domain="github.io"), *hosts(9, domain="co.uk"))
    assert len(contacted(frontier)) == 18


def test_ports_of_one_ip_address_are_hosts_of_one_domain() -> None:
    frontier = frontier_with(2)
    offer(frontier, *(f"http://192.0.2.1:{port}/" for port in range(8001, 8010)))
    assert len(contacted(frontier)) == 2


def test_seeds_are_always_contacted_and_do_not_count() -> None:
    frontier = frontier_with(2)
    offer(frontier, *hosts(5))
    seed(frontier, *hosts(9, first=3))
    found = contacted(frontier)
    assert set(found) == {"h0.zone.example", "h1.zone.example", *(f"h{number}.zone.example" for number in range(3, 12))}
    assert frontier.withheld.hosts == 1


def test_redirect_of_a_seed_is_contacted_and_that_of_a_link_is_not() -> None:
    frontier = frontier_with(1)
    seed(frontier, "http://seed.example/")
    offer(frontier, *hosts(2))
    leases = {lease.host: lease for lease in iter(lambda: frontier.lease(0.0), None) if isinstance(lease, Lease)}
    assert set(leases) == {"seed.example", "h0.zone.example"}
    for number, lease in enumerate(leases.values()):
        target = Link(url=f"http://to{number}.zone.example/", source=LinkSource.REDIRECT)
        frontier.response_received(lease, 0.0)
        frontier.add_links([target], parent=page_outcome(lease))
        frontier.end(lease, End.FETCHED, 0.0)
    assert contacted(frontier) == ["to0.zone.example"]


def test_robots_file_on_a_withheld_host_does_not_admit_it() -> None:
    frontier = frontier_with(1, robots=True)
    offer(frontier, "http://a.zone.example/", "http://b.zone.example/")
    rules = frontier.lease(0.0)
    assert rules is not None
    frontier.response_received(rules, 0.0)
    assert frontier.end(rules, End.ROBOTS_MOVED, 0.0, failure=redirect("http://b.zone.example/robots.txt")) is not None
    again = frontier.lease(0.0)
    assert again is not None
    assert again.url == "http://b.zone.example/robots.txt"
    frontier.response_received(again, 0.0)
    frontier.end(again, End.ROBOTS_READ, 0.0)
    assert contacted(frontier) == ["a.zone.example"]
    assert (frontier.withheld.urls, frontier.exhausted) == (1, True)


def reopened(path: Path, limit: int) -> tuple[LmdbStorage, Frontier]:
    storage = LmdbStorage(path)
    return storage, frontier_with(limit, storage)


def test_limit_holds_over_restarts_and_so_do_credits(tmp_path: Path) -> None:
    path, seen = tmp_path / "f", []
    for run in range(4):
        storage, frontier = reopened(path, 3)
        seed(frontier, "http://seed.zone.example/")
        offer(frontier, *hosts(5, first=5 * run))
        seen += contacted(frontier, relevant={"h2.zone.example"}, now=100.0 * run + 100)
        assert frontier.withheld.urls == max(0, 5 * (run + 1) - 6)
        frontier.commit()
        storage.close()
    assert sorted(seen) == sorted(["seed.zone.example", *(f"h{number}.zone.example" for number in range(6))])


def test_hosts_that_were_admitted_and_not_contacted_are_the_same_after_a_restart(tmp_path: Path) -> None:
    storage, frontier = reopened(tmp_path / "f", 3)
    offer(frontier, *hosts(9))
    frontier.commit()
    storage.close()
    reader = LmdbStorage(tmp_path / "f", read_only=True)
    told = [bool(domain_refusal(f"h{n}.zone.example", reader.hosts(), limit=3, named=())) for n in range(9)]
    reader.close()
    assert told == [False] * 3 + [True] * 6
    storage, frontier = reopened(tmp_path / "f", 3)
    assert contacted(frontier) == ["h0.zone.example", "h1.zone.example", "h2.zone.example"]
    storage.close()


def test_seed_that_waited_at_the_restart_is_contacted(tmp_path: Path) -> None:
    storage, frontier = reopened(tmp_path / "f", 2)
    offer(frontier, *hosts(5))
    seed(frontier, "http://seed.zone.example/")
    frontier.commit()
    storage.close()
    storage, frontier = reopened(tmp_path / "f", 2)
    seed(frontier, "http://seed.zone.example/")
    assert sorted(contacted(frontier)) == ["h0.zone.example", "h1.zone.example", "seed.zone.example"]
    storage.close()


def test_links_beyond_the_bound_on_withheld_hosts_are_refused_and_counted() -> None:
    frontier = frontier_with(1)
    offer(frontier, *hosts(MAX_WITHHELD_HOSTS + 1))
    assert offer(frontier, *hosts(7, first=MAX_WITHHELD_HOSTS + 1), "http://new.example/", f"{hosts(1)[0]}more") == 2
    assert frontier.refused == {TOO_MANY_HOSTS: 7}
    assert frontier.withheld.hosts == MAX_WITHHELD_HOSTS

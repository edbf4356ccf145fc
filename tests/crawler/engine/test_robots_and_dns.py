"""Consequences of each kind of response to a request for robots.txt, and DNS look-ups ahead of time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from motherlode.crawler.engine.robots_and_dns import RobotsAndDns, look_up_ahead, sitemap_adder
from motherlode.crawler.engine.scheduler import Scheduler
from motherlode.fetch import RobotsRules
from motherlode.frontier import End, Frontier, Lease, MemoryStorage, Politeness
from motherlode.model import Failure, FailureKind, Page, RequestKind
from motherlode.policies import policy_from

NOW = 1.0
HOME, ROBOTS = "http://a.example/", "http://a.example/robots.txt"


def asked() -> tuple[Frontier, RobotsAndDns, Lease]:
    """Return a frontier with its first lease, which is for the robots.txt of the seed's host."""
    policy = policy_from("bfs")
    frontier = Frontier(
        storage=MemoryStorage(),
        policy=policy,
        scope=lambda url: "",
        read_rules=RobotsRules,
        politeness=Politeness(delay=1.0, adaptive=True),
    )
    settler = Scheduler(frontier, policy)
    settler.add_seeds([HOME])
    lease = frontier.lease(0.0)
    assert lease is not None and lease.kind is RequestKind.ROBOTS
    frontier.response_received(lease, 0.0)
    return frontier, RobotsAndDns(frontier, on_rules=sitemap_adder(settler, usual=True)), lease


def page(body: bytes) -> Page:
    return Page(url=ROBOTS, status=200, headers={}, body=body, fetched_at=1.0)


def failure(kind: FailureKind, location: str = "") -> Failure:
    return Failure(url=ROBOTS, kind=kind, fetched_at=1.0, location=location)


def waiting(frontier: Frontier) -> set[str]:
    """Return the URLs for which the frontier gives leases from now on."""
    found, now = set(), 2.0
    while (lease := frontier.lease(now)) is not None:
        found.add(lease.url)
        frontier.response_received(lease, now)
        frontier.end(lease, End.FETCHED, 0.0)
        now += 100.0
    return found


def test_robots_txt_releases_the_page_and_adds_its_sitemaps() -> None:
    frontier, robots_and_dns, lease = asked()
    rules = b"User-agent: *\nDisallow: /private\nSitemap: /map.xml\n"
    assert robots_and_dns.settle(lease, page(rules), NOW) is None
    assert waiting(frontier) == {HOME, "http://a.example/map.xml"}


def test_missing_robots_txt_allows_everything_and_adds_the_usual_sitemap() -> None:
    frontier, robots_and_dns, lease = asked()
    assert robots_and_dns.settle(lease, failure(FailureKind.NOT_FOUND), NOW) is None
    assert waiting(frontier) == {HOME, "http://a.example/sitemap.xml"}


def test_redirected_robots_txt_is_fetched_from_its_new_url() -> None:
    frontier, robots_and_dns, lease = asked()
    elsewhere = "http://a.example/rules/robots.txt"
    assert robots_and_dns.settle(lease, failure(FailureKind.REDIRECT, location=elsewhere), NOW) is None
    again = frontier.lease(50.0)
    assert again is not None
    assert (again.kind, again.url) == (RequestKind.ROBOTS, elsewhere)


@pytest.mark.parametrize("kind", [FailureKind.DNS, FailureKind.CONNECT, FailureKind.TIMEOUT])
def test_unreachable_host_fails_the_waiting_page(kind: FailureKind) -> None:
    _, robots_and_dns, lease = asked()
    found = robots_and_dns.settle(lease, failure(kind), NOW)
    assert found is not None and found.kind is kind


def test_robots_txt_with_server_error_is_fetched_again_later() -> None:
    frontier, robots_and_dns, lease = asked()
    assert robots_and_dns.settle(lease, failure(FailureKind.SERVER_ERROR), NOW) is None
    assert frontier.lease(1.0) is None, "nothing is allowed before the rules are known"
    assert not frontier.exhausted


ELSEWHERE = "http://www.a.example/robots.txt"


def rerouted() -> tuple[Frontier, RobotsAndDns, Lease]:
    """Return a frontier in which the robots.txt of the seed's host is on another host, with the lease for it."""
    frontier, robots_and_dns, lease = asked()
    robots_and_dns.settle(lease, failure(FailureKind.REDIRECT, location=ELSEWHERE), NOW)
    again = frontier.lease(1.0)
    assert again is not None and (again.url, again.host) == (ELSEWHERE, "a.example")
    frontier.response_received(again, 1.0)
    return frontier, robots_and_dns, again


def test_host_with_the_robots_txt_of_another_is_snoozed_when_rate_limited() -> None:
    frontier, robots_and_dns, lease = rerouted()
    answer = Failure(url=ELSEWHERE, kind=FailureKind.TOO_MANY, fetched_at=1.0, retry_after=600.0)
    assert robots_and_dns.settle(lease, answer, NOW) is None
    Scheduler(frontier, policy_from("bfs")).add_seeds(["http://www.a.example/"])
    assert frontier.lease(600.0) is None


def test_robots_txt_at_a_guarded_address_disallows_everything() -> None:
    frontier, robots_and_dns, lease = rerouted()
    Scheduler(frontier, policy_from("bfs")).add_seeds([HOME + "1", HOME + "2"])
    assert robots_and_dns.settle(lease, Failure(url=ELSEWHERE, kind=FailureKind.GUARD, fetched_at=1.0), NOW) is None
    assert waiting(frontier) == set()
    assert frontier.refused == {"robots": 3}


def test_host_at_a_guarded_address_is_a_failure() -> None:
    _, robots_and_dns, lease = asked()
    found = robots_and_dns.settle(lease, failure(FailureKind.GUARD), NOW)
    assert found is not None and found.kind is FailureKind.GUARD


@pytest.mark.parametrize("kind", [FailureKind.TOO_MANY, FailureKind.UNAVAILABLE])
def test_rate_limit_on_robots_txt_slows_the_host_down(kind: FailureKind) -> None:
    frontier, robots_and_dns, lease = asked()
    assert robots_and_dns.settle(lease, replace(failure(kind), retry_after=1.0), NOW) is None
    (record,) = frontier.host_records()
    assert record.slowdown > 0
    assert record.ready_at >= NOW + 30, "a second is what it asks for, and less than it gets"


class CountedNames:
    """Counts the look-ups that it is asked to start. At most two may be in flight."""

    def __init__(self) -> None:
        self.hosts: list[str] = []

    @property
    def lookups_free(self) -> int:
        return max(0, 2 - len(self.hosts))

    def look_up_ahead(self, host: str) -> None:
        self.hosts.append(host)


def test_look_up_ahead_starts_as_many_look_ups_as_are_free() -> None:
    policy = policy_from("bfs")
    frontier = Frontier(
        storage=MemoryStorage(),
        policy=policy,
        scope=lambda url: "",
        read_rules=RobotsRules,
        politeness=Politeness(delay=1.0, by_address=True),
    )
    Scheduler(frontier, policy).add_seeds([f"http://{name}.example/" for name in "abcde"])
    lease = frontier.lease(0.0)
    assert lease is not None and lease.kind is RequestKind.RESOLVE
    names = CountedNames()
    for _ in range(3):
        look_up_ahead(frontier.host_queue, names)
    assert len(names.hosts) == 2
    first, names.hosts = names.hosts, []
    look_up_ahead(frontier.host_queue, names)
    assert sorted([lease.host, *first, *names.hosts]) == [f"{name}.example" for name in "abcde"]

"""What follows from a robots.txt, whatever came of asking for it."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from motherlode.crawler.engine.robots_and_dns import RobotsHandler
from motherlode.crawler.engine.scheduler import Scheduler
from motherlode.fetch import RobotsRules
from motherlode.frontier import End, Frontier, Lease, MemoryStorage, Politeness
from motherlode.model import Failure, FailureKind, Page, RequestKind
from motherlode.policies import policy_from

HOME, ROBOTS = "http://a.example/", "http://a.example/robots.txt"


def asked() -> tuple[Frontier, RobotsHandler, Lease]:
    """A frontier whose first ticket is out: for the rules of the seed's host."""
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
    return frontier, RobotsHandler(frontier, settler, usual_sitemaps=True), lease


def page(body: bytes) -> Page:
    return Page(url=ROBOTS, status=200, headers={}, body=body, fetched_at=1.0)


def failure(kind: FailureKind, location: str = "") -> Failure:
    return Failure(url=ROBOTS, kind=kind, fetched_at=1.0, location=location)


def waiting(frontier: Frontier) -> set[str]:
    """What the frontier hands out from now on."""
    found, now = set(), 2.0
    while (lease := frontier.lease(now)) is not None:
        found.add(lease.url)
        frontier.response_received(lease, now)
        frontier.end(lease, End.FETCHED, 0.0)
        now += 100.0
    return found


def test_rules_let_the_page_go_and_bring_their_sitemaps() -> None:
    frontier, introductions, lease = asked()
    rules = b"User-agent: *\nDisallow: /private\nSitemap: /map.xml\n"
    assert introductions.settle(lease, page(rules)) is None
    assert waiting(frontier) == {HOME, "http://a.example/map.xml"}


def test_without_a_robots_txt_all_is_allowed_and_the_usual_sitemap_is_tried() -> None:
    frontier, introductions, lease = asked()
    assert introductions.settle(lease, failure(FailureKind.NOT_FOUND)) is None
    assert waiting(frontier) == {HOME, "http://a.example/sitemap.xml"}


def test_rules_that_lie_elsewhere_are_asked_for_there() -> None:
    frontier, introductions, lease = asked()
    elsewhere = "http://a.example/rules/robots.txt"
    assert introductions.settle(lease, failure(FailureKind.REDIRECT, location=elsewhere)) is None
    again = frontier.lease(50.0)
    assert again is not None
    assert (again.kind, again.url) == (RequestKind.ROBOTS, elsewhere)


@pytest.mark.parametrize("kind", [FailureKind.DNS, FailureKind.CONNECT, FailureKind.TIMEOUT])
def test_a_host_that_cannot_be_reached_costs_the_page_that_waited(kind: FailureKind) -> None:
    _, introductions, lease = asked()
    found = introductions.settle(lease, failure(kind))
    assert found is not None and found.kind is kind


def test_a_server_in_trouble_is_asked_again_later() -> None:
    frontier, introductions, lease = asked()
    assert introductions.settle(lease, failure(FailureKind.SERVER_ERROR)) is None
    assert frontier.lease(1.0) is None, "nothing is allowed before the rules are known"
    assert not frontier.exhausted


ELSEWHERE = "http://www.a.example/robots.txt"


def rerouted() -> tuple[Frontier, RobotsHandler, Lease]:
    """The rules of the seed's host lie on another host, which was asked for them."""
    frontier, introductions, lease = asked()
    introductions.settle(lease, failure(FailureKind.REDIRECT, location=ELSEWHERE))
    again = frontier.lease(1.0)
    assert again is not None and (again.url, again.host) == (ELSEWHERE, "a.example")
    frontier.response_received(again, 1.0)
    return frontier, introductions, again


def test_who_holds_the_rules_of_others_and_is_asked_too_much_rests() -> None:
    frontier, introductions, lease = rerouted()
    answer = Failure(url=ELSEWHERE, kind=FailureKind.TOO_MANY, fetched_at=1.0, retry_after=600.0)
    assert introductions.settle(lease, answer) is None
    Scheduler(frontier, policy_from("bfs")).add_seeds(["http://www.a.example/"])
    assert frontier.lease(600.0) is None


def test_rules_at_an_address_that_nobody_may_ask_forbid_everything_once() -> None:
    frontier, introductions, lease = rerouted()
    Scheduler(frontier, policy_from("bfs")).add_seeds([HOME + "1", HOME + "2"])
    assert introductions.settle(lease, Failure(url=ELSEWHERE, kind=FailureKind.GUARD, fetched_at=1.0)) is None
    assert waiting(frontier) == set()
    assert frontier.refused == {"robots": 3}


def test_a_host_at_an_address_that_nobody_may_ask_is_a_failure() -> None:
    _, introductions, lease = asked()
    found = introductions.settle(lease, failure(FailureKind.GUARD))
    assert found is not None and found.kind is FailureKind.GUARD


@pytest.mark.parametrize("kind", [FailureKind.TOO_MANY, FailureKind.UNAVAILABLE])
def test_a_host_that_says_with_its_rules_that_it_is_asked_too_much_is_asked_less(kind: FailureKind) -> None:
    frontier, introductions, lease = asked()
    now = time.time()
    assert introductions.settle(lease, replace(failure(kind), retry_after=1.0)) is None
    (record,) = frontier.host_records()
    assert record.slowdown > 0
    assert record.ready_at >= now + 30, "a second is what it asks for, and less than it gets"

"""Leases, and the default politeness."""

from __future__ import annotations

from dataclasses import fields

import pytest

from motherlode.crawler import Job
from motherlode.frontier import End, Lease, Politeness
from motherlode.model import RequestKind

from .fakes import entry, frontier_on, offer, redirect, take


def test_lease_has_one_request_and_is_immutable() -> None:
    lease = Lease(url="http://a.example/", host="a.example", kind=RequestKind.PAGE, entry=entry("http://a.example/"))
    with pytest.raises(AttributeError):
        lease.url = "http://a.example/private"  # type: ignore[misc]
    assert lease.address == "", "no clock of an address allows it"


def test_lease_for_robots_txt_names_the_held_page() -> None:
    frontier = frontier_on(robots=True)
    offer(frontier, "http://a.example/deep/page")
    rules = take(frontier, 0.0)
    assert (rules.kind, rules.url, rules.host) == (RequestKind.ROBOTS, "http://a.example/robots.txt", "a.example")
    assert rules.entry.url == "http://a.example/deep/page"
    frontier.response_received(rules, 0.0)
    assert frontier.end(rules, End.ROBOTS_MOVED, 0.0, failure=redirect("http://www.a.example/robots.txt")) is not None
    moved = take(frontier, 1.0)
    assert (moved.url, moved.host) == ("http://www.a.example/robots.txt", "a.example"), "it is about the first host"


def test_default_job_has_the_default_politeness() -> None:
    job, gentle = Job(), Politeness()
    shared = {field.name for field in fields(Politeness)} & {field.name for field in fields(Job)}
    shared -= {"delay"}  # a replay has no delay
    assert {"per_host", "per_address", "address_delay", "delay_factor", "retry_wait"} <= shared
    assert job.host_delay == gentle.delay
    assert {name: getattr(job, name) for name in shared} == {name: getattr(gentle, name) for name in shared}

"""The checks of one URL, asked again."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.explain.history import Check, checks
from motherlode.frontier import HostRecord, MemoryStorage
from motherlode.policies import policy_from

SEED = "http://a.example/"


def stopping(
    url: str, tmp_path: Path, *, host: HostRecord | None = None, is_seed: bool = False, **job: object
) -> set[str]:
    storage = MemoryStorage()
    if host is not None:
        storage.put_host(host)
    found = checks(
        url,
        job=Job(seeds=(SEED,), **job),  # type: ignore[arg-type]
        folder=CrawlFolder(tmp_path),
        storage=storage,
        policy=policy_from("ldcoc"),
        is_seed=is_seed,
    )
    return {one.name for one in found if one.passed is False}


def test_what_nothing_speaks_against_passes(tmp_path: Path) -> None:
    assert stopping("http://a.example/x", tmp_path) == set()


def guarded(url: str, tmp_path: Path, *, host: HostRecord | None = None, reason: str = "", **job: object) -> Check:
    storage = MemoryStorage()
    if host is not None:
        storage.put_host(host)
    wanted = Job(seeds=(SEED,), **job)  # type: ignore[arg-type]
    found = checks(url, job=wanted, folder=CrawlFolder(tmp_path), storage=storage, reason=reason)
    return next(one for one in found if one.name == "address guard")


@pytest.mark.parametrize("url", ["http://10.0.0.2/", "https://127.0.0.1:8080/x", "http://[::1]/"])
def test_the_address_guard_is_asked_about_addresses(url: str, tmp_path: Path) -> None:
    told = guarded(url, tmp_path)
    assert told.passed is False
    assert "not a public address" in told.detail
    assert "--allow" in told.detail
    assert guarded(url, tmp_path, allow=("10.0.0.0/8", "127.0.0.1", "::1/128")).passed


def test_the_address_guard_is_asked_about_names_as_far_as_they_are_known(tmp_path: Path) -> None:
    assert guarded("http://a.example/", tmp_path).passed is None, "nobody has looked it up"
    assert guarded("http://a.example/", tmp_path, hosts={"a.example": "127.0.0.2:80"}).passed is False
    assert guarded("http://a.example/", tmp_path, host=HostRecord(name="a.example", address="9.9.9.9")).passed
    refused = guarded("http://a.example/", tmp_path, reason="address-guard")
    assert refused.passed is False
    assert "--allow RANGE" in refused.detail


def test_a_recorded_web_has_no_addresses(tmp_path: Path) -> None:
    web = tmp_path / "web.warc.gz"
    web.touch()
    assert stopping("http://10.0.0.2/", tmp_path, web=str(web)) == set()


def test_each_check_has_its_name(tmp_path: Path) -> None:
    assert stopping("http://b.example/x", tmp_path, scope="host") == {"scope"}
    assert stopping("http://a.example/x", tmp_path, links={"deny": ["/x"]}) == {"filters"}
    assert stopping("http://a.example/1/1?" + "&".join("abcdefghijklmnopqrstuvwxyz"), tmp_path) == {"traps"}


def test_the_record_of_the_host_counts(tmp_path: Path) -> None:
    given_up = HostRecord(name="a.example", failures=9)
    assert stopping("http://a.example/x", tmp_path, host=given_up) == {"host"}
    spent = HostRecord(name="a.example", fetched=5, robots=b"User-agent: *\nDisallow: /")
    assert stopping("http://a.example/x", tmp_path, host=spent, pages_per_host=5) == {"host budget", "robots"}
    mine = stopping("http://a.example/x", tmp_path, host=spent, own_hosts=("a.example",), contact="me@a.example")
    assert mine == set()


def test_a_seed_passes_what_links_must_pass(tmp_path: Path) -> None:
    assert stopping("http://b.example/logo.png", tmp_path, scope="host", is_seed=True) == set()


def robots(tmp_path: Path, host: HostRecord, url: str = "http://a.example/x") -> Check:
    storage = MemoryStorage()
    storage.put_host(host)
    found = checks(url, job=Job(seeds=(SEED,)), folder=CrawlFolder(tmp_path), storage=storage)
    return next(one for one in found if one.name == "robots")


def test_rules_that_cannot_be_read_are_told_with_their_times(tmp_path: Path) -> None:
    busy = HostRecord(name="a.example", unread_since=0.0, unread_for="unavailable", ready_at=3600.0)
    told = robots(tmp_path, busy)
    assert told.passed is None
    assert "since 1970-01-01 00:00:00 UTC (unavailable)" in told.detail
    assert "asked for again after 1970-01-01 01:00:00 UTC" in told.detail
    for_ever = HostRecord(name="a.example", unread_since=0.0, unread_for="unavailable", failures=9)
    assert robots(tmp_path, for_ever).passed is False
    assert stopping("http://a.example/x", tmp_path, host=for_ever) == {"robots"}


def test_the_rules_of_one_scheme_are_told_although_those_of_the_other_cannot_be_read(tmp_path: Path) -> None:
    host = HostRecord(name="a.example", robots=b"", robots_at=100.0, unread_since=200.0, unread_for="unavailable")
    assert robots(tmp_path, host).passed
    assert robots(tmp_path, host, "https://a.example/x").passed is None

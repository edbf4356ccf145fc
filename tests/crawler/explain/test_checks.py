"""The checks of one URL."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.explain.checks import Check, run_checks
from motherlode.frontier import HostRecord, MemoryStorage
from motherlode.policies import policy_from

SEED = "http://a.example/"


def failed_checks(
    url: str, tmp_path: Path, *, host: HostRecord | None = None, is_seed: bool = False, **job: object
) -> set[str]:
    storage = MemoryStorage()
    if host is not None:
        storage.put_host(host)
    found = run_checks(
        url,
        job=Job(seeds=(SEED,), **job),  # type: ignore[arg-type]
        folder=CrawlFolder(tmp_path),
        storage=storage,
        policy=policy_from("ldcoc"),
        is_seed=is_seed,
    )
    return {one.name for one in found if one.passed is False}


def test_url_without_objections_passes_all_checks(tmp_path: Path) -> None:
    assert failed_checks("http://a.example/x", tmp_path) == set()


def address_check(
    url: str, tmp_path: Path, *, host: HostRecord | None = None, reason: str = "", **job: object
) -> Check:
    storage = MemoryStorage()
    if host is not None:
        storage.put_host(host)
    wanted = Job(seeds=(SEED,), **job)  # type: ignore[arg-type]
    found = run_checks(url, job=wanted, folder=CrawlFolder(tmp_path), storage=storage, reason=reason)
    return next(one for one in found if one.name == "address guard")


@pytest.mark.parametrize("url", ["http://10.0.0.2/", "https://127.0.0.1:8080/x", "http://[::1]/"])
def test_private_address_fails_the_address_guard(url: str, tmp_path: Path) -> None:
    told = address_check(url, tmp_path)
    assert told.passed is False
    assert "not a public address" in told.detail
    assert "--allow" in told.detail
    assert address_check(url, tmp_path, allow=("10.0.0.0/8", "127.0.0.1", "::1/128")).passed


def test_host_name_is_checked_by_its_known_address(tmp_path: Path) -> None:
    assert address_check("http://a.example/", tmp_path).passed is None, "the address is not known"
    assert address_check("http://a.example/", tmp_path, hosts={"a.example": "127.0.0.2:80"}).passed is False
    assert address_check("http://a.example/", tmp_path, host=HostRecord(name="a.example", address="9.9.9.9")).passed
    refused = address_check("http://a.example/", tmp_path, reason="address-guard")
    assert refused.passed is False
    assert "--allow RANGE" in refused.detail


def test_recorded_web_has_no_address_check(tmp_path: Path) -> None:
    web = tmp_path / "web.warc.gz"
    web.touch()
    assert failed_checks("http://10.0.0.2/", tmp_path, web=str(web)) == set()


def test_failed_check_is_named(tmp_path: Path) -> None:
    assert failed_checks("http://b.example/x", tmp_path, scope="host") == {"scope"}
    assert failed_checks("http://a.example/x", tmp_path, links={"deny": ["/x"]}) == {"filters"}
    assert failed_checks("http://a.example/1/1?" + "&".join("abcdefghijklmnopqrstuvwxyz"), tmp_path) == {"traps"}


def test_host_record_fails_its_checks(tmp_path: Path) -> None:
    given_up = HostRecord(name="a.example", failures=9)
    assert failed_checks("http://a.example/x", tmp_path, host=given_up) == {"host"}
    spent = HostRecord(name="a.example", fetched=5, robots=b"User-agent: *\nDisallow: /")
    assert failed_checks("http://a.example/x", tmp_path, host=spent, pages_per_host=5) == {"host budget", "robots"}
    mine = failed_checks("http://a.example/x", tmp_path, host=spent, own_hosts=("a.example",), contact="me@a.example")
    assert mine == set()


def test_seed_is_exempt_from_link_checks(tmp_path: Path) -> None:
    assert failed_checks("http://b.example/logo.png", tmp_path, scope="host", is_seed=True) == set()


def robots_check(tmp_path: Path, host: HostRecord, url: str = "http://a.example/x") -> Check:
    storage = MemoryStorage()
    storage.put_host(host)
    found = run_checks(url, job=Job(seeds=(SEED,)), folder=CrawlFolder(tmp_path), storage=storage)
    return next(one for one in found if one.name == "robots")


def test_unread_robots_txt_is_described_with_times(tmp_path: Path) -> None:
    busy = HostRecord(name="a.example", unread_since=0.0, unread_for="unavailable", ready_at=3600.0)
    told = robots_check(tmp_path, busy)
    assert told.passed is None
    assert "since 1970-01-01 00:00:00 UTC (unavailable)" in told.detail
    assert "requested again after 1970-01-01 01:00:00 UTC" in told.detail
    for_ever = HostRecord(name="a.example", unread_since=0.0, unread_for="unavailable", failures=9)
    assert robots_check(tmp_path, for_ever).passed is False
    assert failed_checks("http://a.example/x", tmp_path, host=for_ever) == {"robots"}


def test_robots_txt_of_one_scheme_is_used_if_the_other_is_unread(tmp_path: Path) -> None:
    host = HostRecord(name="a.example", robots=b"", robots_at=100.0, unread_since=200.0, unread_for="unavailable")
    assert robots_check(tmp_path, host).passed
    assert robots_check(tmp_path, host, "https://a.example/x").passed is None

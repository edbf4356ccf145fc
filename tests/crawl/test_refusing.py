"""The checks of one URL, asked again."""

from __future__ import annotations

from pathlib import Path

from motherlode.crawl import CrawlFolder, Job
from motherlode.crawl.refusing import checks
from motherlode.frontier import HostRecord, MemoryLedger
from motherlode.policy import policy_from

SEED = "http://a.example/"


def stopping(
    url: str, tmp_path: Path, *, host: HostRecord | None = None, is_seed: bool = False, **job: object
) -> set[str]:
    ledger = MemoryLedger()
    if host is not None:
        ledger.put_host(host)
    found = checks(
        url,
        job=Job(seeds=(SEED,), **job),  # type: ignore[arg-type]
        folder=CrawlFolder(tmp_path),
        ledger=ledger,
        policy=policy_from("ldcoc"),
        is_seed=is_seed,
    )
    return {one.name for one in found if one.passed is False}


def test_what_nothing_speaks_against_passes(tmp_path: Path) -> None:
    assert stopping("http://a.example/x", tmp_path) == set()


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

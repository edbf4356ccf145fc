"""`crawl --refresh` and `--forever` in a crawl of two shards, on a real web on loopback."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from motherlode.cluster.partitioner import owner_of
from motherlode.crawler import CrawlFolder
from motherlode.crawler.stats.reader import count_waiting_revisits
from tests.cli.endless_rounds import run_rounds
from tests.cluster.conftest import running_nodes
from tests.crawler.changing_web import ChangingWeb, job_file, motherlode, place_page, serving, stats


@pytest.fixture(scope="module")
def ray_address() -> Iterator[str]:
    """Yield the address of a Ray that all crawls use. `test_shards` has crawls that start a Ray of their own."""
    with running_nodes(1) as cluster:
        yield cluster.address


@dataclass
class TwoSites:
    """Two sites that link to each other and belong to different shards."""

    first: ChangingWeb
    second: ChangingWeb
    hosts: dict[str, str]
    """Name of each site, and where its server is."""


@asynccontextmanager
async def two_sites() -> AsyncIterator[TwoSites]:
    owners = {owner_of(f"http://site{number}.example/", 2): f"site{number}.example" for number in range(20)}
    async with serving(ChangingWeb()) as first, serving(ChangingWeb()) as second:
        hosts = {}
        for number, site in enumerate((first, second)):
            hosts[owners[number]] = site.root.removeprefix("http://")
            site.root = f"http://{owners[number]}"
        first.pages = {"/": place_page("first", "/a", f"{second.root}/"), "/a": place_page("a")}
        second.pages = {"/": place_page("second", "/b"), "/b": place_page("b")}
        yield TwoSites(first, second, hosts)


async def crawl(tmp_path: Path, sites: TwoSites, ray_address: str) -> Path:
    job = job_file(tmp_path / "job.toml", sites.first, shards=2, ray=ray_address)
    table = "".join(f'"{name}" = "{endpoint}"\n' for name, endpoint in sites.hosts.items())
    job.write_text(f"{job.read_text()}[hosts]\n{table}")
    await motherlode("crawl", "--config", str(job), "-o", str(tmp_path / "out"), "--quiet")
    assert stats(tmp_path / "out")["fetched"] == 4
    return tmp_path / "out"


async def names(out: Path) -> set[str]:
    query = "SELECT ?name { ?s schema:name ?name }"
    found = json.loads(await motherlode("query", str(out), query, "--format", "json"))
    return {row["name"]["value"] for row in found["results"]["bindings"]}


async def test_refresh_of_shards_finds_changes_and_merges_them(tmp_path: Path, ray_address: str) -> None:
    async with two_sites() as sites:
        out = await crawl(tmp_path, sites, ray_address)
        assert await names(out) == {"first", "second", "a", "b"}
        sites.second.pages["/"] = place_page("second, changed", "/b", "/new")
        sites.second.pages["/new"] = place_page("new", f"{sites.first.root}/other")
        sites.first.pages["/other"] = place_page("other")
        del sites.first.pages["/a"]
        said = await motherlode("crawl", "--refresh", "-o", str(out), errors=True)
    totals = stats(out)
    assert (totals["refreshed"], totals["unchanged"], totals["changed"], totals["gone"]) == (4, 2, 1, 1)
    assert totals["fetched"] == 4 + 4 + 2, "the new links are followed, also to the other shard"
    assert await names(out) == {"first", "second, changed", "b", "new", "other"}
    assert "this refresh: 4 revisits: " in " ".join(said.split())


async def test_refresh_of_shards_with_budget_leaves_rest_for_resume(tmp_path: Path, ray_address: str) -> None:
    async with two_sites() as sites:
        out = await crawl(tmp_path, sites, ray_address)
        said = await motherlode("crawl", "--refresh", "-o", str(out), "--pages", "1", errors=True)
        assert stats(out)["refreshed"] == 1
        assert count_waiting_revisits(CrawlFolder(out)) == 3
        assert "continues with 3 known pages" in " ".join(said.split())
        await motherlode("resume", str(out), "--quiet")
    assert stats(out)["refreshed"] == 4


async def test_forever_with_shards_visits_most_valuable_pages_of_all(tmp_path: Path, ray_address: str) -> None:
    async with two_sites() as sites:
        out = await crawl(tmp_path, sites, ray_address)
        sites.second.pages["/"] = place_page("second", "/b", "/new")
        sites.second.pages["/new"] = place_page("new")
        said = await run_rounds(out, per_day=0)
        totals = stats(out)
        assert totals["refreshed"] == 4
        assert totals["fetched"] == 4 + 4 + 1
        assert "1 new page; next round at" in " ".join(said.split())
        assert "new" in await names(out)
        await run_rounds(out, per_day=24, rounds=2)
        assert stats(out)["fetched"] == 9 + 1, "one request per hour for both shards together"

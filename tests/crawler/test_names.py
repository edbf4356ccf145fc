"""Crawls of hosts whose name servers are slow, silent or broken."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.engine.factory import assemble
from motherlode.fetch import dns
from motherlode.model import Visit
from tests.crawler.changing_web import ChangingWeb, Document, serving
from tests.name_server import SERVFAIL, Name, NameServer, serving_names

HOSTS = 64


async def crawl(folder: CrawlFolder, server: NameServer, seeds: list[str], **settings: object) -> list[Visit]:
    common = {"delay": 0.0, "address_delay": 0.0, "workers": 1, "words": False, "allow": ("127.0.0.0/8",)}
    job = Job(seeds=tuple(seeds), name_servers=(server.endpoint,), **{**common, **settings})  # type: ignore[arg-type]
    folder.create(job)
    assembled = assemble(job, folder)
    try:
        async with asyncio.timeout(100):
            return [visit async for visit in assembled.engine.visits(assembled.seeds)]
    finally:
        folder.unlock()


async def test_crawl_of_many_hosts_with_slow_name_server_waits_once(tmp_path: Path) -> None:
    """With few slots, because a look-up that waits takes none."""
    site = ChangingWeb(pages={"/": Document("home")})
    server = NameServer(find=lambda name: Name(("127.0.0.1",), delay=1.0))
    async with serving(site), serving_names(server):
        port = site.root.rpartition(":")[2]
        seeds = [f"http://h.example{number}.test:{port}/" for number in range(HOSTS)]
        began = time.monotonic()
        visits = await crawl(CrawlFolder(tmp_path / "crawl"), server, seeds, concurrency=4)
        assert time.monotonic() - began < HOSTS / 4, "four at a time would take longer"
    assert [visit.failure for visit in visits] == [None] * HOSTS


async def test_crawl_failing_zone_delays_only_its_hosts_and_loses_no_page(tmp_path: Path) -> None:
    site = ChangingWeb(pages={"/": Document("home")})
    broken = [Name(code=SERVFAIL), Name(code=SERVFAIL), Name(("127.0.0.1",))]

    def find(name: str) -> Name:
        if not name.endswith("broken.test"):
            return Name(("127.0.0.1",))
        return broken[0] if len(site.asked()) < 5 else broken[-1]

    server = NameServer(find=find)
    async with serving(site), serving_names(server):
        port = site.root.rpartition(":")[2]
        seeds = [f"http://{name}.test:{port}/" for name in ("a.broken", "b.broken", "a.1", "a.2", "a.3", "a.4", "a.5")]
        visits = await crawl(CrawlFolder(tmp_path / "crawl"), server, seeds, retry_wait=0.1)
    assert [visit.failure for visit in visits] == [None] * 7
    assert {visit.host.partition(":")[0] for visit in visits[-2:]} == {"a.broken.test", "b.broken.test"}


async def test_crawl_moves_to_new_address_after_ttl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns, "MIN_TTL_SECONDS", 0.0)
    site = ChangingWeb(pages={f"/{number}": Document("page") for number in range(3)})
    server = NameServer(find=lambda name: Name(("127.0.0.1",) if len(site.asked()) < 2 else ("127.0.0.77",), ttl=0))
    async with serving(site), serving_names(server):
        port = site.root.rpartition(":")[2]
        seeds = [f"http://moving.test:{port}/{number}" for number in range(3)]
        visits = await crawl(
            CrawlFolder(tmp_path / "crawl"), server, seeds, per_host=1, per_address=1, retry_wait=0.001
        )
    kinds = [None if visit.failure is None else visit.failure.value for visit in visits]
    assert kinds.count(None) == 2
    assert set(kinds) == {None, "connect"}, "nobody listens at the new address"

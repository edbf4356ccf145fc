"""Crawls of servers on loopback addresses whose names are in the job."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from motherlode.crawler import Counters, CrawlFolder, Job
from motherlode.crawler.engine.engine import Engine
from motherlode.crawler.engine.factory import assemble
from motherlode.model import Visit
from tests.servers import Answering, serving


async def run_job(job: Job, path: Path) -> list[Visit]:
    """Run a job in a new folder, and return its visits."""
    folder = CrawlFolder(path)
    folder.create(job)
    try:
        assembled = assemble(job, folder)
        return [visit async for visit in assembled.engine.visits(assembled.seeds)]
    finally:
        folder.unlock()


async def crawl_servers(
    folder: CrawlFolder,
    servers: Answering,
    hosts: Mapping[str, str],
    seeds: Sequence[str],
    *,
    prepare: Callable[[Engine], None] = lambda engine: None,
    **settings: Any,
) -> tuple[list[Visit], Counters]:
    """Serve the hosts at their addresses, crawl from the seeds without delays, and return visits and counters."""
    common = {"allow": ("127.0.0.0/8",), "policy": "bfs", "delay": 0.0, "workers": 1, "words": False}
    async with serving(servers, list(hosts.values())):
        table = {name: f"{address}:{servers.port}" for name, address in hosts.items()}
        job = Job(seeds=tuple(seeds), hosts=table, **{**common, **settings})
        folder.create(job)
        assembled = assemble(job, folder)
        prepare(assembled.engine)
        visits = [visit async for visit in assembled.engine.visits(assembled.seeds)]
        assembled.store.close()
        folder.unlock()
    return visits, assembled.engine.totals

"""Fetch all pages without processing them: our side of the comparison with Scrapy in bench/crawl.py.

    python bench/fetch_only.py SEEDS

The frontier on disk leases every URL, and the fetcher checks every address; neither side requests robots.txt.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

import uvloop

from motherlode.crawler.engine.scheduler import Scheduler
from motherlode.fetch import HttpFetcher, HttpOptions
from motherlode.frontier import End, Frontier, LmdbStorage, Politeness
from motherlode.model import Page, Request
from motherlode.policies import policy_from

CONCURRENCY = 64


async def fetch_all(urls: list[str], folder: Path) -> int:
    """Fetch all URLs and return the number of pages."""
    storage = LmdbStorage(folder)
    policy = policy_from("bfs")
    frontier = Frontier(
        storage=storage, policy=policy, scope=lambda url: "", read_rules=None, politeness=Politeness(delay=0.0)
    )
    Scheduler(frontier, policy).add_seeds(urls)
    fetcher = HttpFetcher(HttpOptions(user_agent="bench", allow=("127.0.0.0/8",)))
    pages = 0

    async def worker() -> None:
        nonlocal pages
        while (lease := frontier.lease(time.time())) is not None:
            fetched = await fetcher.fetch(Request(url=lease.url))
            frontier.response_received(lease, time.time(), elapsed=fetched.elapsed)
            frontier.end(lease, End.FETCHED, 0.0)
            pages += isinstance(fetched, Page)

    while not frontier.exhausted:
        await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))
    frontier.commit()
    await fetcher.close()
    storage.close()
    return pages


def main() -> None:
    urls = Path(sys.argv[1]).read_text().split()
    with tempfile.TemporaryDirectory() as folder:
        pages = uvloop.run(fetch_all(urls, Path(folder) / "frontier"))
    if pages != len(urls):
        sys.exit(f"{pages} of {len(urls)} pages were fetched")


if __name__ == "__main__":
    main()

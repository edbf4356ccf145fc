"""Our half of a comparison in bench/crawl.py: fetch all pages and do nothing with them, as Scrapy does beside it.

    python bench/fetching.py SEEDS

The frontier on disk hands out every URL, the fetcher checks every address; robots.txt is not asked for on either side.
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

AT_A_TIME = 64


async def fetch_all(urls: list[str], folder: Path) -> int:
    """How many pages came."""
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
        await asyncio.gather(*(worker() for _ in range(AT_A_TIME)))
    frontier.commit()
    await fetcher.close()
    storage.close()
    return pages


def main() -> None:
    urls = Path(sys.argv[1]).read_text().split()
    with tempfile.TemporaryDirectory() as folder:
        pages = uvloop.run(fetch_all(urls, Path(folder) / "frontier"))
    if pages != len(urls):
        sys.exit(f"{pages} of {len(urls)} pages came")


if __name__ == "__main__":
    main()

"""The key `index_query` of a job: URIs for the next round by a query over the whole index (MultiCrawler, section 3.5).

The query runs in a process of its own, on a snapshot of the store, so neither the crawl nor the writer of the store
waits for it. It begins at a checkpoint if a URL was visited since the last run. It costs at most a twentieth of the
time: after a run of one second, the next one begins 20 seconds later at the earliest. One more run comes before the
crawl ends. A run has limits of time, bytes and new URLs. If it fails, that is a problem of the crawl and not its end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from math import inf

from motherlode.crawler.engine.scheduler import Scheduler
from motherlode.crawler.stats.counters import Counters
from motherlode.index.query.query_pool import QueryFailure, QueryPool
from motherlode.index.query.query_worker import QueryRequest
from motherlode.links.from_quads import LINK_PREFIXES, url_of_term
from motherlode.model.terms import PREFIXES
from motherlode.www.urls import canonical

MAX_SECONDS = 30.0
"""Maximum seconds of one run, after which the process of the query is killed."""
MAX_RESULT_BYTES = 64 << 20
"""Maximum size of one result. The URLs in the first bytes up to this size are used."""
MAX_NEW_URLS = 50_000
"""Maximum number of new URLs of one run. The others come with the next run."""
_PAUSE_FACTOR = 20.0
"""The pause after a run, in units of its duration."""
_MAX_REMEMBERED_URLS = 1_000_000
"""Maximum number of remembered URLs of earlier runs. Others may come again, and the frontier ignores them."""
_PROLOGUE = "".join(f"PREFIX {name}: <{iri}> " for name, iri in LINK_PREFIXES.items() if name not in PREFIXES)


class IndexQuery:
    """Runs the query in the background and collects the URLs that no run has given before."""

    def __init__(
        self,
        query: str,
        pool: QueryPool,
        *,
        max_seconds: float = MAX_SECONDS,
        max_new_urls: int = MAX_NEW_URLS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._request = QueryRequest(
            sparql=_PROLOGUE + query, results="text/tab-separated-values", max_bytes=MAX_RESULT_BYTES
        )
        self._pool = pool
        self._max_seconds = max_seconds
        self._max_new_urls = max_new_urls
        self._clock = clock
        self._task: asyncio.Task[None] | None = None
        self._ready_at = -inf
        self._found: list[str] = []
        self._problems: list[str] = []
        self._seen: set[int] = set()
        """Hashes of the URLs of earlier runs."""
        self._is_stale = True
        """True if the index has changed since the last run of the query began, and before the first run."""

    @property
    def is_pending(self) -> bool:
        """True if there are results to take, a run is under way, or the index has changed since the last run began."""
        return self._is_stale or self._task is not None or bool(self._found)

    def note_change(self) -> None:
        """Note that a URL was visited, so that the index has changed."""
        self._is_stale = True

    def start_if_due(self) -> None:
        """Start a run, unless one is under way, the index is unchanged or the last run was too recent."""
        if self._task is None and self._is_stale and self._clock() >= self._ready_at:
            self._task = asyncio.create_task(self._run(self._max_seconds))

    def take(self) -> tuple[list[str], list[str]]:
        """Return the new URLs and the problems of the runs that have ended."""
        if self._task is not None and self._task.done():
            self._task = None
        found, self._found = self._found, []
        problems, self._problems = self._problems, []
        return found, problems

    def add_results(self, scheduler: Scheduler, counters: Counters) -> int:
        """Add the new URLs and the problems of the runs that have ended. Return how many URLs were new."""
        urls, problems = self.take()
        for problem in problems:
            counters.note_problem(problem)
        return scheduler.add_query_results(urls) if urls else 0

    async def run_now(self, *, seconds: float = inf) -> None:
        """Wait for the run under way, and run the query again if the index has changed since it began."""
        if self._task is not None:
            await asyncio.wait([self._task])
        if self._is_stale:
            self._task = asyncio.create_task(self._run(min(self._max_seconds, seconds)))
            await asyncio.wait([self._task])

    def stop(self) -> None:
        """End the run under way without a result."""
        if self._task is not None:
            self._task.cancel()

    async def close(self) -> None:
        self.stop()
        if self._task is not None:
            await asyncio.wait([self._task])
        await self._pool.close()

    async def _run(self, seconds: float) -> None:
        began = self._clock()
        self._is_stale = False
        try:
            async with self._pool.ask(self._request, seconds=seconds) as result:
                rest, is_first = b"", True
                async for chunk in result.chunks():
                    *lines, rest = (rest + chunk).split(b"\n")
                    self._add_rows(lines[is_first:])  # the first line has the names of the variables
                    is_first = is_first and not lines
        except QueryFailure as failure:
            self._problems.append(f"index_query: {failure}")
        except OSError as error:  # for example no process can be started
            self._problems.append(f"index_query: it could not be run: {error}")
        finally:
            self._ready_at = self._clock() + _PAUSE_FACTOR * (self._clock() - began)

    def _add_rows(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            for term in line.decode("utf-8", "replace").rstrip("\r").split("\t"):
                url = canonical(text) if (text := url_of_term(term)) else None
                if url is None or (key := hash(url)) in self._seen:
                    continue
                if len(self._found) >= self._max_new_urls:
                    self._is_stale = True  # the next run of the query gives the other URLs
                    return
                if len(self._seen) >= _MAX_REMEMBERED_URLS:
                    self._seen.clear()
                self._seen.add(key)
                self._found.append(url)

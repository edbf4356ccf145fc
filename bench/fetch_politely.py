"""Fetch pages with look-ups, robots.txt and delays, without processing them: our side of "fetching only" in live.py.

    python bench/fetch_politely.py SEEDS DELAY SLOTS SECONDS

Prints JSON: the number of pages, and for each host that failed the kinds of its failures.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import uvloop

from motherlode.crawler.engine.limits import LeaseResult, Slots
from motherlode.crawler.engine.robots_and_dns import RobotsAndDns, send_request
from motherlode.crawler.engine.scheduler import Scheduler
from motherlode.fetch import HttpFetcher, HttpOptions, RobotsRules
from motherlode.fetch.http.connections import MAX_IDLE_CONNECTIONS
from motherlode.fetch.http.descriptor_limits import raise_descriptor_limit
from motherlode.frontier import End, Frontier, LmdbStorage, Politeness
from motherlode.model import Failure, FailureKind, Fetched, Page, RequestKind
from motherlode.policies import policy_from
from motherlode.runtime import SYSTEM_CLOCK


class FetchOnly:
    """The engine's way of a lease, up to the response."""

    def __init__(self, folder: Path, *, delay: float, slots: int) -> None:
        raise_descriptor_limit(connections=slots, idle=MAX_IDLE_CONNECTIONS)
        self._storage = LmdbStorage(folder)
        policy = policy_from("bfs")
        self._fetcher = HttpFetcher(HttpOptions(user_agent="bench", allow=("127.0.0.0/8",)))
        self._fetcher.load_authorities()
        self._frontier = Frontier(
            storage=self._storage,
            policy=policy,
            scope=lambda url: "",
            read_rules=RobotsRules,
            politeness=Politeness(delay=delay, by_address=True, adaptive=True),
            is_stale=self._fetcher.is_stale,
        )
        self.scheduler = Scheduler(self._frontier, policy)
        self._prerequisites = RobotsAndDns(self._frontier)
        self._changed = asyncio.Event()
        self._slots = Slots(slots, on_free=self._changed.set)
        self._tasks: set[asyncio.Task[None]] = set()
        self.pages = 0
        self.failures: dict[str, list[str]] = defaultdict(list)

    async def run(self, seconds: float) -> None:
        """Fetch until the frontier is exhausted or the time is over."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not (self._frontier.exhausted and not self._tasks):
            now = time.time()
            while not self._slots.is_full(now) and (lease := self._frontier.lease(now)) is not None:
                task = asyncio.create_task(self._run_lease(self._slots.take(lease)))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            self._look_up_ahead()
            await self._wait(until)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._frontier.commit()
        await self._fetcher.close()
        self._storage.close()

    async def _wait(self, until: float) -> None:
        ready_at = self._frontier.idle_until()
        wait = 0.5 if ready_at is None else min(0.5, max(0.0, ready_at - time.time()))
        timer = asyncio.get_running_loop().call_later(min(wait, until - time.monotonic()) + 0.001, self._changed.set)
        await self._changed.wait()
        timer.cancel()
        self._changed.clear()

    def _look_up_ahead(self) -> None:
        queue = self._frontier.host_queue
        if queue.has_unresolved and (free := self._fetcher.lookups_free):
            for host in queue.take_unresolved(free):
                self._fetcher.look_up_ahead(host)

    async def _run_lease(self, result: LeaseResult) -> None:
        lease = result.lease
        if lease.kind is RequestKind.RESOLVE:
            with self._slots.looking_up(result, time.time()):
                found = await self._fetcher.resolve(lease.url)
            self._slots.free(result)
            self._settle_prerequisite(result, found)
        else:
            with self._slots.waiting(result, time.time(), usual=self._frontier.usual_response_time(lease)):
                response = await send_request(lease, lease, self._fetcher, self._frontier, SYSTEM_CLOCK)
            self._slots.free(result)
            if lease.kind is RequestKind.ROBOTS:
                self._settle_prerequisite(result, response)
            elif isinstance(response, Page):
                self.pages += 1
                self._frontier.end(lease, End.FETCHED, time.time())
            else:
                self._fail(result, response)
        self._changed.set()

    def _settle_prerequisite(self, result: LeaseResult, response: Fetched | str) -> None:
        failure = self._prerequisites.settle(result.lease, response, time.time())
        if failure is not None:
            self._fail(result, failure)

    def _fail(self, result: LeaseResult, failure: Failure) -> None:
        lease, now = result.lease, time.time()
        if failure.has_other_address:
            self._frontier.end(lease, End.NEXT_ADDRESS, now, failure=failure)
            return
        if failure.kind is FailureKind.NO_DNS and self._frontier.waits_for_address(lease, now):
            self._frontier.end(lease, End.UNRESOLVED, now, failure=failure)
            return
        self.failures[lease.host].append(failure.kind.value)
        self.scheduler.settle_failure(lease, failure, now)


async def fetch(seeds: list[str], delay: float, slots: int, seconds: float) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        crawl = FetchOnly(Path(folder) / "frontier", delay=delay, slots=slots)
        crawl.scheduler.add_seeds(seeds)
        await crawl.run(seconds)
    return {"pages": crawl.pages, "failures": crawl.failures}


def main() -> None:
    seeds, delay, slots, seconds = sys.argv[1:]
    print(json.dumps(uvloop.run(fetch(Path(seeds).read_text().split(), float(delay), int(slots), float(seconds)))))


if __name__ == "__main__":
    main()

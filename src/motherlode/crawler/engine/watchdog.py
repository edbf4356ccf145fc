"""The watchdog: reports that no page was settled for a minute although work is pending, and what is waited for.

Waits that the crawl plans itself (politeness, retries, a network outage) are reported where they are planned.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from enum import StrEnum

from motherlode.crawler.engine.limits import LeaseResult
from motherlode.crawler.stats.counters import Counters
from motherlode.model import RequestKind

_LOG = logging.getLogger("motherlode.crawler")
STALL_SECONDS = 60.0
"""Seconds without a settled page after which a crawl with pending work is reported as stalled."""
_CHECK_SECONDS = 5.0


class Step(StrEnum):
    """The step for which the main loop of the engine waits."""

    RESULT = "a result"
    SETTLEMENT = "the quad store, to settle a page"
    READER = "the program that reads the visits"
    CHECKPOINT = "the quad store, to finish a checkpoint"
    INDEX_QUERY = "the query over the index"


class Watchdog:
    """Compares the number of settled pages at intervals, and reports a stall in the log and in the counters.

    A timer calls it, because the main loop of a stalled crawl may be what waits.
    """

    def __init__(
        self,
        counters: Counters,
        describe: Callable[[], str],
        *,
        seconds: float = STALL_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`describe` returns what the crawl waits for, "" if nothing is pending or the wait is planned."""
        self._counters = counters
        self._describe = describe
        self._seconds = seconds
        self._clock = clock
        self._timer: asyncio.TimerHandle | None = None
        self._settled = counters.page_requests
        self._settled_at = self._checked_at = clock()
        self._reported_seconds = 0.0
        """Length of the stall when it was last reported. It is reported again when it has doubled."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Check at intervals while the context is open."""
        self.start()
        try:
            yield
        finally:
            self.stop()

    def start(self) -> None:
        """Check at intervals until `stop` is called."""
        interval = min(_CHECK_SECONDS, self._seconds / 4)
        self._timer = asyncio.get_running_loop().call_later(interval, self._check_again)

    def _check_again(self) -> None:
        self.check()
        self.start()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._end()

    def check(self) -> None:
        """Report a stall that has begun, has doubled its length or has ended."""
        now = self._clock()
        pause, self._checked_at = now - self._checked_at, now
        waits_for = "" if self._counters.page_requests != self._settled else self._describe()
        if waits_for and pause >= self._seconds:
            waits_for = f"this process, which did not run for {pause:,.0f} s: was it stopped, or the machine suspended?"
        if not waits_for:
            self._end()
            self._settled, self._settled_at = self._counters.page_requests, now
            return
        seconds = now - self._settled_at
        if seconds < self._seconds:
            return
        self._counters.stalled_for = waits_for
        if not self._reported_seconds:
            self._counters.stalls += 1
            self._counters.stalled_since = time.time() - seconds
        if seconds >= 2 * self._reported_seconds:
            self._reported_seconds = seconds
            _LOG.warning("no page was settled for %.0f s: waiting for %s", seconds, waits_for)

    def _end(self) -> None:
        if self._reported_seconds:
            _LOG.info("the stall has ended after %.0f s", self._clock() - self._settled_at)
        self._reported_seconds = 0.0
        self._counters.stalled_since, self._counters.stalled_for = None, ""


def describe_leases(results: Iterable[LeaseResult], now: float) -> str:
    """Return what leases in flight wait for, with the oldest lease of each kind; "" if there is none.

    >>> from motherlode.frontier import Lease
    >>> lease = Lease(url="http://a.example/", host="a.example", entry=None)
    >>> describe_leases([LeaseResult(lease, began=100.0)], now=175.0)
    '1 response (the oldest: http://a.example/, for 75 s)'
    """
    groups: dict[str, list[LeaseResult]] = {}
    for result in results:
        groups.setdefault(_stage(result), []).append(result)
    return ", ".join(_describe_group(stage, group, now) for stage, group in groups.items())


def _stage(result: LeaseResult) -> str:
    if result.ended:
        return "settlement"
    if result.lease.kind is RequestKind.RESOLVE:
        return "DNS look-up"
    if result.lease.kind is RequestKind.ROBOTS:
        return "robots.txt"
    return "parser or the quad store" if result.is_arrived else "response"


def _describe_group(stage: str, group: list[LeaseResult], now: float) -> str:
    oldest = min(group, key=lambda result: result.began or now)
    plural = "s" if len(group) > 1 and stage in ("settlement", "DNS look-up", "response") else ""
    count = "a" if stage.startswith("parser") else f"{len(group):,}"
    return f"{count} {stage}{plural} (the oldest: {oldest.lease.url}, for {now - (oldest.began or now):,.0f} s)"

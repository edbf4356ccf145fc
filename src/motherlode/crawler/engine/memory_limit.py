"""The memory ceiling: keeps the processes of a crawl below a limit, by shedding what is worth least.

The limit is for the anonymous memory of the crawl process and its child processes: parsers, store, queries. Mapped
files do not count, because the system drops their pages when it needs memory. In this order:

1. Parser processes above their share are restarted.
2. Idle connections and caches are dropped.
3. The arms of the least value are set aside: their links stay on disk, and wait again in a run with more memory.
4. The policy forgets hosts without reward, and the records of idle hosts stay on disk only.

If that is not enough, links to hosts that are not known are refused. As the last resort no request starts until memory
is free again, and if that does not help, the crawl ends. `Counters.shed` counts what was shed.

Freed memory does not always return to the system, but it is used again. So after a shedding, the next one is due when
the memory has grown, and freed blocks of Python's allocator do not count for the last two measures.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from math import ceil, isfinite
from pathlib import Path
from random import Random

from motherlode.crawler.config.job import Job
from motherlode.crawler.config.values import JobError, format_count, format_size
from motherlode.crawler.engine.limits import NoCeiling, cancel
from motherlode.crawler.parsing.parser_pool import ParserLanes, Parsers
from motherlode.crawler.stats.counters import Counters
from motherlode.crawler.url_rules import TrapWatch
from motherlode.fetch import HttpFetcher
from motherlode.frontier import Frontier, LmdbStorage
from motherlode.frontier.shedder import Shedder
from motherlode.model import Policy
from motherlode.model.policy import Forgets, Mergeable
from motherlode.runtime import Clock, trim_heap
from motherlode.www.urls import host_of

_LOG = logging.getLogger("motherlode.crawler")
_CHECK_SECONDS = 0.5
MIN_BYTES, MIN_BYTES_PER_PARSER = 300_000_000, 100_000_000
"""Smallest ceiling: for the crawl process with its store, and for each parser process."""
_SHED_SHARE, _CLOSED_SHARE, _FULL_SHARE = 0.75, 0.93, 0.97
"""Shares of the ceiling from which memory is shed, links to unknown hosts are refused, and no request starts."""
_GROWTH_SHARE, _MAX_LEVEL_SHARE = 0.01, 0.99
"""Share of the ceiling by which memory must have grown since the last shedding before the next one, and the share from
which each check sheds."""
_BYTES_PER_BLOCK = 64
"""Bytes that a freed block of Python's allocator leaves for other objects, at least. The mean block is larger."""
_PARSERS_SHARE = 0.4
"""Share of the ceiling that all parser processes together may use."""
_MIN_ARMS_SHARE, _MAX_ARMS_SHARE = 0.1, 0.5
"""Share of the arms that one shedding sets aside, at `_SHED_SHARE` and at the ceiling."""
_SAMPLED_ARMS = 1000
"""Number of arms by which the value is estimated below which arms are set aside."""
_VALUE_MARGIN = 0.05
"""Share by which a value may be higher than that of the sample, because values change while arms are set aside."""
_ARMS_PER_SLICE = 100
_SLICE_SECONDS = 0.2
"""Seconds of shedding after which other tasks of the crawl run. One of them may take longer and use more memory than a
slice frees if slices are shorter: a page with thousands of links to new hosts."""
_MAX_FULL_CHECKS = 120
"""Number of checks in a row without enough memory for requests, after which the crawl ends."""
REFUSAL = "memory ceiling"
_EXHAUSTED = "memory ceiling: nothing was left to shed, so the crawl ended early; give it more with --memory"
Measure = Callable[[], Mapping[int, int]]
"""Returns the anonymous bytes of each process of the crawl, by process ID."""


def min_ceiling(workers: int) -> int:
    """Return the smallest ceiling for a crawl with this number of parser processes.

    >>> min_ceiling(2)
    500000000
    """
    return MIN_BYTES + workers * MIN_BYTES_PER_PARSER


def count_workers(job: Job) -> int:
    """Return the number of parser processes: by default one fewer than there are cores, and two on two cores."""
    cores = len(os.sched_getaffinity(0))
    return 0 if job.ray_parsers else job.workers or max(min(cores, 2), cores - 1)


def check_ceiling(job: Job) -> None:
    """Raise JobError if the memory ceiling of a job is too low for its processes."""
    if job.memory is None:
        return
    if not measure_processes():
        raise JobError("memory cannot be limited on this system, because it has no /proc: leave out memory")
    workers = count_workers(job)
    if job.memory < (least := job.shards * min_ceiling(workers)):
        processes = f"{job.shards} shards, each with {workers}" if job.shards > 1 else f"{workers}"
        raise JobError(
            f"memory must be at least {format_size(least)} for {processes} parser processes; "
            f"got {format_size(job.memory)}"
        )


_CEILING_KEY = "memory"
"""Storage note with the ceiling of the last run; 0 if it had none."""


def take_back(job: Job, storage: LmdbStorage) -> None:
    """Let the links that were set aside wait again if this run has a higher ceiling than the last one, or none."""
    last, now = storage.note(_CEILING_KEY), job.memory or 0
    if last is not None and int(last) and (now == 0 or now > int(last)):
        message = f"{format_count(storage.take_back(), 'link')} that were set aside to save memory wait again"
        asyncio.get_running_loop().call_soon(_LOG.info, message)  # when the crawl has opened its log
    storage.put_note(_CEILING_KEY, str(now).encode())


def make_ceiling(
    job: Job,
    frontier: Frontier,
    policy: Policy,
    traps: TrapWatch,
    parsers: Parsers,
    http: HttpFetcher | None,
    *,
    is_shard: bool,
    clock: Clock,
) -> MemoryCeiling | NoCeiling:
    """Return the memory ceiling of a job. Its effect begins with `running`."""
    if job.memory is None:
        return NoCeiling()
    caches: list[Callable[[], object]] = [traps.drop_half]
    if http is not None:
        caches.append(http.close_idle)
    if isinstance(policy, Mergeable) and not is_shard:
        caches.append(policy.delta)  # only other shards need it
    ceiling = MemoryCeiling(
        job.memory // job.shards,
        frontier.shedder,
        parsers=parsers,
        workers=count_workers(job),
        caches=caches,
        forget=policy.forget if isinstance(policy, Forgets) else lambda is_needed: 0,
        clock=clock,
    )
    frontier.refuse_also(ceiling.refusal)
    return ceiling


def measure_processes() -> dict[int, int]:
    """Return the anonymous bytes of this process and its descendants, by process ID; empty without /proc."""
    found = {}
    for process in _descendants(os.getpid()):
        with suppress(OSError, ValueError):  # it has ended, or is a zombie without memory
            status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
            found[process] = 1024 * int(status.partition("RssAnon:")[2].split(None, 1)[0] or 0)
    return found


def _descendants(process: int) -> Iterator[int]:
    yield process
    with suppress(OSError):
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            for child in children.read_text(encoding="ascii").split():
                yield from _descendants(int(child))


class MemoryCeiling:
    """Checks the memory of a crawl at intervals, and sheds if it is above a share of the limit."""

    def __init__(
        self,
        limit: int,
        shedder: Shedder,
        *,
        parsers: Parsers,
        workers: int,
        caches: Iterable[Callable[[], object]],
        forget: Callable[[Callable[[str], bool]], int],
        clock: Clock,
        measure: Measure = measure_processes,
        count_blocks: Callable[[], int] = sys.getallocatedblocks,
    ) -> None:
        """`caches` are functions that free memory at no loss. `forget` makes the policy forget hosts.

        `count_blocks` returns how many blocks of memory Python's small objects take.
        """
        self._limit = limit
        self._shedder = shedder
        self._parsers = parsers
        self._parser_share = max(MIN_BYTES_PER_PARSER, int(_PARSERS_SHARE * limit / (workers + 1)))
        self._caches = tuple(caches)
        self._forget = forget
        self._clock = clock
        self._measure = measure
        self._count_blocks = count_blocks
        self._most_blocks = 0
        self._random = Random(0)
        self.counters = Counters()
        """The counters of the crawl, which `running` sets."""
        self._shed_above = _SHED_SHARE * limit
        """Bytes above which the next shedding is due."""
        self._is_closed = False
        """True if links to unknown hosts are refused."""
        self._is_shedding = False
        self._full_checks = 0

    @property
    def is_full(self) -> bool:
        """True if no request may start: memory is being shed, or there is not enough of it."""
        return self._is_shedding or self._full_checks > 0

    def is_exhausted(self) -> bool:
        """Return whether the crawl must end, because nothing is left to shed."""
        return self._full_checks >= _MAX_FULL_CHECKS

    def refusal(self, url: str) -> str:
        """Return why a link is refused: its host is not known, and there is no memory for it. Otherwise ""."""
        if not self._is_closed or self._shedder.is_known(host_of(url)):
            return ""
        self._count("refused links", 1)
        return REFUSAL

    @asynccontextmanager
    async def running(self, counters: Counters, *caches: Callable[[], object]) -> AsyncIterator[None]:
        """Check at intervals while the context is open. `caches` are added to those of the constructor."""
        self.counters = counters
        self._caches += caches
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            await cancel([task])

    async def _watch(self) -> None:
        while True:
            try:
                await self.check()
            except Exception:  # noqa: BLE001 - the crawl goes on without this check
                _LOG.exception("internal error: the memory of the crawl could not be checked; it is tried again")
            await asyncio.sleep(_CHECK_SECONDS)

    async def check(self) -> None:
        """Measure the memory, and shed if it has grown too much."""
        used = self._measure()
        self._restart_parsers(used)
        total = self._note(used)
        if total > self._shed_above:
            self._is_shedding = True
            try:
                after = await self._shed(total)
            finally:
                self._is_shedding = False
            self._shed_above = self._next_level(total, after)
            total = after
        self._full_checks = self._full_checks + 1 if self._needed(total) > _FULL_SHARE * self._limit else 0
        if self._full_checks == _MAX_FULL_CHECKS:
            _LOG.error(_EXHAUSTED)
            self.counters.note_problem(_EXHAUSTED)

    def _next_level(self, before: int, after: int) -> float:
        """Return the bytes above which the next shedding is due.

        If this one has returned memory to the system, the next one is due at the usual level. Otherwise it is due when
        the memory has grown further, because what was freed is used first.
        """
        usual = _SHED_SHARE * self._limit
        return usual if after < usual else min(before + _GROWTH_SHARE * self._limit, _MAX_LEVEL_SHARE * self._limit)

    def _note(self, used: Mapping[int, int]) -> int:
        total = sum(used.values())
        self.counters.memory = total
        self.counters.memory_peak = max(self.counters.memory_peak, total)
        self._most_blocks = max(self._most_blocks, self._count_blocks())
        self._is_closed = self._needed(total) > _CLOSED_SHARE * self._limit
        return total

    def _needed(self, total: int) -> int:
        """Return the bytes in use without those that were freed, did not return to the system, and are used next."""
        return total - _BYTES_PER_BLOCK * (self._most_blocks - self._count_blocks())

    def _count(self, what: str, count: int) -> None:
        if count:
            self.counters.shed[what] = self.counters.shed.get(what, 0) + count

    def _restart_parsers(self, used: Mapping[int, int]) -> None:
        if isinstance(self._parsers, ParserLanes):  # others are on other machines
            large = [process for process, size in used.items() if size > self._parser_share]
            self._count("parser processes", self._parsers.restart(large))

    async def _shed(self, used: int) -> int:
        """Shed in the order of value until memory is below the limit of shedding. Return the bytes in use then."""
        before = dict(self.counters.shed)
        for drop in self._caches:
            drop()
        trim_heap()
        total = self._note(self._measure())
        if total > _SHED_SHARE * self._limit:
            await self._set_aside(total / self._limit)
            self._count("hosts", self._forget_hosts())
            trim_heap()
            total = self._note(self._measure())
        shed = {what: count - before.get(what, 0) for what, count in self.counters.shed.items()}
        _LOG.warning(
            "memory: %s of %s are in use; shed %s; now %s",
            format_size(used),
            format_size(self._limit),
            ", ".join(f"{count:,} {what}" for what, count in shed.items() if count) or "caches only",
            format_size(total),
        )
        return total

    async def _set_aside(self, fill: float) -> None:
        """Set the arms of the lowest values aside. Their share grows with `fill`, the used share of the memory."""
        part = min(1.0, max(0.0, (fill - _SHED_SHARE) / (1.0 - _SHED_SHARE)))
        share = _MIN_ARMS_SHARE + part * (_MAX_ARMS_SHARE - _MIN_ARMS_SHARE)
        arms = self._shedder.arms()
        value = self._estimate_quantile(arms, share)
        if value is None:
            return
        left, began = ceil(share * len(arms)), time.monotonic()
        while arms and left > 0:
            newest = [arms.pop() for _ in range(min(_ARMS_PER_SLICE, len(arms)))]
            chosen = [arm for arm in newest if (own := self._shedder.value(arm)) is not None and own <= value][:left]
            self._count("links", sum(map(self._shedder.set_aside, chosen)))
            self._count("arms", len(chosen))
            left -= len(chosen)
            if time.monotonic() - began > _SLICE_SECONDS:
                await asyncio.sleep(0)
                self._note(self._measure())
                began = time.monotonic()

    def _estimate_quantile(self, arms: Sequence[str], share: float) -> float | None:
        """Return the value below which about a share of the arms are; None if no arm may be set aside."""
        sample = self._random.sample(arms, min(_SAMPLED_ARMS, len(arms)))
        values = sorted(value for arm in sample if (value := self._shedder.value(arm)) is not None)
        if not values:
            return None
        found = values[int(share * (len(values) - 1))]
        return found + _VALUE_MARGIN * abs(found) if isfinite(found) else found

    def _forget_hosts(self) -> int:
        """Remove idle hosts from memory, and let the policy forget hosts without reward. Return the number of hosts."""
        hosts = self._shedder.remove_idle_hosts(self._clock.now())
        self._forget(self._shedder.is_in_memory)
        return hosts

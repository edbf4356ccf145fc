"""`crawl --refresh --forever`: rounds of revisits and new links until the user stops them."""

import asyncio
import contextlib
import dataclasses
import signal
import time
from collections.abc import Awaitable, Callable

from motherlode.cli.crawl_run import visit_all, visit_shards, write_crawl_report
from motherlode.cli.stats import describe_refresh
from motherlode.cli.terminal import say
from motherlode.cluster import merge_shards
from motherlode.crawler import Counters, CrawlFolder, Job, read_stats
from motherlode.crawler.config.values import format_count, format_moment
from motherlode.crawler.engine.factory import BeginRefresh, make_notices
from motherlode.crawler.recrawl.forever import check_disk, read_budget, revisits_of, save_budget, save_next_round
from motherlode.crawler.recrawl.refresh_plan import RefreshKind, plan_shards
from motherlode.crawler.recrawl.revisits import Revisits
from motherlode.crawler.run_validation import validate_and_save
from motherlode.crawler.stats.counters import subtract_counters
from motherlode.frontier import Frontier

_FULL_DISK_SECONDS = 60.0
"""Seconds between two looks at a disk that is full."""
_MERGE_PAUSE = 10.0
"""Time between two merges of shards, or two validations, as a multiple of the duration of the last one."""

Wait = Callable[[float], Awaitable[None]]
"""Waits for a number of seconds, or until the user wants to stop."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class EndlessRefresh:
    """Runs rounds in a folder that is locked. A kill at any time loses nothing: the same command continues."""

    def __init__(
        self,
        job: Job,
        folder: CrawlFolder,
        *,
        quiet: bool,
        now: Callable[[], float] = time.time,
        wait: Wait | None = None,
    ) -> None:
        self._job = job
        self._folder = folder
        self._quiet = quiet
        self._now = now
        self._wait = self._wait_for_signal if wait is None else wait
        self.stopped = asyncio.Event()
        """Set if the user wants to stop."""
        self._notices = make_notices(job, folder, is_one_run=False)
        self._disk_level = 0
        """0 while there is enough room, 1 after a warning, 2 while the disk is full."""
        self._next_merge = 0.0
        """Time, by the monotonic clock, before which the folders of shards are not merged again."""
        self._next_validation = 0.0
        """The same for the validation of all pages."""

    async def run(self) -> None:
        """Run rounds until the user stops them. Each begins one `round_time` after the previous one, or later."""
        self._handle_signals()
        try:
            await self._run_rounds()
        finally:
            save_next_round(self._folder.path, None)
            await self._merge_shards(is_last=True)
            self._notices.send_end()
            await self._notices.close()

    async def _run_rounds(self) -> None:
        while not self.stopped.is_set():
            began = self._now()
            if self._has_room():
                await self._run_round(began)
                pause = max(0.0, began + self._job.round_time - self._now())
            else:
                pause = min(_FULL_DISK_SECONDS, self._job.round_time)
            if not self.stopped.is_set():
                save_next_round(self._folder.path, self._now() + pause)
                await self._wait(pause)
                save_next_round(self._folder.path, None)

    def _handle_signals(self) -> None:
        """Stop on Ctrl-C, SIGTERM or SIGHUP between two rounds. During a round `watch` handles them."""
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
                asyncio.get_running_loop().add_signal_handler(number, self.stopped.set)

    async def _wait_for_signal(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.stopped.wait(), seconds)

    def _has_room(self) -> bool:
        """Check the disk, and warn if it has become worse."""
        used = self._folder.measure_disk_use()
        state = check_disk(self._folder.path, used=used, max_disk=self._job.max_disk)
        level = state.is_full + bool(state.message)
        if level > self._disk_level:
            say(f"warning: {state.message}")
            self._notices.note_disk(state.message)
        self._disk_level = level
        return not state.is_full

    async def _run_round(self, now: float) -> None:
        """Run one round within the budget of the day."""
        before = read_stats(self._folder).totals
        job, allowance = self._job, None
        if job.pages_per_day is not None:
            budget = read_budget(self._folder.path, now=now, fetched=before.fetched)
            save_budget(self._folder.path, budget)
            allowance = budget.allowance(
                now, fetched=before.fetched, per_day=job.pages_per_day, round_seconds=job.round_time
            )
            if not allowance:
                return
            job = dataclasses.replace(job, pages=before.page_requests + allowance)
        stopped = await self._visit(job, now, allowance)
        self._handle_signals()
        if stopped:
            self.stopped.set()
        await self._validate()
        stats = write_crawl_report(job, self._folder)
        if not self._quiet:
            say(self._describe(subtract_counters(before, stats.totals), now, stopped=stopped))

    async def _visit(self, job: Job, now: float, allowance: int | None) -> bool:
        """Run the crawl of a round, in one process or in shards. Return whether the user stopped it."""
        if job.shards == 1:
            begin, notices = round_starter(now, allowance), self._notices
            return await visit_all(
                job, self._folder, quiet=self._quiet, refresh=begin, seconds=job.round_time, notices=notices
            )
        sitemaps = frozenset(url for source in job.source_list() for url in source.sitemap)
        plans = plan_shards(self._folder, job.shards, RefreshKind.ROUND, now, allowance=allowance, always=sitemaps)
        stopped = await visit_shards(job, self._folder, quiet=self._quiet, plans=plans, seconds=job.round_time)
        await self._merge_shards()
        return stopped

    async def _validate(self) -> None:
        """Validate the pages by the profiles of the job, unless that was done a short time ago."""
        began = time.monotonic()
        if not self._job.validate or began < self._next_validation or self.stopped.is_set():
            return
        await asyncio.to_thread(validate_and_save, self._folder, self._job.validate)
        ended = time.monotonic()
        self._next_validation = ended + _MERGE_PAUSE * (ended - began)

    async def _merge_shards(self, *, is_last: bool = False) -> None:
        """Merge the folders of shards, so that queries see them. Before the end, this takes few of the hours."""
        began = time.monotonic()
        if self._job.shards == 1 or (began < self._next_merge and not is_last):
            return
        await asyncio.to_thread(merge_shards, self._folder, words=self._job.words)
        ended = time.monotonic()
        self._next_merge = ended + _MERGE_PAUSE * (ended - began)

    def _describe(self, own: Counters, now: float, *, stopped: bool) -> str:
        revisits = f"{format_count(own.refreshed, 'revisit')}: {describe_refresh(own)}; " if own.refreshed else ""
        following = "stopped; the same command continues" if stopped else f"next round at {self._next(now)}"
        return f"round: {revisits}{format_count(own.first, 'new page')}; {following}"

    def _next(self, now: float) -> str:
        return format_moment(max(self._now(), now + self._job.round_time))


def round_starter(now: float, allowance: int | None) -> BeginRefresh:
    """Return the function that the engine calls to queue the revisits of a round of at most `allowance` requests."""

    def begin(revisits: Revisits, frontier: Frontier) -> None:
        new_urls = frontier.waiting - frontier.revisits_left
        most = None if allowance is None else revisits_of(allowance, new_urls=new_urls)
        revisits.begin_round(now, most=most)

    return begin

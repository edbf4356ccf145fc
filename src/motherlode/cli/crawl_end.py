"""The last lines of a crawl: why it is over, and how it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from shlex import quote
from typing import Any

from motherlode.cli.terminal import counted, looks_in_words, moment
from motherlode.crawler import Counters, CrawlFolder, CrawlStats, Job
from motherlode.crawler.config.units import format_size
from motherlode.crawler.engine.recovery import frontier_advice, is_frontier_damage
from motherlode.crawler.report.figures import duration
from motherlode.crawler.stats.counters import since
from motherlode.index.snapshot import DamagedError, is_damage, remedy, store_advice


def after_failure(error: BaseException, folder: CrawlFolder, *, command: str) -> str:
    """What ended a command, and what to do: the command goes on, unless something on disk is damaged."""
    if isinstance(error.__cause__, DamagedError):
        return str(error.__cause__)
    if is_damage(error):
        return store_advice(folder.store, str(error))
    if is_frontier_damage(error):
        return frontier_advice(folder, str(error))
    again = f"`motherlode {command} {quote(str(folder.path))}`"
    return f"{str(error).rstrip('. ')}. What was committed is safe: {remedy(error)}{again} goes on"


Ending = Callable[[CrawlStats], Iterator[str]]


@dataclass(frozen=True, slots=True)
class CrawlEnd:
    """Of a crawl that nobody stopped."""

    job: Job
    folder: CrawlFolder

    def __call__(self, stats: CrawlStats) -> Iterator[str]:
        name, job = quote(str(self.folder.path)), self.job
        if stats.dried_out:
            few = f"fewer than {job.stop_below:g} of the last {job.stop_after} requests were finds"
            yield f"dried out: {few}; `motherlode resume {name}` goes on, for at least as many more"
        elif spent := _spent((job.pages, job.time, job.bytes), stats.totals):
            amounts = " ".join(spent.values())
            yield f"the budget is spent ({amounts}); {_resume(name, spent)} goes on, with a budget for the whole crawl"
        elif stats.totals.no_network_since is not None:
            since = moment(stats.totals.no_network_since)
            yield f"no network since {since}, and no longer waited for; `motherlode resume {name}` goes on"
        elif job.shards > 1:  # which cannot be refreshed as one
            yield "nothing is left to fetch"
        else:
            yield f"nothing is left to fetch; `motherlode crawl --refresh -o {name}` looks at the pages again"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshEnd:
    """Of a refresh: also what this one has found, for the account is that of all."""

    folder: CrawlFolder
    budget: Job
    """The job of this run, with budgets that count from where the crawl was."""
    before: Counters
    stopped: bool
    left: int
    """Known pages that were to be looked at, and were not."""

    def summary(self, stats: CrawlStats) -> dict[str, Any]:
        """What this refresh alone has found, for programs."""
        whole = since(self.before, stats.totals).summary()
        return {name: whole[name] for name in ("fetched", "refreshed", "unchanged", "changed", "gone")}

    def __call__(self, stats: CrawlStats) -> Iterator[str]:
        brought = since(self.before, stats.totals)
        new = f"; {counted(brought.first, 'new page')}" if brought.first else ""
        yield f"this refresh: {counted(brought.refreshed, 'look')} at known pages: {looks_in_words(brought)}{new}"
        if not self.stopped:
            yield f"{self._why(brought, stats.totals.no_network_since)}; {self._how(stats)}"

    def _why(self, brought: Counters, no_network_since: float | None) -> str:
        job, before = self.budget, self.before
        spent = _spent(
            (
                None if job.pages is None else job.pages - before.fetched,
                None if job.time is None else job.time - before.seconds,
                None if job.bytes is None else job.bytes - before.bytes,
            ),
            brought,
        )
        if spent:
            return f"the budget of this refresh is spent ({' '.join(spent.values())})"
        if no_network_since is not None:
            return f"no network since {moment(no_network_since)}, and no longer waited for"
        return "all known pages that it was for were looked at"

    def _how(self, stats: CrawlStats) -> str:
        name = quote(str(self.folder.path))
        if self.left:
            return f"`motherlode resume {name}` goes on with {counted(self.left, 'known page')}"
        waiting = 0 if stats.left is None else stats.left.urls
        if waiting:
            job = self.folder.read_job()
            command = _resume(name, _spent((job.pages, job.time, job.bytes), stats.totals))
            return f"{command} goes on with {counted(waiting, 'URL')} that the crawl has left"
        return f"nothing else is left to fetch; `motherlode crawl --refresh -o {name}` looks again"


def _spent(limits: tuple[int | None, float | None, int | None], totals: Counters) -> dict[str, str]:
    """Of the budgets of pages, time and bytes those that are used up: their flags, and how much they were."""
    pages, time, received = limits
    budgets = (
        ("--pages N", pages, totals.fetched, counted(pages or 0, "page")),
        ("--time T", time, totals.seconds, duration(time or 0)),
        ("--bytes B", received, totals.bytes, format_size(received or 0)),
    )
    return {flag: value for flag, limit, used, value in budgets if limit is not None and used >= limit}


def _resume(name: str, spent: dict[str, str]) -> str:
    return f"`motherlode resume {' '.join((name, *spent))}`"

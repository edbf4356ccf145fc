"""The last messages of a crawl: why it ended, and how to continue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from shlex import quote
from typing import Any

from motherlode.cli.stats import describe_refresh
from motherlode.crawler import Counters, CrawlFolder, CrawlStats, Job
from motherlode.crawler.config.values import format_count, format_duration, format_moment, format_size
from motherlode.crawler.engine.recovery import frontier_advice, is_frontier_damage
from motherlode.crawler.stats.counters import subtract_counters
from motherlode.index.snapshot import DamagedError, is_damage, remedy, store_advice


def describe_failure(error: BaseException, folder: CrawlFolder, *, command: str) -> str:
    """Return a message about the error that ended a command, with what to do: continue, or repair what is damaged."""
    if isinstance(error.__cause__, DamagedError):
        return str(error.__cause__)
    if is_damage(error):
        return store_advice(folder.store, str(error))
    if is_frontier_damage(error):
        return frontier_advice(folder, str(error))
    again = f"`motherlode {command} {quote(str(folder.path))}`"
    return f"{str(error).rstrip('. ')}. All committed data is safe: {remedy(error)}{again} continues"


Ending = Callable[[CrawlStats], Iterator[str]]
"""Returns the last lines of the output."""


@dataclass(frozen=True, slots=True)
class CrawlEnd:
    """The end of a crawl that the user did not stop."""

    job: Job
    folder: CrawlFolder

    def __call__(self, stats: CrawlStats) -> Iterator[str]:
        name, job = quote(str(self.folder.path)), self.job
        if stats.dried_out:
            share = f"less than {job.stop_below:g} of the last {job.stop_after} requests gave a relevant page"
            yield f"stopped early: {share}; `motherlode resume {name}` continues for at least as many requests"
        elif spent := _spent_budgets((job.pages, job.time, job.bytes), stats.totals):
            amounts = " ".join(spent.values())
            command = _resume_command(name, spent)
            yield f"the budget is spent ({amounts}); {command} continues, with a budget for the whole crawl"
        elif stats.totals.no_network_since is not None:
            since = format_moment(stats.totals.no_network_since)
            yield f"no network since {since}, so the crawl ended; `motherlode resume {name}` continues"
        elif job.shards > 1:  # such a crawl cannot be refreshed as a whole
            yield "nothing is left to fetch"
        else:
            yield f"nothing is left to fetch; `motherlode crawl --refresh -o {name}` visits the pages again"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshEnd:
    """The end of a refresh, with the results of this refresh alone. The summary is about the whole crawl."""

    folder: CrawlFolder
    budget: Job
    """The job of this run. Its budgets include the amounts in `before`."""
    before: Counters
    stopped: bool
    left: int
    """Revisits that are still waiting."""

    def summary(self, stats: CrawlStats) -> dict[str, Any]:
        """Return the counters of this refresh alone."""
        whole = subtract_counters(self.before, stats.totals).summary()
        return {name: whole[name] for name in ("fetched", "refreshed", "unchanged", "changed", "gone")}

    def __call__(self, stats: CrawlStats) -> Iterator[str]:
        own = subtract_counters(self.before, stats.totals)
        new = f"; {format_count(own.first, 'new page')}" if own.first else ""
        yield f"this refresh: {format_count(own.refreshed, 'revisit')}: {describe_refresh(own)}{new}"
        if not self.stopped:
            yield f"{self._describe_reason(own, stats.totals.no_network_since)}; {self._describe_next_step(stats)}"

    def _describe_reason(self, own: Counters, no_network_since: float | None) -> str:
        job, before = self.budget, self.before
        spent = _spent_budgets(
            (
                None if job.pages is None else job.pages - before.fetched,
                None if job.time is None else job.time - before.seconds,
                None if job.bytes is None else job.bytes - before.bytes,
            ),
            own,
        )
        if spent:
            return f"the budget of this refresh is spent ({' '.join(spent.values())})"
        if no_network_since is not None:
            return f"no network since {format_moment(no_network_since)}, so the refresh ended"
        return "all pages of this refresh were visited"

    def _describe_next_step(self, stats: CrawlStats) -> str:
        name = quote(str(self.folder.path))
        if self.left:
            return f"`motherlode resume {name}` continues with {format_count(self.left, 'known page')}"
        waiting = 0 if stats.left is None else stats.left.urls
        if waiting:
            job = self.folder.read_job()
            command = _resume_command(name, _spent_budgets((job.pages, job.time, job.bytes), stats.totals))
            return f"{command} continues with {format_count(waiting, 'waiting URL')} of the crawl"
        return f"nothing else is left to fetch; `motherlode crawl --refresh -o {name}` visits the pages again"


def _spent_budgets(limits: tuple[int | None, float | None, int | None], totals: Counters) -> dict[str, str]:
    """Return the flags and amounts of the budgets of pages, time and bytes that are used up."""
    pages, time, received = limits
    budgets = (
        ("--pages N", pages, totals.fetched, format_count(pages or 0, "page")),
        ("--time T", time, totals.seconds, format_duration(time or 0)),
        ("--bytes B", received, totals.bytes, format_size(received or 0)),
    )
    return {flag: value for flag, limit, used, value in budgets if limit is not None and used >= limit}


def _resume_command(name: str, spent: dict[str, str]) -> str:
    return f"`motherlode resume {' '.join((name, *spent))}`"

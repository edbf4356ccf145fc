"""Run of a crawl by `crawl` and `resume`: progress, report, summary, and the last messages with what to do next."""

import asyncio
import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Annotated, Any, NoReturn

import uvloop

from motherlode.cli.options import option
from motherlode.cli.progress import CrawlProgress, watch
from motherlode.cli.stats import describe_refresh, print_summary
from motherlode.cli.terminal import FAILED, NOTHING_FETCHED, print_json, say, say_above_progress, stop
from motherlode.cluster import merge_shards
from motherlode.cluster.ray_runtime import running_ray
from motherlode.crawler import Counters, CrawlFolder, CrawlStats, Job, read_stats
from motherlode.crawler.config.job import DEFAULT_LOG_LEVEL, LOG_LEVELS
from motherlode.crawler.config.values import format_count, format_duration, format_moment, format_size
from motherlode.crawler.control import read_control
from motherlode.crawler.engine.factory import BeginRefresh, MakeParsers, assemble, make_notices
from motherlode.crawler.engine.pipeline import NoNotices
from motherlode.crawler.engine.recovery import is_frontier_damage
from motherlode.crawler.explain.breadth_first import breadth_first_curve
from motherlode.crawler.frontier_reader import frontier_advice
from motherlode.crawler.notices import Notices
from motherlode.crawler.recrawl.refresh_plan import RefreshKind, RefreshPlan, plan_shards
from motherlode.crawler.report.crawl_report import build_report, write_report
from motherlode.crawler.run_validation import validate_and_save
from motherlode.crawler.stats.counters import subtract_counters
from motherlode.crawler.stats.reader import count_waiting_revisits
from motherlode.index.snapshot import DamagedError, is_damage, remedy, store_advice
from motherlode.www.urls import OUT_OF_SCOPE

LogLevel = Annotated[
    str | None,
    option(
        "|".join(LOG_LEVELS),
        f"Lowest level of the lines in crawl.log of the folder. [default: {DEFAULT_LOG_LEVEL}]",
        callback=lambda level: level and level.lower(),
    ),
]


def run_crawl(
    job: Job,
    folder: CrawlFolder,
    *,
    quiet: bool,
    refresh: BeginRefresh | None = None,
    plans: Sequence[RefreshPlan] = (),
) -> bool:
    """Run a crawl, write its report and unlock its folder. Return whether the user stopped it.

    `refresh` begins a refresh in a crawl of one process, and `plans` are those of the shards.
    """
    try:
        if job.shards > 1:
            stopped = _run_shards(job, folder, quiet=quiet, plans=plans)
        elif job.ray_parsers:
            stopped = _run_with_remote_parsers(job, folder, quiet=quiet, refresh=refresh)
        else:
            stopped = uvloop.run(visit_all(job, folder, quiet=quiet, refresh=refresh))
    except (OSError, RuntimeError) as error:
        stop_after_failure(error, folder, command="resume")
    finally:
        folder.unlock()
    if job.validate and not stopped:
        if not quiet:
            say(f"validating all pages by {', '.join(job.validate)} …")
        validate_and_save(folder, job.validate)
    try:
        write_crawl_report(job, folder)
    except (OSError, RuntimeError) as error:
        stop_after_failure(error, folder, command="resume")
    if stopped and not quiet:
        say(f"stopped; `motherlode resume {quote(str(folder.path))}` continues from here")
    return stopped


def write_crawl_report(job: Job, folder: CrawlFolder) -> CrawlStats:
    """Write the report of a crawl, and return the statistics in it."""
    stats = read_stats(folder)
    others = (breadth_first_curve(folder, stats),)
    write_report(folder.report, build_report(job, stats, made_at=time.time(), others=others))
    return stats


async def visit_all(
    job: Job,
    folder: CrawlFolder,
    *,
    quiet: bool,
    refresh: BeginRefresh | None = None,
    make_parsers: MakeParsers | None = None,
    seconds: float | None = None,
    notices: Notices | NoNotices | None = None,
) -> bool:
    """Run a crawl without shards and show its progress. Return whether the user stopped it.

    No request starts after `seconds`, if they are given. `notices` replaces those of the job.
    """
    if job.own_hosts and not quiet:
        say(f"robots.txt is not applied to your own hosts: {', '.join(job.own_hosts)}")
    assembled = assemble(job, folder, refresh=refresh, make_parsers=make_parsers, notices=notices)
    crawl = assembled.engine
    progress = CrawlProgress(job, crawl.totals, assembled.frontier, quiet=quiet)
    loop = asyncio.get_running_loop()
    timer = None if seconds is None else loop.call_later(seconds, crawl.stop)
    try:
        return await watch(crawl.visits(assembled.seeds), progress, stop=crawl.stop)
    finally:
        if timer is not None:
            timer.cancel()
        assembled.store.close()


def _run_with_remote_parsers(job: Job, folder: CrawlFolder, *, quiet: bool, refresh: BeginRefresh | None) -> bool:
    """Run a crawl whose parsers are on Ray. Return whether the user stopped it."""
    if not quiet:
        say(f"joining Ray at {job.ray} …" if job.ray else f"starting Ray for {job.ray_parsers} parsers …")
    try:
        with running_ray(job.ray, shards=1):
            from motherlode.cluster.remote_parsers import parsers_on_ray  # imports Ray

            make_parsers = parsers_on_ray(job.ray_parsers)
            return uvloop.run(visit_all(job, folder, quiet=quiet, refresh=refresh, make_parsers=make_parsers))
    except KeyboardInterrupt:  # before the crawl started
        return True


def _run_shards(job: Job, folder: CrawlFolder, *, quiet: bool, plans: Sequence[RefreshPlan]) -> bool:
    """Run all shards and merge their folders. Return whether the user stopped the crawl."""
    if not plans and _spent_budgets(job, read_stats(folder).totals) and count_waiting_revisits(folder):
        job = dataclasses.replace(job, pages=None, time=None, bytes=None)  # they were for the crawl's own pages
        plans = plan_shards(folder, job.shards, RefreshKind.REST, time.time())
    if not quiet:
        say(describe_start(job))
    try:
        with running_ray(job.ray, shards=job.shards):
            stopped = uvloop.run(visit_shards(job, folder, quiet=quiet, plans=plans))
    except KeyboardInterrupt:  # before the shards started
        stopped = True
    if folder.shard_folders() and not quiet:
        say("merging the folders of all shards …")
    merge_shards(folder, words=job.words)
    uvloop.run(_notify_of_end(job, folder))
    return stopped


async def _notify_of_end(job: Job, folder: CrawlFolder) -> None:
    """Send the notice of the end of a crawl with shards, which send only other notices."""
    notices = make_notices(job, folder, is_one_run=True)
    notices.start(read_stats(folder).totals)
    await notices.end_run(is_broken=False)


def describe_start(job: Job) -> str:
    """Return the message before Ray is joined or started for the shards of a crawl."""
    return f"joining Ray at {job.ray} …" if job.ray else f"starting Ray for {job.shards} shards …"


async def visit_shards(
    job: Job,
    folder: CrawlFolder,
    *,
    quiet: bool,
    plans: Sequence[RefreshPlan] = (),
    seconds: float | None = None,
) -> bool:
    """Run the shards of a crawl and show their progress. Return whether the user stopped them.

    No request starts after `seconds`, if they are given.
    """
    from motherlode.cluster.driver import ShardedCrawl  # imports Ray

    def warn(text: str) -> None:
        if not quiet:
            say_above_progress(text)

    crawl = ShardedCrawl(job, folder, refresh=plans, warn=warn)
    progress = CrawlProgress(job, crawl.totals, crawl.overview, quiet=quiet)
    timer = None if seconds is None else asyncio.get_running_loop().call_later(seconds, crawl.stop)
    try:
        return await watch(crawl.visits(), progress, stop=crawl.stop)
    finally:
        if timer is not None:
            timer.cancel()


def stop_after_failure(error: OSError | RuntimeError, folder: CrawlFolder, *, command: str) -> NoReturn:
    """End the command after an error of the system or a damaged store. Raise other errors again."""
    if isinstance(error, DamagedError):
        stop(str(error), code=FAILED)
    if isinstance(error, RuntimeError) and not is_damage(error):
        raise error
    stop(describe_failure(error, folder, command=command), code=FAILED)


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


# The last messages

Ending = Callable[[CrawlStats], Iterator[str]]
"""Returns, from the statistics, the lines that say why the crawl ended and how to continue."""


def print_outcome(folder: CrawlFolder, *, as_json: bool, ending: Ending | None = None) -> None:
    """Print the summary of a crawl. `ending` adds why the crawl ended and how to continue.

    If the crawl fetched no page, exit with a code of its own and the reason.
    """
    stats = read_stats(folder)
    if as_json:
        refresh = {"this_refresh": ending.summary(stats)} if isinstance(ending, RefreshEnd) else {}
        print_json(stats.summary() | refresh)
    else:
        print_summary(stats)
        for line in ending(stats) if ending is not None and stats.totals.pages else ():
            say(line)
        say(f"report: {folder.report}")
    if not stats.totals.pages:
        stop(f"no page was fetched: {_explain_empty(stats)}", code=NOTHING_FETCHED)
    if not as_json:
        say(f"query it: motherlode query {quote(str(folder.path))} 'SELECT ?s ?p ?o {{?s ?p ?o}} LIMIT 10'")


_NETWORK_HINT = "is this machine on a network, and do the servers respond?"
_NAME_HINT = "is this machine on a network, and are the host names right?"
_HINTS = {
    "dns": _NAME_HINT,
    "dns-unavailable": _NAME_HINT,
    "connect": _NETWORK_HINT,
    "timeout": _NETWORK_HINT,
    "challenged": "the sites send challenge pages to programs; ask their owners to admit your User-Agent",
    "robots": "the robots.txt of the sites does not allow it",
    "address-guard": "the addresses are private: --allow RANGE allows ranges of your own",
    "not-found": "are the seeds right? In a recorded web, are they in the file?",
}


def _explain_empty(stats: CrawlStats) -> str:
    """Return why a crawl fetched no page, and what to do."""
    totals = stats.totals
    if totals.failures:
        kind = max(totals.failures, key=lambda name: totals.failures[name])
        which = "all requests" if not totals.redirects else "all requests that were no redirects"
        return f"{which} failed, most of them with {kind}; {_HINTS.get(kind, 'see the failures above')}"
    if totals.redirects and OUT_OF_SCOPE in stats.refused:
        return "the seeds redirect to URLs out of scope; start from those, or widen --scope"
    if stats.refused and not totals.fetched:
        reason = max(stats.refused, key=lambda name: stats.refused[name])
        return f"all URLs were refused, most of them by {reason}; {_HINTS.get(reason, 'see `motherlode explain`')}"
    if totals.no_network_since is not None:
        return _NETWORK_HINT
    return "the crawl ended before the first response"


@dataclass(frozen=True, slots=True)
class CrawlEnd:
    """The end of a crawl that the user did not stop."""

    job: Job
    folder: CrawlFolder

    def __call__(self, stats: CrawlStats) -> Iterator[str]:
        name, control = quote(str(self.folder.path)), read_control(self.folder)
        job = self.job if control.pages is None else dataclasses.replace(self.job, pages=control.pages)
        if control.is_stopped:
            yield f"stopped by a control of the web site; `motherlode resume {name}` continues"
        elif stats.stopped_early:
            share = f"less than {job.stop_below:g} of the last {job.stop_after} requests gave a relevant page"
            if job.stop_after is None:
                share = f"relevant pages have become rare for the policy {job.policy}"
            yield f"stopped early: {share}; `motherlode resume {name}` continues for at least as many requests"
        elif spent := _spent_budgets(job, stats.totals):
            amounts = " ".join(spent.values())
            command = _resume_command(name, spent)
            yield f"the budget is spent ({amounts}); {command} continues, with a budget for the whole crawl"
        elif stats.totals.no_network_since is not None:
            since = format_moment(stats.totals.no_network_since)
            yield f"no network since {since}, so the crawl ended; `motherlode resume {name}` continues"
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
            yield f"{self._describe_reason(stats.totals)}; {self._describe_next_step(stats)}"

    def _describe_reason(self, totals: Counters) -> str:
        if spent := _spent_budgets(self.budget, totals, self.before):
            return f"the budget of this refresh is spent ({' '.join(spent.values())})"
        if totals.no_network_since is not None:
            return f"no network since {format_moment(totals.no_network_since)}, so the refresh ended"
        return "all pages of this refresh were visited"

    def _describe_next_step(self, stats: CrawlStats) -> str:
        name = quote(str(self.folder.path))
        if self.left:
            return f"`motherlode resume {name}` continues with {format_count(self.left, 'known page')}"
        waiting = 0 if stats.left is None else stats.left.urls
        if waiting:
            command = _resume_command(name, _spent_budgets(self.folder.read_job(), stats.totals))
            return f"{command} continues with {format_count(waiting, 'waiting URL')} of the crawl"
        return f"nothing else is left to fetch; `motherlode crawl --refresh -o {name}` visits the pages again"


def _spent_budgets(job: Job, totals: Counters, before: Counters | None = None) -> dict[str, str]:
    """Return the flags and amounts of the budgets that are used up. Amounts in `before` are not part of the budgets."""
    earlier = before or Counters()
    spent: dict[str, str] = {}
    if job.pages is not None and totals.fetched >= job.pages:
        spent["--pages N"] = format_count(job.pages - earlier.fetched, "page")
    if job.time is not None and totals.seconds >= job.time:
        spent["--time T"] = format_duration(job.time - earlier.seconds)
    if job.bytes is not None and totals.bytes >= job.bytes:
        spent["--bytes B"] = format_size(job.bytes - earlier.bytes)
    return spent


def _resume_command(name: str, spent: dict[str, str]) -> str:
    return f"`motherlode resume {' '.join((name, *spent))}`"

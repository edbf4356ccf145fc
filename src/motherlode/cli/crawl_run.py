"""Run of a crawl from the command line: progress, report, summary and advice. `crawl` and `resume` share it."""

from __future__ import annotations

import time
from shlex import quote
from typing import Annotated

import typer
import uvloop

from motherlode.cli.crawl_end import Ending, RefreshEnd, describe_failure
from motherlode.cli.progress import CrawlProgress, watch
from motherlode.cli.shards import run_sharded
from motherlode.cli.stats import print_summary
from motherlode.cli.terminal import FAILED, print_json, say, stop
from motherlode.crawler import CrawlFolder, CrawlStats, Job, JobError, read_stats
from motherlode.crawler.config.job import DEFAULT_LOG_LEVEL, LOG_LEVELS
from motherlode.crawler.engine.factory import BeginRefresh, assemble
from motherlode.crawler.report.crawl_report import build_report, write_report
from motherlode.index.snapshot import DamagedError, is_damage
from motherlode.www.urls import OUT_OF_SCOPE

LogLevel = Annotated[
    str | None,
    typer.Option(
        "--log-level",
        metavar="|".join(LOG_LEVELS),
        callback=lambda level: level and level.lower(),
        help=f"Lowest level of the lines in crawl.log of the folder. [default: {DEFAULT_LOG_LEVEL}]",
    ),
]


def run_crawl(
    job: Job,
    folder: CrawlFolder,
    *,
    quiet: bool,
    refresh: BeginRefresh | None = None,
) -> bool:
    """Run a crawl, show its progress and write its report. Return whether the user stopped it.

    The folder is locked by the caller and unlocked here.
    """
    try:
        if job.shards > 1:
            stopped = run_sharded(job, folder, quiet=quiet)
        else:
            stopped = uvloop.run(visit_all(job, folder, quiet=quiet, refresh=refresh))
    except JobError as error:
        stop(str(error))
    except DamagedError as error:
        stop(str(error), code=FAILED)
    except OSError as error:
        stop(describe_failure(error, folder, command="resume"), code=FAILED)
    except RuntimeError as error:
        if not is_damage(error):
            raise
        stop(describe_failure(error, folder, command="resume"), code=FAILED)
    finally:
        folder.unlock()
    write_report(folder.report, build_report(job, read_stats(folder), made_at=time.time()))
    if stopped and not quiet:
        say(f"stopped; `motherlode resume {quote(str(folder.path))}` continues from here")
    return stopped


async def visit_all(
    job: Job,
    folder: CrawlFolder,
    *,
    quiet: bool,
    refresh: BeginRefresh | None = None,
) -> bool:
    """Run a crawl without shards and show its progress. Return whether the user stopped it."""
    if job.own_hosts and not quiet:
        names = ", ".join(job.own_hosts)
        say(f"robots.txt is not applied to your own hosts: {names}")
    assembled = assemble(job, folder, refresh=refresh)
    crawl = assembled.engine
    progress = CrawlProgress(job, crawl.totals, assembled.frontier, quiet=quiet)
    try:
        return await watch(crawl.visits(assembled.seeds), progress, stop=crawl.stop)
    finally:
        assembled.store.close()


def print_outcome(folder: CrawlFolder, *, as_json: bool, ending: Ending | None = None) -> None:
    """Print the summary of a crawl. `ending` adds why the crawl ended and how to continue."""
    stats = read_stats(folder)
    if as_json:
        refresh = {"this_refresh": ending.summary(stats)} if isinstance(ending, RefreshEnd) else {}
        print_json(stats.summary() | refresh)
        return
    print_summary(stats)
    _say_why_empty(stats)
    for line in ending(stats) if ending is not None else ():
        say(line)
    say(f"report: {folder.report}")
    say(f"query it: motherlode query {quote(str(folder.path))} 'SELECT ?s ?p ?o {{?s ?p ?o}} LIMIT 10'")


def _say_why_empty(stats: CrawlStats) -> None:
    """Print what to do if the crawl fetched no page at all."""
    totals = stats.totals
    failed = sum(totals.failures.values())
    if totals.fetched == 0 and stats.refused:
        reason = max(stats.refused, key=lambda name: stats.refused[name])
        hint = _HINTS.get(reason, "are the seeds allowed by robots.txt?")
        say(f"nothing was fetched: all URLs were refused (see above); {hint}")
    elif totals.fetched and failed == totals.fetched:
        kind = max(totals.failures, key=lambda name: totals.failures[name])
        hint = _HINTS.get(kind, "see the failures above")
        say(f"all requests failed, most of them with {kind}; {hint}")
    elif totals.fetched and totals.fetched == totals.redirects and OUT_OF_SCOPE in stats.refused:
        say("no page was fetched: the seeds redirect to URLs out of scope; start from those, or widen --scope")


_NETWORK_HINT = "is this machine on a network, and do the servers respond?"
_NAME_HINT = "is this machine on a network, and are the host names right?"
_HINTS = {
    "dns": _NAME_HINT,
    "dns-unavailable": _NAME_HINT,
    "connect": _NETWORK_HINT,
    "timeout": _NETWORK_HINT,
    "address-guard": "the addresses are private: --allow RANGE allows ranges of your own",
    "not-found": "are the seeds right? In a recorded web, are they in the file?",
}
"""Advice by kind of failure or reason of refusal."""

"""The job and the start of `crawl --refresh`, which visits the pages of a finished crawl again."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from typing import Any

from motherlode.cli.terminal import say
from motherlode.crawler import CrawlFolder, Job, JobError, read_stats
from motherlode.crawler.engine.factory import BeginRefresh
from motherlode.crawler.recrawl.revisits import Revisits
from motherlode.frontier import Frontier

_BUDGETS = {"pages": "fetched", "time": "seconds", "bytes": "bytes"}
"""Each budget, and the counter that it limits."""
_CHANGEABLE = frozenset({*_BUDGETS, "delay", "allow", "contact", "web", "warc"})
"""Keys of the saved job that one refresh may change."""


def refresh_job(folder: CrawlFolder, flags: Mapping[str, Any]) -> Job:
    """Return the saved job with the flags of this run. Budgets count from the beginning of the refresh."""
    job = folder.read_job()
    if job.shards > 1:
        raise JobError("a crawl with several shards cannot be refreshed as a whole: refresh the folder of each shard")
    given = {name: value for name, value in flags.items() if value is not None}
    fixed = sorted(set(given) - _CHANGEABLE)
    if fixed:
        raise JobError(f"{fixed[0]} cannot be changed by --refresh: the job.toml of {folder.path} sets it")
    dataclasses.replace(job, **given)  # checks the budgets before the counters are added
    totals = read_stats(folder).totals
    for name, counter in _BUDGETS.items():
        given[name] = getattr(totals, counter) + given[name] if name in given else None
    return dataclasses.replace(job, **given)


def refresh_starter(*, due_only: bool, quiet: bool) -> BeginRefresh:
    """Return the function that the engine calls to queue the known pages, all of them or those that are due."""

    def begin(revisits: Revisits, frontier: Frontier) -> None:
        revisits.begin(time.time(), due_only=due_only)
        if not quiet:
            kind = "due pages" if due_only else "known pages"
            say(f"revisiting {frontier.revisits_left:,} {kind}, the most likely changes first")

    return begin

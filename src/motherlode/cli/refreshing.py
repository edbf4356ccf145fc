"""`crawl --refresh`: another look at the pages of a crawl that is over."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from typing import Any

from motherlode.cli.output import say
from motherlode.crawl import CrawlFolder, Job, JobError, read_stats
from motherlode.crawl.assemble import BeginRefresh
from motherlode.crawl.refreshing import Revisits
from motherlode.frontier import Frontier

_BUDGETS = {"pages": "fetched", "time": "seconds", "bytes": "bytes"}
"""Each budget, and what of the account it limits."""
_CHANGEABLE = frozenset({*_BUDGETS, "delay", "allow", "contact", "web", "warc"})
"""What may differ from the crawl's own job for one refresh."""


def refresh_job(folder: CrawlFolder, flags: Mapping[str, Any]) -> Job:
    """The crawl's own job, with budgets for this run alone."""
    job = folder.job()
    if job.shards > 1:
        raise JobError("a crawl of several shards cannot be refreshed yet: refresh the folder of each shard")
    given = {name: value for name, value in flags.items() if value is not None}
    foreign = sorted(set(given) - _CHANGEABLE)
    if foreign:
        raise JobError(f"--refresh looks at what {folder.path} knows: {foreign[0]} is settled by its job.toml")
    dataclasses.replace(job, **given)  # which checks the budgets as they were given
    totals = read_stats(folder).totals
    for name, of in _BUDGETS.items():
        given[name] = getattr(totals, of) + given[name] if name in given else None
    return dataclasses.replace(job, **given)


def beginning(*, due_only: bool, quiet: bool) -> BeginRefresh:
    """What lets the known pages wait again, once the crawl has been put together."""

    def begin(revisits: Revisits, frontier: Frontier) -> None:
        revisits.begin(time.time(), due_only=due_only)
        if not quiet:
            what = "due pages" if due_only else "known pages"
            say(f"looking again at {frontier.revisits_left:,} {what}, likeliest change first")

    return begin

"""The crawl: typed configuration in, an asynchronous iterator of visits out, and everything in between wired together.

`job` is what the user asks for, `folder` where it goes, `assemble` puts the parts together, `loop` is the crawl itself:
read it first, the whole life of a URL is there. `reading` is what happens to one page in a `worker` process of the
`pool`. `totals` and `stats` keep the account, `report` makes a page of it.

Names are loaded when they are asked for: `stats` and `query` need neither the network nor the parsers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from motherlode.crawl.assemble import Assembled, canonical_seeds, check
    from motherlode.crawl.errors import JobError
    from motherlode.crawl.folder import CrawlFolder
    from motherlode.crawl.job import Job, parse_size, parse_time, read_job_file
    from motherlode.crawl.loop import Crawl
    from motherlode.crawl.parts import Budget, Parts
    from motherlode.crawl.stats import CrawlStats, read_stats, read_visits
    from motherlode.crawl.totals import Totals

_HOMES = {
    "Assembled": "assemble",
    "Budget": "parts",
    "Crawl": "loop",
    "CrawlFolder": "folder",
    "CrawlStats": "stats",
    "Job": "job",
    "JobError": "errors",
    "Parts": "parts",
    "Totals": "totals",
    "canonical_seeds": "assemble",
    "check": "assemble",
    "parse_size": "job",
    "parse_time": "job",
    "read_job_file": "job",
    "read_stats": "stats",
    "read_visits": "stats",
}
"""The module that each name of the room comes from."""

__all__ = [
    "Assembled",
    "Budget",
    "Crawl",
    "CrawlFolder",
    "CrawlStats",
    "Job",
    "JobError",
    "Parts",
    "Totals",
    "canonical_seeds",
    "check",
    "parse_size",
    "parse_time",
    "read_job_file",
    "read_stats",
    "read_visits",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

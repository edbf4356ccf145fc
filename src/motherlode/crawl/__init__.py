"""The crawl: typed configuration in, an asynchronous iterator of visits out, and everything in between wired together.

`job` is what the user asks for, `folder` where it goes, `assemble` puts the parts together, `loop` is the crawl itself:
read it first, the whole life of a URL is there. `reading` is what happens to one page in a `worker` process of the
`pool`. `totals` and `stats` keep the account, `report` makes a page of it.

Names are loaded when they are asked for: `stats` and `query` need neither the network nor the parsers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.on_demand import names_from

if TYPE_CHECKING:
    from motherlode.crawl.assemble import Assembled, canonical_seeds, check
    from motherlode.crawl.errors import JobError
    from motherlode.crawl.folder import CrawlFolder
    from motherlode.crawl.job import Job, parse_size, parse_time, read_job_file
    from motherlode.crawl.loop import Crawl
    from motherlode.crawl.parts import Budget, Parts
    from motherlode.crawl.stats import CrawlStats, read_stats, read_visits
    from motherlode.crawl.totals import Totals

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

__getattr__ = names_from(
    __name__,
    assemble=["Assembled", "canonical_seeds", "check"],
    errors=["JobError"],
    folder=["CrawlFolder"],
    job=["Job", "parse_size", "parse_time", "read_job_file"],
    loop=["Crawl"],
    parts=["Budget", "Parts"],
    stats=["CrawlStats", "read_stats", "read_visits"],
    totals=["Totals"],
)

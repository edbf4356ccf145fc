"""The crawl: typed configuration in, an asynchronous iterator of visits out, and everything in between wired together.

`job` is what the user asks for, `folder` where it goes, `assemble` puts the parts together, `loop` is the crawl itself:
read it first, the whole life of a URL is there. `reading` is what happens to one page in a `worker` process of the
`pool`. `totals` and `stats` keep the account, `report` makes a page of it.

Names are loaded when they are asked for: `stats` and `query` need neither the network nor the parsers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.runtime import lazy_exports

if TYPE_CHECKING:
    from motherlode.crawler.config.errors import JobError
    from motherlode.crawler.config.job import Job
    from motherlode.crawler.config.job_file import read_job_file
    from motherlode.crawler.config.units import parse_size, parse_time
    from motherlode.crawler.engine.components import Components
    from motherlode.crawler.engine.engine import Engine
    from motherlode.crawler.engine.factory import Assembled, canonical_seeds, check
    from motherlode.crawler.engine.limits import Budget
    from motherlode.crawler.folder import CrawlFolder
    from motherlode.crawler.stats.counters import Counters
    from motherlode.crawler.stats.reader import CrawlStats, read_stats, read_visits

__all__ = [
    "Assembled",
    "Budget",
    "Components",
    "Counters",
    "CrawlFolder",
    "CrawlStats",
    "Engine",
    "Job",
    "JobError",
    "canonical_seeds",
    "check",
    "parse_size",
    "parse_time",
    "read_job_file",
    "read_stats",
    "read_visits",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "config.errors": ["JobError"],
        "config.job": ["Job"],
        "config.job_file": ["read_job_file"],
        "config.units": ["parse_size", "parse_time"],
        "engine.components": ["Components"],
        "engine.limits": ["Budget"],
        "engine.engine": ["Engine"],
        "engine.factory": ["Assembled", "canonical_seeds", "check"],
        "folder": ["CrawlFolder"],
        "stats.counters": ["Counters"],
        "stats.reader": ["CrawlStats", "read_stats", "read_visits"],
    },
)

"""The crawler: from a job to an asynchronous iterator of visits.

`config` has the job, `folder` the paths of a crawl on disk, and `engine` the crawl itself: its docstring describes the
life of a URL. `parsing` runs in the parser processes, `recrawl` revisits known pages, `stats` counts, `report` and
`explain` describe the results.

Names are imported at their first use, because `stats` and `query` need neither the network nor the parsers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.model.target_kinds import JudgeStatements, add_target_kind
from motherlode.runtime import lazy_exports

if TYPE_CHECKING:
    from motherlode.crawler.config.host_patterns import canonical_seeds
    from motherlode.crawler.config.job import Job
    from motherlode.crawler.config.job_file import read_job_file
    from motherlode.crawler.config.values import JobError, parse_size, parse_time
    from motherlode.crawler.engine.components import Components
    from motherlode.crawler.engine.engine import Engine
    from motherlode.crawler.engine.factory import Assembled, check
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
        "config.host_patterns": ["canonical_seeds"],
        "config.job": ["Job"],
        "config.job_file": ["read_job_file"],
        "config.values": ["JobError", "parse_size", "parse_time"],
        "engine.components": ["Components"],
        "engine.limits": ["Budget"],
        "engine.engine": ["Engine"],
        "engine.factory": ["Assembled", "check"],
        "folder": ["CrawlFolder"],
        "stats.counters": ["Counters"],
        "stats.reader": ["CrawlStats", "read_stats", "read_visits"],
    },
)


def _make_valid_judge(names: str) -> JudgeStatements:
    from motherlode.crawler.valid_target import make_judge

    return make_judge(names)


add_target_kind("valid", _make_valid_judge)

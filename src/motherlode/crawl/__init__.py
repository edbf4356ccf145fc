"""The crawl: typed configuration in, an asynchronous iterator of visits out, and everything in between wired together.

`job` is what the user asks for, `folder` where it goes, `assemble` puts the parts together, `loop` is the crawl itself:
read it first, the whole life of a URL is there. `reading` is what happens to one page in a `worker` process of the
`pool`. `totals` and `stats` keep the account, `report` makes a page of it.
"""

from motherlode.crawl.assemble import Assembled, assemble, canonical_seeds, check
from motherlode.crawl.folder import CrawlFolder
from motherlode.crawl.job import Job, JobError, parse_size, parse_time, read_job_file
from motherlode.crawl.loop import Budget, Crawl, Parts
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
    "assemble",
    "canonical_seeds",
    "check",
    "parse_size",
    "parse_time",
    "read_job_file",
    "read_stats",
    "read_visits",
]

"""The command `resume`: continue a crawl that was stopped or killed."""

import dataclasses
from typing import Annotated, Any

from motherlode.cli.crawl_run import CrawlEnd, LogLevel, print_outcome, run_crawl
from motherlode.cli.options import AsJson, IdleCrawlDir, Quiet, option
from motherlode.cluster.ray_runtime import check_shards
from motherlode.crawler import CrawlFolder, parse_size, parse_time


def resume(
    folder: IdleCrawlDir,
    *,
    pages: Annotated[int | None, option("N", "A new budget of pages for the whole crawl.")] = None,
    time: Annotated[str | None, option("30m", "A new budget of time.")] = None,
    size: Annotated[str | None, option("1GB", "A new budget of bytes.", "--bytes")] = None,
    memory: Annotated[
        str | None, option("2GB", "A new ceiling of memory; with a higher one, links that were set aside wait again.")
    ] = None,
    ray: Annotated[
        str | None, option("ADDRESS", "Another Ray cluster for shards and parsers; '' starts Ray on this machine.")
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    log_level: LogLevel = None,
) -> None:
    """Continue a crawl that was stopped or killed. Only URLs that were in flight are fetched again.

    The parameters are those of the crawl. Budgets are for the whole crawl, with what was spent before.

    \b
    Examples:
      motherlode resume out
      motherlode resume out --pages 5000                    the crawl had --pages 1000, so 4000 more
    """
    crawl = CrawlFolder(folder)
    saved = crawl.read_job()
    changes: dict[str, Any] = {
        "pages": pages,
        "time": None if time is None else parse_time(time),
        "bytes": None if size is None else parse_size(size),
        "memory": None if memory is None else parse_size(memory),
        "ray": ray,
        "log_level": log_level,
    }
    job = dataclasses.replace(saved, **{name: value for name, value in changes.items() if value is not None})
    check_shards(job)
    crawl.lock()
    if job != saved:
        crawl.save_job(job)
    crawl.move_secrets()
    stopped = run_crawl(job, crawl, quiet=quiet or as_json)
    print_outcome(crawl, as_json=as_json, ending=None if stopped or quiet else CrawlEnd(job, crawl))

"""The command `resume`: continue a crawl that was stopped or killed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from motherlode.cli.crawl_end import CrawlEnd
from motherlode.cli.crawl_run import LogLevel, print_outcome, run_crawl
from motherlode.cli.shards import check_shards
from motherlode.cli.terminal import stop
from motherlode.crawler import CrawlFolder, JobError, parse_size, parse_time


def resume(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a crawl that was stopped or killed.")],
    *,
    pages: Annotated[int | None, typer.Option(metavar="N", help="A new budget of pages for the whole crawl.")] = None,
    time: Annotated[str | None, typer.Option(metavar="30m", help="A new budget of time.")] = None,
    size: Annotated[str | None, typer.Option("--bytes", metavar="1GB", help="A new budget of bytes.")] = None,
    ray: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Another Ray cluster for the shards; '' starts Ray on this machine."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    log_level: LogLevel = None,
) -> None:
    """Continue a crawl that was stopped or killed. Only URLs that were in flight are fetched again."""
    crawl = CrawlFolder(folder)
    try:
        saved = crawl.read_job()
        changes: Mapping[str, Any] = {
            "pages": pages,
            "time": None if time is None else parse_time(time),
            "bytes": None if size is None else parse_size(size),
            "ray": ray,
            "log_level": log_level,
        }
        job = dataclasses.replace(saved, **{name: value for name, value in changes.items() if value is not None})
        check_shards(job)
        crawl.lock()
        if job != saved:
            crawl.save_job(job)
        crawl.move_secrets()
    except JobError as error:
        stop(str(error))
    stopped = run_crawl(job, crawl, quiet=quiet or as_json)
    print_outcome(crawl, as_json=as_json, ending=None if stopped or quiet else CrawlEnd(job, crawl))

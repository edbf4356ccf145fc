"""The command `index`: build the store and the index of words of a crawl with `index = "later"`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from motherlode.cli.crawl_folder import open_crawl
from motherlode.cli.terminal import FAILED, say, stop
from motherlode.crawler import CrawlFolder, JobError
from motherlode.crawler.config.values import format_count

Progress = Callable[[int, int], None]
"""Called with the bytes of the log that were read, and with their total."""


def index(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a crawl, running or finished.")],
    *,
    skip_damaged: Annotated[
        bool,
        typer.Option(
            "--skip-damaged", help="Index the readable parts of damaged files; `resume` fetches lost pages again."
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Index the quads that a crawl left for later.

    This is for crawls with --index later. Every command that reads the store indexes first, so you need this command
    only to choose the time.

    \b
    Examples:
      motherlode crawl --seeds urls.txt -o out --index later
      motherlode index out
    """
    from motherlode.cli.crawl_end import describe_failure
    from motherlode.crawler.index_later import has_log
    from motherlode.index.snapshot import DamagedError, is_damage

    crawl = open_crawl(folder)
    try:
        if not has_log(crawl):
            say(f"the quads of {folder} are indexed already")
            return
        with nullcontext(_ignore) if quiet else _progress() as progress:
            pages, lost = _index(crawl, progress, skip_damaged=skip_damaged)
    except JobError as error:
        stop(str(error))
    except DamagedError as error:
        stop(str(error), code=FAILED)
    except OSError as error:
        stop(describe_failure(error, crawl, command="index"), code=FAILED)
    except RuntimeError as error:
        if not is_damage(error):
            raise
        stop(describe_failure(error, crawl, command="index"), code=FAILED)
    if not quiet:
        say(f"{format_count(pages, 'page')} indexed")
    if lost:
        say(f"{format_count(lost, 'page')} lost: `motherlode resume {quote(str(folder))}` fetches them again")


def _index(folder: CrawlFolder, progress: Progress, *, skip_damaged: bool) -> tuple[int, int]:
    """Index the log. Return the numbers of indexed pages and of lost pages."""
    from motherlode.crawler.index_later import index_damaged, index_log

    if not skip_damaged:
        return index_log(folder, progress=progress), 0
    folder.lock()
    try:
        return index_damaged(folder, progress=progress)
    finally:
        folder.unlock()


def _ignore(done: int, total: int) -> None:
    """Show no progress."""


@contextmanager
def _progress() -> Iterator[Progress]:
    from motherlode.cli.progress import Meter

    with Meter() as meter:
        yield meter.for_bytes("indexing")

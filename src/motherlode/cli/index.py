"""The command `index`: fill the store and the index of words of a crawl from its log."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from shlex import quote
from typing import Annotated

import typer

from motherlode.cli.options import CrawlDir, Quiet, flag, open_crawl
from motherlode.cli.terminal import say
from motherlode.crawler import CrawlFolder
from motherlode.crawler.config.values import format_count


def index(
    folder: CrawlDir,
    *,
    skip_damaged: Annotated[
        bool, flag("--skip-damaged", "Index the readable parts of damaged files; `resume` fetches lost pages again.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Index the quads of a crawl that are not indexed yet.

    This is for crawls with --index later, and for those that were killed. Every command that reads the store indexes
    first, so you need this command only to choose the time.

    \b
    Examples:
      motherlode crawl --seeds urls.txt -o out --index later
      motherlode index out
    """
    from motherlode.cli.crawl_run import stop_after_failure
    from motherlode.cli.progress import Meter

    crawl = open_crawl(folder)
    try:
        with nullcontext() if quiet else Meter() as meter:
            progress = (lambda done, total: None) if meter is None else meter.for_bytes("indexing")
            pages, lost = _index(crawl, progress, skip_damaged=skip_damaged)
    except (OSError, RuntimeError) as error:
        stop_after_failure(error, crawl, command="index")
    if not quiet:
        say(f"{format_count(pages, 'page')} indexed")
    if lost:
        say(f"{format_count(lost, 'page')} lost: `motherlode resume {quote(str(folder))}` fetches them again")


def _index(folder: CrawlFolder, progress: Callable[[int, int], None], *, skip_damaged: bool) -> tuple[int, int]:
    """Index the log. Return the numbers of indexed pages and of lost pages."""
    from motherlode.crawler.index_later import index_damaged, index_log

    if not skip_damaged:
        return index_log(folder, progress=progress), 0
    folder.lock()
    try:
        return index_damaged(folder, progress=progress)
    finally:
        folder.unlock()


def update_index(folder: CrawlFolder) -> None:
    """Index the quads that are not indexed yet, in a process of its own, so that no lock and thread stays here."""
    from motherlode.crawler.index_later import needs_indexing

    try:
        is_needed = needs_indexing(folder)
    except OSError as error:
        from motherlode.cli.crawl_run import stop_after_failure  # slow to import, and every query calls this function

        stop_after_failure(error, folder, command="index")
    if is_needed:
        command = [sys.executable, "-m", "motherlode", "index", str(folder.path)]
        code = subprocess.run(command, stdout=sys.stderr, check=False).returncode
        if code:
            raise typer.Exit(code)

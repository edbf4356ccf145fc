"""`index`: the store and the index of words of a crawl that left them for later."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from motherlode.cli.terminal import FAILED, counted, say, stop
from motherlode.crawler import CrawlFolder, JobError

Told = Callable[[int, int], None]
"""Hears the bytes of the log that have been read, and how many there are."""


def index(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a crawl, running or over.")],
    *,
    skip_damaged: Annotated[
        bool,
        typer.Option("--skip-damaged", help="Index what can be read of damaged files; lost pages wait for a resume."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Index the quads that a crawl left for later.

    A crawl does so with --index later. Every command that asks the store indexes first, so this is for whoever wants
    to choose the time.

    \b
    Examples:
      motherlode crawl --seeds urls.txt -o out --index later
      motherlode index out
    """
    from motherlode.cli.crawl_end import after_failure
    from motherlode.crawler.deferred_index import has_log
    from motherlode.index.snapshot import DamagedError, is_damage

    place = CrawlFolder(folder)
    try:
        place.require()
        if not has_log(place):
            say(f"the quads of {folder} are indexed already")
            return
        with nullcontext(_unheard) if quiet else _progress() as each:
            pages, lost = _indexed(place, each, skip_damaged=skip_damaged)
    except JobError as error:
        stop(str(error))
    except DamagedError as error:
        stop(str(error), code=FAILED)
    except OSError as error:
        stop(after_failure(error, place, command="index"), code=FAILED)
    except RuntimeError as error:
        if not is_damage(error):
            raise
        stop(after_failure(error, place, command="index"), code=FAILED)
    if not quiet:
        say(f"{counted(pages, 'page')} indexed")
    if lost:
        say(f"{counted(lost, 'page')} lost: `motherlode resume {quote(str(folder))}` fetches what was lost again")


def _indexed(place: CrawlFolder, each: Told, *, skip_damaged: bool) -> tuple[int, int]:
    """How many pages were indexed, and how many are lost."""
    from motherlode.crawler.deferred_index import index_damaged, index_log

    if not skip_damaged:
        return index_log(place, each=each), 0
    place.lock()
    try:
        return index_damaged(place, each=each)
    finally:
        place.unlock()


def _unheard(done: int, of: int) -> None:
    """No progress."""


@contextmanager
def _progress() -> Iterator[Told]:
    from motherlode.cli.progress import Meter
    from motherlode.sim.experiment import ExperimentProgress

    with Meter() as meter:
        yield lambda done, of: meter.show(ExperimentProgress(what="indexing", done=done, of=of, unit="bytes"))


def up_to_date(place: CrawlFolder) -> None:
    """Have the quads indexed that wait for it.

    By a process of its own: the engine that writes a store starts threads and holds a lock, and would do so for as long
    as the command runs that only wants to read.
    """
    from motherlode.crawler.deferred_index import check_lengths, has_log, unread
    from motherlode.index.snapshot import DamagedError

    try:
        if not has_log(place):
            return
        check_lengths(place)
    except DamagedError as error:
        stop(str(error), code=FAILED)
    except OSError as error:
        from motherlode.cli.crawl_end import after_failure  # heavy, and every query comes through here

        stop(after_failure(error, place, command="index"), code=FAILED)
    if unread(place):
        command = [sys.executable, "-m", "motherlode", "index", str(place.path)]
        code = subprocess.run(command, stdout=sys.stderr, check=False).returncode
        if code:
            raise typer.Exit(code)

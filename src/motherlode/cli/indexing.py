"""`index`: the store and the index of words of a crawl that left them for later."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from motherlode.cli.output import FAILED, counted, say, stop
from motherlode.crawl import CrawlFolder, JobError
from motherlode.index.quadlog import Unread


def index(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a crawl, running or over.")],
    *,
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
    from motherlode.crawl.indexing import index_log
    from motherlode.crawl.opening import is_full_disk
    from motherlode.index.damage import DamagedError

    place = CrawlFolder(folder)
    try:
        place.require()
        if not place.quads.is_dir():
            say(f"the quads of {folder} are indexed already")
            return
        pages = index_log(place) if quiet else _with_progress(place)
    except JobError as error:
        stop(str(error))
    except DamagedError as error:
        stop(str(error), code=FAILED)
    except OSError as error:
        full = "make space on the disk, and " if is_full_disk(error) else ""
        stop(f"{error}. The quads in {place.quads} are safe: {full}`motherlode index {folder}` goes on", code=FAILED)
    if not quiet:
        say(f"{counted(pages, 'page')} indexed")


def _with_progress(place: CrawlFolder) -> int:
    from motherlode.cli.progress import Meter
    from motherlode.crawl.indexing import index_log
    from motherlode.sim.study import Step

    with Meter() as meter:
        return index_log(place, each=lambda done, of: meter.show(Step(what="indexing", done=done, of=of, unit="bytes")))


def up_to_date(place: CrawlFolder) -> None:
    """Have the quads indexed that wait for it.

    By a process of its own: the engine that writes a store starts threads and holds a lock, and would do so for as long
    as the command runs that only wants to read.
    """
    if Unread(place.quads):
        command = [sys.executable, "-m", "motherlode", "index", str(place.path)]
        code = subprocess.run(command, stdout=sys.stderr, check=False).returncode
        if code:
            raise typer.Exit(code)

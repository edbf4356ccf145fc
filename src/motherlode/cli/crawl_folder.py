"""Opening of crawl folders by commands that read them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import typer

from motherlode.cli.terminal import FAILED, stop
from motherlode.crawler import CrawlFolder, JobError


def open_crawl(path: Path) -> CrawlFolder:
    """Return the crawl folder, or exit with an error if it has no crawl."""
    folder = CrawlFolder(path)
    try:
        folder.require()
    except JobError as error:
        stop(str(error))
    return folder


def update_index(folder: CrawlFolder) -> None:
    """Index the quads that a crawl with `index = "later"` has not indexed yet.

    Indexing runs in a process of its own, because the engine that writes a store starts threads and holds a lock, and
    would keep both while the calling command only reads.
    """
    from motherlode.crawler.index_later import check_lengths, find_unread, has_log
    from motherlode.index.snapshot import DamagedError

    try:
        if not has_log(folder):
            return
        check_lengths(folder)
    except DamagedError as error:
        stop(str(error), code=FAILED)
    except OSError as error:
        from motherlode.cli.crawl_end import describe_failure  # slow to import, and every query calls this function

        stop(describe_failure(error, folder, command="index"), code=FAILED)
    if find_unread(folder):
        command = [sys.executable, "-m", "motherlode", "index", str(folder.path)]
        code = subprocess.run(command, stdout=sys.stderr, check=False).returncode
        if code:
            raise typer.Exit(code)

"""What a crawl's folder tells, running or over; asked for at most every second."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from motherlode.crawl.folder import CrawlFolder
from motherlode.crawl.report import Report
from motherlode.crawl.reporting import report_of
from motherlode.crawl.stats import CrawlStats, read_stats
from motherlode.index.words import Hit, Search, WordSearcher

_FRESH_SECONDS = 1.0
_FRONTIER = threading.Lock()
"""Held while the frontier is read, because py-lmdb (3.0) refuses to open a file that this process has open already."""


class CrawlView:
    """Reads; never writes, and never holds what the crawl needs. Its methods block: call them from a thread."""

    def __init__(self, folder: CrawlFolder) -> None:
        self.folder = folder
        self._job = folder.job()
        self._read: tuple[float, CrawlStats] | None = None
        self._searcher: WordSearcher | None = None
        self._opening = threading.Lock()

    def running(self) -> bool:
        """Whether a process holds the folder's lock. Looked up, not tried, which might keep a crawl from starting."""
        try:
            inode = (self.folder.path / "lock").stat().st_ino
            locks = Path("/proc/locks").read_text(encoding="ascii", errors="replace")
        except OSError:
            return False
        return any(f":{inode} " in line for line in locks.splitlines() if "FLOCK" in line)

    def _stats(self) -> CrawlStats:
        """The account, read anew if it is older than a second. Threads that ask meanwhile wait and share it."""
        with _FRONTIER:
            if self._read is None or time.monotonic() - self._read[0] > _FRESH_SECONDS:
                read = read_stats(self.folder)
                self._read = time.monotonic(), read
            return self._read[1]

    def report(self) -> Report:
        """The crawl's account as of its last commit."""
        return report_of(self._job, self._stats())

    def progress(self) -> tuple[int, int | None]:
        """Pages that were asked for, and how many may be."""
        return self._stats().totals.fetched, self._job.pages

    def search(self, asked: Search) -> list[Hit]:
        """FileNotFoundError where the crawl keeps no words."""
        with self._opening:
            if self._searcher is None:
                self._searcher = WordSearcher(self.folder.words)
            self._searcher.refresh()
        return self._searcher.search(asked)

"""Waiting for a crawl that runs in another process."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

from motherlode.crawler import CrawlFolder, JobError, read_stats

_DEADLINE_SECONDS = 120


def wait_for_requests(process: subprocess.Popen[Any], folder: Path, count: int = 1) -> None:
    """Return when the crawl has committed this number of requests. The process must run until then."""
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while _count_requests(folder) < count:
        assert process.poll() is None, "the crawl ended too early"
        assert time.monotonic() < deadline, "the crawl is too slow"
        time.sleep(0.1)


def _count_requests(folder: Path) -> int:
    try:
        return read_stats(CrawlFolder(folder)).totals.fetched
    except (JobError, OSError):  # the folder is being created
        return 0

"""Crawls in an internet in a box (tools/box), for tests: they are skipped where no box can run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tools.box import Box, BoxPlan, missing_part
from tools.box.web import page_path

GENEROUS_SECONDS = 150.0
"""Far more than any of these conditions takes, even on a busy machine."""


@contextmanager
def running_box(plan: BoxPlan, folder: Path) -> Iterator[Box]:
    """Run a box. Skip the test where that is not possible, and fail where it must be (CI=true)."""
    if reason := missing_part():
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with Box(plan, folder) as box:
        yield box


class BoxCrawl:
    """A crawl that runs in a box, as a process of its own. `stop` ends it, and `stats` reads what it did."""

    def __init__(self, box: Box, folder: Path, **settings: object) -> None:
        self._box = box
        self.folder = folder
        seeds, job = folder.with_suffix(".txt"), folder.with_suffix(".toml")
        seeds.write_text("\n".join(box.seeds))
        common = {"allow": ["127.0.0.0/8"], "delay": 0.5, "workers": 1, "words": False, "retry_wait": 1.0}
        job.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in {**common, **settings}.items()))
        command = [sys.executable, "-m", "motherlode", "crawl", "--config", job, "--seeds", seeds, "-o", folder]
        with folder.with_suffix(".err").open("w") as errors:
            self._process = box.start([*command, "--quiet"], stdout=errors, stderr=errors)

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds while the crawl runs."""
        until = time.monotonic() + GENEROUS_SECONDS
        while not condition():
            assert self._process.poll() is None, self._said()
            assert time.monotonic() < until, f"no progress; the log ends with: {self.log()[-3000:]}"
            time.sleep(0.05)

    def wait_for_pages(self, wanted: set[str]) -> None:
        """Wait until the web servers have sent all these pages, given as host and path."""
        self.wait_for(lambda: wanted <= {one.host + one.path for one in self._box.requests() if one.status == 200})

    def stop(self) -> None:
        """End the crawl as Ctrl-C does."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait(timeout=60)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def log(self) -> str:
        path = self.folder / "crawl.log"
        return path.read_text() if path.exists() else ""

    def failures(self) -> Counter[str]:
        """Return the hosts that have failures, with their number, from the visits in the log."""
        found: Counter[str] = Counter()
        for line in self.log().splitlines():
            fields = line.split(" ")
            if len(fields) > 3 and fields[2].startswith("https://") and not fields[3].isdigit():
                found[fields[2].split("/")[2]] += 1
        return found

    def stats(self) -> dict[str, Any]:
        """Return what `motherlode stats` says; nothing before the first checkpoint."""
        command = [sys.executable, "-m", "motherlode", "stats", str(self.folder), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found: dict[str, Any] = json.loads(done.stdout or "{}")
        return found

    def _said(self) -> str:
        return self.folder.with_suffix(".err").read_text()[-3000:]


@contextmanager
def crawling(box: Box, folder: Path, **settings: object) -> Iterator[BoxCrawl]:
    crawl = BoxCrawl(box, folder, **settings)
    try:
        yield crawl
    finally:
        crawl.close()


def pages_of(box: Box, *, unless: Callable[[str], bool] = lambda name: False) -> set[str]:
    """Return host and path of all pages of the hosts that can be reached."""
    paths = [page_path(number) for number in range(box.plan.pages)]
    names = [host.name for host in box.hosts if host.is_live and not unless(host.name)]
    return {name + path for name in names for path in paths}

"""A crawl that is killed and resumed after the machine's clock was set back by two days."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from motherlode.crawler import CrawlFolder, Job, read_stats
from motherlode.crawler.config.job_file import job_to_toml
from tests.crawler.logged_web import LoggedWeb

TWO_DAYS = 2 * 86_400
SHIFTED = "import time; now = time.time; time.time = lambda: now() + {shift}; from motherlode.cli import main; main()"
PAGES = 40


def start(*arguments: str, shift: int) -> subprocess.Popen[str]:
    """Start the command line in a process whose clock is ahead by `shift` seconds."""
    command = [sys.executable, "-c", SHIFTED.format(shift=shift), *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "10000"})


def job(web: LoggedWeb) -> Job:
    return Job(
        seeds=web.seeds(), hosts=web.table(), allow=("127.0.0.0/8",), delay=0.0, per_host=1, retry_wait=0.2, workers=1
    )


@pytest.mark.timeout(300)
def test_crawl_resumed_after_clock_was_set_back_continues_with_a_warning(tmp_path: Path) -> None:
    folder, config = tmp_path / "out", tmp_path / "job.toml"
    with LoggedWeb(hosts=3, pages=PAGES, latency=0.05) as web:
        config.write_text(job_to_toml(job(web)))
        first = start("crawl", "--config", str(config), "--quiet", "-o", str(folder), shift=TWO_DAYS)
        while len(web.log) < 3 * PAGES // 2 and first.poll() is None:
            time.sleep(0.002)
        first.kill()
        first.communicate()
        assert len(web.log) < 3 * PAGES, "the crawl ended before it was killed"
        web.begin_run()
        second = start("resume", str(folder), "--quiet", shift=0)
        try:
            _, said = second.communicate(timeout=120)
        finally:
            second.kill()
    assert second.returncode == 0, said
    assert "the clock of this machine was set back by 172" in said
    stats = read_stats(CrawlFolder(folder))
    assert stats.totals.fetched >= 3 * PAGES
    assert any("set back" in problem for problem in stats.totals.problems)

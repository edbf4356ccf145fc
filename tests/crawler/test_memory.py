"""A real crawl of an endless web stays below its memory ceiling, and loses neither pages nor links."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from motherlode.cli.stats import describe_memory
from motherlode.crawler import CrawlFolder, read_stats, read_visits
from motherlode.crawler.config.job_file import job_to_toml
from motherlode.crawler.engine.memory_limit import min_ceiling
from motherlode.crawler.verification import verify
from tests.crawler.endless_web import EndlessWeb

PAGES = 90
LINKS = 3000
"""Links of each page to other hosts. So many fill the memory with few pages."""


def run(*arguments: str) -> None:
    """Run a command in a process that shares no memory with this one."""
    subprocess.run([sys.executable, "-m", "motherlode", *arguments, "--quiet"], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.timeout(900)
def test_crawl_of_an_endless_web_stays_below_its_ceiling_and_takes_links_back(tmp_path: Path) -> None:
    folder, limit = CrawlFolder(tmp_path / "crawl"), min_ceiling(1)
    with EndlessWeb(hosts=1, pages=LINKS) as web:
        job = web.job(pages=PAGES, memory=limit, concurrency=8, words=False)
        (tmp_path / "job.toml").write_text(job_to_toml(job))
        run("crawl", "--config", str(tmp_path / "job.toml"), "-o", str(folder.path))
        stats = read_stats(folder)
        assert not verify(folder).findings
        run("resume", str(folder.path), "--memory", "2GB", "--pages", str(PAGES + 1))
        assert "links that were set aside to save memory wait again" in (folder.path / "crawl.log").read_text()
        resumed = read_stats(folder)
        assert resumed.left is not None and stats.left is not None
        assert resumed.left.urls >= stats.left.urls + stats.totals.shed["links"] - 1
        assert resumed.totals.fetched == PAGES + 1
    totals = stats.totals
    assert totals.fetched == PAGES and not totals.failures, "what is shed is no failure"
    assert 0 < totals.memory_peak <= 1.05 * limit, "it is measured at intervals, and a commit needs memory for a moment"
    assert totals.shed["links"] > LINKS and totals.shed["arms"] > 0
    assert stats.refused.get("memory ceiling", 0) == totals.shed.get("refused links", 0)
    assert stats.summary()["shed"] == totals.shed
    assert f"links {totals.shed['links']:,}" in describe_memory(totals)
    assert "links" in (folder.path / "crawl.log").read_text().partition("WARNING memory:")[2]
    assert len({visit.url for visit in read_visits(folder) if visit.failure is None}) == PAGES + 1

"""A crawl whose parser processes are killed: no page is lost, and the crawl ends normally."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from motherlode.crawler import CrawlFolder, read_stats, read_visits
from motherlode.crawler.config.job_file import job_to_toml
from tests.crawler.logged_web import LoggedWeb
from tests.crawler.offspring import Offspring

HOSTS, PAGES = 4, 40
KILLS = 4


def find_parsers(crawl: int) -> list[int]:
    """Return the ids of the parser processes of a crawl."""
    children = Path(f"/proc/{crawl}/task/{crawl}/children").read_text().split()
    return [int(child) for child in children if b"motherlode.crawler.parsing.worker" in _command(child)]


def _command(process: str) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except FileNotFoundError:
        return b""


def kill_parser(web: LoggedWeb, crawl: int, *, after: int) -> int:
    """Kill the first parser process with SIGKILL after `after` requests. Return its id."""
    deadline = time.monotonic() + 120
    while len(web.log) < after or not find_parsers(crawl):
        assert time.monotonic() < deadline, "the crawl makes no progress"
        time.sleep(0.005)
    parser = find_parsers(crawl)[0]
    os.kill(parser, signal.SIGKILL)
    while parser in find_parsers(crawl):
        assert time.monotonic() < deadline, "the killed process is not reaped"
        time.sleep(0.005)
    return parser


@pytest.mark.timeout(400)
def test_crawl_with_killed_parser_processes_ends_with_all_pages(tmp_path: Path) -> None:
    with LoggedWeb(hosts=HOSTS, pages=PAGES, latency=0.1) as web, Offspring() as offspring:
        (tmp_path / "job.toml").write_text(job_to_toml(web.job()))
        folder, errors = tmp_path / "crawl", tmp_path / "errors"
        command = ["crawl", "--config", str(tmp_path / "job.toml"), "--quiet", "-o", str(folder)]
        crawl = offspring.start(*command, errors=errors)
        killed = {kill_parser(web, crawl, after=30 * (number + 1)) for number in range(KILLS)}
        assert offspring.wait() == 0
    assert len(killed) == KILLS
    visits = list(read_visits(CrawlFolder(folder)))
    pages = {f"http://h{host}.example/{number}" for host in range(HOSTS) for number in range(PAGES)}
    assert pages <= {visit.url for visit in visits if visit.failure is None}
    assert "processing" not in read_stats(CrawlFolder(folder)).totals.failures
    noticed = (
        "it is replaced",
        "could not be started",
    )  # the second message appears if the process was killed during its start
    assert sum(errors.read_text().count(words) for words in noticed) == KILLS

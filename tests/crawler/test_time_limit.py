"""A crawl of pages that take long to parse ends soon after its time limit, and a resume parses these pages."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web as http

from motherlode.crawler import CrawlFolder, Job, read_stats, read_visits
from motherlode.crawler.config.job_file import job_to_toml
from motherlode.crawler.explain.explanation import explain_url
from motherlode.crawler.stats.counters import BEING_READ
from tests.crawler.logged_web import LoggedWeb
from tests.crawler.offspring import Offspring

LARGE_PAGES = 40
SECONDS, LATEST = 2.0, 10.0
"""Time limit of the crawl, and the maximum delay of its end."""
_ITEM = (
    '<div itemscope itemtype="http://schema.org/Person" vocab="http://schema.org/" typeof="Person" class="h-card">'
    '<a class="u-url" property="url" itemprop="url" href="/0">x</a>'
    '<b class="p-name" property="name" itemprop="name">Ann</b></div>'
)
LARGE = f'<html><head><meta name="robots" content="noindex"></head><body>{_ITEM * 25_000}</body></html>'
"""A page of five megabytes takes seconds to parse. All of them wait for the one parser process for large pages."""


@dataclass
class LargeWeb(LoggedWeb):
    """A page with links to many large pages."""

    def _response(self, host: int, path: str, times: int) -> http.Response:
        if path.startswith("/large/"):
            return http.Response(text=LARGE, content_type="text/html")
        return super()._response(host, path, times)

    def _page(self, host: int, path: str) -> str:
        return "".join(f'<a href="/large/{number}">x</a>' for number in range(LARGE_PAGES))


def job(web: LoggedWeb) -> Job:
    return Job(
        seeds=web.seeds(),
        hosts=web.table(),
        allow=("127.0.0.0/8",),
        policy="bfs",
        delay=0.0,
        time=SECONDS,
        workers=1,
    )


@pytest.mark.timeout(600)
def test_crawl_of_large_pages_ends_soon_after_its_time_and_resumes(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    with LargeWeb(hosts=1, pages=1) as web, Offspring() as offspring:
        (tmp_path / "job.toml").write_text(job_to_toml(job(web)))
        began = time.monotonic()
        offspring.start("crawl", "--config", str(tmp_path / "job.toml"), "--quiet", "-o", str(folder.path))
        assert offspring.wait() == 0
        took, first = time.monotonic() - began, read_stats(folder).totals
        assert SECONDS <= first.seconds <= SECONDS + LATEST
        assert took < first.seconds + LATEST  # time for the other work of the resume
        unread = [url for url, stage in first.unfinished.items() if stage == BEING_READ]
        assert unread and not {visit.url for visit in read_visits(folder)} & set(unread)
        assert explain_url(folder, unread[0]).because == (
            "waits for a resume: it was being read when the time of the crawl was up"
        )
        longer = f"{first.seconds + 2 * LATEST:.0f}s"
        offspring.start("resume", str(folder.path), "--time", longer, "--quiet")
        assert offspring.wait() == 0
    second = read_stats(folder).totals
    asked = Counter(line.url for line in web.log)
    assert second.fetched > first.fetched
    assert {asked[url] for url in unread} == {1}, "a fetched page is not requested again"
    read = {visit.url for visit in read_visits(folder) if visit.failure is None}
    assert read & set(unread), "the resume parses the unfinished pages"
    assert all(url in read or url in second.unfinished for url in unread)

"""Options of a crawl whose effect a site owner sees in the log: own hosts, sitemaps and probes."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web

from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.report.crawl_report import build_report
from motherlode.crawler.stats.reader import read_stats
from motherlode.index.page_record import PROVENANCE
from motherlode.index.quad_store import QuadStore
from motherlode.model import Visit
from tests.crawler.changing_web import ChangingWeb, Document, serving, stats
from tests.crawler.served_crawl import run_job


async def _crawl(path: Path, site: ChangingWeb, **more: object) -> list[Visit]:
    keys = {"seeds": (f"{site.root}/",), "delay": 0.0, "allow": ("127.0.0.0/8",), "workers": 1, "words": False, **more}
    return await run_job(Job(**keys), path)  # type: ignore[arg-type]


def _site(*links: str, robots: str | None = None, **pages: Document) -> ChangingWeb:
    root = Document(text="<html>" + "".join(f'<a href="{link}">x</a>' for link in links) + "</html>")
    made = {"/": root, **{f"/{name}": page for name, page in pages.items()}}
    if robots is not None:
        made["/robots.txt"] = Document(text=robots, content_type="text/plain")
    return ChangingWeb(made)


HTML = Document(text="<html><body>hello</body></html>")


async def test_robots_txt_of_an_own_host_is_not_fetched(tmp_path: Path) -> None:
    site = _site("/private", robots="User-agent: *\nDisallow: /private\n", private=HTML)
    async with serving(site):
        own = site.root.removeprefix("http://")
        await _crawl(tmp_path / "own", site, own_hosts=(own,), contact="https://owner.example/")
        assert [asked.path for asked in site.log] == ["/", "/private"]
        site.log.clear()
        await _crawl(tmp_path / "other", site, own_hosts=("example.org",), contact="https://owner.example/")
        assert [asked.path for asked in site.log] == ["/robots.txt", "/"], "robots.txt of other hosts is applied"
    store = QuadStore(tmp_path / "own" / "store", read_only=True)
    named = store.query(f"SELECT ?h {{ GRAPH <{PROVENANCE}> {{ ?run ml:robotsNotApplied ?h }} }}")
    assert [row["h"].value for row in named] == [own]  # type: ignore[union-attr, index]
    folder = CrawlFolder(tmp_path / "own")
    assert any(value == own for _, value in build_report(folder.read_job(), read_stats(folder)).settings)


def _sitemap(*paths: str) -> Document:
    locations = "".join(f"<url><loc>{path}</loc></url>" for path in paths)
    text = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{locations}</urlset>'
    return Document(text=text, content_type="application/xml")


@pytest.mark.parametrize(
    ("option", "robots", "asked"),
    [
        ("usual", None, {"/", "/sitemap.xml", "/hidden"}),
        ("usual", "Sitemap: /other.xml", {"/", "/other.xml", "/named"}),
        ("robots", None, {"/"}),
        (True, "Sitemap: /other.xml", {"/", "/other.xml", "/named"}),
        (False, "Sitemap: /other.xml", {"/"}),
    ],
)
async def test_sitemaps_option_selects_the_sitemaps(
    tmp_path: Path, option: object, robots: str | None, asked: set[str]
) -> None:
    site = _site(robots=robots, hidden=HTML, named=HTML)
    async with serving(site):
        site.pages["/sitemap.xml"] = _sitemap(f"{site.root}/hidden")
        site.pages["/other.xml"] = _sitemap(f"{site.root}/named")
        visits = await _crawl(tmp_path / "out", site, sitemaps=option)
    assert set(site.asked()) == asked
    assert len(visits) == len(asked)


async def test_probe_avoids_the_get_and_is_counted(tmp_path: Path) -> None:
    movie = Document(text="x" * 100_000, content_type="video/mp4")
    site = _site(
        "/movie", "/page", "/away", movie=movie, page=HTML, away=Document(status=302, headers={"Location": "/"})
    )
    async with serving(site):
        visits = await _crawl(tmp_path / "out", site, probe="always")
    assert sorted(site.asked("HEAD")) == ["/", "/away", "/movie", "/page"]
    assert sorted(site.asked("GET")) == ["/", "/page"], "neither the movie nor the redirect was requested by GET"
    assert {visit.url.removeprefix(site.root): visit.failure.value if visit.failure else "" for visit in visits} == {
        "/": "",
        "/page": "",
        "/movie": "useless",
        "/away": "redirect",
    }
    found = stats(tmp_path / "out")
    assert (found["heads"], found["fetched"]) == (4, 4)
    assert found["requests"] == len(site.log)


async def test_unsure_probe_is_sent_only_for_unclear_urls(tmp_path: Path) -> None:
    data = Document(text="<a> <b> <c> .", content_type="text/turtle")
    site = _site("/plain", "/dump.xyz", **{"plain": HTML, "dump.xyz": data})
    async with serving(site):
        await _crawl(tmp_path / "out", site, probe="unsure")
    assert site.asked("HEAD") == ["/dump.xyz"]
    assert sorted(site.asked("GET")) == ["/", "/a", "/c", "/dump.xyz", "/plain"]
    assert stats(tmp_path / "out")["heads"] == 1


class _Timed(ChangingWeb):
    """A server that records the times of requests."""

    def __init__(self, pages: dict[str, Document]) -> None:
        super().__init__(pages)
        self.moments: list[float] = []

    async def answer(self, request: web.BaseRequest) -> web.Response:
        self.moments.append(time.monotonic())
        return await super().answer(request)


async def test_probes_obey_the_delay_and_the_budget_of_the_host(tmp_path: Path) -> None:
    links = [f"/{number}" for number in range(6)]
    plain = _site(*links, **{str(number): HTML for number in range(6)})
    site = _Timed(plain.pages)
    async with serving(site):
        await _crawl(
            tmp_path / "out", site, probe="always", delay=0.3, address_delay=0.0, delay_factor=0.0, pages_per_host=7
        )
    gaps = [later - earlier for earlier, later in pairwise(site.moments)]
    assert min(gaps) >= 0.299, "the delay applies to robots.txt, HEAD and GET"
    asked = [(line.method, line.path) for line in site.log if line.path != "/robots.txt"]
    assert len(asked) == 7, "HEAD and GET count against the budget of seven"
    methods = [method for method, _ in asked]
    assert methods == ["HEAD", "GET"] * 3 + ["HEAD"]
    assert all(first[1] == second[1] for first, second in zip(asked[::2], asked[1::2], strict=False))
    refused = stats(tmp_path / "out")["refused"]
    assert refused == {"the host's budget of pages is spent": 4}

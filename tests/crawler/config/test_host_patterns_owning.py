"""Hosts of the user's own, and other options that a site owner's log shows: sitemaps, probes, proxies."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web

from motherlode.crawler import CrawlFolder, Job, JobError
from motherlode.crawler.config.host_patterns import own_hosts
from motherlode.crawler.engine.factory import assemble
from motherlode.crawler.report.figures import report_of
from motherlode.crawler.stats.reader import read_stats
from motherlode.index import PROVENANCE, QuadStore
from motherlode.model import Visit
from tests.crawler.changing_web import ChangingWeb, Document, serving, stats


async def _crawl(path: Path, site: ChangingWeb, **more: object) -> list[Visit]:
    keys = {"seeds": (f"{site.root}/",), "delay": 0.0, "allow": ("127.0.0.0/8",), "workers": 1, "words": False, **more}
    job = Job(**keys)  # type: ignore[arg-type]
    folder = CrawlFolder(path)
    folder.create(job)
    try:
        assembled = assemble(job, folder)
        return [visit async for visit in assembled.engine.visits(assembled.seeds)]
    finally:
        folder.unlock()


def _site(*links: str, robots: str | None = None, **pages: Document) -> ChangingWeb:
    root = Document(text="<html>" + "".join(f'<a href="{link}">x</a>' for link in links) + "</html>")
    made = {"/": root, **{f"/{name}": page for name, page in pages.items()}}
    if robots is not None:
        made["/robots.txt"] = Document(text=robots, content_type="text/plain")
    return ChangingWeb(made)


HTML = Document(text="<html><body>hello</body></html>")

# ── own hosts ────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_rules_of_an_own_host_are_not_even_asked_for(tmp_path: Path) -> None:
    site = _site("/private", robots="User-agent: *\nDisallow: /private\n", private=HTML)
    async with serving(site):
        own = site.root.removeprefix("http://")
        await _crawl(tmp_path / "own", site, own_hosts=(own,), contact="https://owner.example/")
        assert [asked.path for asked in site.log] == ["/", "/private"]
        site.log.clear()
        await _crawl(tmp_path / "other", site, own_hosts=("example.org",), contact="https://owner.example/")
        assert [asked.path for asked in site.log] == ["/robots.txt", "/"], "all others obey"
    store = QuadStore(tmp_path / "own" / "store", read_only=True)
    named = store.query(f"SELECT ?h {{ GRAPH <{PROVENANCE}> {{ ?run ml:robotsNotApplied ?h }} }}")
    assert [row["h"].value for row in named] == [own]  # type: ignore[union-attr, index]
    folder = CrawlFolder(tmp_path / "own")
    assert any(value == own for _, value in report_of(folder.job(), read_stats(folder)).asked)


def test_who_leaves_rules_aside_says_who_that_is() -> None:
    with pytest.raises(JobError, match="contact"):
        Job(own_hosts=("example.org",))


@pytest.mark.parametrize(
    "name",
    ["*", "*.com", "*.co.uk", "*.рф", "http://example.org/", "", "a b", "ann@example.org", "example.org:x", ":80"],
)
def test_nobody_owns_everything(name: str) -> None:
    with pytest.raises(ValueError, match="own_hosts"):
        own_hosts([name])


def test_names_are_compared_as_names() -> None:
    own = own_hosts(["Example.org", "127.0.0.1:81", "[::1]"])
    assert own("example.org:8080")
    assert own("127.0.0.1:81")
    assert own("[::1]")
    assert own("[::1]:99")
    assert not own("127.0.0.1")
    assert not own("evil-example.org")


def test_international_names_are_those_that_urls_spell() -> None:
    own = own_hosts(["Bücher.example", "*.XN--bcher-kva.example", "*.пример.рф:8080"])
    assert own("xn--bcher-kva.example:81")
    assert own("shop.xn--bcher-kva.example")
    assert own("a.xn--e1afmkfd.xn--p1ai:8080")
    assert not own("a.xn--e1afmkfd.xn--p1ai"), "only at that port"
    assert not own("bucher.example")


# ── sitemaps ─────────────────────────────────────────────────────────────────────────────────────────────


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
async def test_sitemaps_are_found_where_the_user_wants_them_looked_for(
    tmp_path: Path, option: object, robots: str | None, asked: set[str]
) -> None:
    site = _site(robots=robots, hidden=HTML, named=HTML)
    async with serving(site):
        site.pages["/sitemap.xml"] = _sitemap(f"{site.root}/hidden")
        site.pages["/other.xml"] = _sitemap(f"{site.root}/named")
        visits = await _crawl(tmp_path / "out", site, sitemaps=option)
    assert set(site.asked()) == asked
    assert len(visits) == len(asked)


def test_a_wrong_word_is_refused() -> None:
    with pytest.raises(JobError, match="usual"):
        Job(sitemaps="all")


# ── probes ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_probe_spares_the_get_and_has_its_own_cost(tmp_path: Path) -> None:
    movie = Document(text="x" * 100_000, content_type="video/mp4")
    site = _site(
        "/movie", "/page", "/away", movie=movie, page=HTML, away=Document(status=302, headers={"Location": "/"})
    )
    async with serving(site):
        visits = await _crawl(tmp_path / "out", site, probe="always")
    assert sorted(site.asked("HEAD")) == ["/", "/away", "/movie", "/page"]
    assert sorted(site.asked("GET")) == ["/", "/page"], "neither the movie nor the redirect was asked for twice"
    assert {visit.url.removeprefix(site.root): visit.failure.value if visit.failure else "" for visit in visits} == {
        "/": "",
        "/page": "",
        "/movie": "useless",
        "/away": "redirect",
    }
    found = stats(tmp_path / "out")
    assert (found["heads"], found["fetched"]) == (4, 4)
    assert found["requests"] == len(site.log)


async def test_only_doubtful_addresses_are_probed_and_links_are_not_lost(tmp_path: Path) -> None:
    data = Document(text="<a> <b> <c> .", content_type="text/turtle")
    site = _site("/plain", "/dump.xyz", **{"plain": HTML, "dump.xyz": data})
    async with serving(site):
        await _crawl(tmp_path / "out", site, probe="unsure")
    assert site.asked("HEAD") == ["/dump.xyz"]
    assert sorted(site.asked("GET")) == ["/", "/a", "/c", "/dump.xyz", "/plain"]
    assert stats(tmp_path / "out")["heads"] == 1


class _Timed(ChangingWeb):
    """Keeps the moments at which requests came, and at which their answers had gone."""

    def __init__(self, pages: dict[str, Document]) -> None:
        super().__init__(pages)
        self.moments: list[float] = []

    async def answer(self, request: web.BaseRequest) -> web.Response:
        self.moments.append(time.monotonic())
        return await super().answer(request)


async def test_probes_pass_the_hosts_clock_and_count_against_its_budget(tmp_path: Path) -> None:
    links = [f"/{number}" for number in range(6)]
    plain = _site(*links, **{str(number): HTML for number in range(6)})
    site = _Timed(plain.pages)
    async with serving(site):
        await _crawl(
            tmp_path / "out", site, probe="always", delay=0.3, address_delay=0.0, patience=0.0, pages_per_host=7
        )
    gaps = [later - earlier for earlier, later in pairwise(site.moments)]
    assert min(gaps) >= 0.299, "robots.txt, HEAD and GET alike wait for the clock"
    asked = [(line.method, line.path) for line in site.log if line.path != "/robots.txt"]
    assert len(asked) == 7, "seven requests for pages were allowed, whatever their method"
    methods = [method for method, _ in asked]
    assert methods == ["HEAD", "GET"] * 3 + ["HEAD"]
    assert all(first[1] == second[1] for first, second in zip(asked[::2], asked[1::2], strict=False)), "the GET is next"
    refused = stats(tmp_path / "out")["refused"]
    assert refused == {"the host's budget of pages is spent": 4}

"""Tests of the descriptions of URLs in the provenance graph: failures, refusals, waiting URLs and headers."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from motherlode.crawler import CrawlFolder, Job, JobError
from motherlode.crawler.engine.factory import assemble
from motherlode.crawler.engine.pipeline import MAX_HEADER_CHARACTERS, MAX_HEADERS_CHARACTERS, UrlDescriber
from motherlode.crawler.index_later import index_log
from motherlode.index.page_record import PageRecord
from motherlode.index.quad_store import QuadStore
from motherlode.model import Page
from tests.support import write_warc

HOME, GONE, OLD, LATE, PRIVATE = (f"http://a.example/{path}" for path in ("", "gone", "old", "late", "private/x"))
HTML = {"content-type": "text/html", "server": "nginx", "set-cookie": "secret"}
STATES = """SELECT ?url ?state ?reason ?status ?headers ?foundBy {
  GRAPH <urn:motherlode:provenance> {
    ?url a ?type FILTER(?type IN (ml:Page, ml:Url))
    OPTIONAL { ?url ml:state ?state } OPTIONAL { ?url ml:reason ?reason } OPTIONAL { ?url ml:status ?status }
    OPTIONAL { ?url ml:headers ?headers } OPTIONAL { ?url ml:foundBy ?foundBy }
  }
}"""


@pytest.fixture
def web(tmp_path: Path) -> Path:
    links = "".join(f'<a href="{url}">x</a>' for url in (GONE, PRIVATE, OLD, LATE)).encode()
    pages = [
        ("http://a.example/robots.txt", 200, {"content-type": "text/plain"}, b"User-agent: *\nDisallow: /private"),
        (HOME, 200, HTML, links),
        (GONE, 404, HTML, b""),
        (OLD, 301, HTML | {"location": LATE}, b""),
        (LATE, 200, HTML, b"late"),
        (PRIVATE, 200, HTML, b"private"),
    ]
    return write_warc(tmp_path / "web.warc.gz", pages)


def crawl(folder: CrawlFolder, web: Path, **more: Any) -> None:
    job = Job(seeds=(HOME,), web=str(web), delay=0.0, workers=1, words=False, policy="bfs", **more)

    async def visits() -> None:
        made = assemble(job, folder)
        async for _ in made.engine.visits(made.seeds):
            pass

    if folder.has_crawl:
        folder.lock()
    else:
        folder.create(job)
    try:
        asyncio.run(visits())
    finally:
        folder.unlock()
        gc.collect()  # closes the store


def described(folder: CrawlFolder) -> dict[str, dict[str, str]]:
    """Return the descriptions in the store by URL."""
    store = QuadStore(folder.store, read_only=True)
    try:
        found = store.query(STATES)
        assert isinstance(found, ox.QuerySolutions)
        names = [variable.value for variable in found.variables]
        rows = [{name: row[name].value for name in names if row[name] is not None} for row in found]
    finally:
        store.close()
    assert len({row["url"] for row in rows}) == len(rows), "a URL is described twice"
    return {row.pop("url"): row for row in rows}


def test_requests_are_described_with_failures_and_robots_decisions(tmp_path: Path, web: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    crawl(folder, web, response_headers=("Server",), pages=3)
    assert described(folder) == {
        HOME: {"status": "200", "headers": "server: nginx", "foundBy": "seed"},
        GONE: {"state": "failed", "reason": "not-found", "status": "404", "headers": "server: nginx"},
        OLD: {"status": "301", "headers": "server: nginx"},
        PRIVATE: {"state": "refused", "reason": "robots"},
    }


@pytest.mark.parametrize("index", ["now", "later"])
def test_waiting_urls_are_described_and_replaced_when_fetched(tmp_path: Path, web: Path, index: str) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    for pages, state in ((1, "waiting"), (9, None)):
        crawl(folder, web, describe="all", pages=pages, index=index, response_headers=())
        if index == "later":
            index_log(folder)
        assert described(folder)[LATE].get("state") == state
    assert set(described(folder)) == {HOME, GONE, OLD, LATE, PRIVATE}
    assert not folder.path.joinpath("changes.rdfp").exists(), "a first page is no change"


def test_pages_level_describes_no_other_urls(tmp_path: Path, web: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    crawl(folder, web, describe="pages")
    assert set(described(folder)) == {HOME, OLD, LATE}


def test_description_of_failure_never_replaces_page(tmp_path: Path, web: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    crawl(folder, web)
    store = QuadStore(folder.store)
    assert store.has(HOME)
    assert not store.has(GONE), "only pages count"
    before = set(store.quads())
    store.write([PageRecord(url=HOME, fetched_at=1.0, status=500, state="failed", reason="server-error")])
    assert set(store.quads()) == before


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ((), ""),
        (("ETag", "server", "missing"), 'etag: "1"\nserver: nginx'),
        (("*",), 'server: nginx\netag: "1"\nset-cookie: x'),
    ],
)
def test_headers_are_chosen_by_name(chosen: tuple[str, ...], expected: str) -> None:
    page = Page(url=HOME, status=200, headers={"server": "nginx", "etag": '"1"', "set-cookie": "x"})
    assert UrlDescriber("all", chosen).headers(page) == expected


def test_headers_are_bounded() -> None:
    page = Page(url=HOME, status=200, headers={f"x-{number}": "y" * 10_000 for number in range(100)})
    lines = UrlDescriber("all", ("*",)).headers(page)
    assert len(lines) <= MAX_HEADERS_CHARACTERS
    assert max(map(len, lines.split("\n"))) <= MAX_HEADER_CHARACTERS


@pytest.mark.parametrize(("key", "value"), [("response_headers", ("no name",)), ("describe", "everything")])
def test_wrong_setting_is_refused(key: str, value: Any) -> None:
    with pytest.raises(JobError, match=key):
        Job(seeds=(HOME,), **{key: value})

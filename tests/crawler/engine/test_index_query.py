"""Tests of the job key `index_query`: URLs by a query over the whole index."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from motherlode.crawler import CrawlFolder, Job, JobError, read_stats
from motherlode.crawler.engine.factory import assemble, check
from motherlode.crawler.engine.index_query import IndexQuery
from motherlode.index.quad_store import QuadStore
from motherlode.index.query.query_pool import QueryPool
from tests.index.fakes import record, says
from tests.support import write_warc

DOCS = Path(__file__).parents[3] / "docs" / "links.md"
HOME, SPACE, ITEM, FOUND = (f"http://data.example/{path}" for path in ("", "space", "item", "id/x42"))
JOIN = "SELECT (IRI(CONCAT(?space, ?id)) AS ?url) { ?set void:uriSpace ?space . ?item dcterms:identifier ?id }"
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n2 ?o }"
TURTLE = {"content-type": "text/turtle"}


def write_web(path: Path) -> Path:
    """Write a web in which only a join over two pages gives the URL of a third one."""
    pages = [
        (HOME, 200, {"content-type": "text/html"}, b'<a href="/space">The set</a> <a href="/item">An item</a>'),
        (SPACE, 200, TURTLE, b'<#set> <http://rdfs.org/ns/void#uriSpace> "http://data.example/id/" .'),
        (ITEM, 200, TURTLE, b'<#item> <http://purl.org/dc/terms/identifier> "x42" .'),
        (FOUND, 200, TURTLE, b'<> <http://purl.org/dc/terms/title> "A page that no page links to" .'),
    ]
    return write_warc(path, pages)


@pytest.fixture
def web(tmp_path: Path) -> Path:
    return write_web(tmp_path / "web.warc.gz")


def job_of(web: Path, **more: Any) -> Job:
    links = {"index_query": JOIN} | more.pop("links", {})
    return Job(seeds=(HOME,), web=str(web), delay=0.0, workers=1, words=False, policy="bfs", links=links, **more)


def crawl(folder: CrawlFolder, job: Job, *, stop_at: str = "") -> list[str]:
    """Crawl, and return the URLs in the order of the visits. `stop_at` is a URL after which the user stops."""

    async def visits() -> list[str]:
        made = assemble(job, folder)
        urls = []
        async for visit in made.engine.visits(made.seeds):
            urls.append(visit.url)
            if visit.url == stop_at:
                made.engine.stop()
        return urls

    if folder.has_crawl:
        folder.lock()
    else:
        folder.create(job)
    try:
        return asyncio.run(visits())
    finally:
        folder.unlock()
        gc.collect()  # closes the store


def test_index_query_join_over_two_pages_gives_url_of_third(tmp_path: Path, web: Path) -> None:
    assert crawl(CrawlFolder(tmp_path / "with"), job_of(web)) == [HOME, SPACE, ITEM, FOUND]
    assert crawl(CrawlFolder(tmp_path / "without"), job_of(web, links={"index_query": ""})) == [HOME, SPACE, ITEM]


def test_index_query_result_is_subject_to_filters(tmp_path: Path, web: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    assert FOUND not in crawl(folder, job_of(web, links={"deny": ["/id/"]}))
    assert read_stats(folder).refused == {"links: denied by /id/": 1}, "counted once, although the query ran often"


def test_index_query_at_end_of_page_budget_leaves_url_to_resume(tmp_path: Path, web: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    assert crawl(folder, job_of(web, pages=3)) == [HOME, SPACE, ITEM]
    assert read_stats(folder).known_urls == 4
    assert crawl(folder, job_of(web)) == [FOUND], "no URL is fetched twice"


def test_index_query_after_stop_by_user_runs_in_resumed_crawl(tmp_path: Path, web: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    crawl(folder, job_of(web), stop_at=ITEM)
    assert crawl(folder, job_of(web)) == [FOUND]


def test_index_query_that_takes_too_long_is_problem_and_crawl_goes_on(
    tmp_path: Path, web: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = IndexQuery.__init__
    monkeypatch.setattr(IndexQuery, "__init__", lambda self, *given: made(self, *given, max_seconds=0.01))
    folder = CrawlFolder(tmp_path / "crawl")
    assert crawl(folder, job_of(web)) == [HOME, SPACE, ITEM]
    assert any(problem.startswith("index_query: ") for problem in read_stats(folder).totals.problems)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"index": "later"}, 'index_query needs the index while the crawl runs, and index = "later" has none'),
        ({"shards": 2}, "index_query works only without shards"),
        ({"links": {"index_query": "SELECT ?x {"}}, "index_query: it is not valid SPARQL"),
        ({"links": {"index_query": "ASK {}"}}, "index_query: it must be a SELECT"),
        ({"links": {"index_query": "SELECT * { SERVICE <http://a.example/> {} }"}}, "index_query: SERVICE is not"),
        ({"links": {"index_query": 7}}, "index_query must be a string, not 7"),
    ],
)
def test_index_query_that_cannot_run_is_refused(web: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(JobError, match=re.escape(message)):
        check(job_of(web, **change))


# The schedule and the limits of a run


@pytest.fixture
def store(tmp_path: Path) -> QuadStore:
    made = QuadStore(tmp_path / "store")
    made.write([record("http://a.test/", *(says(f"x{n}", f"http://b.test/{n}") for n in range(5)))])
    made.flush()
    return made


async def with_query(path: Path, query: str, use: Callable[[IndexQuery], Any], **options: Any) -> None:
    found = IndexQuery(query, QueryPool(path / "store", path / "words", workers=1, refresh_seconds=0.0), **options)
    try:
        await use(found)
    finally:
        await found.close()


async def test_run_gives_each_url_once(store: QuadStore, tmp_path: Path) -> None:
    async def use(query: IndexQuery) -> None:
        await query.run_now()
        assert sorted(query.take()[0]) == [f"http://b.test/{n}" for n in range(5)]
        store.write([record("http://c.test/", says("y", "http://b.test/new"))])
        store.flush()
        query.note_change()
        await query.run_now()
        assert query.take() == (["http://b.test/new"], [])
        assert not query.is_pending

    await with_query(tmp_path, "SELECT ?o { ?s ?p ?o }", use)


async def test_run_with_more_urls_than_limit_gives_rest_later(store: QuadStore, tmp_path: Path) -> None:
    async def use(query: IndexQuery) -> None:
        found = []
        while query.is_pending:
            await query.run_now()
            urls, problems = query.take()
            assert len(urls) <= 2 and not problems
            found += urls
        assert sorted(found) == [f"http://b.test/{n}" for n in range(5)]

    await with_query(tmp_path, "SELECT ?o { ?s ?p ?o }", use, max_new_urls=2)


async def test_next_run_begins_after_twenty_times_the_last_one(store: QuadStore, tmp_path: Path) -> None:
    times = iter([0.0, 0.0, 2.0, 2.0, 41.0, 42.0, 42.0, 43.0, 43.0])

    async def use(query: IndexQuery) -> None:
        query.start_if_due()  # at 0, and the run takes 2 seconds
        await query.run_now()
        query.take()
        query.note_change()
        query.start_if_due()  # at 41
        assert query.take() == ([], [])
        assert query._task is None, "one second too early"
        query.start_if_due()  # at 42
        assert query._task is not None

    await with_query(tmp_path, "SELECT ?o { ?s ?p ?o }", use, clock=lambda: next(times, 50.0))


async def test_unchanged_index_is_not_queried_again(store: QuadStore, tmp_path: Path) -> None:
    async def use(query: IndexQuery) -> None:
        await query.run_now()
        query.take()
        query.start_if_due()
        assert not query.is_pending

    await with_query(tmp_path, "SELECT ?o { ?s ?p ?o }", use, clock=lambda: 0.0)


async def test_run_is_killed_at_its_time_limit(store: QuadStore, tmp_path: Path) -> None:
    async def use(query: IndexQuery) -> None:
        await query.run_now()
        urls, problems = query.take()
        assert urls == []
        assert problems and re.match("index_query: (no result|the query could not begin) within", problems[0])

    store.write([record("http://d.test/", *(says(f"z{n}", f"value {n}") for n in range(300)))])
    store.flush()
    await with_query(tmp_path, ENDLESS, use, max_seconds=1.5)


# The session in the documentation


def test_documented_session_gives_documented_output(tmp_path: Path) -> None:
    session = DOCS.read_text(encoding="utf-8").partition("```console\n")[2].partition("```")[0]
    steps = [step.partition("\n") for step in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]]
    write_web(tmp_path / "web.warc.gz")
    assert steps[0][0] == "cat job.toml"
    (tmp_path / "job.toml").write_text(steps[0][2], encoding="utf-8")
    for command, _, expected in steps:
        shell = f'motherlode() {{ "{sys.executable}" -m motherlode "$@"; }}\n{command}'
        environment = os.environ | {"COLUMNS": "200"}
        done = subprocess.run(
            ["bash", "-c", shell],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == expected

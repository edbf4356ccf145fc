"""The crawl as its readers see it: visits in order, budgets that hold, a store that has what the frontier says."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

from tests.crawl.small_web import HOME, crawled, small_web

from motherlode.crawl import CrawlFolder, Job, read_visits
from motherlode.crawl.assemble import assemble
from motherlode.index import PROVENANCE, QuadStore
from motherlode.model import FailureKind, Visit
from motherlode.model.terms import page_iri


def run(folder: CrawlFolder, job: Job, *, stop_after: int | None = None) -> list[Visit]:
    """A crawl, stopped gently after so many visits."""
    try:
        return asyncio.run(_run(folder, job, stop_after))
    finally:
        folder.unlock()
        gc.collect()  # the store is let go with the last that holds it


async def _run(folder: CrawlFolder, job: Job, stop_after: int | None) -> list[Visit]:
    if folder.holds_a_crawl:
        folder.lock()
    else:
        folder.create(job)
    assembled = assemble(job, folder)
    visits = []
    async for visit in assembled.crawl.visits(assembled.seeds):
        visits.append(visit)
        if stop_after is not None and len(visits) == stop_after:
            assembled.crawl.stop()
    assert assembled.crawl.totals.fetched >= len(visits)
    return visits


def test_visits_are_numbered_as_they_end_and_are_those_on_record(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz")
    folder = CrawlFolder(tmp_path / "crawl")
    visits = run(folder, Job(seeds=(HOME,), web=str(web), delay=0.0, workers=1, words=False))
    assert [visit.number for visit in visits] == list(range(1, len(visits) + 1))
    assert visits == list(read_visits(folder))
    assert len(visits) > 20


def test_the_budget_of_pages_is_not_exceeded_by_what_is_under_way(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz")
    job = Job(seeds=(HOME,), web=str(web), delay=0.0, workers=1, words=False, pages=7, concurrency=16)
    assert len(run(CrawlFolder(tmp_path / "crawl"), job)) == 7


def test_a_crawl_that_is_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz")
    _, at_once = crawled(tmp_path / "whole", web, policy="bfs")
    folder = CrawlFolder(tmp_path / "crawl")
    job = Job(seeds=(HOME,), web=str(web), delay=0.0, workers=1, words=False, policy="bfs", concurrency=1)
    first, second = run(folder, job, stop_after=5), run(folder, job)
    assert len(first) < at_once.fetched
    urls = [visit.url for visit in (*first, *second)]
    assert len(urls) == len(set(urls)) == at_once.fetched


def test_every_page_that_is_done_is_in_the_store_with_its_provenance(tmp_path: Path) -> None:
    folder, totals = crawled(tmp_path / "crawl", small_web(tmp_path / "web.warc.gz"))
    store = QuadStore(folder.store, read_only=True)
    visits = list(read_visits(folder))
    stored = {visit.url for visit in visits if visit.failure in (None, FailureKind.REDIRECT)}
    known = {url for url in stored if next(store.match(page_iri(url), graph=f"<{PROVENANCE}>"), None) is not None}
    assert known == stored
    assert totals.fetched == len(visits) > len(stored), "one page is gone"
    store.close()

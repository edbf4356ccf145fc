"""The crawl as its readers see it: visits in order, budgets that hold, a store that has what the frontier says."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from motherlode.crawler import CrawlFolder, Job, read_stats, read_visits
from motherlode.crawler.engine.factory import assemble
from motherlode.fetch.http.connections import Connector
from motherlode.fetch.http.endpoints import Endpoint
from motherlode.fetch.http.errors import FetchError
from motherlode.frontier import FrontierStorage, LmdbStorage
from motherlode.index.page_record import PROVENANCE
from motherlode.index.quad_store import QuadStore
from motherlode.model import FailureKind, Link, Outcome, Visit
from motherlode.model.terms import page_iri
from tests.crawler.changing_web import ChangingWeb, Document, serving
from tests.crawler.small_web import HOME, crawled, small_web
from tests.fetch.fake_names import use_names
from tests.support import write_warc

SILENCE_SECONDS = 3.0


def run(folder: CrawlFolder, job: Job, *, stop_after: int | None = None) -> list[Visit]:
    """Run a crawl and return its visits. It is stopped after `stop_after` visits, if that is given."""
    try:
        return asyncio.run(_run(folder, job, stop_after))
    finally:
        folder.unlock()
        gc.collect()  # the store is closed with the last reference to it


async def _run(folder: CrawlFolder, job: Job, stop_after: int | None) -> list[Visit]:
    if folder.has_crawl:
        folder.lock()
    else:
        folder.create(job)
    assembled = assemble(job, folder)
    visits = []
    async for visit in assembled.engine.visits(assembled.seeds):
        visits.append(visit)
        if stop_after is not None and len(visits) == stop_after:
            assembled.engine.stop()
    assert assembled.engine.totals.fetched >= len(visits)
    return visits


class Recorder:
    """Peers that own no hosts, and read the frontier storage when `close` is called."""

    def __init__(self, storage: FrontierStorage) -> None:
        self._storage = storage
        self.closed_with: bytes | None = None

    def keep_own(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Link]:
        return links

    def prepare_commit(self, save: object) -> None: ...

    def committed(self) -> None: ...

    def close(self) -> None:
        self.closed_with = self._storage.note("totals")


async def test_peers_are_closed_before_the_storage_closes(tmp_path: Path) -> None:
    job = Job(seeds=(HOME,), web=str(small_web(tmp_path / "web.warc.gz")), delay=0.0, workers=1, words=False)
    folder, joined = CrawlFolder(tmp_path / "crawl"), list[Recorder]()
    folder.create(job)

    def join(storage: FrontierStorage, _reason: Callable[[str], str]) -> Recorder:
        joined.append(Recorder(storage))
        return joined[0]

    assembled = assemble(job, folder, join=join)
    async for _ in assembled.engine.visits(assembled.seeds):
        assembled.engine.stop()
    folder.unlock()
    assert joined[0].closed_with, "the storage could still be read, and held the last commit"


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


def test_the_budget_of_pages_is_not_exceeded_by_hosts_that_are_not_there(tmp_path: Path) -> None:
    seeds = tuple(f"http://127.0.9.{number}:1/" for number in range(1, 13))
    job = Job(seeds=seeds, delay=0.0, workers=1, words=False, pages=4, allow=("127.0.9.0/24",), retry_wait=0.001)
    visits = run(CrawlFolder(tmp_path / "crawl"), job)
    assert [visit.failure for visit in visits] == [FailureKind.CONNECT] * 4


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


def test_what_the_address_guard_refuses_costs_no_budget(tmp_path: Path) -> None:
    seeds = ("http://10.0.0.1/", "http://10.0.0.2/", "http://192.168.0.1/a")
    job = Job(seeds=seeds, delay=0.0, workers=1, words=False, pages=2, policy="bfs")
    folder = CrawlFolder(tmp_path / "crawl")
    assert run(folder, job) == []
    found = read_stats(folder)
    assert found.refused == {"address-guard": 3}
    assert (found.totals.fetched, found.totals.requests, found.totals.failures) == (0, 0, {})


def test_a_body_longer_than_max_body_by_its_length_is_a_failure(tmp_path: Path) -> None:
    web = write_warc(tmp_path / "web.warc.gz", [(HOME, 200, {"content-type": "text/html"}, b"<p>" + b"long " * 500)])
    job = Job(seeds=(HOME,), web=str(web), delay=0.0, workers=1, words=False, max_body=1000)
    (visit,) = run(CrawlFolder(tmp_path / "crawl"), job)
    assert (visit.failure, visit.size) == (FailureKind.TOO_LARGE, 0)


def test_a_body_that_was_cut_leaves_a_problem(tmp_path: Path) -> None:
    web = tmp_path / "web.warc"  # without a Content-Length, as for chunks
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>" + b"long " * 500
    head = f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {HOME}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
    head += "WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>\r\n"
    head += f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
    web.write_bytes(head.encode() + http + b"\r\n\r\n")
    job = Job(seeds=(HOME,), web=str(web), delay=0.0, workers=1, words=False, max_body=1000)
    (visit,) = run(CrawlFolder(tmp_path / "crawl"), job)
    assert [problem.message for problem in visit.problems] == ["the body was cut after 1000 bytes; see max_body"]


def test_a_recorded_web_without_rules_ends_at_once(tmp_path: Path) -> None:
    web = write_warc(
        tmp_path / "web.warc.gz",
        [
            (HOME + "robots.txt", 503, {"retry-after": "3600"}, b""),
            (HOME, 200, {"content-type": "text/html"}, b"<p>home"),
        ],
    )
    folder = CrawlFolder(tmp_path / "crawl")
    assert run(folder, Job(seeds=(HOME,), web=str(web), delay=0.0, workers=1, words=False)) == []
    assert sum(read_stats(folder).refused.values()) == 1


def test_broken_records_of_a_recorded_web_are_reported(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz")
    web.write_bytes(web.read_bytes()[:-40])
    _, totals = crawled(tmp_path / "crawl", web)
    assert totals.problems["1 records of the recorded web cannot be read"] == 1


async def test_links_out_of_scope_are_counted_and_never_known(tmp_path: Path) -> None:
    far = '<a href="http://far.example/1">1</a><a href="http://far.example/2">2</a>'
    site = ChangingWeb(pages={"/": Document(f'<a href="/next">n</a>{far}'), "/next": Document(far)})
    async with serving(site):
        folder = CrawlFolder(tmp_path / "crawl")
        seeds = (f"{site.root}/",)
        job = Job(seeds=seeds, scope="host", delay=0.0, workers=1, words=False, allow=("127.0.0.0/8",))
        assert len(await _run(folder, job, None)) == 2
    folder.unlock()
    found = read_stats(folder)
    assert (found.known_urls, found.refused) == (2, {"out of scope": 4})


async def test_an_address_where_nobody_is_costs_no_page_where_the_host_has_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = ChangingWeb(pages={"/": Document("home")})
    async with serving(site):
        port = site.root.rpartition(":")[2]

        use_names(monkeypatch, ["127.0.0.99", "127.0.0.98", "127.0.0.1"])
        folder = CrawlFolder(tmp_path / "crawl")
        seeds = (f"http://several.example:{port}/",)
        job = Job(seeds=seeds, delay=0.0, workers=1, words=False, pages=1, allow=("127.0.0.0/8",))
        (visit,) = await _run(folder, job, None)
    folder.unlock()
    assert (visit.failure, visit.url) == (None, seeds[0])


async def test_an_address_that_is_silent_for_long_slows_no_other_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = ChangingWeb(pages={"/": Document("home")})
    connect = Connector._open_directly

    async def slowly(connector: Connector, protocol: object, place: Endpoint, *rest: object) -> FetchError | None:
        if place.address == "127.0.0.99":
            await asyncio.sleep(SILENCE_SECONDS)
        return await connect(connector, protocol, place, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Connector, "_open_directly", slowly)
    use_names(monkeypatch, ["127.0.0.99", "127.0.0.1"])
    async with serving(site):
        folder = CrawlFolder(tmp_path / "crawl")
        seeds = (f"http://several.example:{site.root.rpartition(':')[2]}/",)
        job = Job(seeds=seeds, delay=0.01, workers=1, words=False, pages=1, allow=("127.0.0.0/8",))
        await _run(folder, job, None)
    folder.unlock()
    storage = LmdbStorage(folder.frontier, read_only=True)
    (record,) = storage.hosts()
    storage.close()
    assert record.response < SILENCE_SECONDS, "the silence is not counted"

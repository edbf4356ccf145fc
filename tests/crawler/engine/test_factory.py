"""Assembly of a crawl from a job: which jobs are refused before anything is created, and what the parts get."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from motherlode.crawler import CrawlFolder, Job, JobError, check
from motherlode.crawler.engine.factory import Assembled, _instructions, assemble
from motherlode.frontier import HostRecord, LmdbStorage
from motherlode.index.page_record import PROVENANCE
from motherlode.index.quad_store import QuadStore
from motherlode.model import Visit
from motherlode.project import VERSION
from motherlode.www.urls import ScopeRule
from tests.crawler.changing_web import ChangingWeb, Document, serving
from tests.crawler.small_web import HOME, crawled, small_web

# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────


def test_a_file_that_is_no_recorded_web_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    file.write_text(HOME, encoding="utf-8")
    with pytest.raises(JobError, match="is it a WARC file"):
        check(Job(seeds=(HOME,), web=str(file)))
    check(Job(seeds=(HOME,), web=str(small_web(tmp_path / "web.warc.gz"))))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seeds": ()}, "no seeds"),
        ({"scope": "("}, "scope"),
        ({"allow": ("home",)}, "home"),
        ({"hosts": {"a.example": "nowhere"}}, "nowhere"),
        ({"web": "missing.warc.gz"}, "missing.warc.gz cannot be read"),
        (
            {"sinks": ({"kind": "update", "url": "http://127.0.0.1/", "token_env": "MOTHERLODE_NO_SUCH_VARIABLE"},)},
            "MOTHERLODE_NO_SUCH_VARIABLE",
        ),
    ],
)
def test_job_error_is_reported_before_the_crawl_begins(change: dict[str, object], said: str) -> None:
    job = Job(seeds=("http://a.example/",))
    check(job)
    with pytest.raises(JobError, match=said):
        check(replace(job, **change))  # type: ignore[arg-type]


async def test_a_web_that_is_no_recording_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "web.warc.gz").write_bytes(b"no recording")
    job = Job(seeds=(HOME,), web=str(tmp_path / "web.warc.gz"))
    folder = CrawlFolder(tmp_path / "out")
    folder.create(job)
    with pytest.raises(JobError):
        assemble(job, folder)
    folder.unlock()
    assert not folder.store.exists()


# ── what the parts get ───────────────────────────────────────────────────────────────────────────────────


@contextmanager
def assembled(job: Job, path: Path) -> Iterator[Assembled]:
    folder = CrawlFolder(path)
    folder.create(job)
    try:
        yield assemble(job, folder)
    finally:
        folder.unlock()


async def visits(made: Assembled) -> list[Visit]:
    return [visit async for visit in made.engine.visits(made.seeds)]


async def test_site_owners_read_who_asks_and_whom_to_write_to(tmp_path: Path) -> None:
    async with serving(ChangingWeb({"/": Document("<p>")})) as site:
        job = Job(
            seeds=(f"{site.root}/",), allow=("127.0.0.0/8",), delay=0.0, workers=1, words=False, contact="c@d.org"
        )
        with assembled(job, tmp_path / "out") as made:
            await visits(made)
    assert {asked.headers["User-Agent"] for asked in site.log} == {f"Motherlode/{VERSION} (+c@d.org)"}


async def test_nothing_private_is_asked_where_the_job_does_not_allow_it(tmp_path: Path) -> None:
    async with serving(ChangingWeb({"/": Document("<p>")})) as site:
        job = Job(seeds=(f"{site.root}/",), delay=0.0, workers=1, words=False)
        with assembled(job, tmp_path / "out") as made:
            assert await visits(made) == []
            assert made.frontier.refused.total() == 1
    assert site.log == []


def test_a_recorded_web_needs_no_journal_and_is_not_waited_for(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz")
    folder, totals = crawled(tmp_path / "out", web, retry_wait=1000.0)
    assert totals.failures["not-found"] >= 1
    assert totals.seconds < 100
    assert not folder.journal.exists()


@pytest.mark.parametrize(("memory", "in_memory"), [(None, 20), (500_000_000, 0)])
async def test_resume_under_a_memory_ceiling_leaves_idle_hosts_on_disk(
    tmp_path: Path, memory: int | None, in_memory: int
) -> None:
    folder, _ = await asyncio.to_thread(crawled, tmp_path / "out", small_web(tmp_path / "web.warc.gz", plain=0))
    storage = LmdbStorage(folder.frontier)
    before = sum(1 for _ in storage.hosts())
    for number in range(20):
        storage.put_host(HostRecord(name=f"host{number}.example", fetched=1))
    storage.commit()
    storage.close()
    folder.lock()
    try:
        made = assemble(replace(folder.read_job(), memory=memory), folder)
        await visits(made)
    finally:
        folder.unlock()
    shedder = made.frontier.shedder
    assert sum(shedder.is_in_memory(f"host{number}.example") for number in range(20)) == in_memory
    assert made.frontier.host_count == before + 20


def test_every_run_is_on_record_with_what_it_was_asked_for(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz")
    for pages in (3, 6):
        folder, _ = crawled(tmp_path / "out", web, target="jsonld", policy="bfs", pages=pages)
    store = QuadStore(folder.store, read_only=True)
    text = f"SELECT ?run ?target {{ GRAPH <{PROVENANCE}> {{ ?run ml:target ?target ; ml:policy 'bfs' }} }}"
    rows = [(row["run"], row["target"].value) for row in store.query(text)]  # type: ignore[union-attr, index]
    assert len({run for run, _ in rows}) == 2
    assert {target for _, target in rows} == {"jsonld"}


def test_lost_store_is_built_from_the_log_and_nothing_is_fetched_again(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz", items=3, plain=0)
    folder, before = crawled(tmp_path / "out", web)
    pages = {str(quad) for quad in QuadStore(folder.store, read_only=True).statements()}
    folder.store.rename(tmp_path / "lost")
    _, after = crawled(tmp_path / "out", web)
    assert after.fetched == before.fetched
    assert {str(quad) for quad in QuadStore(folder.store, read_only=True).statements()} == pages


def test_pages_are_fetched_again_if_store_and_log_of_an_earlier_version_are_lost(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz", items=3, plain=0)
    folder, before = crawled(tmp_path / "out", web)
    pages = before.fetched - before.redirects - sum(before.failures.values())
    shutil.rmtree(folder.store)
    shutil.rmtree(folder.quads)
    storage = LmdbStorage(folder.frontier)
    storage.put_note("segments", b"")
    storage.commit()
    storage.close()
    _, after = crawled(tmp_path / "out", web)
    assert after.fetched - before.fetched >= pages > 3
    assert any("missing in the quad store" in told for told in after.problems)


@pytest.mark.parametrize(("policy", "is_brief"), [("motherlode", True), ("bfs", True), ("ldcoc:trpx", False)])
def test_links_are_described_again_for_policies_that_ask_for_it(policy: str, is_brief: bool) -> None:  # noqa: FBT001
    instructions = _instructions(Job(seeds=(HOME,), policy=policy), ScopeRule("host"))
    assert instructions.is_brief is is_brief
    assert instructions.scope.is_everything is not is_brief


def test_links_of_a_recorded_web_are_judged_when_they_are_spelled_as_it_does() -> None:
    job = Job(seeds=(HOME,), web="sites.warc.gz")
    assert _instructions(job, ScopeRule("host")).scope.is_everything


@pytest.mark.parametrize(
    ("policy", "wanted"), [("sb-classifier:alpha=1", True), ("tres", False), ("motherlode", False)]
)
def test_instructions_ask_for_element_ids_only_if_the_policy_reads_them(policy: str, *, wanted: bool) -> None:
    assert _instructions(Job(seeds=(HOME,), policy=policy), ScopeRule()).element_ids is wanted

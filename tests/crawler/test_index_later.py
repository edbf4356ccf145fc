"""Indexing after the crawl gives the same store as indexing during it, also after kills."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as replace_entry

from motherlode.crawler import CrawlFolder, Job, JobError
from motherlode.crawler.config.job_file import job_to_toml
from motherlode.crawler.index_later import (
    MANIFEST,
    IndexUpdater,
    build_store_at,
    compact,
    copy_manifest,
    index_log,
    needs_indexing,
)
from motherlode.frontier import LmdbStorage
from motherlode.index.fulltext import Search, WordSearcher
from motherlode.index.nquads_log import NQuadsLog, UnindexedQuads, complete_manifest, encode_manifest
from motherlode.index.page_record import RunRecord
from motherlode.index.quad_store import QuadStore
from motherlode.index.rebuild import remove_views
from motherlode.index.segment_files import SegmentWriter, list_segments
from motherlode.index.snapshot import DamagedError
from tests.crawler.changing_web import ChangingWeb, Document, job_file, motherlode, serving
from tests.crawler.logged_web import LoggedWeb, quads_of
from tests.crawler.offspring import Offspring
from tests.index.sinks.records import P, record
from tests.index.test_nquads_log import A, logged, some_pages

HOSTS, PAGES = 10, 60


def _kill_while(offspring: Offspring, command: list[str], moments: list[float], folder: Path) -> int:
    """Kill a command after each of these times, then run it to its end. Return how many kills found it alive."""
    hits = 0
    for moment in moments:
        child = offspring.start(*command)
        time.sleep(moment)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        hits += offspring.wait() == -signal.SIGKILL
        if CrawlFolder(folder).has_crawl and command[0] == "crawl":
            command = ["resume", str(folder), "--quiet"]
    offspring.start(*command)
    assert offspring.wait() == 0
    return hits


def test_killed_crawl_and_index_give_the_same_store(tmp_path: Path) -> None:
    at_once, later = tmp_path / "at-once", tmp_path / "later"
    chance = random.Random(3)
    with LoggedWeb(hosts=HOSTS, pages=PAGES) as web, Offspring() as offspring:
        (tmp_path / "job.toml").write_text(job_to_toml(web.job(retry_wait=0.1)))
        flags = ["crawl", "--config", str(tmp_path / "job.toml"), "--quiet", "-o"]
        offspring.start(*flags, str(at_once))
        assert offspring.wait() == 0
        web.latency = 0.05
        moments = [chance.uniform(0.3, 1.5) for _ in range(5)]
        assert _kill_while(offspring, [*flags, str(later), "--index", "later"], moments, later)
        assert not CrawlFolder(later).store.exists(), "the crawl builds no store"
        moments = [chance.uniform(0.01, 0.2) for _ in range(6)]
        assert _kill_while(offspring, ["index", str(later), "--quiet"], moments, later)
    assert quads_of(later) == quads_of(at_once)
    found = [WordSearcher(CrawlFolder(place).words).search(Search(words="h1")) for place in (at_once, later)]
    assert len(found[0]) == len(found[1])


async def test_refresh_is_indexed_later_and_gone_pages_are_removed(tmp_path: Path) -> None:
    def page(name: str) -> Document:
        said = f'<p vocab="http://schema.org/" typeof="Place"><b property="name">{name}</b></p>'
        return Document(text=f'<html><body>{said}<a href="/dies">x</a><a href="/changes">y</a></body></html>')

    out = tmp_path / "out"
    site = ChangingWeb({"/": page("root"), "/dies": page("dies"), "/changes": page("old")})
    async with serving(site):
        config = job_file(tmp_path / "job.toml", site)
        await motherlode("crawl", "--config", str(config), "-o", str(out), "--index", "later", "--quiet")
        await motherlode("index", str(out))
        site.pages["/changes"] = page("new")
        site.pages["/dies"] = Document(status=410)
        await motherlode("crawl", "--refresh", "-o", str(out), "--quiet")
        assert _names(out) == {"root", "dies", "old"}, "nothing is indexed before the first query"
        await motherlode("index", str(out))
    assert _names(out) == {"root", "new"}


def _names(folder: Path) -> set[str]:
    store = QuadStore(folder / "store", read_only=True)
    return {row["n"].value for row in store.query("SELECT ?n { ?s schema:name ?n }")}  # type: ignore[union-attr, index]


def test_indexed_log_is_not_read_again(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    folder.create(Job(seeds=("http://a.example/",), index="later", words=False))
    logged(folder.quads, some_pages()[:2], some_pages()[2:])
    steps: list[tuple[int, int]] = []
    assert index_log(folder, progress=lambda done, of: steps.append((done, of))) == 5
    assert steps == sorted(steps) and steps[-1][0] == steps[-1][1]
    assert not UnindexedQuads(folder.quads, folder.store)
    assert index_log(folder) == 0
    folder.unlock()
    assert not folder.words.exists(), "the job has words = false"


def test_copy_of_the_manifest_is_used_until_the_frontier_changes(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    folder.create(Job(seeds=(A,), index="later", words=False))
    folder.unlock()
    storage = LmdbStorage(folder.frontier)
    logged(folder.quads, some_pages())
    committed = complete_manifest(folder.quads)
    storage.put_note(MANIFEST, encode_manifest(committed))
    storage.commit()
    storage.close()
    missing = replace_entry(committed[0], name="segment-000009.nq.gz")
    copy_manifest(folder, [missing])
    with pytest.raises(DamagedError, match="segment-000009"):
        needs_indexing(folder)
    os.utime(folder.frontier / "data.mdb", ns=(1, 1))
    assert needs_indexing(folder), "the manifest of the frontier has no such file"


async def test_index_updater_sees_pages_of_the_log_once(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    folder.create(Job(seeds=(A,), index="later", words=False))
    folder.unlock()
    logged(folder.quads, some_pages())
    update = IndexUpdater(folder)
    position = await update()
    assert position == UnindexedQuads(folder.quads, folder.store).end
    store = QuadStore(folder.store, read_only=True)
    assert store.has(A)
    store.close()
    assert await update() == position


async def test_index_updater_makes_a_store_again_that_was_removed(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    folder.create(Job(seeds=(A,), index="later", words=False))
    folder.unlock()
    logged(folder.quads, some_pages()[:2])
    update = IndexUpdater(folder)
    first = await update()
    remove_views(folder.store, None)
    assert await update() == first
    assert not needs_indexing(folder)


async def test_index_updater_reads_the_log_again_after_each_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    folder.create(Job(seeds=(A,), index="later", words=False))
    folder.unlock()
    logged(folder.quads, some_pages()[:2])
    update = IndexUpdater(folder)
    first = await update()
    assert await update() == first, "the mark has moved"
    reads: list[int] = []
    size = UnindexedQuads.bytes_after
    monkeypatch.setattr(UnindexedQuads, "bytes_after", lambda self, at: reads.append(1) or size(self, at))  # type: ignore[func-returns-value]
    assert await update() == first
    assert not reads, "nothing has changed"
    logged(folder.quads, some_pages()[2:])
    second = await update()
    assert (second > first, bool(reads)) == (True, True)
    assert second == UnindexedQuads(folder.quads, folder.store).end


def test_store_at_a_time_has_the_version_of_each_page_at_that_time(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    folder.create(Job(seeds=(A,)))
    folder.unlock()
    log = NQuadsLog(folder.quads)
    for number, at in enumerate((10.0, 20.0, 30.0)):
        log.begin(RunRecord(identifier=f"run{number}", started_at=at - 1, version="1"))
        log.write([replace(record(A, ("<urn:s>", P, f'"version {number}"')), fetched_at=at)])
        log.write([replace(record(f"{A}{number}", ("<urn:s>", P, f'"page {number}"')), fetched_at=at)])
    log.close()
    found: list[tuple[set[str], int]] = []
    for at in (5.0, 15.0, 25.0, 35.0):
        path = tmp_path / str(at) / "store"
        path.parent.mkdir()
        build_store_at(folder, datetime.fromtimestamp(at, UTC), path)
        store = QuadStore(path, read_only=True)
        runs = {quad.subject for quad in store.match(predicate="<http://www.w3.org/ns/prov#startedAtTime>")}
        found.append(({str(quad.object) for quad in store.statements()}, len(runs)))
        store.close()
    assert found == [
        (set(), 0),
        ({'"version 0"', '"page 0"'}, 1),
        ({'"version 1"', '"page 0"', '"page 1"'}, 2),
        ({'"version 2"', '"page 0"', '"page 1"', '"page 2"'}, 3),
    ]


class Killed(BaseException):
    """Ends a compaction at one of its steps, as a kill would."""


def kill_at(step: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Raise Killed at a step of writing files, and return a function that returns the number of steps so far."""
    steps = iter(range(1, 10_000))
    done = 0

    def with_steps(owner: type, name: str) -> None:
        inner = getattr(owner, name)

        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal done
            done = next(steps)
            if done == step:
                raise Killed
            return inner(*arguments, **named)

        monkeypatch.setattr(owner, name, call)

    for owner, names in _COMPACTION_STEPS.items():
        for name in names:
            with_steps(owner, name)
    return lambda: done


_COMPACTION_STEPS: dict[type, tuple[str, ...]] = {
    SegmentWriter: ("append", "close"),
    Path: ("rename", "replace", "unlink", "rmdir"),
    LmdbStorage: ("put_note", "commit"),
    UnindexedQuads: ("mark_indexed",),
}


def crawl_with_versions(path: Path) -> CrawlFolder:
    """Make a crawl folder whose log has several versions of pages in two segments, and whose store is up to date."""
    folder = CrawlFolder(path)
    folder.create(Job(seeds=(A,), words=False))
    log = NQuadsLog(folder.quads)
    log.begin(RunRecord(identifier="run", started_at=1.0, version="1"))
    for number in range(4):
        texts = [(f"{A}{name}", ("<urn:s>", P, f'"{name} {number}"')) for name in range(number, 4)]
        log.write([replace(record(url, text), fetched_at=10.0 * number) for url, text in texts])
        log.backup(path.with_name(f"{path.name}-backup{number}"))  # which finishes the segment
    log.close()
    storage = LmdbStorage(folder.frontier)
    storage.put_note(MANIFEST, log.encoded_manifest)
    storage.commit()
    storage.close()
    index_log(folder)
    return folder


def quads_from_log(folder: CrawlFolder, path: Path) -> set[str]:
    """Return the quads of a new store that is built from the log."""
    path.mkdir()
    build_store_at(folder, datetime(2100, 1, 1, tzinfo=UTC), path / "store")
    store = QuadStore(path / "store", read_only=True)
    try:
        return {str(quad) for quad in (*store.quads(), *store.statements())}
    finally:
        store.close()


def test_compaction_that_is_killed_at_any_step_loses_nothing_and_can_be_repeated(tmp_path: Path) -> None:
    folder = crawl_with_versions(tmp_path / "original")
    expected = quads_from_log(folder, tmp_path / "expected")
    folder.unlock()
    step, is_complete = 0, False
    while not is_complete:
        step += 1
        copy = CrawlFolder(tmp_path / f"copy{step}")
        shutil.copytree(folder.path, copy.path)
        with pytest.MonkeyPatch.context() as monkeypatch:
            steps_done = kill_at(step, monkeypatch)
            with suppress(Killed):
                compact(copy)
                is_complete = True
        assert is_complete or steps_done() == step
        assert quads_from_log(copy, tmp_path / f"killed{step}") == expected
        counts = compact(copy)
        assert counts.versions - counts.dropped == 4
        assert quads_from_log(copy, tmp_path / f"repeated{step}") == expected
        assert len(list_segments(copy.quads)) == 1 and not needs_indexing(copy)
    assert step > 10


def test_store_at_a_time_before_the_reach_of_a_compacted_log_is_an_error(tmp_path: Path) -> None:
    folder = crawl_with_versions(tmp_path / "crawl")
    assert compact(folder).dropped == 6
    build_store_at(folder, datetime.fromtimestamp(30.0, UTC), tmp_path / "store")
    with pytest.raises(ValueError, match="was compacted"):
        build_store_at(folder, datetime.fromtimestamp(29.0, UTC), tmp_path / "earlier")
    folder.unlock()


def test_compact_of_shards_compacts_each_log(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    folder.create(Job(seeds=(A,), shards=2))
    parts = [crawl_with_versions(folder.path / "shards" / f"{number:04d}") for number in range(2)]
    counts = compact(folder)
    assert (counts.versions, counts.dropped) == (20, 12)
    assert [len(list_segments(part.quads)) for part in parts] == [1, 1]
    for part in (folder, *parts):
        part.unlock()


def test_compact_without_log_is_an_error(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    folder.create(Job(seeds=(A,)))
    with pytest.raises(JobError, match="has no log"):
        compact(folder)
    folder.unlock()


def test_store_at_a_time_without_log_is_an_error(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    folder.create(Job(seeds=(A,)))
    folder.unlock()
    with pytest.raises(FileNotFoundError, match="has no log"):
        build_store_at(folder, datetime.now(UTC), tmp_path / "store")


@pytest.mark.parametrize(("index", "shards", "says"), [("never", 1, "now"), ("later", 2, "shards")])
def test_index_option_with_wrong_value_or_shards_is_refused(index: str, shards: int, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Job(index=index, shards=shards)

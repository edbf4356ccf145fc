"""Tests of the compaction of logs: which versions are kept, and random operations on a log and on its store."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyoxigraph as ox
import pytest

from motherlode.index.compaction import Compaction, compact_log
from motherlode.index.fulltext import Search, SearchableStore, WordIndex, WordSearcher
from motherlode.index.indexer import Indexer, IndexPaths
from motherlode.index.nquads_log import NQuadsLog, UnindexedQuads, read_reach
from motherlode.index.page_record import PageRecord, RunRecord
from motherlode.index.quad_store import QuadStore
from motherlode.index.query.query_worker import QueryExecutor, QueryRequest
from motherlode.index.segment_files import ManifestEntry, list_segments

from .fakes import record, says

RUN = RunRecord(identifier="r", started_at=0.0, version="1")


def page(number: int, text: str = "said", *, at: float = 1.0) -> PageRecord:
    return record(f"http://a.example/{number}", says(f"n{number}", text), at=at)


def failed(number: int, *, at: float = 1.0) -> PageRecord:
    return PageRecord(url=f"http://a.example/{number}", fetched_at=at, status=None, state="failed", reason="timeout")


def paths_in(folder: Path) -> IndexPaths:
    folder.mkdir(exist_ok=True)
    return IndexPaths(folder / "quads", folder / "store", folder / "words")


def write_log(folder: Path, *batches: list[PageRecord]) -> None:
    log = NQuadsLog(folder)
    log.begin(RUN)
    for batch in batches:
        log.write(batch)
    log.close()


def records_of(folder: Path) -> list[tuple[str, str, bytes]]:
    batches = UnindexedQuads(folder).batches(from_start=True)
    return [(one.url[-1], one.state, one.graph_quads) for batch in batches for one in batch.pages]


def compact(folder: Path) -> Compaction:
    return compact_log(folder, after=0, commit=lambda manifest: None)


def test_compact_log_keeps_the_newest_version_of_each_page_and_the_runs(tmp_path: Path) -> None:
    log = tmp_path / "quads"
    write_log(log, [page(1, "old"), page(2)], [page(1, "new")])
    counts = compact(log)
    assert (counts.versions, counts.dropped) == (3, 1)
    assert [(url, b'"new"' in quads) for url, _, quads in records_of(log)] == [("2", False), ("1", True)]
    assert b"startedAtTime" in b"".join(batch.run_quads for batch in UnindexedQuads(log).batches(from_start=True))
    assert not (tmp_path / "quads.new").exists()
    assert sum(path.stat().st_size for _, path in list_segments(log)) == counts.bytes_after < counts.bytes_before


def test_compact_log_keeps_a_page_although_a_later_request_failed(tmp_path: Path) -> None:
    write_log(tmp_path / "quads", [failed(1), failed(2)], [page(1)], [failed(1), failed(2)])
    assert compact(tmp_path / "quads").dropped == 3
    assert [(url, state) for url, state, _ in records_of(tmp_path / "quads")] == [("1", ""), ("2", "known")]


def test_compact_log_without_old_versions_changes_no_file(tmp_path: Path) -> None:
    log = tmp_path / "quads"
    write_log(log, [page(1), page(2)])
    before = {path.name: path.read_bytes() for path in log.iterdir()}
    assert compact(log).dropped == 0
    assert {path.name: path.read_bytes() for path in log.iterdir()} == before


def test_compact_log_commits_the_new_segments_before_it_removes_the_old_ones(tmp_path: Path) -> None:
    log = tmp_path / "quads"
    write_log(log, [page(1, "old")], [page(1, "new")])
    seen: list[tuple[list[str], list[str]]] = []

    def commit(manifest: list[ManifestEntry]) -> None:
        seen.append(([entry.name for entry in manifest], [path.name for _, path in list_segments(log)]))

    compact_log(log, after=7, commit=commit)
    assert seen == [(["segment-000008.nq.gz"], ["segment-000001.nq.gz", "segment-000008.nq.gz"])]
    assert [path.name for _, path in list_segments(log)] == ["segment-000008.nq.gz"]


def test_read_reach_is_the_time_of_the_last_version_that_replaced_another(tmp_path: Path) -> None:
    log = tmp_path / "quads"
    write_log(log, [page(1, at=10.0)], [page(2, at=30.0)], [page(1, "new", at=20.0)])
    assert read_reach(log) == datetime.fromtimestamp(0, UTC)
    compact(log)
    assert read_reach(log) == datetime.fromtimestamp(20, UTC)
    write_log(log, [page(2, "new", at=15.0)])
    compact(log)
    assert read_reach(log) == datetime.fromtimestamp(20, UTC), "it never moves back"


def test_backup_of_compacted_log_has_its_reach(tmp_path: Path) -> None:
    log = tmp_path / "quads"
    write_log(log, [page(1, at=10.0)], [page(1, "new", at=20.0)])
    compact(log)
    NQuadsLog(log).backup(tmp_path / "copy")
    assert read_reach(tmp_path / "copy") == datetime.fromtimestamp(20, UTC)


# Random operations: a store from the log equals a store that was written directly.

WORDS = ("lamp", "chair", "table", "lemon")
QUERIES = (
    "SELECT ?s ?p ?o { ?s ?p ?o }",
    "SELECT ?g ?s ?o { GRAPH ?g { ?s <http://ex.org/p> ?o } }",
    "SELECT ?o (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o } GROUP BY ?o",
    """SELECT ?page ?o ?status { GRAPH ?page { ?s ?p ?o }
       GRAPH <urn:motherlode:provenance> { ?page ml:status ?status } }""",
    "SELECT ?page ?state { GRAPH <urn:motherlode:provenance> { ?page ml:state ?state } }",
    *(f'SELECT ?s ?o {{ SERVICE ml:search {{ ?s ml:matches "{word}" }} ?s <http://ex.org/p> ?o }}' for word in WORDS),
)


class RandomOperations:
    """Applies random operations to a log and its index, and the same pages to a store and words that live on."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.indexed, self.live = paths_in(folder / "indexed"), paths_in(folder / "live")
        self._chance = random.Random(seed)
        self._time = 0.0
        assert self.live.words is not None
        self._store = QuadStore(self.live.store)
        self._words = WordIndex(self.live.words)
        self._both = SearchableStore(self._store, self._words)
        self._store.begin(RUN)
        self._open_log()

    def run(self, steps: int) -> None:
        operations = [*[self._write] * 5, self._index, self._index, self._restart, self._rebuild, self._compact]
        for _ in range(steps):
            self._chance.choice(operations)()
        self._restart()
        self._both.flush()
        self._words.close()
        self._index()

    def _write(self) -> None:
        batch = [self._record() for _ in range(self._chance.randrange(1, 5))]
        self._log.write(batch)
        self._both.write(batch)

    def _record(self) -> PageRecord:
        number, self._time = self._chance.randrange(6), self._time + 1.0
        if self._chance.random() < 0.2:
            return failed(number, at=self._time)
        statements = []
        for _ in range(self._chance.randrange(4)):
            subject = self._chance.choice(("a", "b", f"n{number}"))
            graph = self._chance.choice(("", "", "<http://g.example/>"))
            statements.append(says(subject, f"{self._chance.choice(WORDS)} {self._chance.randrange(3)}", graph=graph))
        if self._chance.random() < 0.3:
            statements.append(("_:b", "<http://ex.org/p>", f'"{self._chance.randrange(9):03d}"^^<urn:number>', ""))
        return replace(record(f"http://a.example/{number}", *statements), fetched_at=self._time)

    def _index(self) -> None:
        indexer = Indexer(self.indexed)
        indexer.index()
        indexer.close()

    def _restart(self) -> None:
        self._log.close()
        self._open_log()

    def _open_log(self) -> None:
        self._log = NQuadsLog(self.indexed.log)
        self._log.begin(RUN)

    def _rebuild(self) -> None:
        for path in (self.indexed.store, self.indexed.words):
            assert path is not None
            shutil.rmtree(path, ignore_errors=True)

    def _compact(self) -> None:
        self._log.close()
        self._index()
        unread = self.indexed.unread()
        compact_log(self.indexed.log, after=0, commit=lambda manifest: unread.mark_all_indexed())
        self._open_log()


def answers(paths: IndexPaths) -> list[list[str]]:
    """Return all quads, the rows of each query and the subjects of each search, all without order and scores."""
    assert paths.words is not None
    store = QuadStore(paths.store, read_only=True)
    found = [sorted(map(str, store.quads())), sorted(map(str, store.statements()))]
    store.close()
    executor = QueryExecutor(paths.store, paths.words)
    for query in QUERIES:
        rows = executor.execute(QueryRequest(sparql=query))
        assert isinstance(rows, ox.QuerySolutions)
        found.append(sorted(str(list(row)) for row in rows))
    executor.close()
    searcher = WordSearcher(paths.words)
    for word in WORDS:
        found.append(sorted(f"{subject} {graph}" for subject, graph, _ in searcher.subjects(word)))
        found.append(sorted(f"{hit.subject} {hit.pages}" for hit in searcher.search(Search(words=word, limit=50))))
    return found


@pytest.mark.parametrize("seed", range(10))
def test_store_and_words_from_the_log_answer_as_those_written_directly(tmp_path: Path, seed: int) -> None:
    operations = RandomOperations(tmp_path, seed)
    operations.run(25)
    assert answers(operations.indexed) == answers(operations.live)

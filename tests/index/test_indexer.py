"""Tests of the indexer: batches, the background process, kills, and what waiting commands see."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from motherlode.index import crawl_store
from motherlode.index import indexer as indexer_module
from motherlode.index.fulltext import Search, WordSearcher
from motherlode.index.indexer import (
    BackgroundIndexer,
    Indexer,
    IndexPaths,
    is_locked,
    is_round_due,
    locked_log,
    locked_unless_indexed,
    wait_until_indexed,
)
from motherlode.index.nquads_log import NQuadsLog
from motherlode.index.page_record import PageRecord, RunRecord
from motherlode.index.quad_store import QuadStore
from motherlode.index.snapshot import DamagedError

from .fakes import record, says, spoil_inside, spoil_words

RUN = RunRecord(identifier="r", started_at=0.0, version="1")


def paths_in(folder: Path, *, words: bool = False) -> IndexPaths:
    folder.mkdir(exist_ok=True)
    return IndexPaths(folder / "quads", folder / "store", folder / "words" if words else None)


def page(number: int, text: str = "said") -> PageRecord:
    return record(f"http://a.example/{number}", says(f"n{number}", text))


def stored(paths: IndexPaths) -> set[str]:
    store = QuadStore(paths.store, read_only=True)
    try:
        return {str(quad.object) for quad in store.statements()}
    finally:
        store.close()


def test_index_reads_the_log_once_and_continues_after_its_mark(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    log = NQuadsLog(paths.log)
    log.write([page(1, "one")])
    indexer = Indexer(paths)
    assert indexer.index() == 1
    assert indexer.index() == 0
    log.write([page(2, "two")])
    assert indexer.index() == 1
    indexer.close()
    assert stored(paths) == {'"one"', '"two"'}


def test_older_copy_of_the_store_gets_the_later_pages(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    log = NQuadsLog(paths.log)
    log.write([page(1, "one")])
    Indexer(paths).index()
    shutil.copytree(paths.store, tmp_path / "copy")
    log.write([page(2, "two")])
    Indexer(paths).index()
    shutil.rmtree(paths.store)
    shutil.move(tmp_path / "copy", paths.store)
    assert stored(paths) == {'"one"'}
    assert Indexer(paths).index() == 1
    assert stored(paths) == {'"one"', '"two"'}


def test_page_that_comes_again_in_the_log_is_a_change(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    log = NQuadsLog(paths.log)
    for text in ("old", "new"):
        log.write([page(1, text)])
    assert Indexer(paths).index() == 2
    assert '"old"' in (tmp_path / "changes.rdfp").read_text()
    assert stored(paths) == {'"new"'}


def test_store_that_is_built_again_does_not_repeat_changes(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    log = NQuadsLog(paths.log)
    for text in ("old", "new", "newest"):
        log.write([page(1, text)])
    Indexer(paths).index()
    before = (tmp_path / "changes.rdfp").read_bytes()
    shutil.rmtree(paths.store)
    Indexer(paths).index()
    assert (tmp_path / "changes.rdfp").read_bytes() == before
    log.write([page(1, "last")])
    Indexer(paths).index()
    assert (tmp_path / "changes.rdfp").read_bytes().startswith(before)
    assert '"last"' in (tmp_path / "changes.rdfp").read_text()


def test_background_indexer_indexes_while_the_log_is_written(tmp_path: Path) -> None:
    paths = paths_in(tmp_path, words=True)
    log = NQuadsLog(paths.log, start_indexer=partial(BackgroundIndexer, paths))
    log.begin(RUN)
    log.write([page(1, "first")])
    while not is_locked(paths.log):
        time.sleep(0.01)
    assert wait_until_indexed(paths)
    assert stored(paths) == {'"first"'}
    log.write([page(2, "second")])
    log.close()
    assert not is_locked(paths.log)
    assert stored(paths) == {'"first"', '"second"'}
    assert paths.words is not None
    assert len(WordSearcher(paths.words).search(Search(words="second"))) == 1


@pytest.mark.parametrize(
    ("unread", "indexed", "seconds", "is_due"),
    [
        (10_000, 0, 9.9, False),
        (10_000, 0, 10.0, True),
        (10_000, 40_000, 10.0, True),
        (9_999, 40_000, 10.0, False),
        (9_999, 40_000, 1e6, False),
        (3_499_999, 10**9, 1e6, False),
        (3_500_000, 10**9, 0.0, True),
    ],
)
def test_round_without_a_waiting_command_needs_a_share_of_what_is_indexed(
    unread: int, indexed: int, seconds: float, *, is_due: bool
) -> None:
    assert is_round_due(unread, unread + indexed, seconds=seconds) == is_due


def test_loads_are_bounded_by_all_quads_that_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = paths_in(tmp_path)
    log = NQuadsLog(paths.log)
    for number in range(9):
        log.write([page(number)])
    stored_at_once: list[int] = []
    write = QuadStore.write

    def count(store: QuadStore, records: Sequence[PageRecord]) -> None:
        stored_at_once.append(sum(2 * each.quads + each.provenance.count(b"\n") for each in records))
        write(store, records)

    monkeypatch.setattr(QuadStore, "write", count)
    (quads,) = {
        2 * each.quads + each.provenance.count(b"\n") for batch in paths.unread().batches() for each in batch.pages
    }
    monkeypatch.setattr(indexer_module, "_BATCH_QUADS", 2 * quads)
    assert Indexer(paths).index() == 9
    assert stored_at_once == [2 * quads] * 4 + [quads]


def test_wait_without_a_process_that_indexes_returns_false(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    log = NQuadsLog(paths.log)
    log.write([page(1)])
    assert not wait_until_indexed(paths)
    Indexer(paths).index()
    assert wait_until_indexed(paths)


def test_second_process_waits_for_the_lock_of_the_log(tmp_path: Path) -> None:
    log, entered = tmp_path / "quads", threading.Event()

    def enter() -> None:
        with locked_log(log):
            entered.set()

    with locked_log(log):
        assert is_locked(log)
        other = threading.Thread(target=enter)
        other.start()
        assert not entered.wait(0.1)
    other.join()
    assert entered.is_set() and not is_locked(log)


def damage_store(store: Path, how: str) -> None:
    manifest = next(store.glob("MANIFEST-*"))
    data = sorted(store.glob("*.sst"))
    if how == "torn manifest":
        manifest.write_bytes(bytes(64) + manifest.read_bytes()[64:])
    elif how == "no manifest":
        manifest.unlink()
    elif how == "current":
        (store / "CURRENT").write_text("MANIFEST-")
    elif how == "data is missing":
        data[0].unlink()
    else:
        spoil_inside(store)


@pytest.mark.parametrize("how", ["torn manifest", "no manifest", "current", "data is missing", "inside the data"])
def test_damaged_store_is_built_again_from_the_log(tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture) -> None:
    paths = paths_in(tmp_path, words=True)
    log = NQuadsLog(paths.log)
    many = [says(f"n{number}", f"said {number}") for number in range(3_000)]  # more are bulk-loaded, so files are large
    log.write([record("http://a.example/0", *many)])
    Indexer(paths).index()
    damage_store(paths.store, how)
    log.write([record("http://a.example/0", *many[1:]), page(1, "later")])
    indexer = Indexer(paths)
    assert indexer.index() == 3
    indexer.close()
    assert stored(paths) == {*(f'"said {number}"' for number in range(1, 3_000)), '"later"'}
    assert "it is built again from the log" in caplog.text
    assert paths.words is not None
    assert len(WordSearcher(paths.words).search(Search(words="later"))) == 1
    assert not (tmp_path / "store.damaged").exists()


def test_damaged_store_that_cannot_be_built_again_is_the_error_of_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    paths = paths_in(tmp_path)
    log = NQuadsLog(paths.log)
    many = [says(f"n{number}", f"said {number}") for number in range(3_000)]
    log.write([record("http://a.example/0", *many)])
    Indexer(paths).index()
    damage_store(paths.store, "inside the data")
    log.write([record("http://a.example/0", *many[1:])])
    with pytest.raises(OSError, match="No space left"), closing(Indexer(paths)) as indexer:
        monkeypatch.setattr(crawl_store, "QuadStore", refuse)
        indexer.index()


@pytest.mark.parametrize("is_noticed_at_open", [True, False])
def test_damaged_words_are_built_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, *, is_noticed_at_open: bool
) -> None:
    paths = paths_in(tmp_path, words=True)
    assert paths.words is not None
    log = NQuadsLog(paths.log)
    log.write([page(1, "first")])
    Indexer(paths).index()
    spoil_words(paths.words, is_noticed_at_open=is_noticed_at_open)
    log.write([page(1, "first"), page(2, "second")])  # words of a page that is written again are looked up
    indexer = Indexer(paths)
    indexer.index()
    indexer.close()
    assert "the index of words" in caplog.text
    for word in ("first", "second"):
        assert len(WordSearcher(paths.words).search(Search(words=word))) == 1


@pytest.mark.parametrize("log_is", ["damaged", "incomplete"])
def test_damaged_store_without_whole_log_is_an_error(tmp_path: Path, log_is: str) -> None:
    paths = paths_in(tmp_path)
    log = NQuadsLog(paths.log)
    log.write([page(1)])
    Indexer(paths).index()
    log.close()
    damage_store(paths.store, "torn manifest")
    if log_is == "incomplete":  # an earlier version removed what was indexed
        (segment,) = paths.log.glob("segment-*.nq.gz")
        segment.rename(segment.with_name(segment.name.replace("1", "2")))
    with pytest.raises(DamagedError, match="is damaged"):
        Indexer(paths, is_log_intact=log_is != "damaged")
    assert (paths.store / "CURRENT").exists()


def test_damaged_store_that_is_no_damage_of_files_is_an_error_before_the_crawl_begins(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    (paths.store / "CURRENT").mkdir(parents=True)
    with pytest.raises(DamagedError, match="is damaged"):
        BackgroundIndexer(paths)


def test_store_that_is_locked_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = paths_in(tmp_path)
    NQuadsLog(paths.log).write([page(1)])
    monkeypatch.setattr(crawl_store, "_LOCK_TIMEOUT_SECONDS", 0.0)
    code = "import sys, pyoxigraph as ox; store = ox.Store(sys.argv[1]); print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, str(paths.store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(OSError, match="lock") as caught:
            Indexer(paths)
        assert not isinstance(caught.value, DamagedError)
        holder.communicate()
    assert Indexer(paths).index() == 1


def test_killed_indexer_is_replaced_and_all_pages_are_indexed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    paths = paths_in(tmp_path)
    indexer = BackgroundIndexer(paths)
    log = NQuadsLog(paths.log, start_indexer=lambda: indexer)
    log.write([page(1, "before")])
    os.kill(indexer.process_id, signal.SIGKILL)
    log.write([page(2, "after")])
    log.close()
    assert stored(paths) == {'"before"', '"after"'}
    assert "has ended (-9): another one indexes" in caplog.text


class _DoomedIndexer(BackgroundIndexer):
    """An indexer whose processes are all killed."""

    def _start(self) -> None:
        super()._start()
        os.kill(self.process_id, signal.SIGKILL)


def test_indexer_that_is_killed_twice_is_an_error_and_the_log_keeps_the_pages(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    NQuadsLog(paths.log).close()
    log = NQuadsLog(paths.log, start_indexer=partial(_DoomedIndexer, paths))
    log.write([page(1, "kept")])
    with pytest.raises(OSError, match="has ended"):
        log.close()
    assert Indexer(paths).index() == 1
    assert stored(paths) == {'"kept"'}


_CRAWL = """
import sys, time
from pathlib import Path
from motherlode.index.indexer import BackgroundIndexer, IndexPaths
folder = Path(sys.argv[1])
indexer = BackgroundIndexer(IndexPaths(folder / "quads", folder / "store", None))
print(indexer.process_id, flush=True)
time.sleep(60)
"""


def test_background_indexer_dies_with_killed_crawl(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _CRAWL, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as crawl:
        assert crawl.stdout is not None
        process = int(crawl.stdout.readline())
        assert os.getpgid(process) != os.getpgid(0), "Ctrl-C in a terminal does not reach it"
        while not is_locked(tmp_path / "quads"):
            time.sleep(0.01)
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(process, number)
        crawl.kill()
        crawl.wait()
    while is_locked(tmp_path / "quads"):
        time.sleep(0.01)
    with locked_log(tmp_path / "quads"):
        pass


def test_lock_of_an_indexed_log_is_not_waited_for(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    with locked_log(paths.log), locked_unless_indexed(paths) as is_ours:
        assert not is_ours
    with locked_unless_indexed(paths) as is_ours:
        assert is_ours
        assert is_locked(paths.log)


_NICENESS = """
import os, sys
from pathlib import Path
from motherlode.index import indexer

folder = Path(sys.argv[1])
started = indexer.Indexer(indexer.IndexPaths(folder / "quads", folder / "store", None))
for thread in Path("/proc/self/task").iterdir():
    print((thread / "comm").read_text().strip(), os.getpriority(os.PRIO_PROCESS, int(thread.name)) - os.nice(0))
"""


def test_threads_that_merge_files_have_a_lower_priority(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _NICENESS, str(tmp_path)]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    found = {tuple(line.rsplit(" ", 1)) for line in lines}
    assert ("rocksdb:low", "5") in found
    assert {more for name, more in found if name != "rocksdb:low"} == {"0"}


_KILLS = """
import hashlib, os, shutil, sys
from pathlib import Path
from motherlode.index import indexer, quad_store
from motherlode.index.fulltext import Search, WordIndex, WordSearcher
from motherlode.index.nquads_log import UnindexedQuads
from motherlode.index.quad_store import QuadStore

indexer._BATCH_QUADS, indexer._FLUSH_QUADS = 40, 80
folder, last_step = Path(sys.argv[1]), 0
quad_store._MIN_BULK_QUADS = int(sys.argv[2])

def step():
    global last_step
    last_step -= 1
    if not last_step:
        os._exit(9)

def with_steps(owner, name):
    inner = getattr(owner, name)
    def call(*arguments, **named):
        step()
        return inner(*arguments, **named)
    setattr(owner, name, call)

steps = {QuadStore: ("_insert", "write", "flush"), WordIndex: ("write", "commit"), UnindexedQuads: ("mark_indexed",)}
for owner, names in {**steps, Path: ("replace",)}.items():
    for name in names:
        with_steps(owner, name)

def run(paths, kill_at):
    global last_step
    last_step = kill_at
    with indexer.locked_log(paths.log):
        indexed = indexer.Indexer(paths)
        indexed.index()
        indexed.close()

def describe(paths):
    store = QuadStore(paths.store, read_only=True)
    quads = sorted(map(str, [*store.quads(), *store.statements()]))
    searcher = WordSearcher(paths.words)
    hits = [sorted(hit.page for hit in searcher.search(Search(words=f"text{n}", limit=99))) for n in range(4)]
    store.close()
    return hashlib.sha256(repr((quads, hits)).encode()).hexdigest()

def in_child(work):
    if (child := os.fork()) == 0:
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def finish(paths, kill_at):
    run(paths, 0)
    (folder / f"found-{kill_at}").write_text(describe(paths))

kill_at, code = 0, 9
while code == 9 or kill_at == 1:
    room = folder / str(kill_at)
    shutil.copytree(folder / "quads", room / "quads")
    paths = indexer.IndexPaths(room / "quads", room / "store", room / "words")
    code = in_child(lambda: run(paths, kill_at))
    assert in_child(lambda: finish(paths, kill_at)) == 0, kill_at
    shutil.rmtree(room)
    kill_at += 1
print(kill_at - 1)
"""


@pytest.mark.parametrize("min_bulk", [1, 2_000])
def test_kill_at_every_step_of_the_indexer_gives_the_same_store_and_words(tmp_path: Path, min_bulk: int) -> None:
    """Random pages, some of them again with other statements. Step 0 is the run without a kill.

    With `min_bulk` 1, graphs, union and provenance are loaded one after the other.
    """
    chance = random.Random(5)
    log = NQuadsLog(tmp_path / "quads")
    log.begin(RUN)
    for step in range(4):
        log.write([page(chance.randrange(6), f"text{step}") for _ in range(4)])
    log.close()
    command = [sys.executable, "-c", _KILLS, str(tmp_path), str(min_bulk)]
    steps = int(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    found = {(tmp_path / f"found-{step}").read_text() for step in range(steps + 1)}
    assert steps > 15
    assert len(found) == 1


def test_answers_before_during_and_after_indexing_are_the_same(tmp_path: Path) -> None:
    """Random interleavings of writing, indexing and asking: an answer has every page that was written before it."""
    chance = random.Random(7)
    paths = paths_in(tmp_path)
    log = NQuadsLog(paths.log, start_indexer=partial(BackgroundIndexer, paths))
    while not is_locked(paths.log):
        time.sleep(0.01)
    expected: dict[int, str] = {}
    for step in range(40):
        batch = {chance.randrange(20): f"version {step}" for _ in range(chance.randrange(1, 4))}
        log.write([page(number, text) for number, text in batch.items()])
        expected |= batch
        if chance.random() < 0.3:
            assert wait_until_indexed(paths)
            assert stored(paths) == {f'"{text}"' for text in expected.values()}
    log.close()
    assert stored(paths) == {f'"{text}"' for text in expected.values()}

"""Tests of the indexer: batches, the background process, kills, and what waiting commands see."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from motherlode.index.fulltext import Search, WordSearcher
from motherlode.index.indexer import BackgroundIndexer, Indexer, IndexPaths, is_locked, locked_log, wait_until_indexed
from motherlode.index.nquads_log import NQuadsLog
from motherlode.index.page_record import PageRecord, RunRecord
from motherlode.index.quad_store import QuadStore
from motherlode.index.snapshot import DamagedError

from .fakes import record, says

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


def test_damaged_store_is_an_error_before_the_crawl_begins(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    paths.store.mkdir()
    (paths.store / "CURRENT").write_text("no such manifest\n")
    with pytest.raises(DamagedError, match="is damaged"):
        BackgroundIndexer(paths)


def test_killed_indexer_is_an_error_at_the_end_and_the_log_keeps_the_pages(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    NQuadsLog(paths.log).close()
    indexer = BackgroundIndexer(paths)
    log = NQuadsLog(paths.log, start_indexer=lambda: indexer)
    log.write([page(1, "kept")])
    os.kill(indexer.process_id, signal.SIGKILL)
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


_INDEX = """
import sys
from pathlib import Path
from motherlode.index import indexer
indexer._BATCH_QUADS, indexer._FLUSH_QUADS = 50, 200
folder = Path(sys.argv[1])
paths = indexer.IndexPaths(folder / "quads", folder / "store", folder / "words")
print("begins", flush=True)
with indexer.locked_log(paths.log):
    indexer.Indexer(paths).index()
"""


def test_kills_during_indexing_give_the_same_store_and_words(tmp_path: Path) -> None:
    """Random pages, some of them again with other statements; the process is killed at random moments."""
    chance = random.Random(5)
    whole, killed = paths_in(tmp_path / "whole", words=True), paths_in(tmp_path / "killed", words=True)
    log = NQuadsLog(whole.log)
    for step in range(30):
        log.write([page(chance.randrange(150), f"text{step}") for _ in range(20)])
    log.close()
    shutil.copytree(whole.log, killed.log)
    Indexer(whole).index()
    for moment in (0.0, 0.05, 0.1, 0.2, 0.4):
        process = subprocess.Popen([sys.executable, "-c", _INDEX, str(killed.log.parent)], stdout=subprocess.PIPE)
        with process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(moment)
            process.kill()
    subprocess.run([sys.executable, "-c", _INDEX, str(killed.log.parent)], check=True, stdout=subprocess.DEVNULL)
    stores = [QuadStore(paths.store, read_only=True) for paths in (whole, killed)]
    assert set(stores[0].quads()) == set(stores[1].quads())
    assert set(stores[0].statements()) == set(stores[1].statements())
    assert whole.words is not None and killed.words is not None
    for step in range(30):
        asked = Search(words=f"text{step}", limit=200)
        found = [{hit.page for hit in WordSearcher(words).search(asked)} for words in (whole.words, killed.words)]
        assert found[0] == found[1]


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

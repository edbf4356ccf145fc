"""A store in a process of its own: the same store, whose troubles are told, and which ends when it should."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from motherlode.index import CrawlStore, LocalStore, QuadStore, RunRecord, StoreClient
from motherlode.index.fulltext import Search, WordSearcher

from .fakes import A, record, says

RUN = RunRecord(identifier="r", started_at=0.0, version="1")


@pytest.fixture(params=[LocalStore, StoreClient])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CrawlStore]:
    made: CrawlStore = request.param(tmp_path / "store")
    yield made
    made.close()


def quads(path: Path) -> list[str]:
    opened = QuadStore(path, read_only=True)
    found = sorted(map(str, opened.quads()))
    opened.close()
    return found


def test_pages_and_runs_go_in_and_are_found(store: CrawlStore, tmp_path: Path) -> None:
    store.begin(RUN)
    assert not store.has(A)
    store.write([record(A, says("name", "Ann"))])
    assert store.has(A)
    store.finish(1.0)
    found = quads(tmp_path / "store")
    assert any('"Ann"' in quad and A in quad for quad in found)
    assert any("endedAtTime" in quad for quad in found)


def test_words_go_in_beside_the_quads(store: CrawlStore, tmp_path: Path) -> None:
    store.write([record(A, says("name", "earlier"))])
    store.index_words(tmp_path / "words")
    store.write([record("http://b.example/", says("name", "later"))])
    store.flush()
    searcher = WordSearcher(tmp_path / "words")
    assert [len(searcher.search(Search(words=word))) for word in ("earlier", "later", "never")] == [1, 1, 0]


def test_a_copy_is_a_store(store: CrawlStore, tmp_path: Path) -> None:
    store.write([record(A, says("name", "Ann"))])
    store.flush()
    store.backup(tmp_path / "copy")
    assert quads(tmp_path / "copy") == quads(tmp_path / "store") != []


def test_a_store_that_was_closed_is_free_for_the_next(tmp_path: Path) -> None:
    for number in range(3):
        store = StoreClient(tmp_path / "store")
        assert store.has(A) is (number > 0)
        store.write([record(A, says("name", "Ann"))])
        store.flush()
        store.close()
        store.close()


def test_a_store_that_nobody_holds_any_more_is_free_too(tmp_path: Path) -> None:
    store = StoreClient(tmp_path / "store")
    del store
    LocalStore(tmp_path / "store").close()


@pytest.mark.parametrize("open_store", [LocalStore, StoreClient])
def test_a_store_that_cannot_be_opened_says_why(open_store: Callable[[Path], CrawlStore], tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "CURRENT").write_text("no such manifest\n")
    with pytest.raises((OSError, RuntimeError), match="CURRENT file corrupted"):
        open_store(tmp_path / "store")


def test_what_goes_wrong_there_is_raised_here_and_the_next_call_is_answered(tmp_path: Path) -> None:
    store = StoreClient(tmp_path / "store")
    (tmp_path / "taken").write_text("")
    with pytest.raises((OSError, RuntimeError)):
        store.backup(tmp_path / "taken")
    assert not store.has(A)
    store.close()


def test_a_process_that_is_gone_is_an_error_that_says_so(tmp_path: Path) -> None:
    store = StoreClient(tmp_path / "store")
    os.kill(store.process_id, signal.SIGKILL)
    with pytest.raises(OSError, match="the process that writes the quad store has ended"):
        store.flush()
    with pytest.raises(OSError, match="has ended"):
        store.close()


def test_interruptions_are_for_the_crawl(tmp_path: Path) -> None:
    store = StoreClient(tmp_path / "store")
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(store.process_id, number)
    store.write([record(A, says("name", "Ann"))])
    assert store.has(A)
    store.close()


def test_threads_take_turns(tmp_path: Path) -> None:
    store = StoreClient(tmp_path / "store")
    pages = [f"http://a.example/{number}" for number in range(40)]

    def write(mine: list[str]) -> None:
        for url in mine:
            store.write([record(url, says("name", url))])

    threads = [threading.Thread(target=write, args=(pages[start::4],)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(map(store.has, pages))
    store.close()


_CRAWL = """
import sys, time
from pathlib import Path
from motherlode.index import StoreClient
store = StoreClient(Path(sys.argv[1]))
print(store.process_id, flush=True)
time.sleep(60)
"""


def test_it_does_not_outlive_a_crawl_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _CRAWL, str(tmp_path / "store")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as crawl:
        assert crawl.stdout is not None
        store = int(crawl.stdout.readline())
        os.kill(store, signal.SIGSTOP)  # as deep in the library as can be: it reads nothing
        crawl.kill()
        crawl.wait()
    deadline = time.monotonic() + 20
    while _is_running(store):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    LocalStore(tmp_path / "store").close()


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_ctrl_c_at_a_terminal_does_not_reach_it(tmp_path: Path) -> None:
    store = StoreClient(tmp_path / "store")
    assert os.getpgid(store.process_id) != os.getpgid(0)
    store.close()

"""Tests of a store in its own process: messages, calls, errors, and the end of the process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from motherlode.index.crawl_store import CrawlStore, LocalStore
from motherlode.index.fulltext import Search, WordSearcher
from motherlode.index.page_record import RunRecord
from motherlode.index.quad_store import QuadStore
from motherlode.index.store_process import Call, CallResult, StoreClient
from motherlode.runtime import read_frame, write_frame

from .fakes import A, record, says

CALLS = [
    Call("has", A),
    Call("begin", RunRecord(identifier="r", started_at=1.5, version="1", own_hosts=("a.example",))),
    Call("index_words", "/words"),
    Call("write", [record(A, says("näme", 'say "hi"'))]),
    Call("flush"),
    Call("finish", 2.5),
    Call("backup", "/copy"),
    Call("close"),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.method)
def test_call_round_trips(call: Call) -> None:
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(call), type=Call) == call


def test_call_result_round_trips() -> None:
    answer = CallResult(error="No space left on device", errno=28, is_os_error=True)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(answer), type=CallResult) == answer


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


def test_pages_and_runs_are_written_and_found(store: CrawlStore, tmp_path: Path) -> None:
    store.begin(RUN)
    assert not store.has(A)
    store.write([record(A, says("name", "Ann"))])
    assert store.has(A)
    store.finish(1.0)
    found = quads(tmp_path / "store")
    assert any('"Ann"' in quad and A in quad for quad in found)
    assert any("endedAtTime" in quad for quad in found)


def test_words_are_indexed_with_quads(store: CrawlStore, tmp_path: Path) -> None:
    store.write([record(A, says("name", "earlier"))])
    store.index_words(tmp_path / "words")
    store.write([record("http://b.example/", says("name", "later"))])
    store.flush()
    searcher = WordSearcher(tmp_path / "words")
    assert [len(searcher.search(Search(words=word))) for word in ("earlier", "later", "never")] == [1, 1, 0]


def test_backup_can_be_opened_as_store(store: CrawlStore, tmp_path: Path) -> None:
    store.write([record(A, says("name", "Ann"))])
    store.flush()
    store.backup(tmp_path / "copy")
    assert quads(tmp_path / "copy") == quads(tmp_path / "store") != []


def test_closed_store_can_be_opened_again(tmp_path: Path) -> None:
    for number in range(3):
        store = StoreClient(tmp_path / "store")
        assert store.has(A) is (number > 0)
        store.write([record(A, says("name", "Ann"))])
        store.flush()
        store.close()
        store.close()


def test_garbage_collected_client_releases_store(tmp_path: Path) -> None:
    store = StoreClient(tmp_path / "store")
    del store
    LocalStore(tmp_path / "store").close()


@pytest.mark.parametrize("open_store", [LocalStore, StoreClient])
def test_open_error_is_raised_with_reason(open_store: Callable[[Path], CrawlStore], tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "CURRENT").write_text("no such manifest\n")
    with pytest.raises((OSError, RuntimeError), match="CURRENT file corrupted"):
        open_store(tmp_path / "store")


def test_error_of_call_is_raised_and_next_call_succeeds(tmp_path: Path) -> None:
    store = StoreClient(tmp_path / "store")
    (tmp_path / "taken").write_text("")
    with pytest.raises((OSError, RuntimeError)):
        store.backup(tmp_path / "taken")
    assert not store.has(A)
    store.close()


def test_dead_process_raises_error(tmp_path: Path) -> None:
    store = StoreClient(tmp_path / "store")
    os.kill(store.process_id, signal.SIGKILL)
    with pytest.raises(OSError, match="the process that writes the quad store has ended"):
        store.flush()
    with pytest.raises(OSError, match="has ended"):
        store.close()


def test_store_process_ignores_interrupts(tmp_path: Path) -> None:
    store = StoreClient(tmp_path / "store")
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(store.process_id, number)
    store.write([record(A, says("name", "Ann"))])
    assert store.has(A)
    store.close()


def test_calls_of_threads_are_serialized(tmp_path: Path) -> None:
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
from motherlode.index.store_process import StoreClient
store = StoreClient(Path(sys.argv[1]))
print(store.process_id, flush=True)
time.sleep(60)
"""


def test_store_process_dies_with_killed_crawl(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _CRAWL, str(tmp_path / "store")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as crawl:
        assert crawl.stdout is not None
        store = int(crawl.stdout.readline())
        os.kill(store, signal.SIGSTOP)  # stopped, so it cannot read stdin, as if it were busy in the library
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


def test_ctrl_c_in_terminal_does_not_reach_store_process(tmp_path: Path) -> None:
    store = StoreClient(tmp_path / "store")
    assert os.getpgid(store.process_id) != os.getpgid(0)
    store.close()


# The process, on the level of frames.


def start_process(parent: int, path: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "motherlode.index.store_process", str(parent), str(path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def exchange(process: subprocess.Popen[bytes], call: Call | None) -> CallResult:
    assert process.stdin is not None and process.stdout is not None
    if call is not None:
        write_frame(process.stdin, msgspec.msgpack.encode(call))
    frame = read_frame(process.stdout)
    assert frame is not None
    return msgspec.msgpack.decode(frame, type=CallResult)


def test_process_handles_calls_until_close(tmp_path: Path) -> None:
    with start_process(os.getpid(), tmp_path / "store") as process:
        assert exchange(process, None) == CallResult(value=True), "the store is open"
        assert exchange(process, Call("has", A)) == CallResult(value=False)
        assert exchange(process, Call("write", [record(A, says("name", "Ann"))])) == CallResult(value=True)
        assert exchange(process, Call("has", A)) == CallResult(value=True)
        assert exchange(process, Call("close")) == CallResult(value=True)
        assert process.wait(20) == 0


@pytest.mark.parametrize("is_orphan", [True, False])
def test_process_ends_when_stdin_closes_or_parent_is_gone(tmp_path: Path, *, is_orphan: bool) -> None:
    with start_process(1 if is_orphan else os.getpid(), tmp_path / "store") as process:
        if not is_orphan:
            assert process.stdin is not None
            process.stdin.close()
        assert process.wait(20) == 0

"""The indexer: fills the store and the words of a crawl from its log, in this process or in the background.

A crawl only appends pages to its log (`index.nquads_log`). The background indexer is a process of low priority that
follows the log and writes large batches, because the store then sorts more quads at a time. A command that needs every
page asks for them (`wait_until_indexed`). A mark in the log says how far it was indexed. The mark is moved after the
store was flushed, and a page that is written twice is the same as a page that is written once, so the indexer can be
killed at any time.

The lock of the log belongs to the one process that indexes. The background process must not outlive the crawl, because
the next run would find the store locked, so the kernel kills it when its parent dies (PR_SET_PDEATHSIG).
"""

from __future__ import annotations

import fcntl
import logging
import os
import select
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple, TypeVar

import msgspec

from motherlode.index.crawl_store import LocalStore
from motherlode.index.nquads_log import LogBatch, LogPosition, UnindexedQuads
from motherlode.index.page_record import PageRecord
from motherlode.index.rebuild import has_all_pages, is_store_damage, remove_damaged_store
from motherlode.index.snapshot import DamagedError, is_damage, is_refused, store_advice
from motherlode.runtime import end_with_parent, is_file_locked, read_frame, share_one_heap, trim_heap, write_frame

_logger = logging.getLogger(__name__)
_LOCK_FILE, _WANTED_FILE = "lock", "wanted"
_BATCH_QUADS = 225_000
"""Quads, with provenance and union, that are loaded at a time. Above 229,376, the engine's hash tables double."""
_FLUSH_QUADS = 2_000_000
"""Quads between two flushes. A flush commits the words and moves the mark."""
_MAX_BYTES = 3_500_000
"""Compressed bytes of the log, about one batch, from which on the background indexer starts a round."""
_MIN_SHARE = 0.25
"""Bytes for a smaller round, as a share of what is indexed: merges then rewrite the store less often."""
_MIN_SECONDS = 10.0
"""Seconds between two smaller rounds."""
_POLL_SECONDS = 0.02
_SIZE_SECONDS = 0.5
"""Seconds between two looks at the size of the log."""
_NICENESS = 10
"""Added to the niceness in rounds for which no command waits."""
_MERGE_THREAD, _MERGE_NICENESS = "rocksdb:low", 5
"""Threads of the store that merge files, and what is added to their niceness: fewer merges of more files cost less."""
_Result = TypeVar("_Result")

Progress = Callable[[int, int], None]
"""Called with the bytes of the log that were read, and with their total."""


class IndexPaths(NamedTuple):
    """The folders of a log and of what is built from it."""

    log: Path
    store: Path
    words: Path | None
    """None if the crawl keeps no index of words."""

    def unread(self) -> UnindexedQuads:
        """Return the part of the log that is not in the store: the whole log if there is no store."""
        return UnindexedQuads(self.log, self.store)


class Indexer:
    """Writes the unread part of a log to the store and the words. The caller holds the lock of the log."""

    def __init__(self, paths: IndexPaths, *, is_log_intact: bool = True) -> None:
        """A damaged store is built again, unless the caller has found the log damaged, too."""
        share_one_heap()  # a bulk load has a thread of its own, which then uses the memory that the parser has freed
        self._paths = paths
        self._can_rebuild = is_log_intact and has_all_pages(paths.log)
        self._unread = paths.unread()
        self._is_open = False
        self._repairing_store(self._open)

    def _open(self) -> None:
        self._batches: list[LogBatch] = []
        self._urls: set[str] = set()
        self._quads = self._unflushed = 0
        self._position: LogPosition = self._unread.indexed_up_to
        is_new = self._position == (0, 0)
        if is_new:
            self._unread.remove_old_mark()
        self._store = _open_store(self._paths)
        self._is_open = True
        _set_niceness(os.nice(0))
        if is_new:
            self._store.skip_known_changes()
            self._store.load_derived_graphs()
        self._unread.mark_indexed(self._position)

    def _repairing_store(self, work: Callable[[], _Result]) -> _Result:
        """Do work. If the store turns out to be damaged, remove it and do the work again."""
        try:
            return work()
        except (OSError, RuntimeError) as error:
            if not (self._can_rebuild and is_store_damage(error)):
                raise
            why = str(error.__cause__ or error)
        if self._is_open:
            self.close()
            del self._store  # nothing else refers to it, so RocksDB closes its files
        self._can_rebuild = False  # if the new one is damaged, too, the disk is
        remove_damaged_store(self._paths.store, self._paths.words, why)
        return work()

    def index(self, *, progress: Progress = lambda done, total: None, damaged: bool = False) -> int:
        """Index the log up to its end. Return the number of pages. `damaged`: skip what cannot be read."""

        def work() -> int:
            if not self._is_open:
                self._open()
            return self._index(progress, damaged=damaged)

        return self._repairing_store(work)

    def _index(self, progress: Progress, *, damaged: bool) -> int:
        pages, total = 0, self._unread.size
        for batch in self._unread.batches(damaged=damaged):
            quads = sum(2 * page.quads + page.provenance.count(b"\n") for page in batch.pages)
            if self._quads + quads > _BATCH_QUADS or not self._urls.isdisjoint(page.url for page in batch.pages):
                self._write()  # a page that comes again is a change, and needs a batch of its own
            self._collect(batch, quads)
            pages += len(batch.pages)
            progress(total - self._unread.bytes_after(batch.position), total)
        self._write()
        self._flush()
        return pages

    def _collect(self, batch: LogBatch, quads: int) -> None:
        self._batches.append(batch)
        self._urls.update(page.url for page in batch.pages)
        self._quads += quads

    def _write(self) -> None:
        if not self._batches:
            return
        pages: list[PageRecord] = [page for batch in self._batches for page in batch.pages]
        self._store.add_run_quads(b"".join(batch.run_quads for batch in self._batches))
        self._store.write(pages)
        self._position = self._batches[-1].position
        self._unflushed += self._quads + 1
        self._batches, self._urls, self._quads = [], set(), 0
        trim_heap()
        if self._unflushed >= _FLUSH_QUADS:
            self._flush()

    def _flush(self) -> None:
        if self._unflushed:
            self._store.flush()
            self._unread.mark_indexed(self._position)
            self._unflushed = 0

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._store.close()


def _open_store(paths: IndexPaths) -> LocalStore:
    """Open the store and the words. DamagedError, with advice for the user, if the store is damaged."""
    try:
        store = LocalStore(paths.store)
    except (OSError, RuntimeError) as error:
        if is_refused(error):
            raise OSError(str(error)) from error
        raise DamagedError(store_advice(paths.store, str(error))) from error
    if paths.words is not None:
        store.index_words(paths.words)
    return store


@contextmanager
def locked_log(log: Path) -> Iterator[None]:
    """Lock a log, so that of two processes that index at the same time the second waits and finds nothing to do."""
    log.mkdir(exist_ok=True)
    with (log / _LOCK_FILE).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def locked_unless_indexed(paths: IndexPaths) -> Iterator[bool]:
    """Lock a log and yield True. Yield False if another process has the lock and has indexed the whole log.

    The background indexer keeps the lock until its crawl ends.
    """
    paths.log.mkdir(exist_ok=True)
    with (paths.log / _LOCK_FILE).open("ab") as lock:
        while not _try_lock(lock):
            if wait_until_indexed(paths):
                yield False
                return
        yield True


def _try_lock(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_locked(log: Path) -> bool:
    """Return whether a process indexes the log, or follows it in the background."""
    return is_file_locked(log / _LOCK_FILE)


def wait_until_indexed(paths: IndexPaths) -> bool:
    """Wait until all that is now in the log is indexed. Return False if no process is there that indexes it."""
    end = paths.unread().end
    while paths.unread().indexed_up_to < end:
        if not is_locked(paths.log):
            return False
        with suppress(OSError):  # without the right to write, wait for the indexer's next round
            (paths.log / _WANTED_FILE).touch()
        time.sleep(_POLL_SECONDS)
    return True


# The background process, and its client.


class _Report(msgspec.Struct, frozen=True, array_like=True):
    """How the process started or ended."""

    error: str = ""
    """The reason of the failure; "" if there was none."""
    errno: int = 0
    is_damaged: bool = False


class _EndedError(OSError):
    """The process has ended without a report, because it was killed."""


class BackgroundIndexer:
    """A process that indexes a log while the crawl writes it. If it is killed, another one indexes the other pages."""

    def __init__(self, paths: IndexPaths) -> None:
        """If there is a store, wait until it is open. DamagedError if it is damaged."""
        self._paths = paths
        is_new = not (paths.store / "CURRENT").exists()
        self._start()
        if not is_new:
            try:
                self._raise_error()
            except BaseException:
                self._end()
                raise

    def _start(self) -> None:
        paths = self._paths
        command = [sys.executable, "-m", __name__, str(os.getpid()), *map(str, paths[:2]), str(paths.words or "")]
        # in its own session, so that Ctrl-C in a terminal never reaches it, not even before it ignores SIGINT
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self._end = weakref.finalize(self, _end_process, self._process)
        self._reports = 0
        self.process_id = self._process.pid

    def close(self) -> None:
        """Wait until everything is indexed, and end the process. OSError if it failed."""
        if not self._end.alive:
            return
        try:
            self._finish()
        except _EndedError as error:
            _logger.warning("%s: another one indexes the remaining pages", error)
            self._start()
            self._finish()

    def _finish(self) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            while self._reports < 2:
                self._raise_error()
        finally:
            self._end()

    def _raise_error(self) -> None:
        """Wait for the next report, and raise its error."""
        assert self._process.stdout is not None
        frame = read_frame(self._process.stdout)
        if frame is None:
            raise _EndedError(f"the process that indexes the quads has ended ({self._process.wait()})")
        self._reports += 1
        report = msgspec.msgpack.decode(frame, type=_Report)
        if report.is_damaged:
            raise DamagedError(report.error)
        if report.error:
            raise OSError(report.errno, report.error) if report.errno else OSError(report.error)


def _end_process(process: subprocess.Popen[bytes]) -> None:
    """Close stdin of the process, so that it indexes the rest and exits, and wait for that."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
    process.wait()


def main(parent: int, paths: IndexPaths) -> None:
    """Index a log until stdin closes, and then up to its end. `parent` is the process ID of the crawl."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the crawl handles them, and still writes pages then
        signal.signal(number, signal.SIG_IGN)
    end_with_parent()
    if os.getppid() != parent:  # the parent died before prctl was called
        return
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # prints go to stderr and cannot corrupt the frames
    try:
        with locked_log(paths.log):
            indexer = Indexer(paths)
            write_frame(sink, msgspec.msgpack.encode(_Report()))
            _follow(paths, indexer)
            indexer.close()
        report = _Report()
    except BaseException as error:  # noqa: BLE001 - a panic of pyoxigraph is no Exception, and the crawl must see it
        report = _describe(error, paths.store)
    with suppress(BrokenPipeError):
        write_frame(sink, msgspec.msgpack.encode(report))


def _follow(paths: IndexPaths, indexer: Indexer) -> None:
    """Start a round if a command or the end of the crawl waits for it, or if there is enough to do.

    Rounds for which nothing waits have a low priority.
    """
    wanted, niceness, is_ended = paths.log / _WANTED_FILE, os.nice(0), False
    last_round, next_look = time.monotonic(), 0.0
    while not is_ended:
        is_ended = bool(select.select([sys.stdin], [], [], _POLL_SECONDS)[0])
        is_wanted, now = is_ended or wanted.exists(), time.monotonic()
        is_due = False
        if now >= next_look:
            log = paths.unread()
            is_due = is_round_due(log.size, log.bytes_after((0, 0)), seconds=now - last_round)
            next_look = now + _SIZE_SECONDS
        if is_wanted or is_due:
            _set_niceness(niceness if is_wanted else niceness + _NICENESS)
            wanted.unlink(missing_ok=True)
            indexer.index()
            last_round = time.monotonic()


def is_round_due(unread: int, total: int, *, seconds: float) -> bool:
    """Return whether to index the unread bytes of a log for which nothing waits. `seconds`: since the last round."""
    return unread >= _MAX_BYTES or (seconds >= _MIN_SECONDS and unread >= _MIN_SHARE * (total - unread))


def _set_niceness(niceness: int) -> None:
    """Set the niceness of all threads. Without the right to lower it again, it stays as it is."""
    for thread in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            more = _MERGE_NICENESS if (thread / "comm").read_text().strip() == _MERGE_THREAD else 0
            os.setpriority(os.PRIO_PROCESS, int(thread.name), niceness + more)


def _describe(error: BaseException, store: Path) -> _Report:
    text = str(error) or type(error).__name__
    if isinstance(error, DamagedError) or not is_damage(error):
        number = (error.errno or 0) if isinstance(error, OSError) else 0
        return _Report(text, number, isinstance(error, DamagedError))
    return _Report(store_advice(store, text), is_damaged=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), IndexPaths(Path(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]) if sys.argv[4] else None))

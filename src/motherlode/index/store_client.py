"""A client for a store in another process (`index.store_server`), and the messages between the two processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path

import msgspec

from motherlode.index.page_record import PageRecord, RunRecord
from motherlode.index.snapshot import DamagedError
from motherlode.runtime import read_frame, write_frame


class OpenStore(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The first call: opens the store."""

    path: str


class Has(msgspec.Struct, frozen=True, tag=True, array_like=True):
    url: str


class Begin(msgspec.Struct, frozen=True, tag=True, array_like=True):
    run: RunRecord


class IndexWords(msgspec.Struct, frozen=True, tag=True, array_like=True):
    path: str


class Write(msgspec.Struct, frozen=True, tag=True, array_like=True):
    records: list[PageRecord]


class Flush(msgspec.Struct, frozen=True, tag=True, array_like=True):
    pass


class Finish(msgspec.Struct, frozen=True, tag=True, array_like=True):
    ended_at: float


class Backup(msgspec.Struct, frozen=True, tag=True, array_like=True):
    path: str


class Close(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The last call."""


Call = OpenStore | Has | Begin | IndexWords | Write | Flush | Finish | Backup | Close


class CallResult(msgspec.Struct, frozen=True, array_like=True):
    """The result of a call."""

    value: bool = False
    error: str = ""
    """The reason of the failure; "" if the call succeeded."""
    errno: int = 0
    is_os_error: bool = False
    is_damaged: bool = False
    """The store is damaged, and the error says what to do."""


_EXIT_TIMEOUT_SECONDS = 60.0
"""How long to wait for the process to exit before it is killed."""


class StoreClient:
    """A `CrawlStore` in its own process. Each call waits for its result and raises the error of the other process.

    Any thread may call it.
    """

    def __init__(self, path: Path) -> None:
        command = [sys.executable, "-m", "motherlode.index.store_server", str(os.getpid())]
        # in its own session, so that Ctrl-C in a terminal never reaches it, not even before it ignores SIGINT
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self._end = weakref.finalize(self, _end_process, self._process)
        self._lock = threading.Lock()
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(CallResult).decode
        self.process_id = self._process.pid
        try:
            self._call(OpenStore(str(path)))
        except BaseException:
            self._end()
            raise

    def has(self, url: str) -> bool:
        return self._call(Has(url))

    def begin(self, run: RunRecord) -> None:
        self._call(Begin(run))

    def index_words(self, path: Path) -> None:
        self._call(IndexWords(str(path)))

    def write(self, records: Sequence[PageRecord]) -> None:
        self._call(Write(list(records)))

    def flush(self) -> None:
        self._call(Flush())

    def finish(self, ended_at: float) -> None:
        self._call(Finish(ended_at))

    def backup(self, path: Path) -> None:
        self._call(Backup(str(path)))

    def close(self) -> None:
        """Close the store and end its process. Another process can open the store afterwards."""
        if self._end.alive:
            try:
                self._call(Close())
            finally:
                self._end()

    def _call(self, call: Call) -> bool:
        result = self._exchange(call)
        if not result.error:
            return result.value
        if result.is_damaged:
            raise DamagedError(result.error)
        if result.is_os_error:
            raise OSError(result.errno, result.error) if result.errno else OSError(result.error)
        raise RuntimeError(result.error)

    def _exchange(self, call: Call) -> CallResult:
        source, sink = self._process.stdout, self._process.stdin
        assert source is not None and sink is not None
        with self._lock:
            try:
                write_frame(sink, self._encode(call))
                frame = read_frame(source)
            except (BrokenPipeError, ValueError):  # ValueError: the pipes are closed
                frame = None
        if frame is None:
            code = self._process.poll()
            raise OSError(f"the process that writes the quad store has ended{f' ({code})' if code else ''}")
        return self._decode(frame)


def _end_process(process: subprocess.Popen[bytes]) -> None:
    """Close the pipes of the process, which makes it exit. Kill it after a timeout."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:
                continue
    try:
        process.wait(_EXIT_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

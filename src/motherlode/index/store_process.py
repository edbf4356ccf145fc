"""A crawl's store in a process of its own: the client `StoreClient`, the messages, and the process itself.

The process reads calls from stdin and writes results to stdout, until stdin closes. It must not outlive the crawl,
because the next run would find the store locked. So the kernel kills it when its parent dies (PR_SET_PDEATHSIG), even
if it is busy in the library and does not read stdin. Pages that were not flushed are lost then, which the crawl takes
into account.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec

from motherlode.index.crawl_store import LocalStore
from motherlode.index.page_record import PageRecord, RunRecord
from motherlode.index.snapshot import DamagedError
from motherlode.runtime import end_with_parent, process_start, read_frame, write_frame

Method = Literal["has", "begin", "index_words", "write", "flush", "finish", "backup", "close"]


class Call(msgspec.Struct, frozen=True, array_like=True):
    """A call of a method of `CrawlStore`. "close" is the last one."""

    method: Method
    argument: str | float | RunRecord | list[PageRecord] | None = None
    """The argument of the method; None if it takes none. A path is sent as a string."""


class CallResult(msgspec.Struct, frozen=True, array_like=True):
    """The result of one call, sent by the store process to the crawl.

    The process also sends one, without a call, when it has opened the store or has failed to open it.
    """

    value: bool = False
    error: str = ""
    """The reason of the failure; "" if the call succeeded."""
    errno: int = 0
    is_os_error: bool = False
    is_damaged: bool = False
    """True if the store is damaged. `error` then says what the user can do."""


_encode = msgspec.msgpack.Encoder().encode
_EXIT_TIMEOUT_SECONDS = 60.0
"""How long to wait for the process to exit before it is killed."""


class StoreClient:
    """A `CrawlStore` in its own process. Each call waits for its result and raises the error of the other process.

    Any thread may call it.
    """

    def __init__(self, path: Path) -> None:
        command = [sys.executable, "-m", "motherlode.index.store_process", str(os.getpid()), str(path)]
        # in its own session, so that Ctrl-C in a terminal never reaches it, not even before it ignores SIGINT
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self._end = weakref.finalize(self, _end_process, self._process)
        self._lock = threading.Lock()
        self._decode = msgspec.msgpack.Decoder(CallResult).decode
        self.process_id = self._process.pid
        try:
            self._exchange(None)
        except BaseException:
            self._end()
            raise

    def has(self, url: str) -> bool:
        return self._exchange(Call("has", url))

    def begin(self, run: RunRecord) -> None:
        self._exchange(Call("begin", run))

    def index_words(self, path: Path) -> None:
        self._exchange(Call("index_words", str(path)))

    def write(self, records: Sequence[PageRecord]) -> None:
        self._exchange(Call("write", list(records)))

    def flush(self) -> None:
        self._exchange(Call("flush"))

    def finish(self, ended_at: float) -> None:
        self._exchange(Call("finish", ended_at))

    def backup(self, path: Path) -> None:
        self._exchange(Call("backup", str(path)))

    def close(self) -> None:
        """Close the store and end its process. Another process can open the store afterwards."""
        if self._end.alive:
            try:
                self._exchange(Call("close"))
            finally:
                self._end()

    def _exchange(self, call: Call | None) -> bool:
        """Send a call, if any, and wait for the next result. Return its value or raise its error."""
        source, sink = self._process.stdout, self._process.stdin
        assert source is not None and sink is not None
        with self._lock:
            try:
                if call is not None:
                    write_frame(sink, _encode(call))
                frame = read_frame(source)
            except (BrokenPipeError, ValueError):  # ValueError: the pipes are closed
                frame = None
        if frame is None:
            code = self._process.poll()
            raise OSError(f"the process that writes the quad store has ended{f' ({code})' if code else ''}")
        result = self._decode(frame)
        if not result.error:
            return result.value
        if result.is_damaged:
            raise DamagedError(result.error)
        if result.is_os_error:
            raise OSError(result.errno, result.error) if result.errno else OSError(result.error)
        raise RuntimeError(result.error)


def _end_process(process: subprocess.Popen[bytes]) -> None:
    """Close the pipes of the process, which makes it exit. Kill it after a timeout."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
    try:
        process.wait(_EXIT_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


# The process.


def main(parent: int, path: Path) -> None:
    """Open the store and execute calls until stdin closes. `parent` is the process ID of the crawl."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the crawl handles them, and still stores pages then
        signal.signal(number, signal.SIG_IGN)
    end_with_parent()
    if os.getppid() != parent:  # the parent died before prctl was called
        return
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # prints go to stderr and cannot corrupt the frames
    decode = msgspec.msgpack.Decoder(Call).decode
    try:
        with process_start():
            store = LocalStore(path)
    except BaseException as error:  # noqa: BLE001 - as in `_execute`
        write_frame(sink, _encode(_error_result(error)))
        return
    write_frame(sink, _encode(CallResult(value=True)))
    while (frame := read_frame(source)) is not None:
        call = decode(frame)
        write_frame(sink, _encode(_execute(store, call)))
        if call.method == "close":
            return


def _execute(store: LocalStore, call: Call) -> CallResult:
    argument: Any = call.argument
    if call.method in ("index_words", "backup"):
        argument = Path(argument)
    try:
        method = getattr(store, call.method)
        value = method() if argument is None else method(argument)
    except BaseException as error:  # noqa: BLE001 - a panic of pyoxigraph is no Exception, and the crawl must see it
        return _error_result(error)
    return CallResult(value=True if value is None else value)


def _error_result(error: BaseException) -> CallResult:
    return CallResult(
        error=str(error) or type(error).__name__,
        errno=(error.errno or 0) if isinstance(error, OSError) else 0,
        is_os_error=isinstance(error, OSError),
        is_damaged=isinstance(error, DamagedError),
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))

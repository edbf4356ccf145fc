"""The process that holds a crawl's store. It reads calls from stdin and writes results to stdout, until stdin closes.

The process must not outlive the crawl, because the next run would find the store locked. So the kernel kills it when
its parent dies (PR_SET_PDEATHSIG), even if it is busy in the library and does not read stdin. Pages that were not
flushed are lost then, which the crawl takes into account.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from motherlode.index.crawl_store import LocalStore
from motherlode.index.snapshot import DamagedError
from motherlode.index.store_client import (
    Backup,
    Begin,
    Call,
    CallResult,
    Close,
    Finish,
    Flush,
    Has,
    IndexWords,
    OpenStore,
    Write,
)
from motherlode.runtime import read_frame, write_frame

_SET_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of Linux's prctl(2). On other systems the process ends when stdin closes."""


def main(parent: int) -> None:
    """Serve calls until stdin closes. `parent` is the process ID of the crawl."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the crawl handles them, and still stores pages then
        signal.signal(number, signal.SIG_IGN)
    with suppress(AttributeError):
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before prctl was called
        return
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # prints go to stderr and cannot corrupt the frames
    decode, encode = msgspec.msgpack.Decoder(Call).decode, msgspec.msgpack.Encoder().encode
    handler = _CallHandler()
    while not handler.is_closed and (frame := read_frame(source)) is not None:
        write_frame(sink, encode(_handle_call(handler, decode(frame))))


def _handle_call(handler: _CallHandler, call: Call) -> CallResult:
    try:
        return CallResult(value=handler.handle(call))
    except DamagedError as error:
        return CallResult(error=str(error), is_damaged=True)
    except OSError as error:
        return CallResult(error=str(error), errno=error.errno or 0, is_os_error=True)
    except BaseException as error:  # noqa: BLE001 - a panic of pyoxigraph is no Exception, and the crawl must see it
        return CallResult(error=str(error) or type(error).__name__)


class _CallHandler:
    """Executes calls on the store."""

    def __init__(self) -> None:
        self.is_closed = False
        self._open: LocalStore | None = None

    def handle(self, call: Call) -> bool:
        if isinstance(call, OpenStore):
            self._open = LocalStore(Path(call.path))
            return True
        if self._open is None:
            raise ValueError(f"internal error: {type(call).__name__} was called before a store was opened")
        return self._dispatch(self._open, call)

    def _dispatch(self, store: LocalStore, call: Call) -> bool:
        match call:
            case Write():
                store.write(call.records)
            case Flush():
                store.flush()
            case Has():
                return store.has(call.url)
            case Begin():
                store.begin(call.run)
            case IndexWords():
                store.index_words(Path(call.path))
            case Finish():
                store.finish(call.ended_at)
            case Backup():
                store.backup(Path(call.path))
            case Close():
                self.is_closed = True
                store.close()
        return True


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""The process that holds a crawl's store: calls in on stdin, answers out on stdout, until stdin closes.

It must not outlive the crawl, whose next run would find the store locked; so the system is asked to end it with its
parent, even where it is deep in the library and reads nothing. What was not flushed is lost with it, as a crawl expects
of a store.
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
from motherlode.runtime.frames import read_frame, write_frame

_SET_PARENT_DEATH_SIGNAL = 1
"""Of Linux's prctl; elsewhere the end of stdin must do."""


def main(parent: int) -> None:
    for number in (
        signal.SIGINT,
        signal.SIGTERM,
        signal.SIGHUP,
    ):  # they are for the crawl, which has pages to store before its end
        signal.signal(number, signal.SIG_IGN)
    with suppress(AttributeError):
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended already
        return
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing that prints can break the frames
    decode, encode = msgspec.msgpack.Decoder(Call).decode, msgspec.msgpack.Encoder().encode
    desk = _CallHandler()
    while not desk.is_closed and (frame := read_frame(source)) is not None:
        write_frame(sink, encode(_handle_call(desk, decode(frame))))


def _handle_call(desk: _CallHandler, call: Call) -> CallResult:
    try:
        return CallResult(value=desk.handle(call))
    except DamagedError as error:
        return CallResult(error=str(error), is_damaged=True)
    except OSError as error:
        return CallResult(error=str(error), errno=error.errno or 0, is_os_error=True)
    except BaseException as error:  # noqa: BLE001 - a panic of the library is no Exception, and the crawl must hear of it
        return CallResult(error=str(error) or type(error).__name__)


class _CallHandler:
    """Takes calls, one after the other."""

    def __init__(self) -> None:
        self.is_closed = False
        self._open: LocalStore | None = None

    def handle(self, call: Call) -> bool:
        if isinstance(call, OpenStore):
            self._open = LocalStore(Path(call.path))
            return True
        if self._open is None:
            raise ValueError(f"{type(call).__name__} came before a store was opened")
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

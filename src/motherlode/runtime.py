"""Support for processes: lazy imports, garbage collection, locks, the clock of delays, and frames on pipes.

A frame is a length of four bytes (unsigned, big-endian), then that many bytes. Nothing else of ours is imported here.
"""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from asyncio import StreamReader
    from pathlib import Path

STATUS_OK, STATUS_ERROR = b"+", b"-"
"""First byte of a response frame: the result follows, or the message of the error follows."""
_LENGTH_BYTES = 4
_M_ARENA_MAX = -8
"""Parameter of mallopt(3)."""
_MAX_FRAME_BYTES = (1 << 8 * _LENGTH_BYTES) - 1


def lazy_exports(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return a `__getattr__` for `package`. `modules` maps each module, relative to the package, to its exported names.

    A module without names is exported itself.

    >>> exports = lazy_exports("importlib", {"resources": ["files", "as_file"], "machinery": ["PathFinder"]})
    >>> exports("files").__name__
    'files'
    """
    module_by_name = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> Any:
        if name in modules and not modules[name]:
            return import_module(f"{package}.{name}")
        if name not in module_by_name:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{module_by_name[name]}"), name)

    return load


class MissingExtraError(ImportError):
    """An optional dependency is not installed. The message says which extra of the package has it."""


def import_extra(module: str, *, extra: str, purpose: str) -> Any:
    """Import a module of an optional dependency. Raise MissingExtraError if it is not installed.

    >>> import_extra("no_such_module", extra="parquet", purpose="the format parquet")
    Traceback (most recent call last):
    ...
    motherlode.runtime.MissingExtraError: the format parquet needs no_such_module, which is not installed: \
pip install "motherlode[parquet]"
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise
        raise MissingExtraError(
            f'{purpose} needs {package}, which is not installed: pip install "motherlode[{extra}]"', name=package
        ) from error


_COLLECTION_THRESHOLDS = (5_000, 10, 10)
"""Seven times as many new objects as Python's default before each garbage collection."""


@contextmanager
def process_start() -> Iterator[None]:
    """Context manager around the imports of a process of our own: it collects no garbage meanwhile, and less later.

    Objects that exist at the end are never collected. The modules of a crawl have 200,000 of them, which never become
    garbage; collections took 3 % of the CPU time of a crawl of 1,500 pages (2026-11-18).
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(*_COLLECTION_THRESHOLDS)
        gc.enable()


_SET_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of Linux's prctl(2). Other systems do not have it."""


def end_with_parent() -> None:
    """Let the kernel kill this process when the one that started it has ended, even if this one is busy."""
    import ctypes  # few processes need it

    with suppress(AttributeError):
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def share_one_heap() -> None:
    """Let all threads use one heap of the C library, if it is glibc, so that one uses what another has freed."""
    import ctypes

    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def trim_heap() -> None:
    """Return free memory of the C library's heap to the system, if it is glibc."""
    import ctypes

    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def is_file_locked(path: Path) -> bool:
    """Return whether a process holds the lock (`flock`) of a file. False if the file does not exist."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


class Clock:
    """Seconds since the epoch that never go back while the process runs.

    The wall clock of a machine may be set while a crawl runs. Delays, back-offs and time limits must not change then,
    so they use this clock. Times that it gives may be stored: they are wall times, as of the start of the process, and
    the frontier corrects them if the wall clock was set back between two runs. CLOCK_MONOTONIC stands still while a
    machine is suspended, so a crawl that was suspended waits longer, never shorter.
    """

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        return self._offset + time.monotonic()


SYSTEM_CLOCK = Clock()
"""The clock of callers that run no crawl."""


class Readable(Protocol):
    """A stream whose `read(size)` returns fewer than `size` bytes only at its end."""

    def read(self, size: int, /) -> bytes: ...


def pack_frame(data: bytes) -> bytes:
    """Return `data` as a frame.

    >>> pack_frame(b"abc")
    b'\\x00\\x00\\x00\\x03abc'
    """
    return b"".join((len(data).to_bytes(_LENGTH_BYTES, "big"), data))


def write_frame(stream: IO[bytes], *parts: bytes, flush: bool = True) -> None:
    """Write one frame that holds all parts, and flush the stream. Frames that are not flushed go with the next one."""
    stream.write(sum(map(len, parts)).to_bytes(_LENGTH_BYTES, "big"))
    for part in parts:
        stream.write(part)
    if flush:
        stream.flush()


def read_frame(stream: Readable, max_bytes: int = _MAX_FRAME_BYTES) -> bytes | None:
    """Return the next frame, or None if the stream ends before the frame does.

    Raise ValueError if the frame is longer than `max_bytes`.
    """
    head = stream.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    size = int.from_bytes(head, "big")
    if size > max_bytes:
        raise ValueError(f"a frame of {size} bytes is longer than the limit of {max_bytes} bytes")
    data = stream.read(size)
    return data if len(data) == size else None


async def read_frame_async(stream: StreamReader) -> bytes:
    """Return the next frame. Raise `asyncio.IncompleteReadError` if the stream ends before the frame does."""
    size = int.from_bytes(await stream.readexactly(_LENGTH_BYTES), "big")
    return await stream.readexactly(size)

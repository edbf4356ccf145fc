"""Bounded input of `extract`: files, pipes and devices, with limits on their length and on the wait for their bytes."""

from __future__ import annotations

import io
import os
import select
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from motherlode.crawler.config.errors import JobError
from motherlode.crawler.config.units import format_size

DEFAULT_MAX_BYTES = 10**9
DEFAULT_TIMEOUT_SECONDS = 60.0
_CHUNK_BYTES = 1 << 20
_MAX_POLL_MS = 2**31 - 1


class InputError(JobError):
    """The input is too long, does not arrive, or cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputLimits:
    """How much input is read, and how long to wait for it."""

    max_bytes: int = DEFAULT_MAX_BYTES
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    """Maximum wait for the next bytes of a pipe or a device. It does not apply to files and terminals."""


class BoundedInput:
    """An open file, pipe or device that raises InputError if a limit is exceeded."""

    def __init__(self, descriptor: int, *, name: str, limits: InputLimits) -> None:
        self._descriptor = descriptor
        self._name = name
        self._limits = limits
        self._bytes_read = 0
        status = os.fstat(descriptor)
        is_regular = stat.S_ISREG(status.st_mode)
        self._may_wait = not is_regular and not os.isatty(descriptor)
        if is_regular and status.st_size - _offset(descriptor) > limits.max_bytes:
            raise too_long(name, limits.max_bytes)

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes as soon as there are some, and none at the end."""
        if size <= 0:
            return b""
        allowed = self._limits.max_bytes - self._bytes_read
        chunk = self._next(min(size, allowed + 1))  # one more, to see whether the input ends at the limit
        if len(chunk) > allowed:
            raise too_long(self._name, self._limits.max_bytes)
        self._bytes_read += len(chunk)
        return chunk

    def read_fully(self, size: int) -> bytes:
        """Return `size` bytes, or fewer if the input ends before."""
        buffer = io.BytesIO()
        while chunk := self.read(min(size - buffer.tell(), _CHUNK_BYTES)):
            buffer.write(chunk)
        return buffer.getvalue()

    def read_rest(self, head: bytes) -> bytes:
        """Return the whole input, whose first bytes were read before."""
        buffer = io.BytesIO()  # unlike b"".join it needs no second copy at the end
        buffer.write(head)
        while chunk := self.read(_CHUNK_BYTES):
            buffer.write(chunk)
        return buffer.getvalue()

    def _next(self, size: int) -> bytes:
        due = time.monotonic() + self._limits.timeout_seconds
        while True:
            if self._may_wait and not _is_ready(self._descriptor, due - time.monotonic()):
                raise self._no_bytes()
            try:
                return os.read(self._descriptor, size)
            except BlockingIOError:  # another process took the bytes, or the descriptor cannot be polled
                if time.monotonic() >= due:
                    raise self._no_bytes() from None

    def _no_bytes(self) -> InputError:
        seconds = f"{self._limits.timeout_seconds:g} s"
        return InputError(f"no bytes arrived from {self._name} for {seconds}: use --timeout for a longer wait")


@contextmanager
def open_input(path: Path, limits: InputLimits) -> Iterator[BoundedInput]:
    """Open a file, a FIFO or a device for reading, without waiting for the writer of a FIFO."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield BoundedInput(descriptor, name=str(path), limits=limits)
    finally:
        os.close(descriptor)


def too_long(name: str, max_bytes: int) -> InputError:
    """Return the error for input that has more bytes than allowed."""
    return InputError(f"{name} is longer than {format_size(max_bytes)}: use --max-bytes for a larger limit")


def _offset(descriptor: int) -> int:
    """Return the current offset in a regular file. Stdin may be a file of which a part was read before."""
    return os.lseek(descriptor, 0, os.SEEK_CUR)


def _is_ready(descriptor: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(min(ceil(max(seconds, 0) * 1000), _MAX_POLL_MS)))

"""A buffer on disk between a query and its client, so that a slow client does not occupy a query process."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from types import TracebackType
from typing import BinaryIO, Self, cast

_READ_BYTES = 1 << 18


class BufferSpace:
    """The bytes that all buffers of a server may have on disk at the same time."""

    def __init__(self, max_bytes: int) -> None:
        self._left = max_bytes
        self._freed = asyncio.Event()

    async def take(self, count: int) -> None:
        """Take space. If too little is left, wait until another buffer has been sent."""
        while self._left < count:
            self._freed.clear()
            await self._freed.wait()
        self._left -= count

    def give_back(self, count: int) -> None:
        self._left += count
        self._freed.set()


class ResultBuffer:
    """The bytes of one result: appended as fast as they are computed, read as fast as the client takes them.

    Used as a context manager, which removes the file.
    """

    def __init__(self, space: BufferSpace) -> None:
        self._space = space
        self._opened: BinaryIO | None = None
        self._has_changed = asyncio.Event()
        self._is_complete = False
        self._taken = 0
        """Bytes of the space, also those that could not be written."""
        self.size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._opened is not None:
            self._opened.close()
        self._space.give_back(self._taken)

    @property
    def _file(self) -> BinaryIO:
        if self._opened is None:
            self._opened = cast("BinaryIO", tempfile.TemporaryFile(buffering=0))  # noqa: SIM115 - this class closes it
        return self._opened

    async def append(self, data: bytes) -> None:
        """Write bytes to the file. OSError if the disk is full: none of these bytes are read then."""
        await self._space.take(len(data))
        self._taken += len(data)
        self._file.seek(self.size)
        written = self._file.write(data)
        while written < len(data):
            written += self._file.write(data[written:])
        self.size += written
        self._has_changed.set()

    def complete(self) -> None:
        """Say that nothing follows."""
        self._is_complete = True
        self._has_changed.set()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield all bytes in order. Wait for those that have not been appended yet."""
        start = 0
        while True:
            while start < self.size:
                self._file.seek(start)
                data = self._file.read(min(_READ_BYTES, self.size - start))
                start += len(data)
                yield data
            if self._is_complete:
                return
            self._has_changed.clear()
            await self._has_changed.wait()

"""The store's own writer: pages go in from the event loop, one thread writes them in batches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from motherlode.index.records import PageRecord, Store

_PAGE_WEIGHT = 10
"""Quads of provenance that each page brings with it."""


class Writer:
    """Bounded: `put` waits while more than `most` quads are pending, so a slow disk slows the crawl, not the memory."""

    def __init__(
        self,
        store: Store,
        *,
        batch: int = 60_000,
        most: int = 120_000,
        at_end: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._at_end = at_end
        self._batch = min(batch, most)
        self._most = most
        self._pending: list[PageRecord] = []
        self._weight = 0
        self._moved = asyncio.Condition()
        self._accepted = self._written = self._wanted = 0
        """Pages that were put, that are in the store, and that a flush waits for: all counted from the beginning."""
        self._closed = False
        self._error: BaseException | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="quads")
        self._task = asyncio.create_task(self._run())

    async def put(self, record: PageRecord) -> None:
        async with self._moved:
            await self._moved.wait_for(lambda: self._weight < self._most or self._error is not None or self._closed)
            self._check()
            if self._closed:
                raise ValueError(f"{record.url} came after the writer had been closed")
            self._pending.append(record)
            self._accepted += 1
            self._weight += record.quads + _PAGE_WEIGHT
            if self._weight >= self._batch:
                self._moved.notify_all()

    async def flush(self) -> None:
        """Return when every page put before is in the store and will survive the end of this process."""
        async with self._moved:
            wanted = self._accepted  # and no more: pages keep coming while this waits
            self._wanted = max(self._wanted, wanted)
            self._moved.notify_all()
            await self._moved.wait_for(lambda: self._written >= wanted or self._error is not None)
            self._check()

    def _check(self) -> None:
        if self._error is not None:
            raise OSError(f"the quad store could not be written: {self._error}") from self._error

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._error is None:
            async with self._moved:
                await self._moved.wait_for(self._is_due)
                records, self._pending = self._pending, []
                self._weight = 0
                self._moved.notify_all()
            writing = loop.run_in_executor(self._thread, self._store.write, records)
            await asyncio.wait([writing])  # whatever went wrong there is for those who put and flush to hear
            async with self._moved:
                self._error = writing.exception()
                self._written += len(records)
                self._moved.notify_all()

    def _is_due(self) -> bool:
        return bool(self._pending) and (self._written < self._wanted or self._weight >= self._batch)

    def _end(self) -> None:
        self._at_end()
        self._store.flush()

    async def close(self) -> None:
        """Write what is pending, then stop; an error where something could not be written."""
        if self._closed:
            return
        self._closed = True
        try:
            await self.flush()
            await asyncio.get_running_loop().run_in_executor(self._thread, self._end)
        finally:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._thread.shutdown(wait=True)

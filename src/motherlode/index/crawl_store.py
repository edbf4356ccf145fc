"""All that a crawl does with its store: pages go in, quads and words; a few questions are asked at its start."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from motherlode.index.page_record import PageRecord, RunRecord, Store
from motherlode.index.quad_store import QuadStore

_PATIENCE = 10.0
"""Seconds in which a store that is locked may become free."""


class CrawlStore(Protocol):
    """The store of a crawl, wherever it is."""

    def has(self, url: str) -> bool:
        """Whether the page has ever been stored."""
        ...

    def begin(self, run: RunRecord) -> None:
        """Pages from here on were fetched by this run."""
        ...

    def index_words(self, path: Path) -> None:
        """From here on words go in beside the quads; an index that is new takes those of the whole store first."""
        ...

    def write(self, records: Sequence[PageRecord]) -> None: ...

    def flush(self) -> None: ...

    def finish(self, ended_at: float) -> None:
        """The run has come to its end."""
        ...

    def backup(self, path: Path) -> None:
        """A copy as of now in a new folder on the same disk."""
        ...

    def close(self) -> None: ...


class LocalStore:
    """The store in this very process."""

    def __init__(self, path: Path) -> None:
        self._quads = _opened(path)
        self._store: Store = self._quads
        self.has, self.begin = self._quads.has, self._quads.begin
        self.finish, self.backup, self.note = self._quads.finish, self._quads.backup, self._quads.note

    def index_words(self, path: Path) -> None:
        from motherlode.index.fulltext import (
            SearchableStore,
            WordIndex,
        )  # heavy, and not wanted by all

        words = WordIndex(path)
        if words.is_new:
            words.rebuild(self._quads)
        self._store = SearchableStore(self._quads, words)

    def write(self, records: Sequence[PageRecord]) -> None:
        self._store.write(records)

    def flush(self) -> None:
        self._store.flush()

    def close(self) -> None:
        self._quads.close()


def _opened(path: Path) -> QuadStore:
    """The store, as soon as it is free: the process of a crawl that was killed a moment ago may still be ending."""
    patient_until = time.monotonic() + _PATIENCE
    while True:
        try:
            return QuadStore(path)
        except OSError as error:
            if "lock" not in str(error).lower() or time.monotonic() > patient_until:
                raise
            time.sleep(0.05)


# ── The store's own writer: pages go in from the event loop, one thread writes them in batches.

_PAGE_WEIGHT = 10
"""Quads of provenance that each page brings with it."""


class BatchWriter:
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

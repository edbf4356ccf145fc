"""The store with its words as the indexer writes them, and the batching writer of a crawl."""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from motherlode.index.page_record import PageRecord, Store
from motherlode.index.quad_store import QuadStore
from motherlode.index.snapshot import is_refused

_logger = logging.getLogger(__name__)
_LOCK_TIMEOUT_SECONDS = 10.0


class LocalStore:
    """A store and, after `index_words`, an index of words. Only the process that indexes a log opens them."""

    def __init__(self, path: Path) -> None:
        self._quads = _open_when_unlocked(path)
        self._store: Store = self._quads
        self._words: Path | None = None
        self.add_run_quads, self.skip_known_changes = self._quads.add_run_quads, self._quads.skip_known_changes
        self.load_derived_graphs = self._quads.load_derived_graphs

    def index_words(self, path: Path) -> None:
        """Index the words of all pages written from now on. A new word index is first filled from the whole store."""
        from motherlode.index.fulltext import SearchableStore, WordIndex  # tantivy loads slowly, and words are optional

        words = WordIndex(path)
        if words.is_new:
            words.rebuild(self._quads)
        self._store = SearchableStore(self._quads, words)
        self._words = path

    def write(self, records: Sequence[PageRecord]) -> None:
        self._repairing_words(lambda: self._store.write(records))

    def flush(self) -> None:
        self._repairing_words(lambda: self._store.flush())

    def _repairing_words(self, work: Callable[[], None]) -> None:
        """Do work. If the index of words turns out to be damaged, fill a new one from the store, and do it again."""
        try:
            work()
        except ValueError as error:  # tantivy has no other
            if self._words is None:
                raise
            why = str(error)
            if is_refused(error) or _are_words_intact(self._words):  # for example on a full disk
                raise OSError(f"the index of words in {self._words} cannot be written: {why}") from error
        else:
            return
        _logger.warning("the index of words in %s is damaged (%s): it is built again", self._words, why)
        self._store = self._quads  # nothing else refers to the old index, so its threads end
        shutil.rmtree(self._words)
        self.index_words(self._words)
        work()

    def close(self) -> None:
        self._quads.close()


def _are_words_intact(path: Path) -> bool:
    from motherlode.index.fulltext.coverage import are_words_intact  # tantivy loads slowly

    return are_words_intact(path)


def _open_when_unlocked(path: Path) -> QuadStore:
    """Open the store. Wait while it is locked, because the process of a killed crawl may still be exiting."""
    deadline = time.monotonic() + _LOCK_TIMEOUT_SECONDS
    while True:
        try:
            return QuadStore(path)
        except OSError as error:
            if "lock" not in str(error).lower() or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


_PROVENANCE_QUADS_PER_PAGE = 10


class BatchWriter:
    """Takes pages from the event loop and writes them to a store in batches, in one thread.

    Memory is bounded: `put` waits while more than `max_pending_quads` quads are pending, so a slow disk slows the
    crawl.
    """

    def __init__(
        self,
        store: Store,
        *,
        batch_quads: int = 60_000,
        max_pending_quads: int = 120_000,
        at_end: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._at_end = at_end
        self._batch_quads = min(batch_quads, max_pending_quads)
        self._max_pending_quads = max_pending_quads
        self._pending: list[PageRecord] = []
        self._pending_quads = 0
        self._changed = asyncio.Condition()
        self._accepted = self._written = self._flush_target = 0
        """Numbers of pages since the start: accepted by `put`, written to the store, and awaited by `flush`."""
        self._closed = False
        self._error: BaseException | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="quads")
        self._task = asyncio.create_task(self._run())

    async def put(self, record: PageRecord) -> None:
        async with self._changed:
            await self._changed.wait_for(
                lambda: self._pending_quads < self._max_pending_quads or self._error is not None or self._closed
            )
            self._check()
            if self._closed:
                raise ValueError(f"internal error: {record.url} was put after the writer had been closed")
            self._pending.append(record)
            self._accepted += 1
            self._pending_quads += record.quads + _PROVENANCE_QUADS_PER_PAGE
            if self._pending_quads >= self._batch_quads:
                self._changed.notify_all()

    async def flush(self) -> None:
        """Return when every page put before is in the store and will survive the end of this process."""
        async with self._changed:
            wanted = self._accepted  # not the pages that are put while this waits
            self._flush_target = max(self._flush_target, wanted)
            self._changed.notify_all()
            await self._changed.wait_for(lambda: self._written >= wanted or self._error is not None)
            self._check()

    def _check(self) -> None:
        if self._error is not None:
            raise OSError(f"the quad store could not be written: {self._error}") from self._error

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._error is None:
            async with self._changed:
                await self._changed.wait_for(
                    lambda: (
                        self._pending
                        and (self._written < self._flush_target or self._pending_quads >= self._batch_quads)
                    )
                )
                records, self._pending = self._pending, []
                self._pending_quads = 0
                self._changed.notify_all()
            writing = loop.run_in_executor(self._thread, self._store.write, records)
            await asyncio.wait([writing])  # does not raise: `put` and `flush` raise the error
            async with self._changed:
                self._error = writing.exception()
                self._written += len(records)
                self._changed.notify_all()

    async def close(self) -> None:
        """Write all pending pages, then stop. OSError if a page could not be written."""
        if self._closed:
            return
        self._closed = True
        try:
            await self.flush()
            for step in (self._at_end, self._store.flush):
                await asyncio.get_running_loop().run_in_executor(self._thread, step)
        finally:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._thread.shutdown(wait=True)

"""All that a crawl does with its store: pages go in, quads and words; a few questions are asked at its start."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from motherlode.index.records import PageRecord, RunRecord, Store
from motherlode.index.store import QuadStore

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


class StoreHere:
    """The store in this very process."""

    def __init__(self, path: Path) -> None:
        self._quads = _opened(path)
        self._store: Store = self._quads
        self.has, self.begin = self._quads.has, self._quads.begin
        self.finish, self.backup, self.note = self._quads.finish, self._quads.backup, self._quads.note

    def index_words(self, path: Path) -> None:
        from motherlode.index.words import (
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

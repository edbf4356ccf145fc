"""Store and words of a crawl that left them for later, made of its log of quads.

It may be done while the crawl runs, and be killed at any time: the log is marked behind what has come to last, and a
page that is written twice is the same as one that is written once.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from motherlode.crawl.folder import CrawlFolder
from motherlode.index.quadlog import Unread

_LASTING_AFTER = 5_000
"""Pages between two flushes, each of which is a commit of the index of words."""
Told = Callable[[int, int], None]
"""Hears the bytes of the log that have been read, and how many there are."""


def index_log(folder: CrawlFolder, *, each: Told = lambda done, of: None) -> int:
    """Bring store and words up to the end of the log; how many pages it had for them."""
    from motherlode.index.crawl_store import StoreHere  # heavy, and nearly always there is nothing to do

    unread = Unread(folder.quads)
    with _alone(folder):
        if not unread:
            return 0
        store = StoreHere(folder.store)
        if folder.job().words:
            store.index_words(folder.words)
        pages, lasting, whole = 0, 0, unread.size
        place = None
        for portion in unread.portions():
            store.note(portion.runs)
            store.write(portion.pages)
            pages += len(portion.pages)
            place = portion.place
            if pages - lasting >= _LASTING_AFTER:
                store.flush()
                unread.read(place)
                lasting = pages
            each(whole - unread.behind(place), whole)
        if place is not None:
            store.flush()
            unread.read(place)
        store.close()
    return pages


@contextmanager
def _alone(folder: CrawlFolder) -> Iterator[None]:
    """Two that index at the same time take turns, and the second finds nothing left to do."""
    with (folder.quads / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

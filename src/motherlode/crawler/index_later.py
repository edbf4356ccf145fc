"""Indexing of a crawl with `index = "later"`: build the store and the index of words from its log of quads.

Indexing may run during the crawl and may be killed at any time. A mark in the log shows up to where pages are durable
in the store, and writing a page twice has the same effect as writing it once. Before reading, the files of the log are
compared with the manifest that the crawl committed with its frontier.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from motherlode.crawler.folder import CrawlFolder
from motherlode.index.nquads_log import UnindexedQuads, check_log, complete_manifest
from motherlode.index.segment_files import ManifestEntry
from motherlode.index.snapshot import is_out_of_memory

MANIFEST = "segments"
"""Name of the frontier's note with the manifest of the log."""
_FLUSH_PAGES = 5_000
"""Pages between two flushes. A flush commits the index of words."""
Progress = Callable[[int, int], None]
"""Called with the bytes of the log that were read, and with their total."""


def encode_manifest(manifest: Sequence[ManifestEntry]) -> bytes:
    return msgspec.msgpack.encode(manifest)


def decode_manifest(note: bytes | None) -> list[ManifestEntry]:
    """Decode a manifest; it is empty if there is no note, as in folders of earlier versions."""
    try:
        return msgspec.msgpack.decode(note, type=list[ManifestEntry]) if note else []
    except msgspec.MsgspecError:  # without the note, files are checked as in folders of earlier versions
        return []


def committed_manifest(folder: CrawlFolder) -> list[ManifestEntry]:
    """Read the manifest of the last commit; it is empty if the frontier cannot be read. The crawl may run."""
    from motherlode.frontier import STORAGE_ERRORS, LmdbStorage, damage

    if not (folder.frontier / "data.mdb").exists() or (not folder.is_in_use and damage(folder.frontier)):
        return []
    try:
        storage = LmdbStorage(folder.frontier, read_only=True)
    except (OSError, *STORAGE_ERRORS) as error:
        if is_out_of_memory(error):  # the manifest exists and must not be ignored
            raise
        return []  # `resume` reports it; indexing needs no frontier
    try:
        return decode_manifest(storage.note(MANIFEST))
    finally:
        storage.close()


def has_log(folder: CrawlFolder) -> bool:
    """Return whether the crawl has, or should have, a log of quads."""
    return folder.quads.is_dir() or folder.is_indexed_later


def find_unread(folder: CrawlFolder) -> UnindexedQuads:
    """Return the part of the log that is not in the store: the whole log if there is no store."""
    return UnindexedQuads(folder.quads, from_start=not (folder.store / "CURRENT").exists())


def check_lengths(folder: CrawlFolder) -> None:
    """Raise DamagedError if a file of the log is missing or too short. Only lengths are compared, which is fast."""
    check_log(folder.quads, committed_manifest(folder), contents=False)


def index_log(folder: CrawlFolder, *, progress: Progress = lambda done, total: None) -> int:
    """Index the log up to its end and return the number of pages.

    DamagedError, before anything is indexed, if a file of the log has changed since it was written.
    """
    with _locked_log(folder):
        check_log(folder.quads, committed_manifest(folder))
        waiting = find_unread(folder)
        return _index(folder, waiting, progress=progress) if waiting else 0


def index_damaged(folder: CrawlFolder, *, progress: Progress = lambda done, total: None) -> tuple[int, int]:
    """Index the readable part of a damaged log. Return the numbers of indexed pages and of lost pages.

    The caller holds the lock of the folder. Lost pages are queued again in the frontier. Afterwards the files count as
    undamaged.
    """
    from motherlode.crawler.engine.recovery import open_storage, requeue_lost
    from motherlode.index.quad_store import QuadStore

    with _locked_log(folder):
        waiting = find_unread(folder)
        pages = _index(folder, waiting, progress=progress, damaged=True)
        waiting.mark_all_indexed()
    storage = open_storage(folder)
    store = QuadStore(folder.store, read_only=True)
    try:
        lost = requeue_lost(storage, store, in_a_row=None)
        storage.put_note(MANIFEST, encode_manifest(complete_manifest(folder.quads)))
        storage.commit()
    finally:
        store.close()
        storage.close()
    return pages, lost


def _index(folder: CrawlFolder, waiting: UnindexedQuads, *, progress: Progress, damaged: bool = False) -> int:
    from motherlode.index.crawl_store import LocalStore  # slow to import, and mostly not needed

    store = LocalStore(folder.store)
    if folder.read_job().words:
        store.index_words(folder.words)
    pages, flushed, total = 0, 0, waiting.size
    position = None
    for portion in waiting.batches(damaged=damaged):
        store.add_run_quads(portion.run_quads)
        store.write(portion.pages)
        pages += len(portion.pages)
        position = portion.position
        if pages - flushed >= _FLUSH_PAGES:
            store.flush()
            waiting.mark_indexed(position)
            flushed = pages
        progress(total - waiting.bytes_after(position), total)
    store.flush()
    if position is not None:
        waiting.mark_indexed(position)
    store.close()
    return pages


@contextmanager
def _locked_log(folder: CrawlFolder) -> Iterator[None]:
    """Lock the log, so that of two processes that index at the same time the second waits and finds nothing to do."""
    folder.quads.mkdir(exist_ok=True)
    with (folder.quads / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

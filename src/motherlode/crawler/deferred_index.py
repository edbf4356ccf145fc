"""Store and words of a crawl that left them for later, made of its log of quads.

It may be done while the crawl runs, and be killed at any time: the log is marked behind what has come to last, and a
page that is written twice is the same as one that is written once. Before anything is read, the files of the log are
compared with the manifest that the crawl has committed with its frontier.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from motherlode.crawler.folder import CrawlFolder
from motherlode.index.nquads_log import UnindexedQuads, check_log, current_manifest
from motherlode.index.segment_files import ManifestEntry
from motherlode.index.snapshot import is_out_of_memory

MANIFEST = "segments"
"""The note of the frontier that holds the manifest of the log."""
_LASTING_AFTER = 5_000
"""Pages between two flushes, each of which is a commit of the index of words."""
Told = Callable[[int, int], None]
"""Hears the bytes of the log that have been read, and how many there are."""


def encode_manifest(manifest: Sequence[ManifestEntry]) -> bytes:
    """Encode a manifest as a note of the frontier."""
    return msgspec.msgpack.encode(manifest)


def decode_manifest(note: bytes | None) -> list[ManifestEntry]:
    """Decode a manifest; it is empty if there is no note, as in folders of older versions."""
    try:
        return msgspec.msgpack.decode(note, type=list[ManifestEntry]) if note else []
    except msgspec.MsgspecError:  # a damaged note costs what it held: the files are compared as those of older versions
        return []


def committed_manifest(folder: CrawlFolder) -> list[ManifestEntry]:
    """Read the manifest of the last commit; it is empty if the frontier cannot be read. The crawl may run."""
    from motherlode.frontier import STORAGE_ERRORS, LmdbStorage, damage

    if not (folder.frontier / "data.mdb").exists() or (not folder.is_in_use and damage(folder.frontier)):
        return []
    try:
        storage = LmdbStorage(folder.frontier, read_only=True)
    except (OSError, *STORAGE_ERRORS) as error:
        if is_out_of_memory(error):  # the manifest is there, and must not be passed over
            raise
        return []  # `resume` reports it; quads can be had without a frontier
    try:
        return decode_manifest(storage.note(MANIFEST))
    finally:
        storage.close()


def has_log(folder: CrawlFolder) -> bool:
    """Whether quads of the crawl are, or should be, in a log."""
    return folder.quads.is_dir() or folder.leaves_index_for_later


def unread(folder: CrawlFolder) -> UnindexedQuads:
    """What the store lacks of the log: all of it if there is no store, whatever the log's mark says."""
    return UnindexedQuads(folder.quads, from_start=not (folder.store / "CURRENT").exists())


def check_lengths(folder: CrawlFolder) -> None:
    """Raise DamagedError if a file of the log is missing or too short; takes no longer for large files."""
    check_log(folder.quads, committed_manifest(folder), contents=False)


def index_log(folder: CrawlFolder, *, each: Told = lambda done, of: None) -> int:
    """Bring store and words up to the end of the log; how many pages it had for them.

    DamagedError if a file of the log is not what was written; then nothing is indexed.
    """
    with _alone(folder):
        check_log(folder.quads, committed_manifest(folder))
        waiting = unread(folder)
        return _index(folder, waiting, each=each) if waiting else 0


def index_damaged(folder: CrawlFolder, *, each: Told = lambda done, of: None) -> tuple[int, int]:
    """Index what can be read of a damaged log; how many pages it had, and how many are lost. The folder is locked.

    Lost pages wait again in the frontier. From here on the files count as whole as they are.
    """
    from motherlode.crawler.engine.recovery import open_ledger, requeue_all_lost
    from motherlode.index import QuadStore

    with _alone(folder):
        waiting = unread(folder)
        pages = _index(folder, waiting, each=each, damaged=True)
        waiting.mark_all_indexed()
    storage = open_ledger(folder)
    store = QuadStore(folder.store, read_only=True)
    try:
        lost = requeue_all_lost(storage, store)
        storage.put_note(MANIFEST, encode_manifest(current_manifest(folder.quads)))
        storage.commit()
    finally:
        store.close()
        storage.close()
    return pages, lost


def _index(folder: CrawlFolder, waiting: UnindexedQuads, *, each: Told, damaged: bool = False) -> int:
    from motherlode.index.crawl_store import LocalStore  # heavy, and nearly always there is nothing to do

    store = LocalStore(folder.store)
    if folder.job().words:
        store.index_words(folder.words)
    pages, lasting, whole = 0, 0, waiting.size
    place = None
    for portion in waiting.batches(damaged=damaged):
        store.add_run_quads(portion.run_quads)
        store.write(portion.pages)
        pages += len(portion.pages)
        place = portion.position
        if pages - lasting >= _LASTING_AFTER:
            store.flush()
            waiting.mark_indexed(place)
            lasting = pages
        each(whole - waiting.bytes_after(place), whole)
    store.flush()
    if place is not None:
        waiting.mark_indexed(place)
    store.close()
    return pages


@contextmanager
def _alone(folder: CrawlFolder) -> Iterator[None]:
    """Two that index at the same time take turns, and the second finds nothing left to do."""
    folder.quads.mkdir(exist_ok=True)
    with (folder.quads / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

"""Indexing of what a crawl's background indexer has not indexed, and the check of the log before that.

The files of the log are compared with the manifest that the crawl committed with its frontier (`index.nquads_log`).
"""

from __future__ import annotations

import asyncio
import logging
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from motherlode.crawler.config.values import JobError
from motherlode.crawler.folder import CrawlFolder, write_atomically
from motherlode.index.indexer import (
    IndexPaths,
    Progress,
    is_locked,
    locked_log,
    locked_unless_indexed,
    wait_until_indexed,
)
from motherlode.index.nquads_log import (
    LogPosition,
    UnindexedQuads,
    check_log,
    complete_manifest,
    encode_manifest,
    log_from_store,
    read_reach,
)
from motherlode.index.rebuild import is_store_damage
from motherlode.index.segment_files import ManifestEntry
from motherlode.index.snapshot import DamagedError, is_out_of_memory, store_fingerprint

if TYPE_CHECKING:
    from motherlode.index.compaction import Compaction

_logger = logging.getLogger(__name__)

MANIFEST = "segments"
"""Name of the frontier's note with the manifest of the log."""
_COPY_FILE = "manifest"
"""File beside the log with a copy of the manifest, because a check of the frontier takes a process of its own."""


class _ManifestCopy(msgspec.Struct, frozen=True, array_like=True):
    """A manifest, and size and time of the frontier's file to which it belongs."""

    frontier: tuple[int, int]
    manifest: list[ManifestEntry]


def decode_manifest(note: bytes | None) -> list[ManifestEntry]:
    """Decode a manifest; it is empty if there is no note, as in folders of earlier versions."""
    try:
        return msgspec.msgpack.decode(note, type=list[ManifestEntry]) if note else []
    except msgspec.MsgspecError:  # without the note, files are checked as in folders of earlier versions
        return []


def committed_manifest(folder: CrawlFolder) -> list[ManifestEntry]:
    """Read the manifest of the last commit; it is empty if the frontier cannot be read. The crawl may run."""
    from motherlode.frontier import STORAGE_ERRORS, LmdbStorage, damage

    is_crawling = folder.is_in_use and not folder.holds_lock  # the file may change while it is checked
    if not (folder.frontier / "data.mdb").exists() or (not is_crawling and damage(folder.frontier)):
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


def copy_manifest(folder: CrawlFolder, manifest: Sequence[ManifestEntry]) -> None:
    """Copy the manifest of the last commit for other commands. The copy is valid until the frontier changes."""
    with suppress(OSError):  # the frontier has it, too
        copy = _ManifestCopy(_frontier_version(folder), list(manifest))
        write_atomically(folder.quads / _COPY_FILE, msgspec.msgpack.encode(copy))


def copied_manifest(folder: CrawlFolder) -> list[ManifestEntry] | None:
    """Return the copy of the manifest; None if there is none, or the frontier has changed since it was made."""
    with suppress(OSError, msgspec.MsgspecError):
        copy = msgspec.msgpack.decode((folder.quads / _COPY_FILE).read_bytes(), type=_ManifestCopy)
        if copy.frontier == _frontier_version(folder):
            return copy.manifest
    return None


def _known_manifest(folder: CrawlFolder) -> list[ManifestEntry]:
    """Return the manifest of the last commit, from its copy if the frontier has not changed since it was made."""
    copied = copied_manifest(folder)
    return committed_manifest(folder) if copied is None else copied


def _frontier_version(folder: CrawlFolder) -> tuple[int, int]:
    status = (folder.frontier / "data.mdb").stat()
    return status.st_size, status.st_mtime_ns


def index_paths(folder: CrawlFolder) -> IndexPaths:
    """Return the log of a crawl and what is built from it. The job is read, because it says whether words are."""
    return IndexPaths(folder.quads, folder.store, folder.words if folder.read_job().words else None)


def find_unread(folder: CrawlFolder) -> UnindexedQuads:
    """Return the part of the log that is not in the store: the whole log if there is no store."""
    return IndexPaths(folder.quads, folder.store, None).unread()


def has_log(folder: CrawlFolder) -> bool:
    """Return whether the crawl has, or should have, a log. Stores of earlier versions and merged ones have none."""
    if folder.quads.is_dir():
        return True
    return not find_unread(folder).is_store_without_mark and bool(committed_manifest(folder))


def needs_indexing(folder: CrawlFolder) -> bool:
    """Return whether a part of the log must be indexed in a new process, or a damaged store be built again.

    If a process follows the log already, wait until it has indexed everything that is now in the log. DamagedError if
    a file of the log is missing or too short. Only lengths are compared, which is fast.
    """
    if not has_log(folder):
        return False
    check_log(folder.quads, _known_manifest(folder), contents=False)
    if find_unread(folder):
        return not wait_until_indexed(IndexPaths(folder.quads, folder.store, None))
    return not is_locked(folder.quads) and _is_damaged(folder.store)


def _is_damaged(store: Path) -> bool:
    """Return whether a store cannot be opened because it is damaged."""
    return _is_version_damaged(store, store_fingerprint(store))


@lru_cache(maxsize=64)
def _is_version_damaged(store: Path, fingerprint: int) -> bool:
    """Open each version of a store once, because a program may ask many queries."""
    from motherlode.index.quad_store import QuadStore

    try:
        QuadStore(store, read_only=True).close()
    except OSError as error:
        return (store / "CURRENT").exists() and is_store_damage(error)
    return False


def update_index(folder: CrawlFolder) -> None:
    """Index what is not indexed yet, in a process of its own, so that no lock and no thread stays in this one."""
    if needs_indexing(folder):
        _run_command(folder)


def _run_command(folder: CrawlFolder) -> None:
    command = [sys.executable, "-m", "motherlode", "index", str(folder.path), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"the quads of {folder.path} cannot be indexed: {done.stderr.strip()}")
    if done.stderr:
        _logger.warning("%s", done.stderr.strip())


class IndexUpdater:
    """Brings the index up to date before each query of a server, so that it sees every page in the log."""

    def __init__(self, folder: CrawlFolder) -> None:
        self._folder = folder
        self._unread = find_unread(folder)
        self._lock = asyncio.Lock()
        self._done: LogPosition = (0, 0)
        """The end of the log at the last update. A batch that a kill has cut off is not tried again and again."""
        self._seen: tuple[object, LogPosition] = None, (0, 0)
        """Log and mark as they were after the last update (`UnindexedQuads.version`), and the position of the mark."""

    async def __call__(self) -> LogPosition:
        """Index what is not indexed yet. Return the position in the log up to which the index has its pages."""
        version = self._unread.version
        if version is None or version != self._seen[0]:
            if self._unread.indexed_up_to < self._seen[1]:
                self._done = 0, 0  # another process builds the store again
            if self._unread and (end := self._unread.end) > self._done:
                async with self._lock:
                    if end > self._done:
                        await asyncio.to_thread(self._update)
                        self._done = end
            self._seen = version, self._unread.indexed_up_to
        return self._seen[1]

    def _update(self) -> None:
        """Index what is not indexed yet. The frontier stays closed, because this process may have opened it already."""
        if not wait_until_indexed(IndexPaths(self._folder.quads, self._folder.store, None)):
            _run_command(self._folder)


def index_log(folder: CrawlFolder, *, progress: Progress = lambda done, total: None) -> int:
    """Index the log up to its end and return the number of pages.

    DamagedError, before anything is indexed, if a file of the log has changed since it was written. A store that cannot
    be opened because it is damaged is built again.
    """
    if not has_log(folder):
        return 0
    manifest = _known_manifest(folder)
    with locked_unless_indexed(IndexPaths(folder.quads, folder.store, None)) as is_ours:
        if not is_ours:
            return 0
        check_log(folder.quads, manifest)
        return _index(folder, progress=progress) if find_unread(folder) or _is_damaged(folder.store) else 0


def index_damaged(folder: CrawlFolder, *, progress: Progress = lambda done, total: None) -> tuple[int, int]:
    """Index the readable part of a damaged log. Return the numbers of indexed pages and of lost pages.

    The caller holds the lock of the folder. Lost pages are queued again in the frontier. The log is written again from
    the store, because a damaged part may have had pages that only the store has now.
    """
    from motherlode.crawler.engine.recovery import open_storage, requeue_lost
    from motherlode.index.quad_store import QuadStore

    if _is_damaged(folder.store):
        raise DamagedError(f"log and store of {folder.path} are damaged: {damaged_store_advice(folder)}")
    with locked_log(folder.quads):
        last = max((entry.number for entry in complete_manifest(folder.quads, committed_manifest(folder))), default=0)
        pages = _index(folder, progress=progress, damaged=True)
        storage, store = open_storage(folder), QuadStore(folder.store, read_only=True)
        try:
            lost = requeue_lost(storage, store, in_a_row=None)
            log_from_store(store, folder.quads, after=last)
            find_unread(folder).mark_all_indexed()
            storage.put_note(MANIFEST, encode_manifest(complete_manifest(folder.quads)))
            storage.commit()
        finally:
            store.close()
            storage.close()
    return pages, lost


def damaged_store_advice(folder: CrawlFolder) -> str:
    """Return what to do with a damaged store whose log is damaged, too. It may have pages that the log has lost."""
    return (
        f"move {folder.store} away, and `motherlode index {folder.path} --skip-damaged` builds a new store from what "
        f"can be read of the log, and queues the other pages for `motherlode resume {folder.path}`"
    )


def compact(folder: CrawlFolder) -> Compaction:
    """Drop replaced versions of pages from the log of a crawl and of its shards. The caller holds the folder's lock.

    JobError if there is no log. DamagedError, before anything is written, if a file of it has changed.
    """
    from motherlode.index.compaction import Compaction

    counts = Compaction()
    for part in folder.shard_folders() or [folder]:
        if not has_log(part):
            raise JobError(f"the crawl in {part.path} has no log of its pages, so there is nothing to compact")
        index_log(part)
        with locked_log(part.quads):
            counts += _compact(part)
    return counts


def _compact(folder: CrawlFolder) -> Compaction:
    from motherlode.crawler.engine.recovery import open_storage
    from motherlode.index.compaction import compact_log

    with closing(open_storage(folder)) as storage:
        manifest = decode_manifest(storage.note(MANIFEST))
        check_log(folder.quads, manifest)

        def commit(new: list[ManifestEntry]) -> None:
            storage.put_note(MANIFEST, encode_manifest(new))
            storage.commit()
            storage.sync()  # the commit before names the old segments, which are removed next
            copy_manifest(folder, new)
            find_unread(folder).mark_all_indexed()

        return compact_log(folder.quads, after=max((entry.number for entry in manifest), default=0), commit=commit)


_RUN_TIME = re.compile(rb'(?:startedAtTime|endedAtTime)> "([^"]*)"')


def build_store_at(folder: CrawlFolder, at: datetime, store: Path) -> int:
    """Build a new store with the pages as they were at a time, from the log. Return the number of versions read.

    DamagedError if a file of the log has changed since it was written. FileNotFoundError if there is no log. ValueError
    if the log was compacted and does not reach back to that time.
    """
    from motherlode.index.quad_store import QuadStore

    target, versions = QuadStore(store), 0
    for part in folder.shard_folders() or [folder]:
        if not has_log(part):
            raise FileNotFoundError(f"the crawl in {part.path} has no log of its pages, so their past is unknown")
        check_log(part.quads, _known_manifest(part))
        if at < (reach := read_reach(part.quads)):
            raise ValueError(
                f"the log in {part.quads} was compacted, or written again from the store, and has all pages only from "
                f"{reach.isoformat()} on"
            )
        for batch in find_unread(part).batches(from_start=True):
            pages = [page for page in batch.pages if page.fetched_at <= at.timestamp()]
            versions += len(pages)
            target.write(pages)
            times = (datetime.fromisoformat(found.decode()) for found in _RUN_TIME.findall(batch.run_quads))
            if all(time <= at for time in times):
                target.add_run_quads(batch.run_quads)
    target.flush()
    target.close()
    return versions


def _index(folder: CrawlFolder, *, progress: Progress, damaged: bool = False) -> int:
    from motherlode.index.indexer import Indexer  # slow to import, and mostly not needed

    indexer = Indexer(index_paths(folder), is_log_intact=not damaged)
    try:
        return indexer.index(progress=progress, damaged=damaged)
    finally:
        indexer.close()

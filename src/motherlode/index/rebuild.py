"""Removal of a damaged store, so that it is built again with its words: both are views of the log.

Errors by which the system only refuses access (a lock, a permission, a full disk, a limit of memory) are no damage.
"""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

from motherlode.index.nquads_log import COMPACTED_FILE, MARK_FILE
from motherlode.index.quad_store import save_missing_copies
from motherlode.index.segment_files import list_segments
from motherlode.index.snapshot import is_damage, is_refused

_logger = logging.getLogger(__name__)


def is_store_damage(error: BaseException) -> bool:
    """Return whether files of the store differ from what was written, or are missing.

    >>> is_store_damage(OSError("IO error: No such file or directory: While opening a file: a/MANIFEST-000005"))
    True
    >>> is_store_damage(OSError("IO error: While lock file: a/LOCK: Resource temporarily unavailable"))
    False
    """
    is_missing = isinstance(error, OSError) and "IO error: No such file or directory" in str(error)
    return (is_damage(error) or is_missing) and not is_refused(error)


def has_all_pages(log: Path) -> bool:
    """Return whether a log has the pages from the first one on. Some earlier versions removed what was indexed."""
    if not log.is_dir():
        return False
    first = next((number for number, _ in list_segments(log)), 0 if (log / MARK_FILE).exists() else 1)
    return first == 1 or (log / COMPACTED_FILE).exists()


def remove_damaged_store(store: Path, words: Path | None, why: str) -> None:
    """Remove a damaged store and its index of words. The next indexer builds them from the whole log."""
    _logger.warning("the quad store in %s is damaged (%s): it is built again from the log", store, why.rstrip(". "))
    remove_views(store, words)


def remove_views(store: Path, words: Path | None) -> None:
    """Remove a store and its index of words, to make them again from the log.

    Derived graphs that have no copy beside the store are saved, if they can be read. The folder is renamed first, so
    that a kill leaves no store of which some files are missing.
    """
    save_missing_copies(store)
    damaged = store.with_name("store.damaged")
    shutil.rmtree(damaged, ignore_errors=True)  # an earlier removal was killed
    if store.exists():
        store.rename(damaged)
        shutil.rmtree(damaged, ignore_errors=True)
    if words is not None:
        shutil.rmtree(words, ignore_errors=True)

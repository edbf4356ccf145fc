"""Opening of a crawl's frontier for reading, with a check for damage: a damaged file could crash the process."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.index_later import copied_manifest
from motherlode.frontier import LmdbStorage, damage
from motherlode.index.snapshot import DamagedError, is_refused


def open_to_read(folder: CrawlFolder) -> LmdbStorage:
    """Open the frontier for reading, also while the crawl runs. Raise DamagedError if it is damaged."""
    is_crawling = folder.is_in_use and not folder.holds_lock  # the file may change while it is checked
    file = folder.frontier / "data.mdb"
    if not is_crawling and file.exists() and copied_manifest(folder) is None:  # it has changed since the crawl ended
        _check_version(folder.path, file.stat().st_size, file.stat().st_mtime_ns)
    return LmdbStorage(folder.frontier, read_only=True)


@lru_cache(maxsize=64)
def _check_version(folder: Path, size: int, changed_at: int) -> None:
    """Check a frontier once for each version of its file, because the pages of `serve` open it again and again."""
    check_frontier(CrawlFolder(folder))


def check_frontier(folder: CrawlFolder) -> None:
    """Raise DamagedError if the file of the frontier is damaged, and OSError if it cannot be checked."""
    found = damage(folder.frontier)
    if found and is_refused(OSError(found)):
        raise OSError(f"the frontier in {folder.frontier} cannot be checked: {found}")
    if found:
        raise DamagedError(frontier_advice(folder, found))


def frontier_advice(folder: CrawlFolder, why: str) -> str:
    """Return an error message for a damaged frontier, which says what to do."""
    return (
        f"the frontier in {folder.frontier} is damaged: {why}. The quads in {folder.store} are untouched: "
        f"`motherlode query` and `export` work. Put back a copy of the frontier if you have one; or move it away and "
        f"`motherlode resume {folder.path}` begins again from the seeds, and replaces the pages that it finds again"
    )

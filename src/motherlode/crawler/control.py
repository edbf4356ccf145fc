"""Control of a running crawl by a file: pause, resume, stop, and a new page budget.

The web server runs in a process of its own, so it writes its wishes to `control.json` in the folder of the crawl. The
engine looks at the file about once per second. Each run of a crawl starts without the file.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Protocol

import msgspec

from motherlode.crawler.folder import CrawlFolder, write_atomically

_LOG = logging.getLogger("motherlode.crawler")
_POLL_SECONDS = 1.0


class Control(msgspec.Struct, frozen=True, kw_only=True):
    """Wishes of the user for the run of a crawl."""

    is_paused: bool = False
    """Whether no further request may start."""
    is_stopped: bool = False
    """Whether the crawl is to end. `motherlode resume` continues it."""
    pages: int | None = None
    """Page budget of the whole crawl; None if it is that of the job."""


class Controllable(Protocol):
    """A crawl that follows wishes: the engine."""

    def limit_pages(self, pages: int) -> None:
        """Replace the page budget."""
        ...

    def stop(self) -> None:
        """Start no further requests."""
        ...


class ControlFile:
    """The file with the wishes for one crawl."""

    def __init__(self, folder: CrawlFolder) -> None:
        self._path = _path_of(folder)
        self._next = 0.0
        self._stamp = 0
        self.control = Control()

    def clear(self) -> None:
        """Remove the wishes for an earlier run."""
        self._path.unlink(missing_ok=True)

    def follow(self, crawl: Controllable, now: float) -> None:
        """Do what the user has wished since the last look at the file."""
        if not self.has_changed(now):
            return
        _LOG.info("control: %s", self.control)
        if self.control.pages is not None:
            crawl.limit_pages(self.control.pages)
        if self.control.is_stopped:
            crawl.stop()

    def has_changed(self, now: float) -> bool:
        """Read the file if it is time to. Return whether `control` has changed. Invalid files are ignored."""
        if now < self._next:
            return False
        self._next = now + _POLL_SECONDS
        try:
            stamp = self._path.stat().st_mtime_ns
            if stamp == self._stamp:
                return False
            self._stamp = stamp
            found = msgspec.json.decode(self._path.read_bytes(), type=Control)
        except (OSError, msgspec.MsgspecError):
            return False
        has_changed, self.control = found != self.control, found
        return has_changed


def read_control(folder: CrawlFolder) -> Control:
    """Return the wishes for the run of a crawl."""
    try:
        return msgspec.json.decode(_path_of(folder).read_bytes(), type=Control)
    except (OSError, msgspec.MsgspecError):
        return Control()


def write_control(folder: CrawlFolder, control: Control) -> None:
    """Write the wishes. A running crawl follows them within about a second. In a crawl of shards, all shards do."""
    for part in (folder, *folder.shard_folders()):
        write_atomically(_path_of(part), msgspec.json.encode(control), mode=0o600)


def _path_of(folder: CrawlFolder) -> Path:
    return folder.path / "control.json"

"""Control of a running crawl by a file: pause, resume, stop, and a new page budget.

The web server runs in a process of its own, so it writes the user's changes to `control.json` in the folder of the
crawl. The engine looks at the file about once per second. Each run of a crawl starts without the file.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from motherlode.crawler.folder import CrawlFolder, write_atomically


class Control(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a running crawl that the user changes in the dashboard."""

    is_paused: bool = False
    """Whether no further request may start."""
    is_stopped: bool = False
    """Whether the crawl is to end. `motherlode resume` continues it."""
    pages: int | None = None
    """Page budget of the whole crawl; None if it is that of the job."""


def read_control(folder: CrawlFolder) -> Control:
    """Return the content of the file. A file that is missing or damaged changes nothing."""
    try:
        return msgspec.json.decode(control_path(folder).read_bytes(), type=Control)
    except (OSError, msgspec.MsgspecError):
        return Control()


def write_control(folder: CrawlFolder, control: Control) -> None:
    """Write the file. A running crawl reads it within about a second.

    In a crawl of shards, each shard follows a pause. The driver obeys a stop and a budget, because the budget is that
    of all shards together, and a shard that is restarted must know that the crawl ends.
    """
    write_atomically(control_path(folder), msgspec.json.encode(control), mode=0o600)
    for part in folder.shard_folders():
        write_atomically(control_path(part), msgspec.json.encode(Control(is_paused=control.is_paused)), mode=0o600)


def control_path(folder: CrawlFolder) -> Path:
    """Return the path of the file."""
    return folder.path / "control.json"

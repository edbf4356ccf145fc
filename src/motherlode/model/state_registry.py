"""The registry of what a crawl saves beside its tables: who writes and reads each entry, and in which version.

Every entry begins with a magic number and its version. An entry without them is of version 0: it was written before the
registry was introduced, and its content is that of version 1. An entry of a newer version than this program knows is
refused with a sentence that says what to do.

>>> entry = SAVED_STATE["totals"]
>>> unwrap(entry, wrap(entry, b"content")), unwrap(entry, b"content")
(b'content', b'content')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_MAGIC = b"\xc1ML"
"""0xC1 never begins a MessagePack value."""


class SavedStateError(OSError):
    """Saved state was written by a newer version of Motherlode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedEntry:
    """One entry of the frontier's storage. The names are modules below `motherlode`."""

    key: str
    content: str
    written_by: tuple[str, ...]
    read_by: tuple[str, ...]
    if_unreadable: str
    version: int = 1


_ENTRIES = (
    SavedEntry(
        key="format",
        content="version of the folder as a whole",
        written_by=("frontier.admission",),
        read_by=("frontier.storage.lmdb",),
        if_unreadable="the folder is refused",
    ),
    SavedEntry(
        key="frontier",
        content="number of known URLs, sequence, refusals by reason, last time, withheld hosts",
        written_by=("frontier.admission", "cluster.merge"),
        read_by=("frontier.admission", "crawler.stats.reader", "cluster.merge"),
        if_unreadable="the frontier counts as damaged",
    ),
    SavedEntry(
        key="rows in runs",
        content="number of the last row that the sorted runs hold",
        written_by=("frontier.storage.lmdb",),
        read_by=("frontier.storage.lmdb",),
        if_unreadable="the frontier counts as damaged",
    ),
    SavedEntry(
        key="totals",
        content="counters of the crawl",
        written_by=("crawler.engine.checkpoint", "cluster.merge"),
        read_by=(
            "crawler.engine.recovery",
            "crawler.stats.reader",
            "crawler.explain.explanation",
            "cluster.merge",
        ),
        if_unreadable="they are added up again from the visits",
    ),
    SavedEntry(
        key="journal",
        content="last number and open numbers of the response journal",
        written_by=("crawler.engine.checkpoint",),
        read_by=("crawler.engine.factory",),
        if_unreadable="responses may be parsed twice",
    ),
    SavedEntry(
        key="segments",
        content="manifest of the files of quads",
        written_by=("crawler.engine.checkpoint", "crawler.index_later"),
        read_by=("crawler.engine.factory", "crawler.index_later", "crawler.stats.reader"),
        if_unreadable="the files are taken as they are",
    ),
    SavedEntry(
        key="policy",
        content="what the policy learned",
        written_by=("crawler.engine.checkpoint",),
        read_by=(
            "crawler.engine.recovery",
            "crawler.engine.factory",
            "crawler.explain.explanation",
        ),
        if_unreadable="learning begins again",
    ),
    SavedEntry(
        key="traps",
        content="patterns, contents and mirrors that the URL rules have seen",
        written_by=("crawler.engine.checkpoint",),
        read_by=("crawler.engine.recovery", "crawler.explain.checks"),
        if_unreadable="they are forgotten",
    ),
    SavedEntry(
        key="tallies",
        content="state of the estimate of relevant pages that are left",
        written_by=("crawler.engine.checkpoint",),
        read_by=("crawler.engine.recovery",),
        if_unreadable="the estimate begins again",
    ),
    SavedEntry(
        key="statements",
        content="Bloom filter of the statements seen so far",
        written_by=("crawler.engine.checkpoint",),
        read_by=("crawler.engine.recovery",),
        if_unreadable="all statements count as new",
    ),
    SavedEntry(
        key="estimate",
        content="the estimate itself, and whether the crawl stopped early",
        written_by=("crawler.engine.checkpoint",),
        read_by=("crawler.stats.reader",),
        if_unreadable="no estimate is shown",
    ),
    SavedEntry(
        key="refresh",
        content="there has been a refresh",
        written_by=("crawler.recrawl.revisits",),
        read_by=("crawler.engine.factory",),
        if_unreadable="it counts as present",
    ),
    SavedEntry(
        key="refresh-mark",
        content="number of the last visit that the page records know",
        written_by=("crawler.recrawl.revisits",),
        read_by=("crawler.recrawl.revisits",),
        if_unreadable="the refresh fails",
    ),
    SavedEntry(
        key="merged",
        content="digest of the shards that were merged",
        written_by=("cluster.merge",),
        read_by=("cluster.merge",),
        if_unreadable="the shards are merged again",
    ),
)
SAVED_STATE: Mapping[str, SavedEntry] = {entry.key: entry for entry in _ENTRIES}


def wrap(entry: SavedEntry, payload: bytes) -> bytes:
    """Return an entry as it is stored."""
    return _MAGIC + bytes((entry.version,)) + payload


def unwrap(entry: SavedEntry, data: bytes) -> bytes:
    """Return the content of a stored entry. Raise SavedStateError if its version is newer than this program."""
    if not data.startswith(_MAGIC):
        return data
    version = data[len(_MAGIC)]
    if version > entry.version:
        raise SavedStateError(
            f"the saved entry {entry.key!r} was written by a newer version of Motherlode (format {version}, this one "
            f"reads up to {entry.version}): update Motherlode, or crawl into another folder"
        )
    return data[len(_MAGIC) + 1 :]


def wrap_key(key: str, payload: bytes) -> bytes:
    """Wrap an entry by its key. One that is not in the registry, as of a plug-in, is stored as it is."""
    entry = SAVED_STATE.get(key)
    return payload if entry is None else wrap(entry, payload)


def unwrap_key(key: str, data: bytes | None) -> bytes | None:
    """Unwrap an entry by its key; None if there is none."""
    entry = SAVED_STATE.get(key)
    return data if data is None or entry is None else unwrap(entry, data)

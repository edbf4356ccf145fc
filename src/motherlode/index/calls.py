"""What a crawl asks of a store in another process, as messages."""

from __future__ import annotations

import msgspec

from motherlode.index.records import PageRecord, RunRecord


class Open(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The first call: where the store is."""

    path: str


class Has(msgspec.Struct, frozen=True, tag=True, array_like=True):
    url: str


class Begin(msgspec.Struct, frozen=True, tag=True, array_like=True):
    run: RunRecord


class IndexWords(msgspec.Struct, frozen=True, tag=True, array_like=True):
    path: str


class Write(msgspec.Struct, frozen=True, tag=True, array_like=True):
    records: list[PageRecord]


class Flush(msgspec.Struct, frozen=True, tag=True, array_like=True):
    pass


class Finish(msgspec.Struct, frozen=True, tag=True, array_like=True):
    ended_at: float


class Backup(msgspec.Struct, frozen=True, tag=True, array_like=True):
    path: str


class Close(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The last call."""


Call = Open | Has | Begin | IndexWords | Write | Flush | Finish | Backup | Close


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """What came of a call."""

    value: bool = False
    error: str = ""
    """Why it failed, or ""."""
    errno: int = 0
    is_os_error: bool = False
    is_damaged: bool = False
    """The error says what to do about a damaged store."""

"""The responses of a WARC file, one after the other.

Requests, metadata and the like are passed over; so are records that cannot be read or used, which are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from motherlode.fetch.warc_records import ResponseRecords, answer_in, target_of
from motherlode.model import Fetched

MAX_BODY = 10 << 20
"""Bytes of a body that are read, before and after unpacking; as much as a crawl reads."""


class Responses:
    """Iterate once; `broken` and `position` tell how it went."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._records = ResponseRecords(self._file)

    @property
    def position(self) -> int:
        """Bytes of the file that have been read."""
        return self._records.position

    @property
    def broken(self) -> int:
        return self._records.broken

    def __iter__(self) -> Iterator[Fetched]:
        with self._file:
            for record in self._records:
                url = target_of(record)
                answer = None if url is None else answer_in(record, url, limit=MAX_BODY)
                if answer is None:
                    self._records.count_as_broken(record)
                else:
                    yield answer

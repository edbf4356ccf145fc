"""The responses of a WARC file, one after the other.

Requests, metadata and the like are passed over; so are records that cannot be read or used, which are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecord

from motherlode.fetch.warc_records import ResponseRecords, answer_in, is_same_payload, target_of
from motherlode.fetch.warc_revisits import Bodies
from motherlode.model import Fetched

MAX_BODY = 10 << 20
"""Bytes of a body that are read, before and after unpacking; as much as a crawl reads."""


class Responses:
    """Iterate once; `broken` and `position` tell how it went."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._again = path.open("rb")
        """The same file, for what is looked up while the reading goes on."""
        self._records = ResponseRecords(self._file)
        self._bodies = Bodies()

    @property
    def position(self) -> int:
        """Bytes of the file that have been read."""
        return self._records.position

    @property
    def broken(self) -> int:
        return self._records.broken

    def __iter__(self) -> Iterator[Fetched]:
        with self._file, self._again:
            for record in self._records:
                url = target_of(record)
                answer = None if url is None else self._answer(record, url)
                if answer is None:
                    self._records.count_as_broken(record)
                else:
                    yield answer

    def _answer(self, record: WarcRecord, url: str) -> Fetched | None:
        if is_same_payload(record):
            return self._bodies.answer(record, url, self._record_at, limit=MAX_BODY)
        self._bodies.note(record)
        return answer_in(record, url, limit=MAX_BODY)

    def _record_at(self, place: int) -> WarcRecord | None:
        """Records that are packed as one are not found."""
        self._again.seek(place)
        return next(iter(ArchiveIterator(self._again, parse_http=False)), None)

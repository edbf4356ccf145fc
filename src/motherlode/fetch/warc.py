"""WARC files: the responses in them, one after the other, as pages and failures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from motherlode.fetch.answers import failure_from_status, is_useless
from motherlode.model import Failure, FailureKind, Fetched, Page
from motherlode.www.urls import canonical


class WarcResponses:
    """All responses of a file in order. Records that cannot be read are counted and passed over."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("rb")
        self.size = path.stat().st_size
        self.broken = 0

    @property
    def position(self) -> int:
        """Bytes of the file that have been read."""
        return self._file.tell()

    def __iter__(self) -> Iterator[Fetched]:
        records = iter(ArchiveIterator(self._file, record_types=WarcRecordType.response, parse_http=True))
        with self._file:
            while True:
                try:
                    record = next(records, None)
                    if record is None:
                        return
                    url = canonical((record.headers.get("WARC-Target-URI") or "").strip("<>"))
                    if url is None or record.http_headers is None:
                        self.broken += 1
                    else:
                        yield answer_in(record, url)
                except (ValueError, OSError):
                    self.broken += 1


def answer_in(record: WarcRecord, url: str) -> Fetched:
    """The page or failure that a response record holds."""
    status = int(record.http_headers.status_code or 0)
    headers: dict[str, str] = {}
    for name, value in record.http_headers:
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    failure = failure_from_status(url, status, headers)
    if failure is not None:
        return failure
    body = record.reader.read()
    if is_useless(headers.get("content-type", ""), body[:512]):
        detail = f"nothing can come of {headers.get('content-type', '')}"
        return Failure(url=url, kind=FailureKind.USELESS, detail=detail, status=status, wire_bytes=len(body))
    return Page(url=url, status=status, headers=headers, body=body, wire_bytes=len(body))

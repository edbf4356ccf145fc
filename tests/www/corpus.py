"""The URLs of the recorded corpus."""

from __future__ import annotations

from functools import cache

from fastwarc.warc import ArchiveIterator, WarcRecordType

from ..support import shared


@cache
def corpus_urls() -> tuple[str, ...]:
    """Return all recorded URLs, of pages and other resources."""
    with shared("corpus", "sites.warc.gz").open("rb") as file:
        records = ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=False)
        return tuple((record.headers.get("WARC-Target-URI") or "").strip("<>") for record in records)

"""WARC files: the responses in them, one after the other, as pages and failures."""

from __future__ import annotations

from fastwarc.warc import WarcRecord

from motherlode.fetch.answers import failure_from_status, is_useless
from motherlode.model import Failure, FailureKind, Fetched, Page


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

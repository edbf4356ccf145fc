"""Serialization of WARC 1.1 records, each as a gzip member.

Bodies are archived in decoded form. So the headers that describe the transfer are archived under other names: a record
makes no wrong statement about its body, and no header of the server is lost.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus

_TRANSFER_HEADERS = frozenset({"content-encoding", "transfer-encoding", "content-length", "connection", "keep-alive"})
"""Headers that describe the transfer and not the archived body."""
_ORIGINAL_PREFIX = "X-Archive-Orig-"
"""Prefix that replay tools know for original headers."""
_LINE_BREAKS = re.compile(r"[\r\n]+")
_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
SAME_PAYLOAD = _PROFILES + "identical-payload-digest"
NOT_MODIFIED = _PROFILES + "server-not-modified"
_FORMAT = "WARC File Format 1.1"
_SPECIFICATION = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"

Field = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class WarcResponse:
    """The response to one request, as it is archived."""

    url: str
    at: float
    """Seconds since the epoch."""
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    truncated: str = ""
    """Why the body is incomplete: a value of WARC-Truncated (WARC 1.1, 5.13)."""
    address: str = ""
    """IP address of the server. Empty if unknown."""

    @property
    def date(self) -> str:
        return datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The record that contains the payload of another."""

    record: str
    url: str
    date: str


def new_id() -> str:
    return f"<urn:uuid:{uuid.uuid4()}>"


def digest_of(data: bytes) -> str:
    """Return a digest in the notation of most archives.

    >>> digest_of(b"")
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def http_head(status: int, headers: Mapping[str, str], size: int) -> bytes:
    """Return the head of a response whose decoded body has `size` bytes. Line breaks in values are removed."""
    try:
        reason = HTTPStatus(status).phrase
    except ValueError:
        reason = "Unknown"
    lines, length = [f"HTTP/1.1 {status} {reason}"], ("content-length", str(size))
    for name, value in headers.items():
        if (name.lower(), value) != length:
            prefix = _ORIGINAL_PREFIX if name.lower() in _TRANSFER_HEADERS else ""
            lines.append(f"{prefix}{name}: {_LINE_BREAKS.sub(' ', value)}")
    lines.append(f"Content-Length: {size}")
    return "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n"


def response_record(response: WarcResponse, record: str, *, more: tuple[Field, ...] = ()) -> bytes:
    """Return the record of a response with its body."""
    block = http_head(response.status, response.headers, len(response.body)) + response.body
    truncated = (("WARC-Truncated", response.truncated),) if response.truncated else ()
    payload = ("WARC-Payload-Digest", digest_of(response.body))
    return _http_record("response", response, record, (payload, *truncated, *more), block)


def same_payload_record(
    response: WarcResponse, record: str, original: Original, *, more: tuple[Field, ...] = ()
) -> bytes:
    """Return the record of a response whose body is only in another record of the same file."""
    fields = (
        ("WARC-Profile", SAME_PAYLOAD),
        ("WARC-Payload-Digest", digest_of(response.body)),
        ("WARC-Refers-To", original.record),
        ("WARC-Refers-To-Target-URI", original.url),
        ("WARC-Refers-To-Date", original.date),
    )
    head = http_head(response.status, response.headers, len(response.body))
    return _http_record("revisit", response, record, (*fields, *more), head)


def not_modified_record(response: WarcResponse, record: str, *, more: tuple[Field, ...] = ()) -> bytes:
    """Return the record of a 304. It does not name the earlier record of the page, which the crawl does not know.

    The head of the response is left out, because pywb would show an empty page instead of the earlier one.
    """
    fields = (("WARC-Profile", NOT_MODIFIED), ("WARC-Refers-To-Target-URI", response.url))
    return serialize_record("revisit", record, (*_common_fields(response), *fields, *more), b"")


def request_record(response: WarcResponse, request: bytes, response_id: str, *, more: tuple[Field, ...] = ()) -> bytes:
    """Return the record of a request, linked to the record of its response."""
    fields = (*_common_fields(response), ("WARC-Concurrent-To", response_id), *more)
    return serialize_record(
        "request", new_id(), (*fields, ("Content-Type", "application/http; msgtype=request")), request
    )


def info_record(record: str, *, name: str, at: float, about: Mapping[str, str]) -> bytes:
    """Return the first record of a file: which software created it, and how."""
    info = {"format": _FORMAT, "conformsTo": _SPECIFICATION, **about}
    block = "".join(f"{key}: {_LINE_BREAKS.sub(' ', value)}\r\n" for key, value in info.items()).encode()
    date = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    fields = (("WARC-Date", date), ("WARC-Filename", name), ("Content-Type", "application/warc-fields"))
    return serialize_record("warcinfo", record, fields, block)


def serialize_record(kind: str, record: str, fields: tuple[Field, ...], block: bytes) -> bytes:
    """Return a complete record with its digest and length, compressed."""
    ends = (("WARC-Block-Digest", digest_of(block)), ("Content-Length", str(len(block))))
    lines = (("WARC-Type", kind), ("WARC-Record-ID", record), *fields, *ends)
    head = "".join(f"{name}: {value}\r\n" for name, value in lines)
    return gzip.compress(b"WARC/1.1\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n", compresslevel=6)


def _http_record(kind: str, response: WarcResponse, record: str, fields: tuple[Field, ...], block: bytes) -> bytes:
    content_type = ("Content-Type", "application/http; msgtype=response")
    return serialize_record(kind, record, (*_common_fields(response), *fields, content_type), block)


def _common_fields(response: WarcResponse) -> tuple[Field, ...]:
    """Return the fields common to the records of a request and its response."""
    address = (("WARC-IP-Address", response.address),) if response.address else ()
    return (("WARC-Target-URI", response.url), ("WARC-Date", response.date), *address)

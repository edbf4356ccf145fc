"""Records of a WARC 1.1 file as bytes, each a gzip member of its own.

A body is kept as a crawl reads it, with its encodings undone. So the headers that spoke of the transfer are kept under
other names: a record never says of its body what is not true of it, and nothing that the server said is lost.
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

_UNDONE = frozenset({"content-encoding", "transfer-encoding", "content-length", "connection", "keep-alive"})
"""Headers that speak of the transfer and not of the body as it is kept."""
_AS_IT_CAME = "X-Archive-Orig-"
"""The prefix under which replay tools look for what a header said."""
_LINE_BREAKS = re.compile(r"[\r\n]+")
_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
SAME_PAYLOAD = _PROFILES + "identical-payload-digest"
NOT_MODIFIED = _PROFILES + "server-not-modified"
_FORMAT = "WARC File Format 1.1"
_SPECIFICATION = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"

Field = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class WarcResponse:
    """What came to one request, as an archive keeps it."""

    url: str
    at: float
    """Seconds since the epoch."""
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    truncated: str = ""
    """Why the body is not whole, in the words of WARC 1.1 (5.13)."""
    address: str = ""
    """The IP address that answered; empty where nobody knows."""

    @property
    def date(self) -> str:
        return datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The record that holds the payload of another."""

    record: str
    url: str
    date: str


def new_id() -> str:
    return f"<urn:uuid:{uuid.uuid4()}>"


def digest_of(data: bytes) -> str:
    """A digest as most archives write it.

    >>> digest_of(b"")
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def http_head(status: int, headers: Mapping[str, str], size: int) -> bytes:
    """The head of an HTTP answer whose body has so many bytes, its encodings undone. No value begins another line."""
    try:
        reason = HTTPStatus(status).phrase
    except ValueError:
        reason = "Unknown"
    lines, length = [f"HTTP/1.1 {status} {reason}"], ("content-length", str(size))
    for name, value in headers.items():
        if (name.lower(), value) != length:
            prefix = _AS_IT_CAME if name.lower() in _UNDONE else ""
            lines.append(f"{prefix}{name}: {_LINE_BREAKS.sub(' ', value)}")
    lines.append(f"Content-Length: {size}")
    return "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n"


def response_record(answer: WarcResponse, record: str, *, more: tuple[Field, ...] = ()) -> bytes:
    """An answer with its body."""
    block = http_head(answer.status, answer.headers, len(answer.body)) + answer.body
    truncated = (("WARC-Truncated", answer.truncated),) if answer.truncated else ()
    payload = ("WARC-Payload-Digest", digest_of(answer.body))
    return _http_record("response", answer, record, (payload, *truncated, *more), block)


def same_payload_record(
    answer: WarcResponse, record: str, original: Original, *, more: tuple[Field, ...] = ()
) -> bytes:
    """An answer whose body is that of another record of the same file, and stands only there."""
    fields = (
        ("WARC-Profile", SAME_PAYLOAD),
        ("WARC-Payload-Digest", digest_of(answer.body)),
        ("WARC-Refers-To", original.record),
        ("WARC-Refers-To-Target-URI", original.url),
        ("WARC-Refers-To-Date", original.date),
    )
    head = http_head(answer.status, answer.headers, len(answer.body))
    return _http_record("revisit", answer, record, (*fields, *more), head)


def not_modified_record(answer: WarcResponse, record: str, *, more: tuple[Field, ...] = ()) -> bytes:
    """An answer which says that the page is as it was; a crawl does not know in which record it was that.

    Its head is left out: pywb would show a 304, which is an empty page, in the place of the one that it stands for.
    """
    fields = (("WARC-Profile", NOT_MODIFIED), ("WARC-Refers-To-Target-URI", answer.url))
    return packed("revisit", record, (*_of(answer), *fields, *more), b"")


def request_record(answer: WarcResponse, sent: bytes, response: str, *, more: tuple[Field, ...] = ()) -> bytes:
    """What was sent, beside the record of what came."""
    fields = (*_of(answer), ("WARC-Concurrent-To", response), *more)
    return packed("request", new_id(), (*fields, ("Content-Type", "application/http; msgtype=request")), sent)


def info_record(record: str, *, name: str, at: float, about: Mapping[str, str]) -> bytes:
    """The first record of a file: who made it, and how."""
    told = {"format": _FORMAT, "conformsTo": _SPECIFICATION, **about}
    block = "".join(f"{key}: {_LINE_BREAKS.sub(' ', value)}\r\n" for key, value in told.items()).encode()
    date = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    fields = (("WARC-Date", date), ("WARC-Filename", name), ("Content-Type", "application/warc-fields"))
    return packed("warcinfo", record, fields, block)


def packed(kind: str, record: str, fields: tuple[Field, ...], block: bytes) -> bytes:
    """A whole record with its digest and length."""
    ends = (("WARC-Block-Digest", digest_of(block)), ("Content-Length", str(len(block))))
    lines = (("WARC-Type", kind), ("WARC-Record-ID", record), *fields, *ends)
    head = "".join(f"{name}: {value}\r\n" for name, value in lines)
    return gzip.compress(b"WARC/1.1\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n", compresslevel=6)


def _http_record(kind: str, answer: WarcResponse, record: str, fields: tuple[Field, ...], block: bytes) -> bytes:
    content_type = ("Content-Type", "application/http; msgtype=response")
    return packed(kind, record, (*_of(answer), *fields, content_type), block)


def _of(answer: WarcResponse) -> tuple[Field, ...]:
    """What the records of an exchange have in common."""
    address = (("WARC-IP-Address", answer.address),) if answer.address else ()
    return (("WARC-Target-URI", answer.url), ("WARC-Date", answer.date), *address)

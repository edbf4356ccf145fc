"""WARC 1.1 files: their records, files that are appended to, and the archive of a crawl.

Each record is a gzip member, so that a file can be indexed, and cut between any two records. A response is archived as
it was received: the same head, and the body with its transfer and content encodings. A response whose bytes are not
known, because a recorded web is crawled, is archived with a new head and the decoded body. Then the headers that
describe the transfer are archived under other names: a record makes no wrong statement about its body.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import os
import re
import threading
import time
import uuid
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from io import BytesIO
from pathlib import Path

import msgspec

from motherlode.fetch.http.parser import BLANK_LINE, is_whole
from motherlode.fetch.http.response import MAX_FAILURE_BODY_BYTES
from motherlode.model import FailureKind, Fetched, Fetcher, Page, Request
from motherlode.www.gzip_members import gzip_members

_TRANSFER_HEADERS = frozenset({"content-encoding", "transfer-encoding", "content-length", "connection", "keep-alive"})
"""Headers that describe the transfer and not the archived body."""
ORIGINAL_PREFIX = "X-Archive-Orig-"
"""Prefix that replay tools know for original headers."""
_LINE_BREAKS = re.compile(r"[\r\n]+")
_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
_FORMAT = "WARC File Format 1.1"
_SPECIFICATION = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"

Field = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class WarcResponse:
    """The response to one request, as it is archived."""

    url: str
    at: float
    """Time of the request in seconds since the epoch."""
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    truncated: str = ""
    """Why the body is incomplete: a value of WARC-Truncated (WARC 1.1, 5.13)."""
    address: str = ""
    """IP address of the server. Empty if unknown."""
    wire: bytes = b""
    """Head and body as received. Empty if unknown."""

    @property
    def date(self) -> str:
        return _date(self.at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The record that contains the payload of another."""

    record: str
    url: str
    date: str
    payload_digest: str = ""
    """The field WARC-Payload-Digest of the record."""


def new_id() -> str:
    return f"<urn:uuid:{uuid.uuid4()}>"


def digest_of(data: bytes) -> str:
    """Return the SHA-1 digest of data as WARC files have it: `sha1:` and the digest in base32."""
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
            prefix = ORIGINAL_PREFIX if name.lower() in _TRANSFER_HEADERS else ""
            lines.append(f"{prefix}{name}: {_LINE_BREAKS.sub(' ', value)}")
    lines.append(f"Content-Length: {size}")
    return "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n"


def response_record(
    response: WarcResponse, record: str, *, original: Original | None = None, more: tuple[Field, ...] = ()
) -> bytes:
    """Return the record of a response. Its body is left out if the record `original` of the same file has it.

    The record of a 304 does not name the earlier record of the page, which the crawl does not know. It has no HTTP
    head, because pywb would show an empty page instead of the earlier one.
    """
    common = _common_fields(response)
    if response.status == HTTPStatus.NOT_MODIFIED:
        refers_to = ("WARC-Profile", _PROFILES + "server-not-modified"), ("WARC-Refers-To-Target-URI", response.url)
        return _serialize("revisit", record, (*common, *refers_to, *more), b"")
    head, payload = head_and_payload(response)
    known = "" if original is None else original.payload_digest
    digest = ("WARC-Payload-Digest", known or digest_of(payload))
    last = (*more, ("Content-Type", "application/http; msgtype=response"))
    if original is None:
        truncated = (("WARC-Truncated", response.truncated),) if response.truncated else ()
        return _serialize("response", record, (*common, digest, *truncated, *last), head + payload)
    fields = (
        ("WARC-Profile", _PROFILES + "identical-payload-digest"),
        digest,
        ("WARC-Refers-To", original.record),
        ("WARC-Refers-To-Target-URI", original.url),
        ("WARC-Refers-To-Date", original.date),
    )
    return _serialize("revisit", record, (*common, *fields, *last), head)


def head_and_payload(response: WarcResponse) -> tuple[bytes, bytes]:
    """Return the bytes of a response before and after the end of its head."""
    end = BLANK_LINE.search(response.wire)
    if end is None:
        return http_head(response.status, response.headers, len(response.body)), response.body
    return response.wire[: end.end()], response.wire[end.end() :]


def request_record(response: WarcResponse, request: bytes, response_id: str, *, more: tuple[Field, ...] = ()) -> bytes:
    """Return the record of a request, linked to the record of its response."""
    content_type = ("Content-Type", "application/http; msgtype=request")
    fields = (*_common_fields(response), ("WARC-Concurrent-To", response_id), *more, content_type)
    return _serialize("request", new_id(), fields, request)


def info_record(record: str, *, name: str, at: float, about: Mapping[str, str]) -> bytes:
    """Return the first record of a file: which software created it, and how."""
    info = {"format": _FORMAT, "conformsTo": _SPECIFICATION, **about}
    block = "".join(f"{key}: {_LINE_BREAKS.sub(' ', value)}\r\n" for key, value in info.items()).encode()
    fields = (("WARC-Date", _date(at)), ("WARC-Filename", name), ("Content-Type", "application/warc-fields"))
    return _serialize("warcinfo", record, fields, block)


def _serialize(kind: str, record: str, fields: tuple[Field, ...], block: bytes) -> bytes:
    """Return a complete record with its digest and length, compressed."""
    ends = (("WARC-Block-Digest", digest_of(block)), ("Content-Length", str(len(block))))
    lines = (("WARC-Type", kind), ("WARC-Record-ID", record), *fields, *ends)
    head = "".join(f"{name}: {value}\r\n" for name, value in lines)
    return gzip.compress(b"WARC/1.1\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n", compresslevel=6)


def _common_fields(response: WarcResponse) -> tuple[Field, ...]:
    address = (("WARC-IP-Address", response.address),) if response.address else ()
    return (("WARC-Target-URI", response.url), ("WARC-Date", response.date), *address)


def _date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# The end of a file after a kill --------------------------------------------------------------------------------------

_TAIL_BYTES = 32 << 20
"""Bytes checked at the end of a file. All records of ours are shorter, and so is a journal."""
_HEAD_BYTES = 1 << 18
_GZIP_MAGIC = b"\x1f\x8b\x08"
_WARC_MAGIC = b"WARC/"
_RESPONSE = re.compile(rb"WARC/1\.1\r\nWARC-Type: re(?:sponse|visit)\r\n")
_URL = re.compile(rb"\r\nWARC-Target-URI: ([^\r]*)\r\n")
_DATE = re.compile(rb"\r\nWARC-Date: ([^\r]*)\r\n")

ResponseKey = tuple[str, str]
"""URL and date of a response."""


def repair_tail(path: Path, *, durable_bytes: int | None = None) -> frozenset[ResponseKey]:
    """Cut an incomplete record off the end of a file. Return the responses among the last records.

    Other tools stop at an incomplete record, and some lose what they had read before. After a kill, the journal may
    give the returned responses again. If no record is left, the file is deleted, because many tools reject an empty
    WARC file. `durable_bytes` is the length that was synced, if it is known: a power failure may damage any of the
    records after it, so the file is cut before the first of these that cannot be read, and never before that length.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - _TAIL_BYTES))
        tail = file.read()
    offset = _find_record(tail) if size > _TAIL_BYTES else 0
    members = list(gzip_members(BytesIO(tail), offset, max_data_bytes=_HEAD_BYTES))
    end = members[-1].end if members else offset
    lost = len(tail) - end
    is_record = _WARC_MAGIC.startswith(_read_magic(tail, end))
    if lost and (is_record if durable_bytes is None else size - lost >= durable_bytes):
        if lost == size:
            path.unlink()
        else:
            os.truncate(path, size - lost)
    return frozenset(key for member in members if (key := _response_target(member.data)) is not None)


def _sync(path: Path) -> int:
    """Make a file durable. Return its length."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        return os.fstat(file.fileno()).st_size


def _find_record(tail: bytes) -> int:
    """Return the offset of the first record in bytes that may start within one, or their length."""
    offset = tail.find(_GZIP_MAGIC)
    while offset != -1 and _read_magic(tail, offset) != _WARC_MAGIC:
        offset = tail.find(_GZIP_MAGIC, offset + 1)
    return len(tail) if offset == -1 else offset


def _read_magic(data: bytes, offset: int) -> bytes:
    """Return the first decompressed bytes of a gzip member: fewer if the data ends before, b"?" if it is no gzip."""
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data[offset : offset + _HEAD_BYTES], len(_WARC_MAGIC))
    except zlib.error:
        return b"?"


def _response_target(head: bytes) -> ResponseKey | None:
    url, date = _URL.search(head), _DATE.search(head)
    if url is None or date is None or not _RESPONSE.match(head):
        return None
    return url[1].decode(), date[1].decode()


# Files and the archive -----------------------------------------------------------------------------------------------

_NAME = re.compile(r"crawl-([0-9]+)\.warc\.gz")
_BODILESS = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
_MIN_SHARED_BYTES = 1024
"""A shorter body is written again, because a reference to it would be about as long."""
_MAX_SHARED_BODIES = 100_000
"""Maximum number of bodies of one file that are remembered. The least recently used one is dropped first."""


def _truncation(fetched: Fetched) -> str:
    """Return why a body is incomplete, as a value of WARC-Truncated (WARC 1.1, 5.13), or "" if it is complete."""
    if isinstance(fetched, Page):
        return "length" if fetched.truncated else ""
    if fetched.kind is FailureKind.TOO_LARGE:
        return "length"
    is_empty = fetched.status in _BODILESS or fetched.headers.get("content-length") == "0"
    if is_empty or (fetched.wire and is_whole(fetched.wire)):
        return ""
    if len(fetched.wire) > MAX_FAILURE_BODY_BYTES:
        return "length"
    return "unspecified"  # the body was not read because of the status or the content type


def _warc_response(fetched: Fetched, status: int) -> WarcResponse:
    return WarcResponse(
        url=fetched.url,
        at=fetched.fetched_at or time.time(),
        status=status,
        headers=fetched.headers,
        body=fetched.body if isinstance(fetched, Page) else b"",
        truncated=_truncation(fetched),
        address=fetched.address,
        wire=fetched.wire,
    )


BodyKey = tuple[str, ...]
_FRAMING_HEADERS = ("content-encoding", "transfer-encoding", "content-length")


def _body_key(response: WarcResponse) -> BodyKey | None:
    """Return a key that is equal for responses whose bodies can be exchanged, or None if the body is written anyway.

    The decoded bodies are equal, and so are the headers that say how to read the archived bytes, because replay tools
    read the body of one record with the head of the other. The body of a failure is not decoded.
    """
    body = response.body or head_and_payload(response)[1]
    if response.truncated or len(body) < _MIN_SHARED_BYTES:
        return None
    framing = [response.headers.get(name, "") for name in _FRAMING_HEADERS] if response.wire else []
    return digest_of(body), *framing


def _original(response: WarcResponse, record: str) -> Original:
    digest = digest_of(head_and_payload(response)[1])
    return Original(record=record, url=response.url, date=response.date, payload_digest=digest)


class WarcFile:
    """Appends records to a file. Related records are written with one call, so a kill cuts at most the last ones."""

    def __init__(self, path: Path, *, about: Mapping[str, str] | None = None) -> None:
        self._path = path
        self._file = path.open("ab", buffering=0)
        self.size = os.fstat(self._file.fileno()).st_size
        self._common_fields: tuple[Field, ...] = ()
        """Fields that every record gets."""
        self._bodies: OrderedDict[BodyKey, Original] = OrderedDict()
        """Key of a long body → the record that contains it."""
        if about is not None:
            info = new_id()
            self._write(info_record(info, name=path.name, at=time.time(), about=about))
            self._common_fields = (("WARC-Warcinfo-ID", info),)

    def append(self, response: WarcResponse, request: bytes = b"") -> None:
        """Append a response, and the request for it if one was sent."""
        record = new_id()
        key = _body_key(response)
        original = None if key is None else self._bodies.get(key)
        data = response_record(response, record, original=original, more=self._common_fields)
        if request:
            data += request_record(response, request, record, more=self._common_fields)
        self._write(data)
        if key is not None:
            self._bodies[key] = original or _original(response, record)
            self._bodies.move_to_end(key)
        if len(self._bodies) > _MAX_SHARED_BODIES:
            self._bodies.popitem(last=False)

    def _write(self, records: bytes) -> None:
        """Write all bytes or none, because records after an incomplete one cannot be found."""
        try:
            written = self._file.write(records)
        except OSError as error:
            raise OSError(f"{self._path} could not be written: {error.strerror}") from error
        if written != len(records):
            os.ftruncate(self._file.fileno(), self.size)
            raise OSError(f"{self._path} could not be written: is the disk full?")
        self.size += written

    def sync(self) -> int:
        """Make the records durable. Return the length that survives a power failure."""
        size = self.size
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OSError(f"{self._path} could not be written: {error.strerror}") from error
        return size

    def close(self) -> None:
        self._file.close()


class _SyncedFile(msgspec.Struct, array_like=True):
    """Number and synced length of the last file, as they are saved with a commit."""

    number: int = 0
    length: int = 0


class WarcArchive:
    """All responses of a crawl, in files of a bounded size. Each run starts a new file and repairs the last one.

    The crawl saves `state` with each of its commits, so every page that it has committed is in the archive.
    """

    def __init__(
        self,
        folder: Path,
        *,
        about: Mapping[str, str] | None = None,
        serialize: Callable[[Request], bytes] | None = None,
        max_file_bytes: int = 1_000_000_000,
        state: bytes | None = None,
        is_committed: bool = True,
    ) -> None:
        """`state` is that of the last commit. `is_committed` is False if the crawl has made no commit yet."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._about = {} if about is None else about
        """Information about the crawl for the first record of each file."""
        self._serialize = serialize
        """Returns the bytes of a request as sent. None if the crawl replays a recorded web."""
        self._max_file_bytes = max_file_bytes
        files = {int(name[1]): path for path in folder.iterdir() if (name := _NAME.fullmatch(path.name))}
        self._number = max(files, default=0)
        """Number of the last file. Earlier files may have been moved away."""
        self._synced = _SyncedFile()
        state = state if is_committed else msgspec.msgpack.encode(self._synced)
        self._archived: frozenset[ResponseKey] = self._repair(files[self._number], state) if files else frozenset()
        """The last responses of the run before, which its journal may give again."""
        self._file: WarcFile | None = None
        self._error: OSError | None = None
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="warc")

    def _repair(self, path: Path, state: bytes | None) -> frozenset[ResponseKey]:
        """Repair the last file. If its synced length is not known, only an incomplete record at its end is cut off."""
        length = None
        if state is not None:
            synced = msgspec.msgpack.decode(state, type=_SyncedFile)
            length = synced.length if synced.number == self._number else 0  # 0: the file was begun after the commit
        found = repair_tail(path, durable_bytes=length)
        if path.exists():
            self._synced = _SyncedFile(self._number, _sync(path))
        return found

    async def add(self, request: Request, fetched: Fetched) -> None:
        """Append a response. Failures without a response, such as timeouts, are not archived.

        Responses to POST requests are not archived either, because a record identifies a request by its URL only.
        """
        if fetched.status is None or request.posting is not None:
            return
        response = _warc_response(fetched, fetched.status)
        if not fetched.recalled or (response.url, response.date) not in self._archived:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._write, request, response)

    def _write(self, request: Request, response: WarcResponse) -> None:
        with self._lock:
            if self._file is None or self._file.size > self._max_file_bytes:
                self._sync_and_close()
                self._number += 1
                self._file = WarcFile(self._folder / f"crawl-{self._number:05d}.warc.gz", about=self._about)
            self._file.append(response, b"" if self._serialize is None else self._serialize(request))

    def state(self) -> bytes:
        """Make the archived responses durable. Return the state to save in the same commit as their pages."""
        with self._lock:
            self._sync()
            return msgspec.msgpack.encode(self._synced)

    def _sync(self) -> None:
        if self._error is not None:
            raise self._error
        if self._file is not None:
            self._synced = _SyncedFile(self._number, self._file.sync())

    def _sync_and_close(self) -> None:
        self._sync()
        if self._file is not None:
            self._file.close()
            self._file = None

    def close(self) -> None:
        """Write what is pending and close the file. If that fails, the next call of `state` raises the error."""
        self._thread.shutdown(wait=True)
        try:
            self._sync_and_close()
        except OSError as error:
            self._error = error
            if self._file is not None:
                self._file.close()


class ArchivedFetcher:
    """A fetcher that archives the responses of another."""

    def __init__(self, inner: Fetcher, archive: WarcArchive) -> None:
        self._inner = inner
        self._archive = archive

    async def fetch(self, request: Request) -> Fetched:
        fetched = await self._inner.fetch(request)
        await self._archive.add(request, fetched)
        return fetched

    async def close(self) -> None:
        await self._inner.close()

"""WARC output: each answer a gzip member of its own, so that a file can be indexed and cut off anywhere between two."""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import re
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path

from motherlode.model import Fetched, Fetcher, Page, Request

_UNDONE = frozenset({"content-encoding", "transfer-encoding", "content-length", "connection", "keep-alive"})
"""Headers that speak of the transfer and not of the body as it is kept."""
_NAME = re.compile(r"crawl-([0-9]+)\.warc\.gz")
_BODILESS = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})


def http_block(status: int, headers: Mapping[str, str], body: bytes) -> bytes:
    """An HTTP answer as bytes, its encodings undone."""
    try:
        reason = HTTPStatus(status).phrase
    except ValueError:
        reason = "Unknown"
    kept = [(name, value) for name, value in headers.items() if name.lower() not in _UNDONE]
    kept.append(("Content-Length", str(len(body))))
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in kept)]
    return "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n" + body


def response_record(
    url: str, *, at: float, status: int, headers: Mapping[str, str], body: bytes, truncated: str = ""
) -> bytes:
    """A WARC 1.1 response record, packed; `truncated` says why the body is not whole."""
    block = http_block(status, headers, body)
    digest = base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()
    when = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return _record(
        [
            ("WARC-Type", "response"),
            ("WARC-Target-URI", url),
            ("WARC-Date", when),
            ("WARC-Record-ID", f"<urn:uuid:{uuid.uuid4()}>"),
            ("WARC-Payload-Digest", f"sha1:{digest}"),
            ("Content-Type", "application/http; msgtype=response"),
            *([("WARC-Truncated", truncated)] if truncated else []),
        ],
        block,
    )


def _record(headers: list[tuple[str, str]], block: bytes) -> bytes:
    head = "".join(f"{name}: {value}\r\n" for name, value in [*headers, ("Content-Length", str(len(block)))])
    return gzip.compress(b"WARC/1.1\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n", compresslevel=6)


def _truncated(fetched: Fetched) -> str:
    """Why the body of an answer is not whole, in the words of WARC 1.1 (5.13)."""
    if isinstance(fetched, Page):
        return "length" if fetched.truncated else ""
    is_empty = fetched.status in _BODILESS or fetched.headers.get("content-length") == "0"
    return "" if is_empty else "unspecified"  # the status or the type told that there was no use in reading it


class WarcFile:
    """Appends records to a file. Every record is written with one call, so a kill leaves at most the last one cut."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("ab", buffering=0)

    def add(
        self,
        url: str,
        *,
        at: float,
        status: int,
        headers: Mapping[str, str],
        body: bytes = b"",
        truncated: str = "",
    ) -> None:
        record = response_record(url, at=at, status=status, headers=headers, body=body, truncated=truncated)
        if self._file.write(record) != len(record):
            raise OSError(f"{self._path} could not be written: is the disk full?")

    def close(self) -> None:
        self._file.close()


class Archive:
    """All answers of a crawl, in files of a bounded size; each run begins a new one, as a kill may cut the last."""

    def __init__(self, folder: Path, *, most_bytes: int = 1_000_000_000) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._most = most_bytes
        self._number = max(
            (int(name[1]) for path in folder.iterdir() if (name := _NAME.fullmatch(path.name))), default=0
        )
        """Of the last file; others may have been moved away."""
        self._file: WarcFile | None = None
        self._written = 0
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="warc")

    async def add(self, fetched: Fetched) -> None:
        """Keep an answer; what never came as an answer (time-outs and the like) is none."""
        if fetched.status is not None:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._write, fetched)

    def _write(self, fetched: Fetched) -> None:
        if self._file is None or self._written > self._most:
            self._next_file()
        body = fetched.body if isinstance(fetched, Page) else b""
        if self._file is not None and fetched.status is not None:
            at = fetched.fetched_at or time.time()
            self._file.add(
                fetched.url,
                at=at,
                status=fetched.status,
                headers=fetched.headers,
                body=body,
                truncated=_truncated(fetched),
            )
        self._written += len(body)

    def _next_file(self) -> None:
        if self._file is not None:
            self._file.close()
        self._number += 1
        self._written = 0
        self._file = WarcFile(self._folder / f"crawl-{self._number:05d}.warc.gz")

    def close(self) -> None:
        self._thread.shutdown(wait=True)
        if self._file is not None:
            self._file.close()


class ArchivedFetcher:
    """A fetcher whose answers are kept; not those to what was posted, since a record names nothing but a URL."""

    def __init__(self, inner: Fetcher, archive: Archive) -> None:
        self._inner = inner
        self._archive = archive

    async def fetch(self, request: Request) -> Fetched:
        fetched = await self._inner.fetch(request)
        if request.posting is None:
            await self._archive.add(fetched)
        return fetched

    async def close(self) -> None:
        await self._inner.close()

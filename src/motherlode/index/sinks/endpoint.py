"""A spool on disk: batches wait here, in order, until the endpoint has taken them.

One file a batch, written beside its place and moved there whole, so a kill leaves a batch or none. What the endpoint
refuses for good is moved aside with the reason, and is never thrown away.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from motherlode.index.page_record import PageRecord
from motherlode.index.sinks.nquads_sink import PageChange, change_from, drop_nonstandard

_BATCH_SUFFIX = ".batch"
_ERROR_FILE = "trouble.txt"
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[PageChange]).decode


class SpoolFullError(OSError):
    """More waits for the endpoint than the user lets wait."""


class Spool:
    """First in, first out; one thread puts, one takes."""

    def __init__(self, folder: Path, *, max_bytes: int) -> None:
        self._folder = folder
        self._refused = folder / "refused"
        self._refused.mkdir(parents=True, exist_ok=True)
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        found = sorted(folder.glob(f"*{_BATCH_SUFFIX}"))
        self._queue = deque((path, path.stat().st_size) for path in found)
        self._bytes = sum(size for _, size in self._queue)
        aside = (int(path.name.partition("-")[0]) for path in self._refused.glob(f"*{_BATCH_SUFFIX}"))
        self._number = max([*(int(path.stem) for path in found), *aside], default=0)
        for half in folder.glob("*.new"):
            half.unlink()

    def __len__(self) -> int:
        with self._lock:
            return len(self._queue)

    def put(self, changes: Sequence[PageChange]) -> None:
        """Keep a batch; it survives the end of this process from here on."""
        data = _encode(list(changes))
        with self._lock:
            if (
                self._queue and self._bytes + len(data) > self._max_bytes
            ):  # one may always wait, or none would ever be sent
                raise SpoolFullError(
                    f"{self._bytes:,} bytes wait in {self._folder}, and no more may: when the endpoint takes them "
                    "again, `motherlode resume` goes on; the sink's key `spool` lets more wait"
                )
        self._number += 1
        path = self._folder / f"{self._number:012d}{_BATCH_SUFFIX}"
        fresh = path.with_suffix(".new")
        fresh.write_bytes(data)
        fresh.rename(path)
        with self._lock:
            self._queue.append((path, len(data)))
            self._bytes += len(data)

    def first(self) -> list[PageChange] | None:
        """The batch that has waited longest."""
        with self._lock:
            path = self._queue[0][0] if self._queue else None
        return None if path is None else _decode(path.read_bytes())

    def drop_first(self) -> None:
        """The endpoint has it."""
        with self._lock:
            path, size = self._queue.popleft()
            self._bytes -= size
        path.unlink()

    def keep_refused(self, change: PageChange, reason: str) -> None:
        """Keep a page that the endpoint refuses, with what it said."""
        with self._lock:
            number = int(self._queue[0][0].stem)
        # by the page's name: after a kill, or an end in the middle of a batch, it is refused again
        digest = hashlib.sha256(change.page.encode("utf-8", "replace")).hexdigest()
        path = self._refused / f"{number:012d}-{digest[:16]}{_BATCH_SUFFIX}"
        path.write_bytes(_encode([change]))
        path.with_suffix(".txt").write_text(f"{change.page}\n{reason}\n", encoding="utf-8")

    def record_error(self, last_error: str) -> None:
        """Keep the reason why nothing is taken just now, for who looks from outside; "" where there is none."""
        path = self._folder / _ERROR_FILE
        if last_error:
            path.write_text(last_error, encoding="utf-8", errors="replace")
        else:
            path.unlink(missing_ok=True)

    def sync(self) -> None:
        """Make what was put survive a loss of power."""
        with self._lock:
            paths = [path for path, _ in self._queue]
        for path in [
            *paths[-64:],
            self._folder,
        ]:  # those before were synced by earlier calls, or by the system long ago
            try:
                handle = os.open(path, os.O_RDONLY)
            except FileNotFoundError:
                continue  # sent in the meantime
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def spool_counts(folder: Path) -> tuple[int, int]:
    """Batches that wait, and pages that were refused, for who looks from outside."""
    return len(list(folder.glob(f"*{_BATCH_SUFFIX}"))), len(list((folder / "refused").glob(f"*{_BATCH_SUFFIX}")))


def spool_error(folder: Path) -> str:
    """Why the last attempt to send something failed; "" where it did not."""
    try:
        return (folder / _ERROR_FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


# ── A plain HTTP client for one endpoint: one connection, kept open, from one thread.

_MAX_MESSAGE_BYTES = 4096
"""Bytes of an answer that are kept for the message; the rest is read and dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointResponse:
    """What an endpoint said."""

    status: int
    text: str = ""
    retry_after: float | None = None

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class EndpointClient:
    """Sends requests to the host of a URL. Raises OSError where no answer came."""

    def __init__(self, url: str, *, timeout_seconds: float, headers: Mapping[str, str]) -> None:
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._port = parts.port
        self._secure = parts.scheme == "https"
        self._timeout_seconds = timeout_seconds
        self._headers = dict(headers)
        self.target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        """Path and query of the endpoint itself."""
        self._connection: http.client.HTTPConnection | None = None

    def send(self, method: str, target: str, body: bytes | None = None, content_type: str = "") -> EndpointResponse:
        headers = {**self._headers, **({"Content-Type": content_type} if content_type else {})}
        kept_open = self._connection is not None
        try:
            return self._send(method, target, body, headers)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if not kept_open:
                raise OSError(f"{type(error).__name__}: {error}") from error
        try:  # the endpoint may only have closed a connection that was long idle
            return self._send(method, target, body, headers)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise OSError(f"{type(error).__name__}: {error}") from error

    def _send(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> EndpointResponse:
        if self._connection is None:
            made = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
            self._connection = made(self._host, self._port, timeout=self._timeout_seconds)
        self._connection.request(method, target, body=body, headers=dict(headers))
        response = self._connection.getresponse()
        text = response.read(_MAX_MESSAGE_BYTES).decode("utf-8", "replace")
        while response.read(1 << 16):
            pass
        after = response.headers.get("Retry-After", "")
        return EndpointResponse(
            status=response.status,
            text=" ".join(text.split()),
            retry_after=float(after) if after.isascii() and after.isdigit() else None,
        )

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


# ── An endpoint that takes pages as they come: a spool that is filled by the crawl and emptied by a thread.

Send = Callable[[EndpointClient, Sequence[PageChange]], EndpointResponse]
_CONTENT_ERRORS = frozenset({400, 413, 415, 422})
_FIRST_BACKOFF_SECONDS, _MAX_BACKOFF_SECONDS = 0.25, 60.0


class EndpointSink:
    """`write` returns when the pages are safe on disk; the thread does the rest."""

    def __init__(
        self,
        spool: Spool,
        client: EndpointClient,
        send: Send,
        *,
        drain_seconds: float,
        pages_per_request: int | None = None,
    ) -> None:
        self._spool = spool
        self._client = client
        self._send = send
        self._drain_seconds = drain_seconds
        self._pages_per_request = pages_per_request
        """Pages that are sent at a time; None for whole batches."""
        self._changed = threading.Condition()
        self._closing = False
        self._broken: Exception | None = None
        self.sent = 0
        """Batches that the endpoint has taken."""
        self.last_error = ""
        """Why the last attempt failed; empty after one that did not."""
        self._spool.record_error("")
        self._thread = threading.Thread(target=self._run, name="sink", daemon=True)
        self._thread.start()

    def write(self, records: Sequence[PageRecord]) -> None:
        if self._broken is not None:
            raise OSError(f"a sink broke: {self._broken}") from self._broken
        self._spool.put([change_from(record) for record in records])
        with self._changed:
            self._changed.notify_all()

    def flush(self) -> None:
        self._spool.sync()

    def close(self) -> None:
        """Wait a while for the endpoint to take what is left, then stop; what remains is on disk."""
        with self._changed:
            self._changed.wait_for(
                lambda: not len(self._spool) or self._broken is not None, timeout=self._drain_seconds
            )
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        self._client.close()

    @property
    def waiting(self) -> int:
        return len(self._spool)

    def _run(self) -> None:
        try:
            while self._wait_for_batch():
                self._deliver()
        except Exception as error:  # noqa: BLE001 - a thread has nobody above it: the next write tells the crawl
            self._broken = error
            with self._changed:
                self._changed.notify_all()

    def _wait_for_batch(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._closing or len(self._spool) > 0)
            return not self._closing

    def _deliver(self) -> None:
        """Send the oldest batch until it is taken, or the crawl ends."""
        batch = self._spool.first()
        if batch is None:
            return
        portion = self._pages_per_request or max(1, len(batch))
        if not all(
            self._send_until_accepted(batch[start : start + portion]) for start in range(0, len(batch), portion)
        ):
            return
        self._spool.drop_first()
        self.sent += 1
        with self._changed:
            self._changed.notify_all()

    def _send_until_accepted(self, changes: Sequence[PageChange]) -> bool:
        """True once the endpoint has taken the pages, or refused them for good."""
        wait = _FIRST_BACKOFF_SECONDS
        while True:
            answer = self._attempt(changes)
            if answer is not None and answer.is_success:
                return True
            if answer is not None and answer.status in _CONTENT_ERRORS:
                return self._isolate_refused(changes, answer)
            pause = max(wait, answer.retry_after or 0.0) if answer is not None else wait
            if self._wait_or_close(min(pause, _MAX_BACKOFF_SECONDS)):
                return False
            wait = min(wait * 2, _MAX_BACKOFF_SECONDS)

    def _attempt(self, changes: Sequence[PageChange]) -> EndpointResponse | None:
        try:
            answer = self._send(self._client, changes)
        except OSError as error:
            self._record_error(str(error))
            return None
        self._record_error("" if answer.is_success else f"{answer.status} {answer.text[:200]}".strip())
        return answer

    def _record_error(self, last_error: str) -> None:
        """Keep it where `stats` finds it."""
        if last_error != self.last_error:
            self.last_error = last_error
            self._spool.record_error(last_error)

    def _isolate_refused(self, changes: Sequence[PageChange], refusal: EndpointResponse) -> bool:
        if len(changes) > 1:
            return all(self._send_until_accepted([change]) for change in changes)
        (change,) = changes
        repaired = drop_nonstandard(change)
        if repaired != change:
            return self._send_until_accepted([repaired])
        self._spool.keep_refused(change, f"{refusal.status} {refusal.text}")
        return True

    def _wait_or_close(self, timeout_seconds: float) -> bool:
        """Wait before the next attempt; True where the crawl ends meanwhile."""
        with self._changed:
            return self._changed.wait_for(lambda: self._closing, timeout=timeout_seconds)

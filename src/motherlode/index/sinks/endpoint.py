"""A sink for an endpoint: a spool on disk, an HTTP client, two protocols, and a thread that sends the spooled batches.

The protocols are SPARQL 1.1 Update and the SPARQL 1.1 Graph Store HTTP Protocol. Both replace a page as a whole, so
that sending it twice changes nothing. An update puts all graphs of a page into one INSERT DATA, because a blank node
label identifies the same node only within one operation (SPARQL 1.1 Update, 3.1.1).
"""

import hashlib
import http.client
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

import msgspec

from motherlode.index.page_record import PROVENANCE, PageRecord
from motherlode.index.segment_files import sync_path
from motherlode.index.sinks.nquads_sink import PageChange, change_from, drop_nonstandard
from motherlode.model.terms import PREFIXES, iri_value

_BATCH_SUFFIX = ".batch"
_ERROR_FILE = "trouble.txt"
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[PageChange]).decode


class Spool:
    """A FIFO queue of batches on disk, for one producing and one consuming thread."""

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
        """Append a batch. It survives the end of this process."""
        data = _encode(list(changes))
        with self._lock:
            # one batch is always allowed, or a large one could never be sent
            if self._queue and self._bytes + len(data) > self._max_bytes:
                raise OSError(
                    f"the spool in {self._folder} is full ({self._bytes:,} bytes): continue with `motherlode resume` "
                    "when the endpoint accepts data again, or raise the sink's key `spool`"
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
        with self._lock:
            path = self._queue[0][0] if self._queue else None
        return None if path is None else _decode(path.read_bytes())

    def drop_first(self) -> None:
        with self._lock:
            path, size = self._queue.popleft()
            self._bytes -= size
        path.unlink()

    def keep_refused(self, change: PageChange, reason: str) -> None:
        """Store a page that the endpoint refuses, with the reason, in the folder `refused`."""
        with self._lock:
            number = int(self._queue[0][0].stem)
        # named by the page, because after a kill in the middle of a batch the page is sent and refused again
        digest = hashlib.sha256(change.page.encode("utf-8", "replace")).hexdigest()
        path = self._refused / f"{number:012d}-{digest[:16]}{_BATCH_SUFFIX}"
        path.write_bytes(_encode([change]))
        path.with_suffix(".txt").write_text(f"{change.page}\n{reason}\n", encoding="utf-8")

    def record_error(self, last_error: str) -> None:
        """Write the last error to a file, for `motherlode stats`. "" removes the file."""
        path = self._folder / _ERROR_FILE
        if last_error:
            path.write_text(last_error, encoding="utf-8", errors="replace")
        else:
            path.unlink(missing_ok=True)

    def sync(self) -> None:
        """Sync the spool to disk, so that it survives a power failure."""
        with self._lock:
            paths = [path for path, _ in self._queue]
        for path in [*paths[-64:], self._folder]:  # earlier calls, or the system, have synced the files before
            with suppress(FileNotFoundError):  # it was sent meanwhile
                sync_path(path)


def spool_state(folder: Path) -> dict[str, int | str]:
    """Return the numbers of waiting batches and of refused pages, and the last error if batches wait."""
    waiting, refused = (len(list(where.glob(f"*{_BATCH_SUFFIX}"))) for where in (folder, folder / "refused"))
    error = folder / _ERROR_FILE
    trouble = error.read_text(encoding="utf-8") if waiting and error.exists() else ""
    return {"waiting": waiting, "refused": refused, "trouble": trouble}


_MAX_MESSAGE_BYTES = 4096
"""Maximum number of bytes of a response body that are kept as the error message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointResponse:
    """The response of an endpoint."""

    status: int
    text: str = ""
    retry_after: float | None = None

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class EndpointClient:
    """An HTTP client with one persistent connection, for one thread. OSError if there is no response."""

    def __init__(self, url: str, *, timeout_seconds: float, headers: Mapping[str, str]) -> None:
        self._url = parts = urlsplit(url)
        self._timeout_seconds = timeout_seconds
        self._headers = dict(headers)
        self.target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._connection: http.client.HTTPConnection | None = None

    def send(self, method: str, target: str, body: bytes | None = None, content_type: str = "") -> EndpointResponse:
        headers = {**self._headers, **({"Content-Type": content_type} if content_type else {})}
        was_open = self._connection is not None
        try:
            return self._send(method, target, body, headers)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if was_open:  # the endpoint may have closed the idle connection: try once more with a new one
                return self.send(method, target, body, content_type)
            raise OSError(f"{type(error).__name__}: {error}") from error

    def _send(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> EndpointResponse:
        if self._connection is None:
            made = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
            self._connection = made(self._url.hostname or "", self._url.port, timeout=self._timeout_seconds)
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


# The protocols.

UPDATE_TYPE = "application/sparql-update; charset=utf-8"
NTRIPLES_TYPE = "application/n-triples"
_PROVENANCE = f"<{PROVENANCE}>"
_GRAPH = f"<{PREFIXES['ml']}graph>"
_NOT_FOUND = (404, 410)


def build_update(change: PageChange, *, provenance: bool) -> str:
    """Return the update that replaces a page at an endpoint.

    >>> page = "<http://a.example/>"
    >>> change = PageChange(page=page, graphs={page: "_:a <http://p.example/> _:b .\\n"}, provenance="")
    >>> print(build_update(change, provenance=False))
    DROP SILENT GRAPH <http://a.example/> ;
    INSERT DATA {
    GRAPH <http://a.example/> {
    _:a <http://p.example/> _:b .
    }
    }
    """
    steps: list[str] = []
    graphs = {graph: lines for graph, lines in change.graphs.items() if lines}
    if provenance:  # also delete graphs that an earlier version of the page named: only the provenance knows them
        steps.append(
            f"DELETE {{ GRAPH ?g {{ ?s ?p ?o }} }} WHERE {{ GRAPH {_PROVENANCE} {{ {change.page} {_GRAPH} ?g }} "
            "GRAPH ?g { ?s ?p ?o } }"
        )
        steps.append(f"DELETE WHERE {{ GRAPH {_PROVENANCE} {{ {change.page} ?p ?o }} }}")
        if change.provenance:
            graphs[_PROVENANCE] = change.provenance
    steps += [f"DROP SILENT GRAPH {graph}" for graph in change.graphs]
    if graphs:
        data = "\n".join(f"GRAPH {graph} {{\n{lines}}}" for graph, lines in graphs.items())
        steps.append(f"INSERT DATA {{\n{data}\n}}")
    return " ;\n".join(steps)


def send_update(client: EndpointClient, changes: Sequence[PageChange], *, provenance: bool) -> EndpointResponse:
    text = " ;\n".join(build_update(change, provenance=provenance) for change in changes)
    return client.send("POST", client.target, text.encode("utf-8", "replace"), UPDATE_TYPE)


def send_graphs(client: EndpointClient, changes: Sequence[PageChange], *, provenance: bool) -> EndpointResponse:
    """Send one request per graph. Return the first response that is an error; otherwise the last one."""
    response = EndpointResponse(status=204)
    for change in changes:
        graphs = dict(change.graphs)
        if provenance:  # one provenance graph per page, because the protocol can only replace whole graphs
            graphs[f"<{PROVENANCE}:{iri_value(change.page)}>"] = change.provenance
        for graph, lines in graphs.items():
            target = f"{client.target}{'&' if '?' in client.target else '?'}graph={quote(iri_value(graph), safe='')}"
            if lines:
                response = client.send("PUT", target, lines.encode("utf-8", "replace"), NTRIPLES_TYPE)
            else:
                response = client.send("DELETE", target)
                if response.status in _NOT_FOUND:  # the graph did not exist, so nothing is left to delete
                    response = EndpointResponse(status=204)
            if not response.is_success:
                return response
    return response


# The sink.

Send = Callable[[EndpointClient, Sequence[PageChange]], EndpointResponse]
_CONTENT_ERRORS = frozenset({400, 413, 415, 422})
_FIRST_BACKOFF_SECONDS, _MAX_BACKOFF_SECONDS = 0.25, 60.0


class EndpointSink:
    """A sink for an endpoint. `write` returns when the pages are in the spool; a thread sends them."""

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
        """Maximum number of pages per request; None for whole batches."""
        self._changed = threading.Condition()
        self._closing = False
        self._broken: Exception | None = None
        self.sent = 0
        self.last_error = ""
        """The error of the last attempt; "" if it succeeded."""
        self._spool.record_error("")
        self._thread = threading.Thread(target=self._run, name="sink", daemon=True)
        self._thread.start()

    def write(self, records: Sequence[PageRecord]) -> None:
        if self._broken is not None:
            raise OSError(f"a sink failed: {self._broken}") from self._broken
        self._spool.put([change_from(record) for record in records])
        with self._changed:
            self._changed.notify_all()

    def flush(self) -> None:
        self._spool.sync()

    def close(self) -> None:
        """Wait up to `drain_seconds` for the spool to become empty, then stop. Batches that are left stay on disk."""
        with self._changed:
            self._changed.wait_for(lambda: not len(self._spool) or self._broken, timeout=self._drain_seconds)
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        self._client.close()

    @property
    def waiting(self) -> int:
        return len(self._spool)

    def _run(self) -> None:
        try:
            while not self._closing:
                self._deliver()
                with self._changed:
                    self._changed.wait_for(lambda: self._closing or len(self._spool) > 0)
        except Exception as error:  # noqa: BLE001 - nothing catches errors of a thread: the next `write` raises it
            self._broken = error
            with self._changed:
                self._changed.notify_all()

    def _deliver(self) -> None:
        """Send the oldest batch, again and again, until it is accepted or the sink is closed."""
        batch = self._spool.first()
        if batch is None:
            return
        size = self._pages_per_request or max(1, len(batch))
        if not all(self._send_until_accepted(batch[start : start + size]) for start in range(0, len(batch), size)):
            return
        self._spool.drop_first()
        self.sent += 1
        with self._changed:
            self._changed.notify_all()

    def _send_until_accepted(self, changes: Sequence[PageChange]) -> bool:
        """Return True when the endpoint has accepted the pages or refused them permanently; False on closing."""
        wait = _FIRST_BACKOFF_SECONDS
        while True:
            response = self._attempt(changes)
            if response is not None and response.is_success:
                return True
            if response is not None and response.status in _CONTENT_ERRORS:
                return self._isolate_refused(changes, response)
            pause = max(wait, response.retry_after or 0.0) if response is not None else wait
            with self._changed:
                if self._changed.wait_for(lambda: self._closing, timeout=min(pause, _MAX_BACKOFF_SECONDS)):
                    return False
            wait = min(wait * 2, _MAX_BACKOFF_SECONDS)

    def _attempt(self, changes: Sequence[PageChange]) -> EndpointResponse | None:
        response = None
        try:
            response = self._send(self._client, changes)
            error = "" if response.is_success else f"{response.status} {response.text[:200]}".strip()
        except OSError as failure:
            error = str(failure)
        if error != self.last_error:
            self.last_error = error
            self._spool.record_error(error)
        return response

    def _isolate_refused(self, changes: Sequence[PageChange], refusal: EndpointResponse) -> bool:
        """Send pages one by one, then without non-standard statements. Keep a page that is still refused."""
        if len(changes) > 1:
            return all(self._send_until_accepted([change]) for change in changes)
        (change,) = changes
        repaired = drop_nonstandard(change)
        if repaired != change:
            return self._send_until_accepted([repaired])
        self._spool.keep_refused(change, f"{refusal.status} {refusal.text}")
        return True

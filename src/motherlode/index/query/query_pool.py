"""A pool of processes that execute queries (`index.query.query_worker`), one at a time.

After the timeout a process is killed, because the engine cannot stop a query. A limited number of queries wait, and
their clients get the processes in turn (`index.query.fair_queue`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from motherlode.index.query.diagnostics import QueryProblem
from motherlode.index.query.fair_queue import FairQueue, QueueFullError
from motherlode.index.query.query_worker import (
    CHUNK,
    DAMAGED,
    DONE,
    HEAD,
    INVALID,
    READY,
    TOO_LARGE,
    QueryRequest,
)
from motherlode.index.snapshot import DamagedError, store_fingerprint
from motherlode.runtime import pack_frame, read_frame_async

_START_TIMEOUT_SECONDS = 30.0
_EXIT_TIMEOUT_SECONDS = 2.0
_KILL_TIMEOUT_SECONDS = 10.0
"""How long to wait for a killed process to end. Its slot becomes free after that in any case."""
_DRAIN_BYTES = 1 << 16

_log = logging.getLogger("motherlode.index")


class QueryFailure(Exception):  # noqa: N818 - the outcome of a query, not a bug
    """A query without a result, with the reason, and the status and headers of the HTTP response."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


def busy_failure(reason: str, queue: FairQueue) -> QueryFailure:
    """Return the failure of a request that got no slot of a queue. It says when to try again."""
    seconds = queue.seconds_to_wait
    return QueryFailure(503, f"{reason}; try again in {seconds} s", {"Retry-After": str(seconds)})


class _Worker:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.is_idle = True
        """Whether the last query has ended, so that the worker can execute the next."""
        self.opened_at = time.monotonic()
        self.fingerprint = 0
        """The fingerprint of the store when the worker opened it."""
        self.version: object = None
        """The value that `UpdateIndex` returned before the worker opened the store."""
        self.is_outdated = False

    @classmethod
    async def start(cls, store: Path, words: Path) -> _Worker:
        saw = store_fingerprint(store)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "motherlode.index.query.query_worker", str(store), str(words)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=1 << 20,
        )
        worker = cls(process)
        worker.fingerprint = saw
        try:
            async with asyncio.timeout(_START_TIMEOUT_SECONDS):
                kind, content = await worker.frame()
        except BaseException:
            await worker.end()
            raise
        if kind != READY:
            await worker.end()
            if kind == DAMAGED:
                raise failure_from_frame(kind, content)
            raise QueryFailure(503, f"the store cannot be opened: {content.decode('utf-8', 'replace')}")
        return worker

    async def send(self, worker_query: QueryRequest) -> None:
        if self._process.stdin is None:
            raise QueryFailure(500, "internal error: the query process has no stdin")
        self.is_idle = False
        self._process.stdin.write(pack_frame(msgspec.msgpack.encode(worker_query)))
        await self._process.stdin.drain()

    async def frame(self) -> tuple[bytes, bytes]:
        if self._process.stdout is None:
            raise QueryFailure(500, "internal error: the query process has no stdout")
        try:
            content = await read_frame_async(self._process.stdout)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise QueryFailure(500, "the query was ended: it needs too much memory, or is too long or deep") from error
        return content[:1], content[1:]

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None

    async def end(self) -> None:
        """Kill the process and wait until it has ended, with a timeout."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(_KILL_TIMEOUT_SECONDS):
                await self._drain()
                await self._process.wait()
        except TimeoutError:
            _log.warning(
                "query process %d has not ended %g s after it was killed", self._process.pid, _KILL_TIMEOUT_SECONDS
            )

    async def _drain(self) -> None:
        """Discard what is left on stdout, because asyncio reports the end of a process only after that of its pipes."""
        if self._process.stdout is not None:
            with contextlib.suppress(ConnectionError):
                while await self._process.stdout.read(_DRAIN_BYTES):
                    pass

    async def shut_down(self) -> None:
        """End an idle worker by closing its stdin, so that it removes its snapshot. Kill it after a timeout."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_TIMEOUT_SECONDS):
                await self._process.wait()
        await self.end()


class QueryResult:
    """A result that is being computed: its kind, and its bytes as an iterator."""

    def __init__(self, worker: _Worker, kind: str) -> None:
        self._worker = worker
        self.kind = kind
        """solutions, boolean or graph"""

    async def chunks(self) -> AsyncIterator[bytes]:
        while True:
            kind, content = await self._worker.frame()
            self._worker.is_idle = kind in (DONE, TOO_LARGE)
            if kind == DONE:
                return
            if kind != CHUNK:
                raise failure_from_frame(kind, content)
            yield content

    async def read(self) -> bytes:
        """Return the whole result."""
        return b"".join([chunk async for chunk in self.chunks()])


def failure_from_frame(kind: bytes, content: bytes) -> QueryFailure:
    """Return the failure that a frame of a worker reports."""
    if kind == INVALID:
        return QueryFailure(400, str(msgspec.msgpack.decode(content, type=QueryProblem)))
    if kind == TOO_LARGE:
        return QueryFailure(413, "the result is too large: a LIMIT makes it smaller")
    message = content.decode("utf-8", "replace")
    return QueryFailure(500, message if kind == DAMAGED else f"the query failed: {message}")


UpdateIndex = Callable[[], Awaitable[object]]
"""Indexes what is not indexed yet. Returns a value that changes with the index."""


async def no_update() -> None:
    """Leave the index as it is."""


class QueryPool:
    """Executes at most `workers` queries at a time, while at most `waiting` further queries wait for their turn."""

    def __init__(
        self,
        store: Path,
        words: Path,
        *,
        workers: int = 2,
        waiting: int = 32,
        refresh_seconds: float = 5.0,
        update: UpdateIndex = no_update,
    ) -> None:
        self._store, self._words = store, words
        self._update = update
        self._queue = FairQueue(workers, max_waiting=waiting)
        self._idle: list[_Worker] = []
        self._closed = False
        self._refresh_seconds = refresh_seconds
        """Seconds after which a worker opens a new snapshot, if the store has changed."""

    @asynccontextmanager
    async def ask(self, worker_query: QueryRequest, *, seconds: float) -> AsyncIterator[QueryResult]:
        """Execute a query and yield its result, to be read in the context. QueryFailure after `seconds`."""
        has_begun = False
        try:
            async with asyncio.timeout(seconds) as limit, self._worker() as worker:
                has_begun = True
                limit.reschedule(asyncio.get_running_loop().time() + seconds)  # the time in the queue does not count
                await worker.send(self._refresh_if_stale(worker_query, worker))
                kind, content = await worker.frame()
                if kind != HEAD:
                    worker.is_idle = kind == INVALID  # a process that cannot open the store has ended
                    raise failure_from_frame(kind, content)
                yield QueryResult(worker, content.decode())
                if not worker.is_idle:
                    raise QueryFailure(500, "internal error: the result was not read to its end")
        except QueueFullError as error:
            raise busy_failure("too many queries are waiting", self._queue) from error
        except TimeoutError as error:
            if not has_begun:
                raise busy_failure(f"the query could not begin within {seconds:g} s", self._queue) from error
            raise QueryFailure(
                504, f"no result within {seconds:g} s, so the query was stopped: a LIMIT or a narrower pattern may help"
            ) from error

    def _refresh_if_stale(self, worker_query: QueryRequest, worker: _Worker) -> QueryRequest:
        if worker.is_outdated:
            worker.is_outdated = False
            return msgspec.structs.replace(worker_query, refresh=True)
        if time.monotonic() - worker.opened_at < self._refresh_seconds:
            return worker_query
        worker.opened_at, before, worker.fingerprint = (
            time.monotonic(),
            worker.fingerprint,
            store_fingerprint(self._store),
        )
        return worker_query if worker.fingerprint == before else msgspec.structs.replace(worker_query, refresh=True)

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[_Worker]:
        """Yield a worker. It stays in the pool if it has ended its query, and is killed otherwise."""
        version = await self._updated()
        async with self._queue.slot():
            worker = await self._take_worker(version)
            try:
                yield worker
            finally:
                if worker.is_idle and worker.is_alive:
                    self._idle.append(worker)
                else:
                    await asyncio.shield(worker.end())
                if self._closed:
                    await self.close()

    async def _updated(self) -> object:
        try:
            return await self._update()
        except OSError as error:
            raise QueryFailure(500 if isinstance(error, DamagedError) else 503, str(error)) from error

    async def _take_worker(self, version: object) -> _Worker:
        """Return an idle worker or a new one. An idle one that opened another version is outdated."""
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                worker.is_outdated, worker.version = worker.version != version, version
                return worker
        worker = await _Worker.start(self._store, self._words)
        worker.version = version
        return worker

    async def close(self) -> None:
        self._closed = True
        while self._idle:
            await self._idle.pop().shut_down()


# Results in pages

MAX_PAGE_RESULT_BYTES = 8_000_000


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a SPARQL result in JSON."""

    kind: str
    """`type` in SPARQL results in JSON: uri, literal, bnode or triple."""
    value: str
    language: str = ""
    datatype: str = ""

    @property
    def datatype_name(self) -> str:
        """The local name of the datatype; "" for strings."""
        name = self.datatype.rpartition("#")[2]
        return "" if name in ("string", "langString") else name


Row = dict[str, Term]


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The solutions of a SELECT, or the boolean of an ASK."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]
    truth: bool | None = None


async def select(pool: QueryPool, sparql: str, *, seconds: float, max_bytes: int = MAX_PAGE_RESULT_BYTES) -> QueryRows:
    """Execute a query and read its whole result. QueryFailure if the query fails."""
    worker_query = QueryRequest(sparql=sparql, results="application/sparql-results+json", max_bytes=max_bytes)
    async with pool.ask(worker_query, seconds=seconds) as result:
        return parse_results(await result.read())


def parse_results(content: bytes) -> QueryRows:
    """Parse SPARQL results in JSON."""
    decoded: dict[str, Any] = json.loads(content)
    if "boolean" in decoded:
        return QueryRows((), (), truth=bool(decoded["boolean"]))
    rows = tuple({name: _term(term) for name, term in row.items()} for row in decoded["results"]["bindings"])
    return QueryRows(tuple(decoded["head"]["vars"]), rows)


def _term(term: dict[str, Any]) -> Term:
    value = term["value"]
    if not isinstance(value, str):
        return Term("triple", json.dumps(value, ensure_ascii=False))
    name = f"_:{value}" if term["type"] == "bnode" else value
    return Term(term["type"], name, term.get("xml:lang", ""), term.get("datatype", ""))

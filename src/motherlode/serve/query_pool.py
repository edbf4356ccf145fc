"""Processes that answer queries, so that one that never ends costs a process and not the server.

A query has a process to itself. When its time is up the process is killed, which frees what it held, and a new one
takes its place when it is needed. When all are busy a few queries wait; more are turned away at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from motherlode.index.query import QueryProblem
from motherlode.index.query.query_worker import (
    CHUNK,
    DAMAGED,
    DONE,
    FAILED,
    HEAD,
    INVALID,
    READY,
    TOO_LARGE,
    WorkerQuery,
)
from motherlode.runtime.frames import pack_frame, read_frame_async

_START_TIMEOUT_SECONDS = 30.0
_EXIT_TIMEOUT_SECONDS = 2.0
_KILL_TIMEOUT_SECONDS = 10.0
"""How long to wait for a killed process. The slot of its query is free after that in any case."""
_DRAIN_BYTES = 1 << 16

_log = logging.getLogger("motherlode.serve")


class QueryFailure(Exception):  # noqa: N818 - a refusal that becomes a status, not a fault of ours
    """No answer, and why; `status` is the HTTP status that says so."""

    def __init__(self, status: int, message: str, problem: QueryProblem | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.problem = problem


class _Worker:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.opened_at = time.monotonic()
        self.fingerprint = 0
        """What the store looked like from outside when it was opened."""

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
            raise QueryFailure(503, f"there is nothing to be asked yet: {content.decode('utf-8', 'replace')}")
        return worker

    async def send(self, order: WorkerQuery) -> None:
        if self._process.stdin is None:
            raise QueryFailure(500, "the query process cannot be reached")
        self._process.stdin.write(pack_frame(msgspec.msgpack.encode(order)))
        await self._process.stdin.drain()

    async def frame(self) -> tuple[bytes, bytes]:
        if self._process.stdout is None:
            raise QueryFailure(500, "the query process cannot be heard")
        try:
            content = await read_frame_async(self._process.stdout)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise QueryFailure(500, "the query was ended: it needs too much memory, or is too long or deep") from error
        return content[:1], content[1:]

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None

    async def end(self) -> None:
        """Kill the process and wait for its end, for a bounded time."""
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
        """Discard what is left on stdout.

        asyncio reports the end of a process only after the end of its pipes, and it stops reading a pipe whose buffer
        is full. If a client reads slowly, the buffer is full, so that waiting alone would never return.
        """
        if self._process.stdout is not None:
            with contextlib.suppress(ConnectionError):
                while await self._process.stdout.read(_DRAIN_BYTES):
                    pass

    async def shut_down(self) -> None:
        """End a worker that waits: it gives back what it holds by itself."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_TIMEOUT_SECONDS):
                await self._process.wait()
        await self.end()


def store_fingerprint(store: Path) -> int:
    """A number that changes when something is written to a store."""
    try:
        with os.scandir(store) as entries:
            found = [(entry.name, entry.stat().st_size, entry.stat().st_mtime_ns) for entry in entries]
    except OSError:  # it is not there yet, or is just being changed
        return -1
    return hash(tuple(sorted(found)))


class QueryResult:
    """An answer on its way: what kind it is, and its bytes as they come."""

    def __init__(self, worker: _Worker, kind: str) -> None:
        self._worker = worker
        self.kind = kind
        """solutions, boolean or graph"""
        self.is_complete = False

    async def chunks(self) -> AsyncIterator[bytes]:
        while True:
            kind, content = await self._worker.frame()
            if kind == CHUNK:
                yield content
            elif kind == DONE:
                self.is_complete = True
                return
            else:
                self.is_complete = kind in (TOO_LARGE, FAILED, DAMAGED)
                raise failure_from_frame(kind, content)


def failure_from_frame(kind: bytes, content: bytes) -> QueryFailure:
    """What a worker's refusal means."""
    if kind == INVALID:
        problem = msgspec.msgpack.decode(content, type=QueryProblem)
        return QueryFailure(400, str(problem), problem)
    if kind == TOO_LARGE:
        return QueryFailure(413, "the answer is too large: a LIMIT makes it smaller")
    told = content.decode("utf-8", "replace")
    return QueryFailure(500, told if kind == DAMAGED else f"the query failed: {told}")


class QueryPool:
    """At most `workers` queries at a time, at most `waiting` that wait for their turn."""

    def __init__(
        self, store: Path, words: Path, *, workers: int = 2, waiting: int = 32, refresh_seconds: float = 5.0
    ) -> None:
        self._store, self._words = store, words
        self._slots = asyncio.Semaphore(workers)
        self._max_queries = workers + waiting
        self._queries = 0
        self._idle: list[_Worker] = []
        self._closed = False
        self._refresh_seconds = refresh_seconds
        """Seconds after which a worker looks at the store anew, if it has changed."""

    @asynccontextmanager
    async def ask(self, order: WorkerQuery, *, seconds: float) -> AsyncIterator[QueryResult]:
        """The answer; its pieces must be read inside. QueryFailure where there is none, or not in time."""
        if self._queries >= self._max_queries:
            raise QueryFailure(503, "too many queries are waiting; try again in a moment")
        self._queries += 1
        has_begun = False
        try:
            async with asyncio.timeout(seconds) as limit, self._worker() as worker:
                has_begun = True
                limit.reschedule(asyncio.get_running_loop().time() + seconds)  # waiting does not count
                await worker.send(self._refresh_if_stale(order, worker))
                kind, content = await worker.frame()
                if kind != HEAD:
                    raise _QueryRefused(failure_from_frame(kind, content))
                answer = QueryResult(worker, content.decode())
                yield answer
                if not answer.is_complete:
                    raise QueryFailure(500, "the answer was not read to its end")
        except TimeoutError as error:
            if not has_begun:
                raise QueryFailure(503, f"the query could not begin within {seconds:g} s; try again later") from error
            raise QueryFailure(
                504, f"no answer within {seconds:g} s, so the query was ended: a LIMIT or a narrower pattern may help"
            ) from error
        except _QueryRefused as handled:
            raise handled.failure from None
        finally:
            self._queries -= 1

    def _refresh_if_stale(self, order: WorkerQuery, worker: _Worker) -> WorkerQuery:
        if time.monotonic() - worker.opened_at < self._refresh_seconds:
            return order
        worker.opened_at, before, worker.fingerprint = (
            time.monotonic(),
            worker.fingerprint,
            store_fingerprint(self._store),
        )
        return order if worker.fingerprint == before else msgspec.structs.replace(order, refresh=True)

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[_Worker]:
        """A worker to oneself. It goes back if all went well, or if the query was merely wrong; otherwise it ends."""
        async with self._slots:
            worker = await self._take_worker()
            try:
                yield worker
            except _QueryRefused:
                self._idle.append(worker)
                raise
            except QueryFailure as failed:
                if failed.status == 413 and worker.is_alive:
                    self._idle.append(worker)
                else:
                    await worker.end()
                raise
            except BaseException:
                await asyncio.shield(worker.end())
                raise
            self._idle.append(worker)
            if self._closed:
                await self.close()

    async def _take_worker(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
        return await _Worker.start(self._store, self._words)

    async def close(self) -> None:
        self._closed = True
        while self._idle:
            await self._idle.pop().shut_down()


class _QueryRefused(Exception):  # noqa: N818
    """A refusal after which the worker waits for the next query."""

    def __init__(self, failure: QueryFailure) -> None:
        super().__init__()
        self.failure = failure

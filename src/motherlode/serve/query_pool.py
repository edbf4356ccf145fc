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
from motherlode.index.query.query_worker import BROKEN, CUT, DONE, FAILED, HEAD, PIECE, READY, WRONG, Order
from motherlode.runtime.frames import pack_frame, read_frame_async

_START_SECONDS = 30.0
_LEAVE_SECONDS = 2.0
_END_SECONDS = 10.0
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
        self.saw = 0
        """What the store looked like from outside when it was opened."""

    @classmethod
    async def start(cls, store: Path, words: Path) -> _Worker:
        saw = look(store)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "motherlode.index.query.query_worker", str(store), str(words)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=1 << 20,
        )
        worker = cls(process)
        worker.saw = saw
        try:
            async with asyncio.timeout(_START_SECONDS):
                kind, content = await worker.frame()
        except BaseException:
            await worker.end()
            raise
        if kind != READY:
            await worker.end()
            if kind == BROKEN:
                raise failure(kind, content)
            raise QueryFailure(503, f"there is nothing to be asked yet: {content.decode('utf-8', 'replace')}")
        return worker

    async def send(self, order: Order) -> None:
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
    def alive(self) -> bool:
        return self._process.returncode is None

    async def end(self) -> None:
        """Kill the process and wait for its end, for a bounded time."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(_END_SECONDS):
                await self._drain()
                await self._process.wait()
        except TimeoutError:
            _log.warning("query process %d has not ended %g s after it was killed", self._process.pid, _END_SECONDS)

    async def _drain(self) -> None:
        """Discard what is left on stdout.

        asyncio reports the end of a process only after the end of its pipes, and it stops reading a pipe whose buffer
        is full. If a client reads slowly, the buffer is full, so that waiting alone would never return.
        """
        if self._process.stdout is not None:
            with contextlib.suppress(ConnectionError):
                while await self._process.stdout.read(_DRAIN_BYTES):
                    pass

    async def leave(self) -> None:
        """End a worker that waits: it gives back what it holds by itself."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LEAVE_SECONDS):
                await self._process.wait()
        await self.end()


def look(store: Path) -> int:
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
        self.complete = False

    async def pieces(self) -> AsyncIterator[bytes]:
        while True:
            kind, content = await self._worker.frame()
            if kind == PIECE:
                yield content
            elif kind == DONE:
                self.complete = True
                return
            else:
                self.complete = kind in (CUT, FAILED, BROKEN)
                raise failure(kind, content)


def failure(kind: bytes, content: bytes) -> QueryFailure:
    """What a worker's refusal means."""
    if kind == WRONG:
        problem = msgspec.msgpack.decode(content, type=QueryProblem)
        return QueryFailure(400, str(problem), problem)
    if kind == CUT:
        return QueryFailure(413, "the answer is too large: a LIMIT makes it smaller")
    told = content.decode("utf-8", "replace")
    return QueryFailure(500, told if kind == BROKEN else f"the query failed: {told}")


class QueryPool:
    """At most `workers` queries at a time, at most `waiting` that wait for their turn."""

    def __init__(
        self, store: Path, words: Path, *, workers: int = 2, waiting: int = 32, fresh_for: float = 5.0
    ) -> None:
        self._store, self._words = store, words
        self._turns = asyncio.Semaphore(workers)
        self._room = workers + waiting
        self._inside = 0
        self._idle: list[_Worker] = []
        self._closed = False
        self._fresh_for = fresh_for
        """Seconds after which a worker looks at the store anew, if it has changed."""

    @asynccontextmanager
    async def ask(self, order: Order, *, seconds: float) -> AsyncIterator[QueryResult]:
        """The answer; its pieces must be read inside. QueryFailure where there is none, or not in time."""
        if self._inside >= self._room:
            raise QueryFailure(503, "too many queries are waiting; try again in a moment")
        self._inside += 1
        has_begun = False
        try:
            async with asyncio.timeout(seconds) as limit, self._turn() as worker:
                has_begun = True
                limit.reschedule(asyncio.get_running_loop().time() + seconds)  # waiting does not count
                await worker.send(self._refreshed(order, worker))
                kind, content = await worker.frame()
                if kind != HEAD:
                    raise _Handled(failure(kind, content))
                answer = QueryResult(worker, content.decode())
                yield answer
                if not answer.complete:
                    raise QueryFailure(500, "the answer was not read to its end")
        except TimeoutError as error:
            if not has_begun:
                raise QueryFailure(503, f"the query could not begin within {seconds:g} s; try again later") from error
            raise QueryFailure(
                504, f"no answer within {seconds:g} s, so the query was ended: a LIMIT or a narrower pattern may help"
            ) from error
        except _Handled as handled:
            raise handled.failure from None
        finally:
            self._inside -= 1

    def _refreshed(self, order: Order, worker: _Worker) -> Order:
        if time.monotonic() - worker.opened_at < self._fresh_for:
            return order
        worker.opened_at, before, worker.saw = time.monotonic(), worker.saw, look(self._store)
        return order if worker.saw == before else msgspec.structs.replace(order, refresh=True)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[_Worker]:
        """A worker to oneself. It goes back if all went well, or if the query was merely wrong; otherwise it ends."""
        async with self._turns:
            worker = await self._free()
            try:
                yield worker
            except _Handled:
                self._idle.append(worker)
                raise
            except QueryFailure as failed:
                if failed.status == 413 and worker.alive:
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

    async def _free(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
        return await _Worker.start(self._store, self._words)

    async def close(self) -> None:
        self._closed = True
        while self._idle:
            await self._idle.pop().leave()


class _Handled(Exception):  # noqa: N818
    """A refusal after which the worker waits for the next query."""

    def __init__(self, failure: QueryFailure) -> None:
        super().__init__()
        self.failure = failure

"""A bounded pool of supervised parser processes, and a pair of pools that separates large pages from small ones.

A parser process may end at any moment: a page can crash it, and the kernel or a user can kill it. The pool then parses
the current page once more in a new process, because the page need not be the cause. If the second process ends as well,
the page fails. Each process has a task that supervises it. If this task ends while the pool is open, the pool logs an
error, keeps the pages of the task and starts another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn, Protocol, TypeVar

import msgspec

from motherlode.crawler.parsing.messages import PageBody, ParsedPage, ParseOptions
from motherlode.runtime import STATUS_OK, pack_frame, read_frame_async

T = TypeVar("T")
_LOG = logging.getLogger(__package__)
_MAX_FRAME_BYTES = 1 << 30
_START_TIMEOUT_SECONDS = 60.0
_MAX_STARTS = 5
"""Maximum number of consecutive attempts to start a process before the pool fails."""
_RESTART_PAUSE_SECONDS = 0.2
"""Pause before a failed process or supervising task is started again."""
_MAX_SENT_PAGES = 2
"""Maximum number of pages in one worker. The next page is sent early, so that a worker need not wait."""
_MAX_CRASHES = 2
"""Number of processes that end during one page before the page fails."""


class UnreadableError(Exception):
    """A page could not be parsed within the limits."""


class Parsers(Protocol):
    """Parses the pages of a crawl, on this machine or on others. Callers wait while all parsers are busy."""

    async def read(self, page: PageBody) -> ParsedPage:
        """Parse a page. Raise UnreadableError if it crashed its processes or exceeded its timeout."""

    async def close(self) -> None:
        """End all parsers. Pages without a result are given up."""


@dataclass(slots=True)
class _Job:
    url: str
    page: bytes
    result: asyncio.Future[Any]
    decode: Callable[[memoryview], Any]
    """Makes the result from an encoded `ParsedPage`. An error in it counts as the end of the process."""
    crashes: int = 0
    """Number of processes that ended while they parsed the page."""

    def fail(self, error: Exception) -> None:
        if not self.result.done():
            self.result.set_exception(error)


@dataclass(slots=True)
class _Worker:
    """A parser process and its pages."""

    process: asyncio.subprocess.Process
    sent: deque[_Job] = field(default_factory=deque)
    """Pages without a result. The process parses the first of them."""
    is_late: bool = False
    """Whether the process was killed because a page exceeded its timeout."""
    is_large: bool = False
    """Whether the process was killed because it used too much memory."""
    _timeout: asyncio.TimerHandle | None = None

    def start_timeout(self, seconds: float) -> None:
        """Start the timeout of the first page. A timer costs a third of the CPU time of `asyncio.timeout`."""
        self._timeout = asyncio.get_running_loop().call_later(seconds, self.kill_late)

    def cancel_timeout(self) -> None:
        if self._timeout is not None:
            self._timeout.cancel()

    def kill_late(self) -> None:
        self.is_late = True
        self.kill()

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()


@dataclass(slots=True)
class _Slot:
    """State of one process slot. It outlives the process and the task that supervises it."""

    waiting: deque[_Job] = field(default_factory=deque)
    """Pages of a process that ended. The next process parses them first."""
    worker: _Worker | None = None


class ParserPool:
    """Parses pages in the next free process. Callers wait while all processes are busy."""

    def __init__(self, options: ParseOptions, *, workers: int, seconds: float) -> None:
        self._options = msgspec.msgpack.encode(options)
        self._seconds = seconds
        """Timeout of one page. It includes the timeouts of the syntaxes."""
        self._jobs: asyncio.Queue[_Job] = asyncio.Queue(maxsize=workers * _MAX_SENT_PAGES * 2)
        self._decode = msgspec.msgpack.Decoder(ParsedPage).decode
        self._encode = msgspec.msgpack.Encoder().encode
        self._tasks: set[asyncio.Task[None]] = set()
        self._running: list[_Worker] = []
        self._processes: set[asyncio.subprocess.Process] = set()
        """Processes that were started and are not known to have ended."""
        self._fault: OSError | None = None
        self._is_closing = False
        self.replaced = 0
        """Number of processes that were replaced."""
        for _ in range(workers):
            self._launch(_Slot())

    async def read(self, page: PageBody) -> ParsedPage:
        """Parse a page. Raise UnreadableError if it crashed its processes or exceeded its timeout."""
        return await self._read(page.url, self._encode(page), self._decode)

    async def read_encoded(self, url: str, page: bytes) -> bytes:
        """Parse an encoded `PageBody` and return the encoded `ParsedPage`."""
        return await self._read(url, page, bytes)

    async def _read(self, url: str, page: bytes, decode: Callable[[memoryview], T]) -> T:
        if self._fault is not None:
            raise self._fault
        result: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        await self._jobs.put(_Job(url, page, result, decode))
        return await result

    def process_ids(self) -> list[int]:
        return [worker.process.pid for worker in self._running]

    def restart(self, process_ids: Sequence[int]) -> int:
        """Replace processes that use too much memory. Return how many there were. Their pages are parsed once more."""
        large = [worker for worker in self._running if worker.process.pid in process_ids and not worker.is_large]
        for worker in large:
            worker.is_large = True
            worker.kill()
        return len(large)

    async def close(self) -> None:
        self._is_closing = True
        while pending := [task for task in self._tasks if not task.done()]:
            for task in pending:
                task.cancel()
            # repeated, because a cancellation may be lost if a result arrives at the same time
            await asyncio.wait(pending, timeout=1)
        for process in list(self._processes):
            await self._end(process)  # a task may have been cancelled while it waited for its process to end

    # Supervision

    def _launch(self, slot: _Slot) -> None:
        """Start the task that supervises a slot, unless the pool is being closed."""
        if self._is_closing:
            return
        task = asyncio.create_task(self._supervise(slot))
        self._tasks.add(task)
        task.add_done_callback(partial(self._restart_supervisor, slot))

    def _restart_supervisor(self, slot: _Slot, task: asyncio.Task[None]) -> None:
        """Start a supervising task again if it ended while the pool is open, which is an internal error."""
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if self._is_closing:
            return
        message = "internal error: the supervising task of a parser process ended; it is started again"
        _LOG.error(message, exc_info=error)
        if slot.worker is not None:
            slot.worker.kill()
            self._requeue_pages(slot, slot.worker)
        asyncio.get_running_loop().call_later(_RESTART_PAUSE_SECONDS, self._launch, slot)

    async def _supervise(self, slot: _Slot) -> None:
        """Run a worker process, and replace it each time it ends."""
        while True:
            slot.worker = worker = await self._start_worker(slot)
            self._running.append(worker)
            try:
                await self._feed(worker, slot.waiting)
            except Exception as error:  # noqa: BLE001 - the process is replaced after any error (uvloop: RuntimeError)
                worker.cancel_timeout()
                await self._end(worker.process)
                self._log_end(worker, error)
                self._requeue_pages(slot, worker)
            finally:
                worker.cancel_timeout()
                self._running.remove(worker)
                await self._end(worker.process)

    def _requeue_pages(self, slot: _Slot, worker: _Worker) -> None:
        """Move the pages of an ended process to the queue of the next one, except a page that has failed."""
        self.replaced += 1
        slot.worker = None
        if worker.sent:
            worker.sent[0].crashes += 1
            if worker.is_late:
                worker.sent.popleft().fail(UnreadableError("parsing the page took too long"))
            elif worker.sent[0].crashes >= _MAX_CRASHES:
                worker.sent.popleft().fail(UnreadableError("the page crashed two parser processes"))
        slot.waiting.extendleft(reversed(worker.sent))
        worker.sent.clear()

    @staticmethod
    def _log_end(worker: _Worker, error: Exception) -> None:
        """Log the end of a process, unless the pool killed it because of a timeout."""
        if worker.is_late:
            return
        doing = f"parsing {worker.sent[0].url}" if worker.sent else "waiting for a page"
        if worker.is_large:
            _LOG.warning("a parser process (pid %d) used too much memory while %s", worker.process.pid, doing)
            return
        is_known = isinstance(error, (ConnectionError, EOFError, RuntimeError))
        _LOG.warning(
            "a parser process (pid %d, exit status %s) ended while %s; it is replaced",
            worker.process.pid,
            worker.process.returncode,
            doing,
            exc_info=None if is_known else error,
        )

    async def _start_worker(self, slot: _Slot) -> _Worker:
        """Return a process that is ready. Try again if it cannot be started or ends before it is ready."""
        for attempt in range(1, _MAX_STARTS + 1):
            try:
                return _Worker(await self._start())
            except Exception as error:  # noqa: BLE001 - uvloop raises RuntimeError instead of ConnectionError
                number = f"attempt {attempt} of {_MAX_STARTS}"
                _LOG.warning("a parser process could not be started (%s): %r", number, error)
                if attempt == _MAX_STARTS or self._fault is not None:
                    await self._give_up(error, slot.waiting)
            await asyncio.sleep(_RESTART_PAUSE_SECONDS)
        raise ValueError("internal error: a parser process was neither started nor given up")

    async def _give_up(self, error: Exception, waiting: deque[_Job]) -> NoReturn:
        """Fail all waiting and all later pages, because no process can be started."""
        self._fault = OSError(f"a parser process could not be started: {type(error).__name__} {error}".rstrip())
        while True:
            job = waiting.popleft() if waiting else await self._jobs.get()
            job.fail(self._fault)

    # One process

    async def _start(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "motherlode.crawler.parsing.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_MAX_FRAME_BYTES,
            start_new_session=True,  # Ctrl-C reaches only the crawl, even before the process ignores SIGINT
        )
        self._processes.add(process)
        try:
            async with asyncio.timeout(_START_TIMEOUT_SECONDS):
                await self._send(process, self._options)
                await self._receive(process)
        except BaseException:
            await self._end(process)
            raise
        return process

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        self._processes.discard(process)

    async def _feed(self, worker: _Worker, waiting: deque[_Job]) -> None:
        """Send pages and receive results until the process ends, which raises an error."""
        while True:
            while len(worker.sent) < _MAX_SENT_PAGES:
                if waiting:
                    job = waiting.popleft()
                elif worker.sent and self._jobs.empty():
                    break
                else:
                    job = await self._jobs.get()
                if job.result.done():  # its caller was cancelled
                    continue
                if not worker.sent and worker.process.returncode is not None:  # the page is not the cause
                    waiting.appendleft(job)
                    raise EOFError("the process ended while it was idle")
                worker.sent.append(job)
                if len(worker.sent) == 1:  # the timeout also runs while the next page waits for space in the pipe
                    worker.start_timeout(self._seconds)
                await self._send(worker.process, job.page)
            response = await self._receive(worker.process)
            worker.cancel_timeout()
            self._set_result(response, worker.sent[0])
            worker.sent.popleft()
            if worker.sent:
                worker.start_timeout(self._seconds)

    def _set_result(self, result: bytes, job: _Job) -> None:
        if job.result.done():
            return
        if result[:1] == STATUS_OK:
            job.result.set_result(job.decode(memoryview(result)[1:]))
        else:
            job.fail(UnreadableError(result[1:].decode("utf-8", "replace")))

    @staticmethod
    async def _send(process: asyncio.subprocess.Process, data: bytes) -> None:
        if process.stdin is None:
            raise ConnectionError("the worker has no stdin")
        # one write, because four bytes alone would wake the worker, which would then block until the rest arrives
        process.stdin.write(pack_frame(data))
        await process.stdin.drain()

    @staticmethod
    async def _receive(process: asyncio.subprocess.Process) -> bytes:
        if process.stdout is None:
            raise ConnectionError("the worker has no stdout")
        return await read_frame_async(process.stdout)


LARGE_BODY_BYTES = 1 << 20
"""Size of a body from which a page is parsed in the pool for large pages."""


class ParserLanes:
    """Two parser pools with the interface of one: small pages need not wait for large ones."""

    def __init__(self, options: ParseOptions, *, workers: int, seconds: float, large: int = LARGE_BODY_BYTES) -> None:
        self._large = large
        self._pools = [ParserPool(options, workers=workers, seconds=seconds)]
        self._make_large_pool = partial(ParserPool, options, workers=1, seconds=seconds)

    async def read(self, page: PageBody) -> ParsedPage:
        """Parse a page. Raise UnreadableError if it crashed its processes or exceeded its timeout."""
        return await self._choose_pool(len(page.body)).read(page)

    async def read_encoded(self, url: str, page: bytes) -> bytes:
        """Parse an encoded `PageBody` and return the encoded `ParsedPage`."""
        return await self._choose_pool(len(page)).read_encoded(url, page)

    def _choose_pool(self, size: int) -> ParserPool:
        if size >= self._large and len(self._pools) == 1:
            self._pools.append(self._make_large_pool())
        return self._pools[size >= self._large]

    @property
    def replaced(self) -> int:
        return sum(pool.replaced for pool in self._pools)

    def process_ids(self) -> list[int]:
        return [number for pool in self._pools for number in pool.process_ids()]

    def restart(self, process_ids: Sequence[int]) -> int:
        """Replace processes that use too much memory. Return how many there were. Their pages are parsed once more."""
        return sum(pool.restart(process_ids) for pool in self._pools)

    async def close(self) -> None:
        await asyncio.gather(*(pool.close() for pool in self._pools))

"""The pool of reader processes: bounded, supervised, replaced when one of them ends.

A reader process may end at any moment: a page can break it, the kernel can kill it when memory is short, and so can a
person. The page that it was reading is then tried once more in a fresh process, because the page need not be the cause.
A page that ends a second process is given up. Each process has a task that supervises it. If such a task ends although
the pool is open, that is logged, its pages are kept, and another task takes its place.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn

import msgspec

from motherlode.crawler.parsing.messages import PageBody, ParsedPage, ParseOptions
from motherlode.runtime.frames import STATUS_OK, pack_frame, read_frame_async

_LOG = logging.getLogger(__package__)
_FRAME_LIMIT = 1 << 30
_START_SECONDS = 60.0
_MAX_STARTS = 5
"""Attempts in a row to start a process, before the pool gives up."""
_PAUSE_SECONDS = 0.2
"""Before a process or a supervising task that failed is started again."""
_AHEAD = 2
"""Pages sent to a worker before its answer to the first: it never waits for the event loop."""
_MAX_BROKEN = 2
"""Processes that may end while they read one page."""


class UnreadableError(Exception):
    """A page that no worker could read within its limits."""


@dataclass(slots=True)
class _Job:
    url: str
    page: bytes
    answer: asyncio.Future[ParsedPage]
    broken: int = 0
    """Processes that ended while they read the page."""

    def fail(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


@dataclass(slots=True)
class _Worker:
    """A process and what it is at."""

    process: asyncio.subprocess.Process
    sent: deque[_Job] = field(default_factory=deque)
    """Pages without an answer; the process reads the first of them."""
    is_late: bool = False
    """It outlasted the time of a page, and was ended for it."""
    _timeout: asyncio.TimerHandle | None = None

    def start_clock(self, seconds: float) -> None:
        """Give the first page its time: a timer costs a third of `asyncio.timeout`, page after page."""
        self._timeout = asyncio.get_running_loop().call_later(seconds, self.end_late)

    def stop_clock(self) -> None:
        if self._timeout is not None:
            self._timeout.cancel()

    def end_late(self) -> None:
        self.is_late = True
        self.kill()

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()


@dataclass(slots=True)
class _Slot:
    """Room for one process. It outlives the process and the task that supervises it."""

    waiting: deque[_Job] = field(default_factory=deque)
    """Pages of a process that ended; the next one reads them first."""
    worker: _Worker | None = None


class ParserPool:
    """`read` gives a page to the next free worker; callers wait when all are busy."""

    def __init__(self, instructions: ParseOptions, *, workers: int, seconds: float) -> None:
        self._instructions = msgspec.msgpack.encode(instructions)
        self._seconds = seconds
        """Hard limit for one page; the limits of each syntax are inside it."""
        self._jobs: asyncio.Queue[_Job] = asyncio.Queue(maxsize=workers * _AHEAD * 2)
        self._decode = msgspec.msgpack.Decoder(ParsedPage).decode
        self._encode = msgspec.msgpack.Encoder().encode
        self._tasks: set[asyncio.Task[None]] = set()
        self._running: list[_Worker] = []
        self._processes: set[asyncio.subprocess.Process] = set()
        """All that were started and are not known to have ended."""
        self._fault: OSError | None = None
        self._is_closing = False
        self.replaced = 0
        """Workers that had to be replaced."""
        for _ in range(workers):
            self._launch(_Slot())

    async def read(self, page: PageBody) -> ParsedPage:
        """What a worker makes of a page; UnreadableError where it broke or outlasted its worker."""
        if self._fault is not None:
            raise self._fault
        job = _Job(page.url, self._encode(page), asyncio.get_running_loop().create_future())
        await self._jobs.put(job)
        return await job.answer

    def process_ids(self) -> list[int]:
        return [worker.process.pid for worker in self._running]

    async def close(self) -> None:
        self._is_closing = True
        while pending := [task for task in self._tasks if not task.done()]:
            for task in pending:
                task.cancel()
            await asyncio.wait(pending, timeout=1)  # again, if a cancellation crossed with an answer and was lost
        for process in list(self._processes):
            await self._end(process)  # a cancellation may have come while its end was waited for

    # ── supervision ──────────────────────────────────────────────────────────────────────────────────

    def _launch(self, slot: _Slot) -> None:
        """Start the task that supervises a slot, unless the pool is being closed."""
        if self._is_closing:
            return
        task = asyncio.create_task(self._supervise(slot))
        self._tasks.add(task)
        task.add_done_callback(partial(self._supervisor_ended, slot))

    def _supervisor_ended(self, slot: _Slot, task: asyncio.Task[None]) -> None:
        """Repair what no supervising task should do: end while the pool is open."""
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if self._is_closing:
            return
        _LOG.error("internal error: the supervision of a reader process ended; it begins again", exc_info=error)
        if slot.worker is not None:
            slot.worker.kill()
            self._take_back(slot, slot.worker)
        asyncio.get_running_loop().call_later(_PAUSE_SECONDS, self._launch, slot)

    async def _supervise(self, slot: _Slot) -> None:
        """Keep one worker process going for ever."""
        while True:
            slot.worker = worker = await self._start_worker(slot)
            self._running.append(worker)
            try:
                await self._feed(worker, slot.waiting)
            except Exception as error:  # noqa: BLE001 - by whatever a process ends (uvloop: RuntimeError), it is replaced
                worker.stop_clock()
                await self._end(worker.process)
                self._tell_end(worker, error)
                self._take_back(slot, worker)
            finally:
                worker.stop_clock()
                self._running.remove(worker)
                await self._end(worker.process)

    def _take_back(self, slot: _Slot, worker: _Worker) -> None:
        """Let the pages of a process that has ended wait for the next one, but those that are given up."""
        self.replaced += 1
        slot.worker = None
        if worker.sent:
            worker.sent[0].broken += 1
            if worker.is_late:
                worker.sent.popleft().fail(UnreadableError("the page took too long"))
            elif worker.sent[0].broken >= _MAX_BROKEN:
                worker.sent.popleft().fail(UnreadableError("the page broke its reader, and a second one"))
        slot.waiting.extendleft(reversed(worker.sent))
        worker.sent.clear()

    @staticmethod
    def _tell_end(worker: _Worker, error: Exception) -> None:
        """Log the end of a process, unless the pool itself ended it after the time of a page."""
        if worker.is_late:
            return
        doing = f"reading {worker.sent[0].url}" if worker.sent else "waiting for a page"
        is_known = isinstance(error, (ConnectionError, EOFError, RuntimeError))
        _LOG.warning(
            "a reader process (pid %d, exit status %s) ended while %s; another takes its place",
            worker.process.pid,
            worker.process.returncode,
            doing,
            exc_info=None if is_known else error,
        )

    async def _start_worker(self, slot: _Slot) -> _Worker:
        """A process that is ready; one that ends before that, or cannot be made just now, is tried again."""
        for attempt in range(1, _MAX_STARTS + 1):
            try:
                return _Worker(await self._start())
            except Exception as error:  # noqa: BLE001 - uvloop raises RuntimeError where asyncio has ConnectionError
                number = f"attempt {attempt} of {_MAX_STARTS}"
                _LOG.warning("a reader process could not be started (%s): %r", number, error)
                if attempt == _MAX_STARTS or self._fault is not None:
                    await self._give_up(error, slot.waiting)
            await asyncio.sleep(_PAUSE_SECONDS)
        raise ValueError("internal error: a reader process was neither started nor given up")

    async def _give_up(self, error: Exception, waiting: deque[_Job]) -> NoReturn:
        """No worker can be started: every page that waits, if only for room, and every later one is told so."""
        self._fault = OSError(f"a reader process could not be started: {type(error).__name__} {error}".rstrip())
        while True:
            job = waiting.popleft() if waiting else await self._jobs.get()
            job.fail(self._fault)

    # ── one process ──────────────────────────────────────────────────────────────────────────────────

    async def _start(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "motherlode.crawler.parsing.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_FRAME_LIMIT,
            start_new_session=True,  # Ctrl-C at a terminal is for the crawl, even before a reader can ignore it
        )
        self._processes.add(process)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self._send(process, self._instructions)
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
        """Send pages and take answers, until the process ends, which is an error."""
        while True:
            while len(worker.sent) < _AHEAD:
                if waiting:
                    job = waiting.popleft()
                elif worker.sent and self._jobs.empty():
                    break
                else:
                    job = await self._jobs.get()
                if job.answer.done():  # its caller was cancelled
                    continue
                if not worker.sent and worker.process.returncode is not None:  # it ended before it could be to blame
                    waiting.appendleft(job)
                    raise EOFError("the process ended while it was idle")
                worker.sent.append(job)
                if len(worker.sent) == 1:  # the clock runs while the next page waits for room in the pipe, too
                    worker.start_clock(self._seconds)
                await self._send(worker.process, job.page)
            answer = await self._receive(worker.process)
            worker.stop_clock()
            self._pass_on(answer, worker.sent[0])
            worker.sent.popleft()
            if worker.sent:
                worker.start_clock(self._seconds)

    def _pass_on(self, answer: bytes, job: _Job) -> None:
        if job.answer.done():
            return
        if answer[:1] == STATUS_OK:
            job.answer.set_result(self._decode(memoryview(answer)[1:]))
        else:
            job.fail(UnreadableError(answer[1:].decode("utf-8", "replace")))

    @staticmethod
    async def _send(process: asyncio.subprocess.Process, data: bytes) -> None:
        if process.stdin is None:
            raise ConnectionError("the worker has no stdin")
        # in one piece: four bytes alone would wake the worker, which had to go back to sleep for the rest
        process.stdin.write(pack_frame(data))
        await process.stdin.drain()

    @staticmethod
    async def _receive(process: asyncio.subprocess.Process) -> bytes:
        if process.stdout is None:
            raise ConnectionError("the worker has no stdout")
        return await read_frame_async(process.stdout)


# ── Two lanes of readers: what is large must not keep what is small waiting.

LARGE = 1 << 20
"""Bytes of a body."""


class ParserLanes:
    """Reads like a `ParserPool`."""

    def __init__(self, instructions: ParseOptions, *, workers: int, seconds: float, large: int = LARGE) -> None:
        self._instructions = instructions
        self._seconds = seconds
        self._large = large
        self._usual = ParserPool(instructions, workers=workers, seconds=seconds)
        self._slow: ParserPool | None = None

    async def read(self, page: PageBody) -> ParsedPage:
        """What a reader makes of a page; UnreadableError where it broke or outlasted its reader."""
        if len(page.body) < self._large:
            return await self._usual.read(page)
        if self._slow is None:
            self._slow = ParserPool(self._instructions, workers=1, seconds=self._seconds)
        return await self._slow.read(page)

    @property
    def replaced(self) -> int:
        """Readers that had to be replaced."""
        return self._usual.replaced + (self._slow.replaced if self._slow is not None else 0)

    def process_ids(self) -> list[int]:
        return self._usual.process_ids() + (self._slow.process_ids() if self._slow is not None else [])

    async def close(self) -> None:
        await asyncio.gather(*(pool.close() for pool in (self._usual, self._slow) if pool is not None))

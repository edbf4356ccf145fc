"""The pool of reader processes: bounded, supervised, replaced when a page breaks one."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import msgspec

from motherlode.crawl.readings import Body, Instructions, Reading
from motherlode.frames import GOOD

_FRAME_LIMIT = 1 << 30
_START_SECONDS = 60.0
_AHEAD = 2
"""Pages sent to a worker before its answer to the first: it never waits for the event loop."""


class UnreadableError(Exception):
    """A page that no worker could read within its limits."""


@dataclass(slots=True)
class _Job:
    page: bytes
    answer: asyncio.Future[Reading]


@dataclass(slots=True)
class _Worker:
    """A process and what it is at."""

    process: asyncio.subprocess.Process
    sent: deque[_Job] = field(default_factory=deque)
    is_late: bool = False
    """It outlasted the time of a page, and was ended for it."""

    def end_late(self) -> None:
        self.is_late = True
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()


class ReaderPool:
    """`read` gives a page to the next free worker; callers wait when all are busy."""

    def __init__(self, instructions: Instructions, *, workers: int, seconds: float) -> None:
        self._instructions = msgspec.msgpack.encode(instructions)
        self._seconds = seconds
        """Hard limit for one page; the limits of each syntax are inside it."""
        self._jobs: asyncio.Queue[_Job] = asyncio.Queue(maxsize=workers * _AHEAD * 2)
        self._decode = msgspec.msgpack.Decoder(Reading).decode
        self._encode = msgspec.msgpack.Encoder().encode
        self._tasks: Sequence[asyncio.Task[None]] = [asyncio.create_task(self._supervise()) for _ in range(workers)]
        self._running: list[_Worker] = []
        self._processes: set[asyncio.subprocess.Process] = set()
        """All that were started and are not known to have ended."""
        self._fault: OSError | None = None
        self.replaced = 0
        """Workers that had to be replaced."""

    async def read(self, page: Body) -> Reading:
        """What a worker makes of a page; UnreadableError where it broke or outlasted its worker."""
        if self._fault is not None:
            raise self._fault
        job = _Job(self._encode(page), asyncio.get_running_loop().create_future())
        await self._jobs.put(job)
        return await job.answer

    def process_ids(self) -> list[int]:
        return [worker.process.pid for worker in self._running]

    async def close(self) -> None:
        while pending := [task for task in self._tasks if not task.done()]:
            for task in pending:
                task.cancel()
            await asyncio.wait(pending, timeout=1)  # again, if a cancellation crossed with an answer and was lost
        for process in list(self._processes):
            await self._end(process)  # a cancellation may have come while its end was waited for

    async def _supervise(self) -> None:
        """Keep one worker process going for ever."""
        again: deque[_Job] = deque()
        while True:
            try:
                worker = _Worker(await self._start())
            except (OSError, EOFError, TimeoutError) as error:
                await self._give_up(error, again)
            self._running.append(worker)
            try:
                await self._feed(worker, again)
            except (ConnectionError, EOFError, asyncio.IncompleteReadError):
                self.replaced += 1
                again = worker.sent
                if again:
                    culprit = again.popleft()
                    why = "took too long" if worker.is_late else "broke its reader"
                    if not culprit.answer.done():
                        culprit.answer.set_exception(UnreadableError(f"the page {why}"))
            finally:
                self._running.remove(worker)
                await self._end(worker.process)

    async def _give_up(self, error: Exception, again: deque[_Job]) -> NoReturn:
        """No worker can be started: every page that waits, if only for room, and every later one is told so."""
        self._fault = OSError(f"a reader process could not be started: {type(error).__name__} {error}".rstrip())
        while True:
            job = again.popleft() if again else await self._jobs.get()
            if not job.answer.done():
                job.answer.set_exception(self._fault)

    async def _start(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "motherlode.crawl.worker",
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

    async def _feed(self, worker: _Worker, again: deque[_Job]) -> None:
        call_later = asyncio.get_running_loop().call_later
        while True:
            while len(worker.sent) < _AHEAD:
                if again:
                    job = again.popleft()
                elif worker.sent and self._jobs.empty():
                    break
                else:
                    job = await self._jobs.get()
                worker.sent.append(job)
                await self._send(worker.process, job.page)
            alarm = call_later(self._seconds, worker.end_late)  # a third of the cost of a time limit, page after page
            try:
                answer = await self._receive(worker.process)
            finally:
                alarm.cancel()
            job = worker.sent.popleft()
            if job.answer.done():
                continue
            if answer[:1] == GOOD:
                job.answer.set_result(self._decode(memoryview(answer)[1:]))
            else:
                job.answer.set_exception(UnreadableError(answer[1:].decode("utf-8", "replace")))

    @staticmethod
    async def _send(process: asyncio.subprocess.Process, data: bytes) -> None:
        if process.stdin is None:
            raise ConnectionError("the worker has no stdin")
        # in one piece: four bytes alone would wake the worker, which had to go back to sleep for the rest
        process.stdin.write(b"".join((len(data).to_bytes(4, "big"), data)))
        await process.stdin.drain()

    @staticmethod
    async def _receive(process: asyncio.subprocess.Process) -> bytes:
        if process.stdout is None:
            raise ConnectionError("the worker has no stdout")
        size = int.from_bytes(await process.stdout.readexactly(4), "big")
        return await process.stdout.readexactly(size)

"""Parsers on other machines: Ray actors that detect and transform the pages of one fetching process.

`RemoteParsers` has the interface of the local parser pool. Each actor runs a local pool with one parser process, so a
page that hangs or crashes its parser is handled there, as on the fetching machine. This module adds the transport to
the other machine, and the handling of its loss:

- Pages are exchanged in batches, because a Ray call costs about a millisecond. An actor has one call at a time. The
  call brings new pages and returns the results that are ready. While it travels, the actor parses the pages that it
  still has. Ray passes arguments and results above 100 kB through its object store.
- An actor has at most `MAX_SENT_PAGES` pages, and callers of `read` wait while all actors are full, so that a slow
  transform phase slows the fetch phase down.
- If an actor or its node dies, or a call does not return in time, another actor is started where Ray finds room. The
  pages of the lost actor are parsed once more, each of them alone in an actor, because one of them may be the cause. A
  page that loses a second actor fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import ray
from ray.exceptions import RayError

from motherlode.crawler.parsing.messages import PageBody, ParsedPage, ParseOptions
from motherlode.crawler.parsing.parser_pool import ParserLanes, UnreadableError
from motherlode.runtime import STATUS_ERROR, STATUS_OK

_LOG = logging.getLogger(__package__)
MAX_SENT_PAGES = 16
"""Maximum number of pages in one actor."""
_MAX_BATCH_BYTES = 4 << 20
"""Size from which a batch gets no further page."""
_MAX_LOSSES = 2
"""Number of actors that are lost with one page before the page fails."""
_START_TIMEOUT_SECONDS = 60.0
_MAX_STARTS = 3
"""Maximum number of consecutive attempts to start each actor before the pool fails, if no actor runs."""
_CALL_TIMEOUT_SECONDS = 20.0
"""Timeout of a call. An actor answers within a fraction of a second, because it only waits for its parser process."""
_RESTART_PAUSE_SECONDS = 0.2
_FIRST_RESULT_SECONDS = 0.1
"""Maximum seconds that a call waits for a result. New pages wait for the call to return."""
_GATHER_SECONDS = 0.02
"""Maximum seconds that a call waits for further results after the first."""
_GATHERED_SHARE = 0.75
"""Share of an actor's pages whose results end a call. The others keep the actor busy until the next call."""
_PARSER_CPUS = 0.01
"""Processors that Ray reserves for an actor: few, so that the other nodes can take over the actors of a lost node."""

SentPage = tuple[int, str, bytes]
"""Number, URL and encoded `PageBody` of a page."""
Result = tuple[int, bytes]
"""Number of a page, and a status byte with the encoded `ParsedPage` or the reason of a failure."""


class ParserActor:
    """A parser process on any machine. One `exchange` runs at a time."""

    def __init__(self, options: ParseOptions, *, seconds: float, cores: Sequence[int] = ()) -> None:
        if cores:
            os.sched_setaffinity(0, cores)
        self._options = options
        self._seconds = seconds
        self._lanes: ParserLanes | None = None
        self._parsing: set[asyncio.Task[None]] = set()
        self._results: list[Result] = []
        self._fault: OSError | None = None
        self._goal = 1
        self._reached = asyncio.Event()

    async def start(self) -> tuple[int, str]:
        """Start the parser process. Return the process number of the actor and the id of its node."""
        self._lanes = ParserLanes(self._options, workers=1, seconds=self._seconds)
        return os.getpid(), ray.get_runtime_context().get_node_id()

    async def exchange(self, pages: Sequence[SentPage]) -> list[Result]:
        """Accept pages, and return the results that are ready. If there are none, wait for some."""
        for page in pages:
            task = asyncio.create_task(self._parse(*page))
            self._parsing.add(task)
            task.add_done_callback(self._parsing.discard)
        count = len(self._parsing) + len(self._results)
        await self._wait_for_results(1, _FIRST_RESULT_SECONDS)
        if self._results:
            await self._wait_for_results(int(_GATHERED_SHARE * count), _GATHER_SECONDS)
        if self._fault is not None:
            raise self._fault
        results, self._results = self._results, []
        return results

    async def _wait_for_results(self, goal: int, seconds: float) -> None:
        if len(self._results) >= goal or self._fault is not None:
            return
        self._goal = goal
        self._reached.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._reached.wait()

    async def _parse(self, number: int, url: str, page: bytes) -> None:
        if self._lanes is None:
            raise ValueError("internal error: a page was sent to a remote parser that was not started")
        try:
            result = STATUS_OK + await self._lanes.read_encoded(url, page)
        except UnreadableError as error:
            result = STATUS_ERROR + str(error).encode("utf-8", "replace")
        except OSError as error:  # no parser process can be started on this machine
            self._fault = error
            self._reached.set()
            return
        self._results.append((number, result))
        if len(self._results) >= self._goal:
            self._reached.set()


@dataclass(slots=True, eq=False)
class _Job:
    url: str
    page: bytes
    result: asyncio.Future[ParsedPage]
    losses: int = 0
    """Number of actors that were lost while they had the page."""

    def fail(self, error: Exception) -> None:
        if not self.result.done():
            self.result.set_exception(error)


@dataclass(slots=True, eq=False)
class _Slot:
    """State of one actor. It outlives the actor."""

    actor: Any = None
    process: int = 0
    """Process number of the actor on its machine; 0 until it has started."""
    node: str = ""
    """Ray's id of the machine on which the actor runs."""
    sent: dict[int, _Job] = field(default_factory=dict)
    """Pages without a result, by number."""
    failed_starts: int = 0


class RemoteParsers:
    """Parses pages in Ray actors. It has the interface of a local pool (`Parsers`). Ray must be connected."""

    def __init__(
        self, options: ParseOptions, *, actors: int, seconds: float, cores: Sequence[Sequence[int]] = ()
    ) -> None:
        self._options = options
        self._seconds = seconds
        self._cores = cores
        """Processor cores of each actor; empty for all. Used for measurements."""
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(ParsedPage).decode
        self._waiting: deque[_Job] = deque()
        self._arrived = asyncio.Event()
        self._room = asyncio.Semaphore(actors * MAX_SENT_PAGES * 2)
        self._number = 0
        self._fault: OSError | None = None
        self.replaced = 0
        """Number of actors that were replaced."""
        self.calls = 0
        """Number of calls to actors."""
        self._slots = [_Slot() for _ in range(actors)]
        self._tasks = [asyncio.create_task(self._supervise(number)) for number in range(actors)]

    async def read(self, page: PageBody) -> ParsedPage:
        """Parse a page. Raise UnreadableError if it crashed its processes or exceeded its timeout."""
        async with self._room:
            if self._fault is not None:
                raise self._fault
            job = _Job(page.url, self._encode(page), asyncio.get_running_loop().create_future())
            self._waiting.append(job)
            self._arrived.set()
            return await job.result

    def process_ids(self) -> list[int]:
        """Return the process numbers of the actors, each on its own machine."""
        return [slot.process for slot in self._slots if slot.process]

    def node_ids(self) -> list[str]:
        """Return Ray's ids of the machines of the actors."""
        return [slot.node for slot in self._slots if slot.process]

    async def close(self) -> None:
        while pending := [task for task in self._tasks if not task.done()]:
            for task in pending:
                task.cancel()
            # repeated, because a cancellation may be lost if a result arrives at the same time
            await asyncio.wait(pending, timeout=1)
        for slot in self._slots:
            self._end(slot)
            for job in slot.sent.values():
                job.result.cancel()
        for job in self._waiting:
            job.result.cancel()

    # Supervision of one actor

    async def _supervise(self, number: int) -> None:
        """Run an actor, and replace it each time it is lost."""
        slot = self._slots[number]
        while True:
            try:
                await self._start(slot, self._cores[number] if self._cores else ())
                while True:
                    await self._exchange(slot)
            except Exception as error:  # noqa: BLE001 - the actor is replaced after any error
                self._end(slot)
                self._requeue_pages(slot, error)
            await asyncio.sleep(_RESTART_PAUSE_SECONDS)

    async def _start(self, slot: _Slot, cores: Sequence[int]) -> None:
        options: dict[str, Any] = {"num_cpus": _PARSER_CPUS, "scheduling_strategy": "SPREAD", "max_restarts": 0}
        actor = ray.remote(ParserActor).options(**options)
        slot.failed_starts += 1
        slot.actor = actor.remote(self._options, seconds=self._seconds, cores=cores)
        async with asyncio.timeout(_START_TIMEOUT_SECONDS):
            slot.process, slot.node = await slot.actor.start.remote()
        slot.failed_starts = 0

    async def _exchange(self, slot: _Slot) -> None:
        """Send new pages to an actor and receive results."""
        batch: list[SentPage] = []
        for job in await self._take_pages(slot):
            self._number += 1
            slot.sent[self._number] = job
            batch.append((self._number, job.url, job.page))
        self.calls += 1
        async with asyncio.timeout(_CALL_TIMEOUT_SECONDS):
            results: list[Result] = await slot.actor.exchange.remote(batch)
        for number, result in results:
            self._set_result(result, slot.sent[number])
            del slot.sent[number]

    def _set_result(self, result: bytes, job: _Job) -> None:
        if job.result.done():
            return
        if result[:1] == STATUS_OK:
            job.result.set_result(self._decode(memoryview(result)[1:]))
        else:
            job.fail(UnreadableError(result[1:].decode("utf-8", "replace")))

    async def _take_pages(self, slot: _Slot) -> list[_Job]:
        """Return the next pages for an actor. Wait for a page if the actor has none."""
        while True:
            found = self._pop_pages(slot)
            if found or slot.sent:
                return found
            self._arrived.clear()
            await self._arrived.wait()

    def _pop_pages(self, slot: _Slot) -> list[_Job]:
        found: list[_Job] = []
        size = 0
        idle = sum(not other.sent and bool(other.process) for other in self._slots if other is not slot)
        room = min(MAX_SENT_PAGES - len(slot.sent), -(-len(self._waiting) // (1 + idle)))
        if any(job.losses for job in slot.sent.values()):
            return found  # a page that may be the cause of a loss is alone in its actor
        while self._waiting and len(found) < room and size < _MAX_BATCH_BYTES:
            job = self._waiting[0]
            if job.losses and (found or slot.sent):
                break
            self._waiting.popleft()
            if job.result.done():  # its caller was cancelled
                continue
            found.append(job)
            size += len(job.page)
            if job.losses:
                break
        return found

    def _requeue_pages(self, slot: _Slot, error: Exception) -> None:
        """Return the pages of a lost actor to the queue, except a page that has lost two actors."""
        self.replaced += 1
        text = str(error).strip()
        reason = f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__
        message = "a remote parser with %d pages on node %s was lost (%s); it is replaced"
        _LOG.warning(message, len(slot.sent), slot.node[:12] or "?", reason)
        lost = list(slot.sent.values())
        slot.sent.clear()
        for job in reversed(lost):
            job.losses += 1
            if job.losses >= _MAX_LOSSES:
                job.fail(UnreadableError("two remote parsers were lost while they parsed the page"))
            else:
                self._waiting.appendleft(job)
        if all(one.failed_starts >= _MAX_STARTS for one in self._slots):
            self._give_up(reason)
        self._arrived.set()

    def _give_up(self, reason: str) -> None:
        """Fail all waiting and all later pages, because no actor can be started."""
        self._fault = OSError(f"no remote parser could be started: {reason}")
        while self._waiting:
            self._waiting.popleft().fail(self._fault)

    @staticmethod
    def _end(slot: _Slot) -> None:
        slot.process = 0
        if slot.actor is not None:
            with contextlib.suppress(RayError, ValueError):
                ray.kill(slot.actor)
            slot.actor = None


def parsers_on_ray(actors: int) -> Callable[[ParseOptions, float], RemoteParsers]:
    """Return a function that starts remote parsers, given their options and the timeout of a page in seconds."""
    return lambda options, seconds: RemoteParsers(options, actors=actors, seconds=seconds)

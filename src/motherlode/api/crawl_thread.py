"""A crawl in a thread with its own event loop, so that it runs beside any program and any other event loop."""

from __future__ import annotations

import asyncio
import atexit
import threading
import time
import weakref
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import thread as _thread_pools  # noqa: F401 - its exit hook must be set before ours
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Protocol

import uvloop

from motherlode.api.visit_buffer import VisitBuffer
from motherlode.cluster import merge_shards
from motherlode.cluster.ray_runtime import running_ray
from motherlode.crawler.config.job import Job
from motherlode.crawler.engine.factory import assemble
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.report.crawl_report import build_report, write_report
from motherlode.crawler.run_validation import validate_and_save
from motherlode.crawler.stats.counters import Counters
from motherlode.crawler.stats.reader import read_stats
from motherlode.model import Visit

STOP_SECONDS = 5.0
"""Seconds that requests in flight have to end after a stop. Then they are cancelled; a resume repeats them."""

_EXIT_SECONDS = 30.0
"""Seconds after which a program that ends does not wait for its crawl any longer."""


class RunningCrawl(Protocol):
    """An engine, or the driver of several shards."""

    totals: Counters

    def stop(self) -> None: ...


class CrawlThread:
    """Runs a job in a locked folder. It unlocks the folder at the end, whatever happens."""

    def __init__(self, job: Job, folder: CrawlFolder) -> None:
        self.visits = VisitBuffer()
        self.error: BaseException | None = None
        """The exception that ended the crawl, once it has ended."""
        self._job = job
        self._folder = folder
        self._crawl: RunningCrawl | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._state = threading.Lock()
        # a daemon, because Python would otherwise wait for the end of the crawl when a program ends inside it
        self._thread = threading.Thread(target=self._run, name=f"crawl {folder.path}", daemon=True)

    def start(self) -> None:
        _close_at_exit(self)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def totals(self) -> Counters:
        """The counters of the crawl so far. They change while it runs."""
        return Counters() if self._crawl is None else self._crawl.totals

    def stop(self) -> None:
        """Start no further request. Requests in flight may end."""
        with self._state:
            self._is_stopping = True
            if self._loop is not None and self._crawl is not None:
                with suppress(RuntimeError):  # the loop has ended
                    self._loop.call_soon_threadsafe(self._crawl.stop)

    def close(self, seconds: float = STOP_SECONDS, *, most_seconds: float | None = None) -> None:
        """Stop the crawl and wait until its data is on disk and the folder is unlocked, or for `most_seconds`."""
        self.visits.discard()
        if self._thread.is_alive():
            self.stop()
            try:
                self._thread.join(seconds)
            finally:  # also after Ctrl-C
                self._cancel()
                self._thread.join(most_seconds)

    def _cancel(self) -> None:
        with self._state:
            if self._loop is not None and self._task is not None and self._thread.is_alive():
                with suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._task.cancel)

    def _run(self) -> None:
        try:
            with self._open_ray(), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(self._visit_all())
            if self._job.shards > 1:
                merge_shards(self._folder, words=self._job.words)
            if self._job.validate:
                validate_and_save(self._folder, self._job.validate)
            write_report(self._folder.report, build_report(self._job, read_stats(self._folder), made_at=time.time()))
        except asyncio.CancelledError:
            pass  # of `close`
        except BaseException as error:  # noqa: BLE001 - the consumer raises it
            self.error = error
        finally:
            self._folder.unlock()
            self.visits.end()

    def _open_ray(self) -> AbstractContextManager[None]:
        needs_ray = self._job.shards > 1 or self._job.ray_parsers
        return running_ray(self._job.ray, shards=self._job.shards) if needs_ray else nullcontext()

    async def _visit_all(self) -> None:
        visits, close = self._begin()
        try:
            async for visit in visits:
                await self.visits.put(visit)
        finally:
            await visits.aclose()
            close()

    def _begin(self) -> tuple[AsyncGenerator[Visit, None], Callable[[], None]]:
        """Assemble the crawl. Return its visits, and a function to call after the last visit.

        The function closes the quad store of a crawl of one process.
        """
        crawl: RunningCrawl
        close: Callable[[], None] = lambda: None  # noqa: E731
        if self._job.shards > 1:
            from motherlode.cluster.driver import ShardedCrawl  # imports Ray

            sharded = ShardedCrawl(self._job, self._folder)
            crawl, visits = sharded, sharded.visits()
        else:
            make_parsers = None
            if self._job.ray_parsers:
                from motherlode.cluster.remote_parsers import parsers_on_ray  # imports Ray

                make_parsers = parsers_on_ray(self._job.ray_parsers)
            assembled = assemble(self._job, self._folder, make_parsers=make_parsers)
            crawl, visits, close = assembled.engine, assembled.engine.visits(assembled.seeds), assembled.store.close
        with self._state:
            self._crawl, self._loop, self._task = crawl, asyncio.get_running_loop(), asyncio.current_task()
            if self._is_stopping:
                crawl.stop()
        return visits, close


_started: weakref.WeakSet[CrawlThread] = weakref.WeakSet()
_is_hook_set = False


def _close_at_exit(thread: CrawlThread) -> None:
    """Close a crawl that still runs when the program ends."""
    global _is_hook_set
    _started.add(thread)
    if not _is_hook_set:
        _is_hook_set = True
        # functions of `atexit` are called too late: Python has ended the thread pools of the crawl by then, and the
        # pools themselves use this function of `threading` (CPython 3.9 to 3.14)
        register = getattr(threading, "_register_atexit", atexit.register)
        register(_close_started)


def _close_started() -> None:
    for thread in list(_started):
        thread.close(most_seconds=_EXIT_SECONDS)

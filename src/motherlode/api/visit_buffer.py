"""A buffer that hands visits from the thread of a crawl to the program that iterates over them."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from contextlib import suppress

from motherlode.model import Visit

MAX_VISITS = 1000
"""Number of visits in the buffer at which the crawl waits for the program."""


class VisitBuffer:
    """Visits in order, with one producer (an event loop in a thread) and one consumer (any thread or event loop).

    The producer waits while the buffer is full, so a slow program slows the crawl and does not fill the memory.
    """

    def __init__(self, max_visits: int = MAX_VISITS) -> None:
        self._max_visits = max_visits
        self._visits: deque[Visit] = deque()
        self._changed = threading.Condition()
        self._producer: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        """Loop of a producer that waits for space, and the event that it waits for."""
        self._consumer: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._has_ended = self._is_discarding = False

    async def put(self, visit: Visit) -> None:
        """Add a visit, then wait while the buffer is full."""
        with self._changed:
            if self._is_discarding:
                return
            self._visits.append(visit)
            self._wake_consumer()
            if len(self._visits) < self._max_visits:
                return
            space = asyncio.Event()
            self._producer = asyncio.get_running_loop(), space
        await space.wait()

    def end(self) -> None:
        """Mark the end of the visits. Those in the buffer can still be read."""
        with self._changed:
            self._has_ended = True
            self._wake_consumer()

    def discard(self) -> None:
        """Drop the visits in the buffer and all later ones, because the program has left its loop."""
        with self._changed:
            self._is_discarding = True
            self._visits.clear()
            self._wake_producer()
            self._wake_consumer()

    @property
    def is_over(self) -> bool:
        """Whether no visit is left and none will come."""
        with self._changed:
            return not self._visits and (self._has_ended or self._is_discarding)

    def get(self, seconds: float) -> Visit | None:
        """Wait at most `seconds` for the next visit and return it; None if none has come, or at the end."""
        with self._changed:
            if not self._visits and not self._has_ended and not self._is_discarding:
                self._changed.wait(seconds)
            return self._take()

    async def get_async(self, seconds: float) -> Visit | None:
        """Do the same as `get` in an event loop, which is not blocked."""
        with self._changed:
            if self._visits or self._has_ended or self._is_discarding:
                return self._take()
            arrived = asyncio.Event()
            self._consumer = asyncio.get_running_loop(), arrived
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await arrived.wait()
        with self._changed:
            self._consumer = None
            return self._take()

    def _take(self) -> Visit | None:
        visit = self._visits.popleft() if self._visits else None
        if len(self._visits) <= self._max_visits // 2:
            self._wake_producer()
        return visit

    def _wake_consumer(self) -> None:
        self._changed.notify_all()
        if self._consumer is not None:
            _set_in_loop(*self._consumer)
            self._consumer = None

    def _wake_producer(self) -> None:
        if self._producer is not None:
            _set_in_loop(*self._producer)
            self._producer = None


def _set_in_loop(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the loop was closed, so nothing waits in it
        loop.call_soon_threadsafe(event.set)

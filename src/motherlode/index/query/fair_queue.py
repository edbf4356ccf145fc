"""A bounded queue in which clients wait in turn: a client with many requests does not delay the others.

A slot that becomes free goes to the client whose turn is the longest ago, not to the oldest request. If the queue is
full, the client with the most waiting requests loses its last one.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar

CLIENT: ContextVar[str] = ContextVar("CLIENT", default="")
"""The client for which the current task works: the IP address of a request; "" for the program itself."""
_MAX_REMEMBERED_CLIENTS = 10_000
_PACE_WEIGHT = 0.1
"""Weight of the last request in the mean time for which a slot is held."""


class QueueFullError(Exception):
    """Too many requests wait."""


class FairQueue:
    """Slots for requests, and the requests that wait for one, by client."""

    def __init__(self, slots: int, *, max_waiting: int) -> None:
        self._slots = slots
        self._free = slots
        self._max_waiting = max_waiting
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """The requests of each client that waits, in the order of their arrival."""
        self._turns = 0
        self._last_turns: dict[str, int] = {}
        """The number of the last turn of each client, the oldest first."""
        self._mean_seconds = 0.0
        """Mean time for which a slot is held, with more weight on the last requests."""

    def __len__(self) -> int:
        """Return the number of waiting requests."""
        return sum(map(len, self._waiting.values()))

    @property
    def seconds_to_wait(self) -> int:
        """Whole seconds, at least one, in which all waiting requests would get a slot at the pace of the last ones."""
        return max(1, math.ceil(len(self) * self._mean_seconds / self._slots))

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold a slot, after waiting for the turn of the client (`CLIENT`). QueueFullError if too many wait."""
        await self._take(CLIENT.get())
        began = time.monotonic()
        try:
            yield
        finally:
            self._mean_seconds += _PACE_WEIGHT * (time.monotonic() - began - self._mean_seconds)
            self._release()

    async def _take(self, client: str) -> None:
        if self._free:
            self._free -= 1
            self._remember_turn(client)
            return
        self._make_room(client)
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._release()  # the slot was given to this request before it was cancelled
            else:
                self._forget(client, turn)
            raise

    def _make_room(self, client: str) -> None:
        """Refuse the last request of the client with the most requests if the queue is full."""
        if len(self) < self._max_waiting:
            return
        most = max(self._waiting, key=lambda name: len(self._waiting[name]), default=client)
        if len(self._waiting.get(most, ())) <= len(self._waiting.get(client, ())) + 1:
            raise QueueFullError
        last = self._waiting[most][-1]
        self._forget(most, last)
        last.set_exception(QueueFullError())

    def _forget(self, client: str, turn: asyncio.Future[None]) -> None:
        requests = self._waiting.get(client)
        if requests is not None:
            with suppress(ValueError):
                requests.remove(turn)
            if not requests:
                del self._waiting[client]

    def _release(self) -> None:
        """Give the slot to the waiting client whose last turn is the longest ago."""
        while self._waiting:
            client = min(self._waiting, key=lambda name: self._last_turns.get(name, 0))
            turn = self._waiting[client][0]
            self._forget(client, turn)
            if not turn.done():
                self._remember_turn(client)
                turn.set_result(None)
                return
        self._free += 1

    def _remember_turn(self, client: str) -> None:
        self._turns += 1
        self._last_turns.pop(client, None)
        self._last_turns[client] = self._turns
        if len(self._last_turns) > _MAX_REMEMBERED_CLIENTS:
            del self._last_turns[next(iter(self._last_turns))]

"""The pool: connections that are kept for the next question to the same place."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from motherlode.fetch.connecting import Connector, Place, Proxy
from motherlode.fetch.descriptors import most_resting
from motherlode.fetch.guard import AddressGuard
from motherlode.fetch.trouble import TOO_LATE, Trouble
from motherlode.fetch.trust import Trust
from motherlode.fetch.wire import Question, Wire
from motherlode.model import FailureKind

REST_SECONDS = 15.0
"""How long a connection waits for its next question."""
RESTING_MOST = 1024
"""Connections that wait, where the system gives enough descriptors. Those that have waited longest are closed."""
_ENDED = frozenset({FailureKind.RESET, FailureKind.TLS})
"""What is said of a connection that was lost. On one that was kept, an alert of TLS is no more than that."""
_SWEEP_SECONDS = 1.0
_FAREWELL_SECONDS = 2.0


class Connections:
    """Asks over a connection that is there, or over a new one. No connection is used again in doubt."""

    def __init__(
        self, guard: AddressGuard, trust: Trust, *, proxy: Proxy | None, connect: float, silence: float
    ) -> None:
        self._connector = Connector(
            guard, trust, proxy=proxy, seconds=connect, make=lambda: Wire(silence=silence, keeper=self)
        )
        self._wires: set[Wire] = set()
        """All that are open."""
        self._idle: dict[Place, list[Wire]] = {}
        self._resting: dict[Wire, tuple[Place, float]] = {}
        """The idle ones and since when they are, longest first."""
        self._sweeper: asyncio.TimerHandle | None = None
        self._all_lost: asyncio.Event | None = None

    async def ask(self, place: Place, question: Question) -> Trouble | None:
        """None once the receiver has its answer, or why it has none.

        A server may end a connection that was kept just as it is used again. Where no byte came, it has not begun to
        answer, and the question is asked once more, over a new connection (RFC 9112, 9.3.1). One that may not be
        repeated gets a new connection from the start.
        """
        kept = self._take(place) if question.repeatable else None
        if kept is not None:
            trouble = await self._ask_over(kept, place, question)
            if trouble is TOO_LATE and not kept.was_answered:  # on a new one, somebody has let us in
                return trouble._replace(silent=True)
            if trouble is None or trouble.kind not in _ENDED or kept.was_answered:
                return trouble
        opened = await self._connector.open(place, deadline=question.deadline)
        return opened if isinstance(opened, Trouble) else await self._ask_over(opened, place, question)

    async def close(self) -> None:
        """End all connections, and wait until they are gone."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        if not self._wires:
            return
        self._all_lost = asyncio.Event()
        for wire in list(self._wires):
            wire.abort()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._all_lost.wait(), _FAREWELL_SECONDS)

    async def _ask_over(self, wire: Wire, place: Place, question: Question) -> Trouble | None:
        try:
            trouble = await wire.ask(question)
        except asyncio.CancelledError:
            wire.abort()
            raise
        if wire.reusable:
            self._keep(wire, place)
        return trouble

    def _take(self, place: Place) -> Wire | None:
        """The connection to a place that was used last: it is the least likely to have been closed."""
        idle = self._idle.get(place)
        if not idle:
            return None
        wire = idle[-1]
        self._forget(wire)
        return wire if wire.reusable else self._take(place)

    def _keep(self, wire: Wire, place: Place) -> None:
        loop = asyncio.get_running_loop()
        self._idle.setdefault(place, []).append(wire)
        self._resting[wire] = place, loop.time()
        if len(self._resting) > most_resting(RESTING_MOST):
            self._close(next(iter(self._resting)))
        if self._sweeper is None:
            self._sweeper = loop.call_later(_SWEEP_SECONDS, self._sweep)

    def _sweep(self) -> None:
        """Close those that have rested for too long."""
        loop = asyncio.get_running_loop()
        before = loop.time() - REST_SECONDS
        while self._resting:
            wire, (_, since) = next(iter(self._resting.items()))
            if since > before:
                break
            self._close(wire)
        self._sweeper = loop.call_later(_SWEEP_SECONDS, self._sweep) if self._resting else None

    def _close(self, wire: Wire) -> None:
        """It has rested long enough."""
        self._forget(wire)
        wire.abort()

    def _forget(self, wire: Wire) -> None:
        """It does not rest any more."""
        place, _ = self._resting.pop(wire)
        idle = self._idle[place]
        idle.remove(wire)
        if not idle:
            del self._idle[place]

    # What follows is called by the wires.

    def made(self, wire: Wire) -> None:
        self._wires.add(wire)

    def lost(self, wire: Wire) -> None:
        self._wires.discard(wire)
        if wire in self._resting:
            self._forget(wire)
        if self._all_lost is not None and not self._wires:
            self._all_lost.set()

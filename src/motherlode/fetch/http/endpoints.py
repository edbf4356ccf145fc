"""Requests that are ready to be sent, their endpoints, and the race between endpoints of one host (RFC 8305)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple

from motherlode.fetch.http.errors import FetchError
from motherlode.fetch.http.parser import Receiver
from motherlode.www.urls import Origin

HEAD_START_SECONDS = 0.25
"""Seconds after which the next endpoint is tried while the attempts before it go on (RFC 8305, section 5)."""

OnTcp = Callable[[], object]
"""Called when TCP is connected, before TLS begins."""


class Endpoint(NamedTuple):
    """The other end of a connection. Requests may share a connection only if all fields are equal."""

    origin: Origin
    address: str
    """IP address. Empty behind a proxy, which resolves the name itself."""
    port: int


class PendingRequest(NamedTuple):
    """A serialized request that is ready to be sent."""

    data: bytes
    receiver: Receiver
    deadline: float
    """Time of the event loop by which the whole response must have arrived."""
    head_only: bool
    """True if the response has no body, because the request is a HEAD."""
    is_repeatable: bool
    """True if the request is idempotent and may be sent twice (RFC 9110, 9.2.2)."""
    wire: bytearray | None = None
    """Receives all bytes of the response as they arrive. None if they are not archived."""
    alternatives: Sequence[Endpoint] = ()
    """Endpoints at further addresses of the host, in their order. They are tried if the first is slow or fails."""


class RaceResult(NamedTuple):
    """The end of a race."""

    winner: int
    """Number of the endpoint that connected. 0, the first, if none did."""
    error: FetchError | None
    """The error of the first endpoint. None if it or another one connected."""
    begun: int
    """Number of endpoints that were tried."""


async def race(
    open_connection: Callable[[Endpoint, OnTcp], Coroutine[Any, Any, FetchError | None]],
    endpoints: Sequence[Endpoint],
    *,
    head_start: float = HEAD_START_SECONDS,
) -> RaceResult:
    """Try endpoints one after the other until one connects, and cancel the other attempts.

    An attempt begins when the one before it has failed or has lasted for `head_start` seconds. The first endpoint wins
    as soon as TCP is connected, because its politeness delay is the one that has passed. A long TLS handshake does not
    count against it.
    """
    connected: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    tasks: list[asyncio.Task[FetchError | None]] = []

    def report_tcp() -> None:
        if not connected.done():
            connected.set_result(None)

    try:
        while True:
            if len(tasks) < len(endpoints):
                attempt = open_connection(endpoints[len(tasks)], object if tasks else report_tcp)
                tasks.append(asyncio.create_task(attempt))
            running: list[asyncio.Future[Any]] = [connected, *(task for task in tasks if not task.done())]
            seconds = head_start if len(tasks) < len(endpoints) else None
            await asyncio.wait(running, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if connected.done():
                return RaceResult(0, await tasks[0], len(tasks))
            for number, task in enumerate(tasks):
                if task.done() and task.result() is None:
                    return RaceResult(number, None, len(tasks))
            if len(tasks) == len(endpoints) and all(task.done() for task in tasks):
                return RaceResult(0, _combine([error for task in tasks if (error := task.result())]), len(tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _combine(errors: list[FetchError]) -> FetchError:
    """Return the error of the first endpoint. The network works if any endpoint sent a packet back."""
    return errors[0]._replace(silent=all(error.silent for error in errors))

"""The live stream: parts of the overview as server-sent events, rendered once for all clients.

While at least one client listens, the state is read once per second. A client gets all parts when it connects, and then
those that have changed. A browser reconnects by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

_LOG = logging.getLogger("motherlode.serve")
_PERIOD_SECONDS = 1.0
_HEARTBEAT_SECONDS = 15.0
"""Seconds without an event after which a comment is sent, so that lost connections are noticed."""
_RECONNECT_MILLISECONDS = 2_000
MAX_CLIENTS = 200
Parts = Mapping[str, str]
"""HTML by the name of the part."""


class LiveFeed:
    """Renders the parts and sends them to all clients."""

    def __init__(self, render: Callable[[], Awaitable[Parts]]) -> None:
        self._render = render
        self._parts: dict[str, str] = {}
        self._clients: set[asyncio.Queue[bytes | None]] = set()
        self._task: asyncio.Task[None] | None = None

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Send events until the client disconnects or the server ends."""
        if len(self._clients) >= MAX_CLIENTS:
            return web.Response(status=503, text="too many clients of the live stream\n")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        await response.prepare(request)
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=20)
        self._clients.add(queue)
        try:
            await response.write(f"retry: {_RECONNECT_MILLISECONDS}\n\n".encode() + _encode(self._parts))
            self._start()
            await _send(queue, response)
        except ConnectionError:
            pass
        finally:
            self._clients.discard(queue)
        return response

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        """Render and send what has changed, until no client is left."""
        while self._clients:
            try:
                parts = await self._render()
            except Exception:  # noqa: BLE001 - it is logged, and the next attempt may succeed
                _LOG.exception("the overview cannot be rendered")
                parts = {}
            changed = {name: text for name, text in parts.items() if self._parts.get(name) != text}
            self._parts |= changed
            if changed:
                self._broadcast(_encode(changed))
            await asyncio.sleep(_PERIOD_SECONDS)

    def _broadcast(self, event: bytes | None) -> None:
        for queue in list(self._clients):
            try:
                queue.put_nowait(event)
            except asyncio.QueueFull:  # the client reads too slowly: it reconnects and gets all parts
                self._clients.discard(queue)
                queue.get_nowait()
                queue.put_nowait(None)

    async def close(self) -> None:
        """End all streams."""
        self._broadcast(None)
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task


async def _send(queue: asyncio.Queue[bytes | None], response: web.StreamResponse) -> None:
    """Send events of the queue until it gives None."""
    while True:
        try:
            event = await asyncio.wait_for(queue.get(), _HEARTBEAT_SECONDS)
        except TimeoutError:
            event = b": heartbeat\n\n"
        if event is None:
            return
        await response.write(event)


def _encode(parts: Parts) -> bytes:
    """Return an event with the parts as JSON, which has no line breaks; nothing if there are no parts."""
    return f"event: parts\ndata: {json.dumps(parts)}\n\n".encode() if parts else b""

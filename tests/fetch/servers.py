"""Servers on loopback that send exactly the given bytes."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from socket import SO_LINGER, SOL_SOCKET

Script = Callable[[asyncio.StreamWriter], Awaitable[None]]


def answer(body: bytes = b"", *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """Return a response with a Content-Length, which is correct unless `length` is given."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body) if length is None else length}"]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


@dataclass
class RawServer:
    """Sends a given response per path, else a 404. Closes each connection after one response."""

    routes: dict[str, bytes | Script] = field(default_factory=dict)
    heads: list[str] = field(default_factory=list)
    """The heads of the received requests."""
    port: int = 0
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.heads.append(head)
            scripted = self.routes.get(head.split()[1], answer(b"nothing here", status="404 Not Found"))
            if isinstance(scripted, bytes):
                writer.write(scripted)
                await writer.drain()
            else:
                await scripted(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client closed the connection, which some tests check
        finally:
            self._tasks.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()


def endless(head: bytes, piece: bytes, *, pause: float = 0.0) -> Script:
    """Return a script that sends without end."""

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return send


def hang_up_by_reset(writer: asyncio.StreamWriter) -> None:
    """Reset a connection, so that the client sees an error and not a normal close."""
    socket = writer.get_extra_info("socket")
    socket.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def then_reset(start: bytes) -> Script:
    """Return a script that sends `start` and resets the connection."""

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await writer.drain()
        await asyncio.sleep(0.02)
        hang_up_by_reset(writer)

    return send


@dataclass
class LastingServer:
    """Keeps connections open and calls `reply` for each request."""

    reply: Callable[[str, int, asyncio.StreamWriter], Awaitable[None]]
    """Called with the path of a request, the number of earlier requests on its connection, and the stream writer."""
    connections: int = 0
    heads: list[str] = field(default_factory=list)
    port: int = 0
    tls: ssl.SSLContext | None = None
    address: str = "127.0.0.1"
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def __aenter__(self) -> LastingServer:
        self._server = await asyncio.start_server(self._connected, self.address, 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def open_connections(self) -> int:
        return len(self._tasks)

    def url(self, path: str) -> str:
        return f"{'https' if self.tls else 'http'}://{self.address}:{self.port}{path}"

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        before = 0
        # uvloop raises RuntimeError for a closed connection.
        with contextlib.suppress(ConnectionError, RuntimeError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while not writer.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                self.heads.append(head)
                await self.reply(head.split()[1], before, writer)
                before += 1
        self._tasks.discard(task)
        writer.close()
        with contextlib.suppress(ConnectionError, TimeoutError):
            await writer.wait_closed()

"""Tunnels through a proxy: the connection to the proxy, until the proxy has connected it to the host."""

from __future__ import annotations

import asyncio
from typing import cast

from motherlode.fetch.http.errors import FetchError, describe_error
from motherlode.fetch.http.parser import ResponseParser
from motherlode.model import FailureKind

_CLOSED = FetchError(FailureKind.RESET, "the proxy closed the connection")


class Tunnel(asyncio.Protocol):
    """A connection to the proxy until it confirms the tunnel to the host (RFC 9110, 9.3.6)."""

    is_slow = False

    def __init__(self, request: bytes) -> None:
        self.peer = ""
        self.transport: asyncio.Transport
        self._request = request
        self.opened: asyncio.Future[FetchError | None] = asyncio.get_running_loop().create_future()
        """None if the tunnel is open, or why the proxy did not open it."""
        self._status = 0
        self._parser = ResponseParser()
        self._parser.begin(self, head_only=True)

    async def hand_over(self, protocol: asyncio.Protocol) -> FetchError | None:
        """Wait for the tunnel and give its transport to `protocol`, or return why there is no tunnel."""
        error: FetchError | None = _CLOSED
        try:
            error = await self.opened
            if error is None and self.transport.is_closing():
                error = _CLOSED
        finally:
            if error is not None:
                self.transport.abort()
        if error is None:
            self.transport.set_protocol(protocol)
            protocol.connection_made(self.transport)
        return error

    def receive_head(self, status: int, headers: dict[str, str]) -> bool:
        self._status = status
        return False

    def receive_body(self, data: bytes) -> bool:
        return False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        problem = self._parser.feed(data)
        if problem:
            self._finish(FetchError(FailureKind.PROTOCOL, problem))
        elif self._parser.is_done:
            # It is always a failure to connect. A 404 of the proxy, for example, says nothing about the host.
            is_open = 200 <= self._status < 300
            message = f"the proxy answered {self._status}"
            self._finish(None if is_open else FetchError(FailureKind.CONNECT, message))

    def connection_lost(self, error: Exception | None) -> None:
        self._finish(_CLOSED if error is None else FetchError(FailureKind.RESET, describe_error(error)))

    def _finish(self, error: FetchError | None) -> None:
        if not self.opened.done():
            self.opened.set_result(error)

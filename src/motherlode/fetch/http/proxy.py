"""The proxy's answer to CONNECT: after its head the connection belongs to somebody else."""

from __future__ import annotations

import asyncio
from typing import cast

from motherlode.fetch.http.errors import FetchError, described
from motherlode.fetch.http.parser import ResponseParser
from motherlode.model import FailureKind

_CLOSED = FetchError(FailureKind.RESET, "the proxy closed the connection")


class Tunnel(asyncio.Protocol):
    """A connection until the proxy says that it leads to the host (RFC 9110, 9.3.6)."""

    def __init__(self, request: bytes) -> None:
        self.peer = ""
        self.transport: asyncio.Transport
        self._request = request
        self.opened: asyncio.Future[FetchError | None] = asyncio.get_running_loop().create_future()
        """None where it leads there, or why it does not."""
        self._status = 0
        self._parser = ResponseParser()
        self._parser.begin(self, head_only=True)

    async def led_to(self, protocol: asyncio.Protocol) -> FetchError | None:
        """Give the connection to the protocol that talks with the host, or say why that is not met."""
        trouble: FetchError | None = _CLOSED
        try:
            trouble = await self.opened
            if trouble is None and self.transport.is_closing():
                trouble = _CLOSED
        finally:
            if trouble is not None:
                self.transport.abort()
        if trouble is None:
            self.transport.set_protocol(protocol)
            protocol.connection_made(self.transport)
        return trouble

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(self._request)

    def head(self, status: int, headers: dict[str, str]) -> bool:
        self._status = status
        return False

    def piece(self, data: bytes) -> bool:
        return False

    def data_received(self, data: bytes) -> None:
        wrong = self._parser.feed(data)
        if wrong:
            self._end(FetchError(FailureKind.PROTOCOL, wrong))
        elif self._parser.done:
            self._end(_refusal(self._status))

    def connection_lost(self, error: Exception | None) -> None:
        self._end(_CLOSED if error is None else FetchError(FailureKind.RESET, described(error)))

    def _end(self, trouble: FetchError | None) -> None:
        if not self.opened.done():
            self.opened.set_result(trouble)


def _refusal(status: int) -> FetchError | None:
    """Whatever a proxy means by it, there is no connection. What it forbids is not what the host forbids: a robots.txt
    that it does not let us see is not one that is missing."""
    return None if 200 <= status < 300 else FetchError(FailureKind.CONNECT, f"the proxy answered {status}")

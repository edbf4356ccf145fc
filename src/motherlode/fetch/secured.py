"""A connection under TLS: a protocol to the event loop, and a connection to the protocol above it."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, cast

from motherlode.fetch.seal import Seal

_STEP = 1 << 16
_SHORT_STEP = 1 << 14
"""Sealed bytes that are opened at a time. The steps are short where little is inside: it may take long to see that."""


class Secured(asyncio.Protocol):
    """Carries what the protocol above says and hears. That is told of the connection once the handshake is done."""

    def __init__(self, above: asyncio.Protocol, seal: Seal) -> None:
        self.above = above
        self.shaken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the handshake is; OSError where it fails."""
        self.is_over = False
        self._seal = seal
        self._transport: asyncio.Transport
        self._waiting = b""
        """Sealed bytes whose turn comes later. Meanwhile none are read."""
        self._step = _SHORT_STEP

    def put(self, data: bytes) -> None:
        """Send what the protocol above says."""
        try:
            self._seal.put(data)
        except ssl.SSLError as error:
            self._end(error)
        else:
            self._send()

    def _send(self) -> None:
        data = self._seal.to_send()
        if data:
            self._transport.write(data)

    def _open_all(self, data: bytes) -> None:
        """Open step by step. Where one gave little, others have their turn before the next."""
        rest = memoryview(data)
        while rest and not self._is_closing:
            step, rest = rest[: self._step], rest[self._step :]
            gives = self._open(step) > len(step) // 2
            self._step = _STEP if gives else _SHORT_STEP
            if rest and not gives and not self._is_closing:
                self._waiting = bytes(rest)
                self._transport.pause_reading()
                asyncio.get_running_loop().call_soon(self._open_waiting)
                return

    def _open_waiting(self) -> None:
        data, self._waiting = self._waiting, b""
        if not self._is_closing:
            self._transport.resume_reading()
            self._open_all(data)

    @property
    def _is_closing(self) -> bool:
        return self.is_over or self._transport.is_closing()

    def _open(self, sealed: memoryview) -> int:
        """How many bytes were inside."""
        seal = self._seal
        plain = seal.opened(sealed)
        self._send()
        if seal.is_made and not self.shaken.done():
            self.above.connection_made(_Above(self, self._transport))
            self.shaken.set_result(None)
        if plain:
            self.above.data_received(plain)
        if seal.error is not None:
            self._end(seal.error)
        elif seal.is_ended:
            self.above.eof_received()
            self._end(None)
        return len(plain)

    def _end(self, error: OSError | None) -> None:
        """Nothing more comes."""
        if self.is_over:
            return
        self.is_over = True
        self._waiting = b""
        if self._seal.is_made:
            self._transport.abort()
            self.above.connection_lost(error)
            return
        self._transport.close()  # and not at once: the server should hear what is wrong with it
        if not self.shaken.done():
            self.shaken.set_exception(error or ConnectionAbortedError("the server ended the TLS handshake"))

    # What follows is called by the event loop, or by a connection like this one.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's own are no subclass of it
        self._seal.begin()
        self._send()

    def data_received(self, data: bytes) -> None:
        if self._waiting:
            self._waiting += data
        else:
            self._open_all(data)

    def connection_lost(self, error: Exception | None) -> None:
        self._end(error if error is None or isinstance(error, OSError) else OSError(str(error)))


class _Above(asyncio.Transport):
    """The connection as the protocol above sees it."""

    def __init__(self, secured: Secured, below: asyncio.Transport) -> None:
        super().__init__()
        self._secured = secured
        self._below = below

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._secured.above = cast(asyncio.Protocol, protocol)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._secured.put(bytes(data))

    def abort(self) -> None:
        self._below.abort()

    def close(self) -> None:
        self._below.close()

    def is_closing(self) -> bool:
        return self._secured.is_over or self._below.is_closing()

    def pause_reading(self) -> None:
        """Not needed: what comes at a time is little."""

    def resume_reading(self) -> None:
        """As above."""

    def get_write_buffer_size(self) -> int:
        return self._below.get_write_buffer_size()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._below.get_extra_info(name, default)

"""Connections of the HTTP client: one connection, the connector and the pool."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from contextlib import suppress
from typing import Protocol, cast

from motherlode.fetch.guard import AddressGuard
from motherlode.fetch.http import errors
from motherlode.fetch.http.descriptor_limits import max_idle_connections
from motherlode.fetch.http.endpoints import Endpoint, OnTcp, PendingRequest, race
from motherlode.fetch.http.errors import TIMED_OUT, FetchError
from motherlode.fetch.http.intermediates import MISSING_ISSUER_CODES, CertificateVisitor, Intermediates
from motherlode.fetch.http.parser import Receiver, ResponseParser
from motherlode.fetch.http.proxy import Proxy, ProxyChooser
from motherlode.fetch.http.tls import StreamFactory, TlsContexts, TlsProtocol, TlsStream
from motherlode.model import FailureKind
from motherlode.www.urls import Origin

_TIMER_TOLERANCE_SECONDS = 0.002
"""Seconds by which an event loop may call a timer too early."""
_BULK_READ_BYTES = 1 << 17
"""If one read returns this much, the server most likely has more to send."""
_LINGER_ZERO = struct.pack("ii", 1, 0)
"""SO_LINGER on, zero seconds: closing the socket discards unsent data."""
_STEP_BYTES = 1 << 16
_SLOW_STEP_BYTES = 1 << 13
"""Bytes that are parsed and decoded before other connections are served. The second value is for slow decoding."""
_CONNECTION_CLOSED = FetchError(FailureKind.RESET, "the server closed the connection")


class ConnectionOwner(Protocol):
    """Tracks the open connections."""

    def connection_opened(self, connection: Connection) -> None: ...

    def connection_closed(self, connection: Connection) -> None: ...


class Connection(asyncio.Protocol):
    """An HTTP/1.1 connection: sends one request after the other and enforces the timeouts of each."""

    def __init__(self, *, read_timeout: float, owner: ConnectionOwner, min_rate: float = 0.0) -> None:
        self.is_reusable = False
        """True if another request may be sent. False while a response is awaited."""
        self.has_response = False
        """True if at least one byte of the response to the last request has arrived."""
        self._read_timeout = read_timeout
        """Seconds without a byte after which the request fails."""
        self._min_rate = min_rate
        """Minimum bytes per second of a response, averaged over `read_timeout` seconds. A slower request fails."""
        self._rate_since, self._rate_bytes = 0.0, 0
        """Start of the current period of `read_timeout` seconds, and the bytes that came in it."""
        self._unparsed = b""
        """Received bytes for the next iterations of the event loop. Meanwhile the transport does not read."""
        self._loss: tuple[Exception | None] | None = None
        """Set if the connection was lost while received bytes were unparsed: the exception, None for a normal end."""
        self._owner = owner
        self._loop = asyncio.get_running_loop()
        self._parser = ResponseParser()
        self._transport: asyncio.Transport | None = None
        self._peer = ""
        self._waiter: asyncio.Future[FetchError | None] | None = None
        self._wire: bytearray | None = None
        self._receiver: Receiver | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._last_activity = 0.0
        self._deadline = 0.0
        self._got_eof = False
        """True if the server closed the connection properly: under TLS with close_notify, which cannot be forged."""

    def send(self, request: PendingRequest) -> asyncio.Future[FetchError | None]:
        """Send a request. The future yields None when the receiver has the response, or the error."""
        self._waiter = waiter = self._loop.create_future()
        self.is_reusable = self.has_response = False
        if self._transport is None or self._transport.is_closing():
            self._finish(_CONNECTION_CLOSED)
            return waiter
        request.receiver.peer = self._peer
        self._parser.begin(request.receiver, head_only=request.head_only)
        self._wire = request.wire
        self._receiver = request.receiver
        self._last_activity, self._deadline = self._loop.time(), request.deadline
        due = min(self._deadline, self._last_activity + self._read_timeout)
        self._timer = self._loop.call_at(due, self._check_timeouts)
        self._transport.write(request.data)
        return waiter

    def abort(self) -> None:
        """Close the connection at once, even if a request is in flight."""
        self.is_reusable = False
        if self._transport is not None:
            if self._waiter is not None and not self.has_response:
                self._discard_unsent()
            self._transport.abort()

    def _discard_unsent(self) -> None:
        """Make the kernel drop the unsent bytes of a request. Otherwise it sends them when the network is back."""
        sock = None if self._transport is None else self._transport.get_extra_info("socket")
        if sock is not None:
            with suppress(OSError):  # the socket is closed already
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)

    def _check_timeouts(self) -> None:
        """Fail the request if a limit has passed, else set the timer again. Incoming data does not move the timer."""
        now = self._loop.time()
        if self._transport is not None and self._transport.get_write_buffer_size():
            self._last_activity = now  # the server is still reading the request
        due = min(self._deadline, self._last_activity + self._read_timeout)
        error = TIMED_OUT if due - now < _TIMER_TOLERANCE_SECONDS else self._check_rate(now)
        if error is not None:
            self._finish(error)
            return
        if self.has_response:
            due = min(due, self._rate_since + self._read_timeout)
        self._timer = self._loop.call_at(due, self._check_timeouts)

    def _check_rate(self, now: float) -> FetchError | None:
        """Return an error if the last period has brought too few bytes. Start a new period if it has ended."""
        seconds = now - self._rate_since
        if not self.has_response or self._read_timeout - seconds > _TIMER_TOLERANCE_SECONDS:
            return None
        rate = self._rate_bytes / seconds
        self._rate_since, self._rate_bytes = now, 0
        return errors.too_slow(rate, self._min_rate) if rate < self._min_rate else None

    def _pause_reading(self) -> None:
        """Serve other connections first. If a server sends without pause, uvloop reads 32 times in a row."""
        assert self._transport is not None  # data came over it
        self._transport.pause_reading()
        self._loop.call_soon(self._resume_reading)

    def _resume_reading(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def _finish(self, error: FetchError | None) -> None:
        if error is not None and not self.has_response:
            self._discard_unsent()
        waiter, self._waiter = self._waiter, None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        transport = self._transport
        if error is None and self._parser.is_reusable and transport is not None and not transport.is_closing():
            self.is_reusable = not transport.get_write_buffer_size()
        self._parser.end()
        self._wire = self._receiver = None
        if not self.is_reusable:
            self.abort()
        if waiter is not None and not waiter.done():
            waiter.set_result(error)

    # Callbacks of the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports are no subclass of it
        peer = transport.get_extra_info("peername")
        self._peer = str(peer[0]) if peer else ""
        self._owner.connection_opened(self)

    def data_received(self, data: bytes) -> None:
        if self._waiter is None:
            self.abort()  # no request is in flight: the data could be mistaken for the next response
            return
        self._last_activity = now = self._loop.time()
        if not self.has_response:
            self._rate_since, self._rate_bytes = now, 0
        self._rate_bytes += len(data)
        self.has_response = True
        if self._wire is not None:
            self._wire += data
        if self._unparsed:
            self._unparsed += data
            return
        self._parse(data)
        if self._waiter is not None and not self._unparsed and len(data) >= _BULK_READ_BYTES:
            self._pause_reading()

    def _parse(self, data: bytes) -> None:
        """Parse received bytes in steps. If decoding is slow, other connections are served after each step."""
        receiver, offset = self._receiver, 0
        assert receiver is not None  # a request is in flight
        while offset < len(data) and self._waiter is not None:
            step = _SLOW_STEP_BYTES if receiver.is_slow else _STEP_BYTES
            problem = self._parser.feed(data[offset : offset + step])
            offset += step
            if problem:
                self._finish(FetchError(FailureKind.PROTOCOL, problem))
            elif self._parser.is_done:
                self._finish(None)
                if offset < len(data):
                    self.abort()  # bytes after a response are no part of it (RFC 9112, 6.3)
            elif receiver.is_slow and offset < len(data):
                self._unparsed = data[offset:]
                if self._transport is not None:
                    self._transport.pause_reading()
                self._loop.call_soon(self._parse_rest)
                return

    def _parse_rest(self) -> None:
        data, self._unparsed = self._unparsed, b""
        if data and self._waiter is not None:
            self._parse(data)
        if self._unparsed:
            return
        self._resume_reading()
        if self._loss is not None:
            self.connection_lost(self._loss[0])

    def eof_received(self) -> None:
        self.is_reusable = False
        self._got_eof = True

    def connection_lost(self, error: Exception | None) -> None:
        if self._unparsed and self._waiter is not None:
            self._loss = (error,)  # the bytes that came before are parsed first
            return
        self._transport = None
        self.is_reusable = False
        if self._waiter is not None:
            self._finish(self._loss_error(error))
        self._owner.connection_closed(self)

    def _loss_error(self, error: Exception | None) -> FetchError | None:
        """Return why the response is incomplete, or None if the end of the connection ends the body."""
        if isinstance(error, ssl.SSLError) and not self.has_response:
            return errors.tls_error(error)
        if error is not None:
            return FetchError(FailureKind.RESET, errors.describe_error(error))
        if not (self.has_response and self._parser.is_ended_by_close):
            return _CONNECTION_CLOSED
        return None if self._got_eof else errors.CLOSED_WITHOUT_NOTIFY


class Connector:
    """The only code that opens connections: directly, behind the address guard, or through the user's proxy."""

    def __init__(
        self,
        guard: AddressGuard,
        tls: TlsContexts,
        *,
        proxy: ProxyChooser | None,
        timeout: float,
        intermediates: Intermediates | None = None,
    ) -> None:
        self._guard = guard
        self._tls = tls
        self._proxy_for = proxy or (lambda origin: None)
        self._timeout = timeout
        self._intermediates = intermediates
        """Finds certificates that servers leave out. None if they are not looked for."""

    async def open(
        self, connection: Connection, endpoint: Endpoint, *, deadline: float, on_tcp: OnTcp = object
    ) -> FetchError | None:
        """Connect to an endpoint. Return None if that succeeds, or the error."""
        try:
            return await self._open(connection, endpoint, self._tls.new_stream, deadline, on_tcp)
        except (OSError, ValueError) as raised:
            error = self._connect_error(raised, endpoint)
            if getattr(raised, "verify_code", 0) not in MISSING_ISSUER_CODES:
                return error
        try:
            problem = await self._complete_chain(endpoint, deadline)
            if problem:
                return error._replace(detail=f"{error.detail}: {problem}")
            return await self._open(connection, endpoint, self._tls.new_stream, deadline)
        except (OSError, ValueError) as raised:
            return self._connect_error(raised, endpoint)

    def _connect_error(self, raised: OSError | ValueError, endpoint: Endpoint) -> FetchError:
        error = errors.connect_error(raised)
        is_proxy_down = self._proxy_for(endpoint.origin) is not None and error.kind is FailureKind.CONNECT
        return error._replace(silent=True) if is_proxy_down else error  # the proxy refused, not the host

    async def _open(
        self,
        protocol: asyncio.Protocol,
        endpoint: Endpoint,
        new_stream: StreamFactory,
        deadline: float,
        on_tcp: OnTcp = object,
    ) -> FetchError | None:
        async with asyncio.timeout_at(min(deadline, asyncio.get_running_loop().time() + self._timeout)):
            if (proxy := self._proxy_for(endpoint.origin)) is None:
                return await self._open_directly(protocol, endpoint, new_stream, on_tcp)
            return await self._open_via_proxy(protocol, endpoint, proxy, new_stream)

    async def _complete_chain(self, endpoint: Endpoint, deadline: float) -> str:
        """Find the certificate that a server leaves out. Return why it cannot be found, or "" if it is there now."""
        if self._intermediates is None:
            return "intermediate certificates are not looked for"
        visitor = CertificateVisitor()
        streams: list[TlsStream] = []

        def new_stream(to: Origin) -> TlsStream:
            streams.append(self._tls.new_unverified_stream(to))
            return streams[-1]

        error = await self._open(visitor, endpoint, new_stream, deadline)
        if visitor.transport is not None:
            visitor.transport.abort()
        if error is not None:
            return error.detail
        async with asyncio.timeout_at(deadline):
            found = await self._intermediates.context_for(streams[-1].certificate)
        if isinstance(found, str):
            return found
        self._tls.complete(endpoint.origin, found)
        return ""

    async def _open_directly(
        self, protocol: asyncio.Protocol, endpoint: Endpoint, new_stream: StreamFactory, on_tcp: OnTcp
    ) -> FetchError | None:
        """Connect to the IP address. The guard refuses anything else, so no name is resolved behind its back."""
        if reason := self._guard.refusal(endpoint.address):
            return errors.guard_refusal(reason)
        await _connect(protocol, endpoint.origin, (endpoint.address, endpoint.port), new_stream, on_tcp)
        return None

    async def _open_via_proxy(
        self, protocol: asyncio.Protocol, endpoint: Endpoint, proxy: Proxy, new_stream: StreamFactory
    ) -> FetchError | None:
        """Connect to the proxy, and for https or SOCKS through a tunnel to the host."""
        to, is_https = proxy.origin, endpoint.origin.is_https
        if not is_https and not proxy.is_socks:
            await _connect(protocol, to, (to.host, to.port), self._tls.new_stream)
            return None
        tls = TlsProtocol(protocol, new_stream(endpoint.origin)) if is_https else None
        tunnel = proxy.new_tunnel(endpoint.origin)
        await _connect(tunnel, to, (to.host, to.port), self._tls.new_stream)
        error = await tunnel.hand_over(protocol if tls is None else tls)
        if error is None and tls is not None:
            await tls.wait_established(tunnel.transport)
        return error


async def _connect(
    protocol: asyncio.Protocol, to: Origin, at: tuple[str, int], new_stream: StreamFactory, on_tcp: OnTcp = object
) -> None:
    """Open a TCP connection, and a TLS session over it if the origin has https."""
    tls = TlsProtocol(protocol, new_stream(to)) if to.is_https else None
    transport, _ = await asyncio.get_running_loop().create_connection(lambda: tls or protocol, *at)
    on_tcp()
    if tls is not None:
        await tls.wait_established(transport)


KEEPALIVE_SECONDS = 15.0
"""An idle connection is closed after this time."""
MAX_IDLE_CONNECTIONS = 8192
"""Maximum number of idle connections, if there are enough descriptors. The longest idle ones are closed first: with
more hosts than this, which take turns, those are needed next. An idle TLS connection takes about 55 KB."""
_LOST_CONNECTION = frozenset({FailureKind.RESET, FailureKind.TLS})
"""Failures that may mean that the server has closed a kept connection, some with a TLS alert."""
_SWEEP_SECONDS = 1.0
_CLOSE_TIMEOUT_SECONDS = 2.0


class ConnectionPool:
    """Sends requests over an idle connection to the endpoint, or over a new one. Keeps idle connections for a while."""

    def __init__(self, connector: Connector, *, read_timeout: float, min_rate: float = 0.0) -> None:
        self._connector = connector
        self._read_timeout = read_timeout
        self._min_rate = min_rate
        self._max_idle = max_idle_connections(MAX_IDLE_CONNECTIONS)
        self._open: set[Connection] = set()
        """All open connections, idle ones included."""
        self._idle: dict[Endpoint, list[Connection]] = {}
        self._idle_since: dict[Connection, tuple[Endpoint, float]] = {}
        """The idle connections in the order in which they became idle, with the time."""
        self._sweeper: asyncio.TimerHandle | None = None
        self._all_closed: asyncio.Event | None = None

    async def send(self, endpoint: Endpoint, request: PendingRequest) -> FetchError | None:
        """Send a request. Return None when the receiver has the response, or the error.

        A server may close a kept connection at the moment of its next use. If no byte of a response came, the request
        is sent once more over a new connection (RFC 9112, 9.3.1). A request that may not be repeated gets a new
        connection from the start.
        """
        kept = self._take_idle(endpoint) if request.is_repeatable else None
        if kept is not None:
            error = await self._send_over(kept, endpoint, request)
            if error is TIMED_OUT and not kept.has_response:  # on a new connection, the handshake was a sign of life
                return error._replace(silent=True)
            if error is None or error.kind not in _LOST_CONNECTION or kept.has_response:
                return error
        if request.alternatives:
            return await self._send_over_fastest(endpoint, request)
        new = self._new_connection()
        error = await self._connector.open(new, endpoint, deadline=request.deadline)
        return error or await self._send_over(new, endpoint, request)

    async def _send_over_fastest(self, endpoint: Endpoint, request: PendingRequest) -> FetchError | None:
        """Send the request if the endpoint connects before the alternatives. Otherwise keep the other connection.

        The next request uses that one. It needs a lease of its own, because each address has a politeness delay.
        """
        connections: list[Connection] = []

        async def open_connection(to: Endpoint, on_tcp: OnTcp) -> FetchError | None:
            connections.append(self._new_connection())
            return await self._connector.open(connections[-1], to, deadline=request.deadline, on_tcp=on_tcp)

        result = await race(open_connection, [endpoint, *request.alternatives])
        winner = connections.pop(result.winner)
        for other in connections:
            other.abort()
        if result.winner:
            winner.is_reusable = True
            self._add_idle(winner, request.alternatives[result.winner - 1])
            return errors.NO_CONNECTION._replace(lost=result.winner - 1)
        error = result.error
        return error._replace(lost=result.begun - 1) if error else await self._send_over(winner, endpoint, request)

    def _new_connection(self) -> Connection:
        return Connection(read_timeout=self._read_timeout, owner=self, min_rate=self._min_rate)

    async def close(self) -> None:
        """Close all connections, and wait until they are closed."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        if not self._open:
            return
        self._all_closed = asyncio.Event()
        for connection in list(self._open):
            connection.abort()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._all_closed.wait(), _CLOSE_TIMEOUT_SECONDS)

    async def _send_over(
        self, connection: Connection, endpoint: Endpoint, request: PendingRequest
    ) -> FetchError | None:
        try:
            error = await connection.send(request)
        except asyncio.CancelledError:
            connection.abort()
            raise
        if connection.is_reusable:
            self._add_idle(connection, endpoint)
        return error

    def _take_idle(self, endpoint: Endpoint) -> Connection | None:
        """Return the idle connection that was used last, because the server is least likely to have closed it."""
        if not (idle := self._idle.get(endpoint)):
            return None
        connection = idle[-1]
        self._remove_idle(connection)
        return connection if connection.is_reusable else self._take_idle(endpoint)

    def _add_idle(self, connection: Connection, endpoint: Endpoint) -> None:
        loop = asyncio.get_running_loop()
        self._idle.setdefault(endpoint, []).append(connection)
        self._idle_since[connection] = endpoint, loop.time()
        if len(self._idle_since) > self._max_idle:
            self._remove_idle(oldest := next(iter(self._idle_since)))
            oldest.abort()
        if self._sweeper is None:
            self._sweeper = loop.call_later(_SWEEP_SECONDS, self._sweep)

    def _sweep(self) -> None:
        self.close_idle(KEEPALIVE_SECONDS)
        call_later = asyncio.get_running_loop().call_later
        self._sweeper = call_later(_SWEEP_SECONDS, self._sweep) if self._idle_since else None

    def close_idle(self, seconds: float = 0.0) -> None:
        """Close the connections that have been idle for this time."""
        before = asyncio.get_running_loop().time() - seconds
        while self._idle_since:
            connection, (_, since) = next(iter(self._idle_since.items()))
            if since > before:
                break
            self._remove_idle(connection)
            connection.abort()

    def _remove_idle(self, connection: Connection) -> None:
        endpoint, _ = self._idle_since.pop(connection)
        idle = self._idle[endpoint]
        idle.remove(connection)
        if not idle:
            del self._idle[endpoint]

    def connection_opened(self, connection: Connection) -> None:
        self._open.add(connection)

    def connection_closed(self, connection: Connection) -> None:
        self._open.discard(connection)
        if connection in self._idle_since:
            self._remove_idle(connection)
        if self._all_closed is not None and not self._open:
            self._all_closed.set()

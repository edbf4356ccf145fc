"""Descriptors: each connection takes one, and a system may give a process no more than 256 of them.

Where they run out, a connection fails as if nobody were there, and the host would have to answer for it.
"""

from __future__ import annotations

import asyncio
import resource
import socket
import ssl
import struct
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple, Protocol, cast
from urllib.parse import unquote, urlsplit

from motherlode.fetch.guard import AddressGuard
from motherlode.fetch.http.errors import (
    CLOSED_WITHOUT_NOTIFY,
    TIMED_OUT,
    FetchError,
    connect_error,
    described,
    guard_refusal,
    tls_error,
)
from motherlode.fetch.http.parser import Receiver, ResponseParser
from motherlode.fetch.http.proxy import Tunnel
from motherlode.fetch.http.request import Origin, origin
from motherlode.fetch.http.tls import TlsContexts, TlsProtocol
from motherlode.model import FailureKind

_RESTING_SHARE = 3
"""One descriptor in so many, at most, is that of a connection that rests."""


def raise_descriptor_limit(*, connections: int, resting: int) -> None:
    """Let this process have as many descriptors as it may need, as far as the system allows."""
    wanted = connections + _RESTING_SHARE * resting
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):  # some systems have limits that they do not tell
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def max_idle_connections(wanted: int) -> int:
    """How many connections may rest, of so many, that there are descriptors left for those under way."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else min(wanted, soft // _RESTING_SHARE)


# ── One connection, on which one question after the other is asked and answered, each within its time.

_TICK = 0.002
"""Seconds by which an event loop may call too early."""
_LONG = 1 << 17
"""Bytes that came at once, so that there are most likely more."""
_NOT_AT_ALL = struct.pack("ii", 1, 0)
"""How long a closed socket may linger over what it has to send."""
_CUT_OFF = FetchError(FailureKind.RESET, "the server closed the connection")


class PendingRequest(NamedTuple):
    """A request that is ready to be sent."""

    sent: bytes
    receiver: Receiver
    deadline: float
    """The event loop's time at which the whole answer must be there."""
    head_only: bool
    """No body belongs to its answer."""
    repeatable: bool
    """To send it twice does no harm (RFC 9110, 9.2.2)."""


class ConnectionOwner(Protocol):
    """Whoever wants to know which wires are open."""

    def made(self, wire: Connection) -> None: ...

    def lost(self, wire: Connection) -> None: ...


class Connection(asyncio.Protocol):
    """An HTTP/1.1 connection. `reusable` is true only between two answers, and only while nothing speaks against it."""

    def __init__(self, *, silence: float, keeper: ConnectionOwner) -> None:
        self.reusable = False
        self.was_answered = False
        """A byte came in answer to the last question."""
        self._silence = silence
        """Seconds without a byte that are borne."""
        self._keeper = keeper
        self._loop = asyncio.get_running_loop()
        self._parser = ResponseParser()
        self._transport: asyncio.Transport | None = None
        self._peer = ""
        self._waiter: asyncio.Future[FetchError | None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._heard = 0.0
        self._deadline = 0.0
        self._said_goodbye = False
        """The server ended the connection as it should: under TLS with a message that nobody else can send."""

    def ask(self, question: PendingRequest) -> asyncio.Future[FetchError | None]:
        """None once the receiver has its answer, or why it has none."""
        self._waiter = waiter = self._loop.create_future()
        self.reusable = self.was_answered = False
        if self._transport is None or self._transport.is_closing():
            self._end(_CUT_OFF)
            return waiter
        question.receiver.peer = self._peer
        self._parser.begin(question.receiver, head_only=question.head_only)
        self._heard, self._deadline = self._loop.time(), question.deadline
        self._timer = self._loop.call_at(min(self._deadline, self._heard + self._silence), self._look_at_the_clock)
        self._transport.write(question.sent)
        return waiter

    def abort(self) -> None:
        """End the connection at once, whatever is under way."""
        self.reusable = False
        if self._transport is not None:
            if self._waiter is not None and not self.was_answered:
                self._take_back()
            self._transport.abort()

    def _take_back(self) -> None:
        """A question that was not answered is not to be delivered any more. The system would keep what has not arrived
        and send it when the network is back, beside what is asked then."""
        sock = None if self._transport is None else self._transport.get_extra_info("socket")
        if sock is not None:
            with suppress(OSError):  # it is gone already
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NOT_AT_ALL)

    def _look_at_the_clock(self) -> None:
        """One timer serves both limits: what is heard moves it only when it rings."""
        now = self._loop.time()
        if self._transport is not None and self._transport.get_write_buffer_size():
            self._heard = now  # the server is still listening
        due = min(self._deadline, self._heard + self._silence)
        if due - now < _TICK:
            self._end(TIMED_OUT)
        else:
            self._timer = self._loop.call_at(due, self._look_at_the_clock)

    def _give_way(self) -> None:
        """Let others have their turn: from a server that sends without pause, uvloop reads 32 times before it does."""
        assert self._transport is not None  # bytes came over it
        self._transport.pause_reading()
        self._loop.call_soon(self._read_on)

    def _read_on(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def _end(self, trouble: FetchError | None) -> None:
        if trouble is not None and not self.was_answered:
            self._take_back()
        waiter, self._waiter = self._waiter, None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        transport = self._transport
        if trouble is None and self._parser.clean and transport is not None and not transport.is_closing():
            self.reusable = not transport.get_write_buffer_size()
        self._parser.end()
        if not self.reusable:
            self.abort()
        if waiter is not None and not waiter.done():
            waiter.set_result(trouble)

    # What follows is called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's own are no subclass of it
        place = transport.get_extra_info("peername")
        self._peer = str(place[0]) if place else ""
        self._keeper.made(self)

    def data_received(self, data: bytes) -> None:
        if self._waiter is None:
            self.abort()  # nobody has asked: it could only be taken for the answer to the next question
            return
        self._heard = self._loop.time()
        self.was_answered = True
        wrong = self._parser.feed(data)
        if wrong:
            self._end(FetchError(FailureKind.PROTOCOL, wrong))
        elif self._parser.done:
            self._end(None)
        elif len(data) >= _LONG:
            self._give_way()

    def eof_received(self) -> None:
        self.reusable = False
        self._said_goodbye = True

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self.reusable = False
        if self._waiter is not None:
            self._end(self._why_lost(error))
        self._keeper.lost(self)

    def _why_lost(self, error: Exception | None) -> FetchError | None:
        """None where the end of the connection is that of the answer."""
        if isinstance(error, ssl.SSLError) and not self.was_answered:
            return tls_error(error)
        if error is not None:
            return FetchError(FailureKind.RESET, described(error))
        if not (self.was_answered and self._parser.ends_by_close):
            return _CUT_OFF
        return None if self._said_goodbye else CLOSED_WITHOUT_NOTIFY


# ── Connections are opened here and nowhere else: directly, behind the address guard, or through the user's proxy.


class Endpoint(NamedTuple):
    """Where a connection leads: requests share one only where all of this is the same."""

    origin: Origin
    address: str
    """Empty behind a proxy, which looks for it itself."""
    port: int


class Proxy(NamedTuple):
    """Where all requests go, in the place of their hosts."""

    origin: Origin
    fields: Mapping[str, str]
    """Headers that are for the proxy."""

    @classmethod
    def at(cls, url: str) -> Proxy:
        """The proxy that a URL names, perhaps with user and password.

        >>> Proxy.at("http://ann:s%3Dcret@127.0.0.1:3128").fields
        {'Proxy-Authorization': 'Basic YW5uOnM9Y3JldA=='}
        """
        parts = urlsplit(url)
        if parts.username is None:
            return cls(origin(url), {})
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        return cls(origin(url), {"Proxy-Authorization": f"Basic {b64encode(user.encode()).decode()}"})


class Connector:
    """Opens wires. `make` gives the protocol of each."""

    def __init__(
        self,
        guard: AddressGuard,
        trust: TlsContexts,
        *,
        proxy: Proxy | None,
        seconds: float,
        make: Callable[[], Connection],
    ) -> None:
        self._guard = guard
        self._trust = trust
        self._proxy = proxy
        self._seconds = seconds
        self._make = make

    async def open(self, place: Endpoint, *, deadline: float) -> Connection | FetchError:
        """A new connection, or why there is none."""
        until = min(deadline, asyncio.get_running_loop().time() + self._seconds)
        try:
            async with asyncio.timeout_at(until):
                if self._proxy is None:
                    return await self._directly(place)
                return await self._through(self._proxy, place)
        except (OSError, ValueError) as error:
            trouble = connect_error(error)
            is_way_out = self._proxy is not None and trouble.kind is FailureKind.CONNECT
            return trouble._replace(silent=True) if is_way_out else trouble  # not the host refuses, but the proxy

    async def _directly(self, place: Endpoint) -> Connection | FetchError:
        """The guard refuses whatever is no address, so that nothing is resolved once more behind its back."""
        reason = self._guard.refusal(place.address)
        if reason:
            return guard_refusal(reason)
        wire = self._make()
        await self._connect(wire, place.origin, place.address, place.port)
        return wire

    async def _connect(self, protocol: asyncio.Protocol, to: Origin, host: str, port: int) -> None:
        loop = asyncio.get_running_loop()
        if not to.secure:
            await loop.create_connection(lambda: protocol, host, port)
            return
        secured = TlsProtocol(protocol, self._trust.seal(to))
        transport, _ = await loop.create_connection(lambda: secured, host, port)
        await _handshake(secured, transport)

    async def _through(self, proxy: Proxy, place: Endpoint) -> Connection | FetchError:
        """Plain requests are handed to the proxy as they are; for https it only carries bytes."""
        to = proxy.origin
        if not place.origin.secure:
            wire = self._make()
            await self._connect(wire, to, to.host, to.port)
            return wire
        wire = self._make()
        secured = TlsProtocol(wire, self._trust.seal(place.origin))
        tunnel = Tunnel(_connect_request(place.origin, proxy.fields))
        await self._connect(tunnel, to, to.host, to.port)
        trouble = await tunnel.led_to(secured)
        if trouble is None:
            await _handshake(secured, tunnel.transport)
        return trouble or wire


async def _handshake(secured: TlsProtocol, transport: asyncio.Transport) -> None:
    try:
        await secured.shaken
    except asyncio.CancelledError:
        transport.abort()
        raise


def _connect_request(to: Origin, fields: Mapping[str, str]) -> bytes:
    place = f"[{to.host}]:{to.port}" if ":" in to.host else f"{to.host}:{to.port}"
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{lines}\r\n".encode()


# ── The pool: connections that are kept for the next question to the same place.

KEEPALIVE_SECONDS = 15.0
"""How long a connection waits for its next question."""
MAX_IDLE_CONNECTIONS = 1024
"""Connections that wait, where the system gives enough descriptors. Those that have waited longest are closed."""
_ENDED = frozenset({FailureKind.RESET, FailureKind.TLS})
"""What is said of a connection that was lost. On one that was kept, an alert of TLS is no more than that."""
_SWEEP_SECONDS = 1.0
_FAREWELL_SECONDS = 2.0


class ConnectionPool:
    """Asks over a connection that is there, or over a new one. No connection is used again in doubt."""

    def __init__(
        self, guard: AddressGuard, trust: TlsContexts, *, proxy: Proxy | None, connect: float, silence: float
    ) -> None:
        self._connector = Connector(
            guard, trust, proxy=proxy, seconds=connect, make=lambda: Connection(silence=silence, keeper=self)
        )
        self._wires: set[Connection] = set()
        """All that are open."""
        self._idle: dict[Endpoint, list[Connection]] = {}
        self._resting: dict[Connection, tuple[Endpoint, float]] = {}
        """The idle ones and since when they are, longest first."""
        self._sweeper: asyncio.TimerHandle | None = None
        self._all_lost: asyncio.Event | None = None

    async def ask(self, place: Endpoint, question: PendingRequest) -> FetchError | None:
        """None once the receiver has its answer, or why it has none.

        A server may end a connection that was kept just as it is used again. Where no byte came, it has not begun to
        answer, and the question is asked once more, over a new connection (RFC 9112, 9.3.1). One that may not be
        repeated gets a new connection from the start.
        """
        kept = self._take(place) if question.repeatable else None
        if kept is not None:
            trouble = await self._ask_over(kept, place, question)
            if trouble is TIMED_OUT and not kept.was_answered:  # on a new one, somebody has let us in
                return trouble._replace(silent=True)
            if trouble is None or trouble.kind not in _ENDED or kept.was_answered:
                return trouble
        opened = await self._connector.open(place, deadline=question.deadline)
        return opened if isinstance(opened, FetchError) else await self._ask_over(opened, place, question)

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

    async def _ask_over(self, wire: Connection, place: Endpoint, question: PendingRequest) -> FetchError | None:
        try:
            trouble = await wire.ask(question)
        except asyncio.CancelledError:
            wire.abort()
            raise
        if wire.reusable:
            self._keep(wire, place)
        return trouble

    def _take(self, place: Endpoint) -> Connection | None:
        """The connection to a place that was used last: it is the least likely to have been closed."""
        idle = self._idle.get(place)
        if not idle:
            return None
        wire = idle[-1]
        self._forget(wire)
        return wire if wire.reusable else self._take(place)

    def _keep(self, wire: Connection, place: Endpoint) -> None:
        loop = asyncio.get_running_loop()
        self._idle.setdefault(place, []).append(wire)
        self._resting[wire] = place, loop.time()
        if len(self._resting) > max_idle_connections(MAX_IDLE_CONNECTIONS):
            self._close(next(iter(self._resting)))
        if self._sweeper is None:
            self._sweeper = loop.call_later(_SWEEP_SECONDS, self._sweep)

    def _sweep(self) -> None:
        """Close those that have rested for too long."""
        loop = asyncio.get_running_loop()
        before = loop.time() - KEEPALIVE_SECONDS
        while self._resting:
            wire, (_, since) = next(iter(self._resting.items()))
            if since > before:
                break
            self._close(wire)
        self._sweeper = loop.call_later(_SWEEP_SECONDS, self._sweep) if self._resting else None

    def _close(self, wire: Connection) -> None:
        """It has rested long enough."""
        self._forget(wire)
        wire.abort()

    def _forget(self, wire: Connection) -> None:
        """It does not rest any more."""
        place, _ = self._resting.pop(wire)
        idle = self._idle[place]
        idle.remove(wire)
        if not idle:
            del self._idle[place]

    # What follows is called by the wires.

    def made(self, wire: Connection) -> None:
        self._wires.add(wire)

    def lost(self, wire: Connection) -> None:
        self._wires.discard(wire)
        if wire in self._resting:
            self._forget(wire)
        if self._all_lost is not None and not self._wires:
            self._all_lost.set()

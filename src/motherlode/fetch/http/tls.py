"""TLS as a matter of bytes: what comes is opened, what goes is sealed. Nothing here opens a socket or reads a clock.

The event loops have a TLS of their own. It does not tell whether a server said that it had ended, and a server that
sends nothing but messages of TLS itself (keys to be renewed, tickets) holds up everybody: uvloop takes 8 MB of them at
a time, at up to 0.7 µs a byte. Here they are few, or the connection ends.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

from motherlode.fetch.http.request import Origin

_RECORD = 1 << 14
"""Bytes of a record at most (RFC 8446, 5.1)."""
_HANDSHAKE_MOST = 1 << 18
"""Bytes: the library takes a chain of certificates up to 100 KB."""
_BARREN_MOST = 1 << 16
"""Bytes after the handshake that carry nothing: tickets, keys, alerts, padding, frames of records."""
_BARREN_SHARE = 128
"""To so many for each byte that is carried: some servers send each in a record of its own."""
_WITHOUT_END = "messages of TLS itself without end"


class TlsStream:
    """One side of a conversation under TLS, that of the client."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        """ValueError where the host can be in no certificate."""
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self.is_made = False
        """The handshake is done: something can be sealed."""
        self.is_ended = False
        """The server said that nothing more will come."""
        self.error: ssl.SSLError | None = None
        """Why nothing more can be opened. What was opened before is as good as ever."""
        self._came = self._carried = 0

    def begin(self) -> None:
        """Say hello."""
        self._shake_hands()

    def opened(self, data: bytes | memoryview) -> bytes:
        """What was inside of these bytes, and of those before them."""
        self._incoming.write(data)
        self._came += len(data)
        if not self.is_made:
            self._shake_hands()
            if not self.is_made:
                return b""
        plain = self._read()
        self._carried += len(plain)
        if self._came - self._carried > _BARREN_MOST + _BARREN_SHARE * self._carried:
            self.error = self.error or ssl.SSLError(ssl.SSL_ERROR_SSL, _WITHOUT_END)
        return plain

    def put(self, data: bytes) -> None:
        """Seal what is to be sent."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._object.write(rest) :]

    def to_send(self) -> bytes:
        """What the other side must get now: what was put, and what TLS itself has to say."""
        return self._outgoing.read()

    def _shake_hands(self) -> None:
        try:
            self._object.do_handshake()
        except ssl.SSLWantReadError:
            if self._came > _HANDSHAKE_MOST:
                self.error = ssl.SSLError(ssl.SSL_ERROR_SSL, _WITHOUT_END)
        except ssl.SSLError as error:
            self.error = error
        else:
            self.is_made = True
            self._came = 0

    def _read(self) -> bytes:
        pieces = []
        try:
            while self._incoming.pending or self._object.pending():  # to ask for more would cost an exception
                piece = self._object.read(_RECORD)
                if not piece:
                    self.is_ended = True
                    break
                pieces.append(piece)
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            self.error = error
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


# ── A connection under TLS: a protocol to the event loop, and a connection to the protocol above it.

_STEP = 1 << 16
_SHORT_STEP = 1 << 14
"""Sealed bytes that are opened at a time. The steps are short where little is inside: it may take long to see that."""


class TlsProtocol(asyncio.Protocol):
    """Carries what the protocol above says and hears. That is told of the connection once the handshake is done."""

    def __init__(self, above: asyncio.Protocol, seal: TlsStream) -> None:
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

    def __init__(self, secured: TlsProtocol, below: asyncio.Transport) -> None:
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


# ── Whom we believe under TLS, and what we speak with them.

_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:RSA+AESGCM:RSA+AES:!aNULL:!eNULL:!aDSS:!AESCCM:!PSK:!SRP"
"""For TLS 1.2, best first, as in browsers. Python's own list leaves out what some old servers have nothing beside: keys
exchanged by RSA, and SHA-1 in records. It has what only a server wants that means ill: keys exchanged by DHE may have
10,000 bits, and with 8,192 cost us a quarter of a second that nobody else can use."""
_LEGACY_SERVER_CONNECT = 0x4
"""Python has a name for it from 3.12 on. Servers older than RFC 5746 are open to browsers. What they lack protects
requests that carry secrets, and ours carry none."""


_NO_RENEGOTIATION = ssl.OP_NO_RENEGOTIATION
"""A server could begin anew without end, each time at the cost of a handshake."""


class TlsContexts:
    """Makes seals: by default for servers alone that prove by their certificate who they are."""

    def __init__(self, is_exempt: Callable[[str], bool] | None = None) -> None:
        """`is_exempt` tells of a host, with its port where that is not the default, whether any certificate will do."""
        self._is_exempt = is_exempt

    def seal(self, to: Origin) -> TlsStream:
        """ValueError where the host can be in no certificate."""
        is_exempt = self._is_exempt is not None and self._is_exempt(to.authority)
        return TlsStream(self._lenient if is_exempt else self._strict, to.host)

    @cached_property
    def _strict(self) -> ssl.SSLContext:
        """Made for the first https URL: to read the certificates of all authorities takes 50 ms."""
        return _prepared(ssl.create_default_context())

    @cached_property
    def _lenient(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return _prepared(context)


def _prepared(context: ssl.SSLContext) -> ssl.SSLContext:
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_CIPHERS)
    context.set_alpn_protocols(["http/1.1"])
    context.options |= _NO_RENEGOTIATION | _LEGACY_SERVER_CONNECT
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # from 3.13 on Python wants more of certificates than browsers do
    return context

"""TLS of the HTTP client: a stream on memory buffers, an asyncio protocol around it, and the SSL contexts.

The event loops have TLS of their own, with two drawbacks. It does not report whether the server sent close_notify. And
a server that sends nothing but TLS messages (key updates, session tickets) blocks the whole process: uvloop takes 8 MB
of them at a time, at up to 0.7 µs per byte. Here their number is bounded.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

from motherlode.www.urls import Origin

_MAX_RECORD_BYTES = 1 << 14
"""Longest plaintext of a TLS record (RFC 8446, 5.1)."""
_MAX_HANDSHAKE_BYTES = 1 << 18
"""Maximum bytes of a handshake. OpenSSL accepts a certificate chain of up to 100 KB."""
_MAX_OVERHEAD_BYTES = 1 << 16
"""Maximum bytes after the handshake that carry no data: session tickets, key updates, alerts, padding, headers."""
_OVERHEAD_RATIO = 128
"""Additional overhead allowed per byte of data. Some servers send each byte in a record of its own."""
_TOO_MUCH_OVERHEAD = "TLS messages without data, without end"


class TlsStream:
    """The client side of one TLS connection, on memory buffers. It opens no socket and reads no clock."""

    def __init__(
        self,
        context: ssl.SSLContext,
        host: str,
        *,
        session: ssl.SSLSession | None = None,
        keep_session: Callable[[ssl.SSLSession], None] | None = None,
    ) -> None:
        """Raise ValueError if no certificate can contain the host.

        `session` is resumed if the server agrees. `keep_session` gets the session that the next connection can resume.
        """
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host, session=session)
        self._keep_session = keep_session
        self.is_established = False
        """True if the handshake is complete."""
        self.is_closed = False
        """True if the server sent close_notify."""
        self.error: ssl.SSLError | None = None
        """Why nothing more can be decrypted. Data decrypted before remains valid."""
        self._received_bytes = self._data_bytes = 0

    def decrypt(self, data: bytes | memoryview) -> bytes:
        """Return the data inside the received bytes, as far as their records are complete."""
        self._incoming.write(data)
        self._received_bytes += len(data)
        if not self.is_established:
            self.continue_handshake()
            if not self.is_established:
                return b""
        plain = self._read()
        if plain and self._keep_session is not None:
            self._pass_session_on(self._keep_session)
        self._data_bytes += len(plain)
        if self._received_bytes - self._data_bytes > _MAX_OVERHEAD_BYTES + _OVERHEAD_RATIO * self._data_bytes:
            self.error = self.error or ssl.SSLError(ssl.SSL_ERROR_SSL, _TOO_MUCH_OVERHEAD)
        return plain

    @property
    def certificate(self) -> bytes:
        """The server's certificate in DER form, after the handshake."""
        return self._object.getpeercert(binary_form=True) or b""

    def _pass_session_on(self, keep: Callable[[ssl.SSLSession], None]) -> None:
        """Pass on the session with the first data: in TLS 1.3 the ticket comes after the handshake, before the data."""
        self._keep_session = None
        session = self._object.session
        if session is not None and (session.has_ticket or (session.id and self._object.version() == "TLSv1.2")):
            keep(session)

    def encrypt(self, data: bytes) -> None:
        """Encrypt data. `take_outgoing` returns the result."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._object.write(rest) :]

    def take_outgoing(self) -> bytes:
        """Return all bytes that must be sent now: encrypted data and TLS messages."""
        return self._outgoing.read()

    def continue_handshake(self) -> None:
        """Produce the ClientHello, or process what the server has sent."""
        try:
            self._object.do_handshake()
        except ssl.SSLWantReadError:
            if self._received_bytes > _MAX_HANDSHAKE_BYTES:
                self.error = ssl.SSLError(ssl.SSL_ERROR_SSL, _TOO_MUCH_OVERHEAD)
        except ssl.SSLError as error:
            self.error = error
        else:
            self.is_established = True
            self._received_bytes = 0

    def _read(self) -> bytes:
        pieces = []
        try:
            while self._incoming.pending or self._object.pending():  # reading without input would raise an exception
                piece = self._object.read(_MAX_RECORD_BYTES)
                if not piece:
                    self.is_closed = True
                    break
                pieces.append(piece)
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            self.error = error
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


# The asyncio protocol ------------------------------------------------------------------------------------------------

_STEP_BYTES = 1 << 16
_SHORT_STEP_BYTES = 1 << 14
"""Encrypted bytes that are decrypted at a time. The short step applies while less than half of the bytes turn out to be
data, because a hostile server can send TLS messages that carry no data and take long to process. After such a step the
event loop runs other tasks."""


class TlsProtocol(asyncio.Protocol):
    """Connects an application protocol to a transport through TLS when the handshake is complete."""

    def __init__(self, application: asyncio.Protocol, stream: TlsStream) -> None:
        self.application = application
        self.handshake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the handshake is complete. Holds an OSError if it fails."""
        self.is_over = False
        self._stream = stream
        self._transport: asyncio.Transport
        self._pending = b""
        """Encrypted bytes for the next iteration of the event loop. Meanwhile the transport does not read."""
        self._step_bytes = _SHORT_STEP_BYTES

    async def wait_established(self, transport: asyncio.Transport) -> None:
        """Wait for the end of the handshake. Close the transport if the caller is cancelled meanwhile."""
        try:
            await self.handshake
        except asyncio.CancelledError:
            transport.abort()
            raise

    def write(self, data: bytes) -> None:
        """Send data of the application."""
        try:
            self._stream.encrypt(data)
        except ssl.SSLError as error:
            self._finish(error)
        else:
            self._flush()

    def _flush(self) -> None:
        data = self._stream.take_outgoing()
        if data:
            self._transport.write(data)

    def _decrypt_all(self, data: bytes) -> None:
        """Decrypt in steps. After a step that yielded little, other connections are served before the next."""
        rest = memoryview(data)
        while rest and not self._is_closing:
            step, rest = rest[: self._step_bytes], rest[self._step_bytes :]
            is_productive = self._decrypt(step) > len(step) // 2
            self._step_bytes = _STEP_BYTES if is_productive else _SHORT_STEP_BYTES
            if rest and not is_productive and not self._is_closing:
                self._pending = bytes(rest)
                self._transport.pause_reading()
                asyncio.get_running_loop().call_soon(self._decrypt_pending)
                return

    def _decrypt_pending(self) -> None:
        data, self._pending = self._pending, b""
        if not self._is_closing:
            self._transport.resume_reading()
            self._decrypt_all(data)

    @property
    def _is_closing(self) -> bool:
        return self.is_over or self._transport.is_closing()

    def _decrypt(self, data: memoryview) -> int:
        """Decrypt one step and pass its data on. Return the number of bytes of data."""
        stream = self._stream
        plain = stream.decrypt(data)
        self._flush()
        if stream.is_established and not self.handshake.done():
            self.application.connection_made(_TlsTransport(self, self._transport))
            self.handshake.set_result(None)
        if plain:
            self.application.data_received(plain)
        if stream.error is not None:
            self._finish(stream.error)
        elif stream.is_closed:
            self.application.eof_received()
            self._finish(None)
        return len(plain)

    def _finish(self, error: OSError | None) -> None:
        if self.is_over:
            return
        self.is_over = True
        self._pending = b""
        if self._stream.is_established:
            self._transport.abort()
            self.application.connection_lost(error)
            return
        self._transport.close()  # not abort: the server should get the alert that says what is wrong
        if not self.handshake.done():
            self.handshake.set_exception(error or ConnectionAbortedError("the server ended the TLS handshake"))

    # Callbacks of the event loop, or of another TlsProtocol (TLS inside the TLS connection to a proxy).

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports are no subclass of it
        self._stream.continue_handshake()
        self._flush()

    def data_received(self, data: bytes) -> None:
        if self._pending:
            self._pending += data
        else:
            self._decrypt_all(data)

    def connection_lost(self, error: Exception | None) -> None:
        self._finish(error if error is None or isinstance(error, OSError) else OSError(str(error)))


class _TlsTransport(asyncio.Transport):
    """The transport that the application protocol sees."""

    def __init__(self, tls: TlsProtocol, below: asyncio.Transport) -> None:
        super().__init__()
        self._tls = tls
        self._below = below

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._tls.application = cast(asyncio.Protocol, protocol)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._tls.write(bytes(data))

    def abort(self) -> None:
        self._below.abort()

    def close(self) -> None:
        self._below.close()

    def is_closing(self) -> bool:
        return self._tls.is_over or self._below.is_closing()

    def pause_reading(self) -> None:
        """Do nothing: each step passes on only a little data."""

    def resume_reading(self) -> None:
        """Do nothing, see `pause_reading`."""

    def get_write_buffer_size(self) -> int:
        return self._below.get_write_buffer_size()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._below.get_extra_info(name, default)


# SSL contexts --------------------------------------------------------------------------------------------------------

_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:RSA+AESGCM:RSA+AES:!aNULL:!eNULL:!aDSS:!AESCCM:!PSK:!SRP"
"""Ciphers for TLS 1.2, best first, as in browsers. Python's own list lacks RSA key exchange and SHA-1 records, and some
old servers offer nothing else. It contains DHE, whose keys may block the process: one of 8,192 bits takes 0.25 s."""
_LEGACY_SERVER_CONNECT = 0x4
"""ssl.OP_LEGACY_SERVER_CONNECT of Python 3.12. Browsers accept servers older than RFC 5746. The missing extension
protects requests with secrets, and ours have none."""


_MAX_SESSIONS = 2048
"""Maximum number of sessions that are kept, one per origin, the last used ones. Each holds the server's certificates,
about 20 KB."""


class TlsContexts:
    """Creates TLS streams. A server must have a valid certificate unless its host is exempt.

    A second connection to an origin resumes the session of the first, which saves most of the CPU time of a handshake.
    A session is used by one connection at a time, and is forgotten if the connection fails.
    """

    def __init__(self, is_exempt: Callable[[str], bool] | None = None) -> None:
        """`is_exempt` takes a host, with its port if that is not the default, and says if any certificate will do."""
        self._is_exempt = is_exempt
        self._sessions: OrderedDict[Origin, tuple[ssl.SSLContext, ssl.SSLSession]] = OrderedDict()
        self._completed: OrderedDict[Origin, ssl.SSLContext] = OrderedDict()
        """Origins whose servers leave out an intermediate certificate, with the context that has it."""

    def load_authorities(self) -> None:
        """Load the machine's authorities now, which takes 50 ms, and not when the first https URL is fetched."""
        _ = self._strict

    def new_stream(self, to: Origin) -> TlsStream:
        """Return a stream for connections to an origin. Raise ValueError if no certificate can contain the host."""
        is_exempt = self._is_exempt is not None and self._is_exempt(to.authority)
        context = self._lenient if is_exempt else self._completed.get(to, self._strict)
        kept_for, session = self._sessions.pop(to, (None, None))
        return TlsStream(
            context,
            to.host,
            session=session if kept_for is context else None,
            keep_session=lambda new: self._keep_session(to, context, new),
        )

    def new_unverified_stream(self, to: Origin) -> TlsStream:
        """Return a stream to look at the certificate of an origin. No request may be sent over it."""
        return TlsStream(self._lenient, to.host)

    def complete(self, to: Origin, context: ssl.SSLContext) -> None:
        """Use another context for an origin, because its server leaves out a certificate that the context has."""
        self._completed[to] = context
        if len(self._completed) > _MAX_SESSIONS:
            self._completed.popitem(last=False)

    def _keep_session(self, to: Origin, context: ssl.SSLContext, session: ssl.SSLSession) -> None:
        self._sessions[to] = context, session
        self._sessions.move_to_end(to)
        if len(self._sessions) > _MAX_SESSIONS:
            self._sessions.popitem(last=False)

    @cached_property
    def _strict(self) -> ssl.SSLContext:
        return new_strict_context()

    @cached_property
    def _lenient(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return _configure(context)


def new_strict_context() -> ssl.SSLContext:
    """Return a context that verifies certificates with the machine's authorities."""
    return _configure(ssl.create_default_context())


def _configure(context: ssl.SSLContext) -> ssl.SSLContext:
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_CIPHERS)
    context.set_alpn_protocols(["http/1.1"])
    # a server could renegotiate without end, each time at the cost of a handshake
    context.options |= ssl.OP_NO_RENEGOTIATION | _LEGACY_SERVER_CONNECT
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # Python sets it since 3.13, browsers do not
    return context


StreamFactory = Callable[[Origin], TlsStream]

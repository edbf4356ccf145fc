"""TLS as a matter of bytes: what comes is opened, what goes is sealed. Nothing here opens a socket or reads a clock.

The event loops have a TLS of their own. It does not tell whether a server said that it had ended, and a server that
sends nothing but messages of TLS itself (keys to be renewed, tickets) holds up everybody: uvloop takes 8 MB of them at
a time, at up to 0.7 µs a byte. Here they are few, or the connection ends.
"""

from __future__ import annotations

import ssl

_RECORD = 1 << 14
"""Bytes of a record at most (RFC 8446, 5.1)."""
_HANDSHAKE_MOST = 1 << 18
"""Bytes: the library takes a chain of certificates up to 100 KB."""
_BARREN_MOST = 1 << 16
"""Bytes after the handshake that carry nothing: tickets, keys, alerts, padding, frames of records."""
_BARREN_SHARE = 128
"""To so many for each byte that is carried: some servers send each in a record of its own."""
_WITHOUT_END = "messages of TLS itself without end"


class Seal:
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

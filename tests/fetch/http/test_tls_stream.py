"""The TLS stream without a connection. The server side is Python's ssl module."""

from __future__ import annotations

import ssl
from contextlib import suppress
from pathlib import Path

import pytest

from motherlode.fetch.http.tls import TlsStream

from ..certificates import certificate, server_context


class Server:
    def __init__(self, own: Path) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = server_context(own).wrap_bio(self._incoming, self._outgoing, server_side=True)

    def exchange(self, data: bytes) -> bytes:
        """Process received bytes and return the bytes to send."""
        self._incoming.write(data)
        with suppress(ssl.SSLWantReadError):
            self.tls.do_handshake()
        return self._outgoing.read()


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def stream(own: Path) -> TlsStream:
    return TlsStream(ssl.create_default_context(cafile=own), "localhost")


@pytest.fixture
def server(own: Path, stream: TlsStream) -> Server:
    """Return a server that has completed the handshake with the stream."""
    made = Server(own)
    stream.continue_handshake()
    while not stream.is_established:
        stream.decrypt(made.exchange(stream.take_outgoing()))
    stream.decrypt(made.exchange(stream.take_outgoing()))
    return made


def test_tls_stream_transfers_data_both_ways(stream: TlsStream, server: Server) -> None:
    stream.encrypt(b"question" * 10_000)
    server.exchange(stream.take_outgoing())
    asked = b""
    while len(asked) < 80_000:
        asked += server.tls.read(1 << 20)
    assert asked == b"question" * 10_000
    server.tls.write(b"answer" * 10_000)
    sealed = server.exchange(b"")
    plain = b"".join(stream.decrypt(sealed[place : place + 1000]) for place in range(0, len(sealed), 1000))
    assert plain == b"answer" * 10_000
    assert (stream.is_closed, stream.error) == (False, None)


def test_tls_stream_reports_close_notify(stream: TlsStream, server: Server) -> None:
    server.tls.write(b"answer")
    with suppress(ssl.SSLWantReadError):
        server.tls.unwrap()
    assert stream.decrypt(server.exchange(b"")) == b"answer"
    assert stream.is_closed


def test_tls_stream_keeps_data_before_error(stream: TlsStream, server: Server) -> None:
    server.tls.write(b"answer")
    assert stream.decrypt(server.exchange(b"") + b"\x17\x03\x03\0\x20" + b"x" * 32) == b"answer"
    assert stream.error is not None


def test_tls_stream_handshake_is_bounded(stream: TlsStream) -> None:
    """The library ignores HelloRequest messages, however many there are."""
    stream.continue_handshake()
    fed = 0
    while stream.error is None:
        stream.decrypt(b"\x16\x03\x03\0\x04\0\0\0\0" * 1000)
        fed += 9000
        assert fed < 500_000
    assert "without end" in str(stream.error)


def test_tls_stream_impossible_name_raises_value_error() -> None:
    with pytest.raises(ValueError, match="label"):
        TlsStream(ssl.create_default_context(), "a" * 64 + ".example")

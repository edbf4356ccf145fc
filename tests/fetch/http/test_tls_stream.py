"""One side of TLS without a connection: the other side is the library's own."""

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

    def heard(self, data: bytes) -> bytes:
        """What it says to that; all but the handshake is said by the test."""
        self._incoming.write(data)
        with suppress(ssl.SSLWantReadError):
            self.tls.do_handshake()
        return self._outgoing.read()


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def seal(own: Path) -> TlsStream:
    return TlsStream(ssl.create_default_context(cafile=own), "localhost")


@pytest.fixture
def server(own: Path, seal: TlsStream) -> Server:
    """Has handshake hands with the seal."""
    made = Server(own)
    seal.start_handshake()
    while not seal.is_established:
        seal.decrypt(made.heard(seal.take_outgoing()))
    seal.decrypt(made.heard(seal.take_outgoing()))
    return made


def test_tls_stream_transfers_data_both_ways(seal: TlsStream, server: Server) -> None:
    seal.encrypt(b"question" * 10_000)
    server.heard(seal.take_outgoing())
    asked = b""
    while len(asked) < 80_000:
        asked += server.tls.read(1 << 20)
    assert asked == b"question" * 10_000
    server.tls.write(b"answer" * 10_000)
    sealed = server.heard(b"")
    plain = b"".join(seal.decrypt(sealed[place : place + 1000]) for place in range(0, len(sealed), 1000))
    assert plain == b"answer" * 10_000
    assert (seal.is_closed, seal.error) == (False, None)


def test_tls_stream_reports_close_notify(seal: TlsStream, server: Server) -> None:
    server.tls.write(b"answer")
    with suppress(ssl.SSLWantReadError):
        server.tls.unwrap()
    assert seal.decrypt(server.heard(b"")) == b"answer"
    assert seal.is_closed


def test_tls_stream_keeps_data_before_error(seal: TlsStream, server: Server) -> None:
    server.tls.write(b"answer")
    assert seal.decrypt(server.heard(b"") + b"\x17\x03\x03\0\x20" + b"x" * 32) == b"answer"
    assert seal.error is not None


def test_tls_stream_handshake_is_bounded(seal: TlsStream) -> None:
    """Requests to begin anew are passed over by the library as long as they come."""
    seal.start_handshake()
    fed = 0
    while seal.error is None:
        seal.decrypt(b"\x16\x03\x03\0\x04\0\0\0\0" * 1000)
        fed += 9000
        assert fed < 500_000
    assert "without end" in str(seal.error)


def test_tls_stream_impossible_name_raises_value_error() -> None:
    with pytest.raises(ValueError, match="label"):
        TlsStream(ssl.create_default_context(), "a" * 64 + ".example")

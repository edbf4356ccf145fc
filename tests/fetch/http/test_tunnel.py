"""Responses of a proxy to CONNECT."""

from __future__ import annotations

import pytest

from motherlode.fetch.http.errors import FetchError
from motherlode.fetch.http.tunnel import Tunnel
from motherlode.model import FailureKind


async def test_tunnel_is_open_after_2xx_head() -> None:
    tunnel = Tunnel(b"CONNECT")
    for piece in (b"HTTP/1.0 200 Conn", b"ection established\r\nX: y\r\n"):
        tunnel.data_received(piece)
        assert not tunnel.opened.done()
    tunnel.data_received(b"\r\n")
    assert await tunnel.opened is None
    tunnel.connection_lost(None)


@pytest.mark.parametrize("status", [301, 403, 407, 429, 502])
async def test_tunnel_other_status_is_connect_failure(status: int) -> None:
    tunnel = Tunnel(b"CONNECT")
    tunnel.data_received(f"HTTP/1.1 {status} No\r\n\r\n".encode())
    assert await tunnel.opened == FetchError(FailureKind.CONNECT, f"the proxy answered {status}")


async def test_tunnel_closed_by_proxy_is_reset() -> None:
    for error, detail in ((None, "the proxy closed the connection"), (ConnectionResetError("reset"), "reset")):
        tunnel = Tunnel(b"CONNECT")
        tunnel.connection_lost(error)
        assert await tunnel.opened == FetchError(FailureKind.RESET, detail)


async def test_tunnel_endless_head_is_protocol_failure() -> None:
    tunnel = Tunnel(b"CONNECT")
    for _ in range(300):
        tunnel.data_received(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
    trouble = await tunnel.opened
    assert trouble is not None
    assert trouble.kind is FailureKind.PROTOCOL

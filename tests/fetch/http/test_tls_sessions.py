"""Session resumption, and when the authorities are loaded."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest

from motherlode.fetch import HttpFetcher, HttpOptions
from motherlode.fetch.http import tls
from motherlode.model import Page, Request

from ..certificates import Identity, issued, saved, server_context
from ..conftest import LIMITS
from ..servers import LastingServer, answer

NAMES = ["a.example", "b.example", "c.example"]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Identity:
    """An authority that the machine trusts."""
    made = issued(is_authority=True)
    path = tmp_path / "root.pem"
    path.write_bytes(made.public)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    return made


class ClosingServer(LastingServer):
    """Closes each connection after one response and records whether its handshake was resumed."""

    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(self._reply, tls=context)
        self.resumed: list[bool] = []

    async def _reply(self, path: str, before: int, writer: asyncio.StreamWriter) -> None:
        self.resumed.append(bool(writer.get_extra_info("ssl_object").session_reused))
        writer.write(answer(b"hello", "Connection: close"))
        await writer.drain()
        writer.close()


async def fetch(server: LastingServer, urls: list[str]) -> None:
    table = dict.fromkeys(NAMES, ("127.0.0.1", server.port))
    fetcher = HttpFetcher(HttpOptions(user_agent="x", limits=LIMITS, allow=("127.0.0.0/8",), hosts=table))
    for url in urls:
        found = await fetcher.fetch(Request(url=url))
        assert isinstance(found, Page), found
    await fetcher.close()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_second_connection_to_a_host_resumes_its_session(
    root: Identity, tmp_path: Path, version: ssl.TLSVersion
) -> None:
    context = server_context(saved(tmp_path, issued(root, names=NAMES)))
    context.minimum_version = context.maximum_version = version
    async with ClosingServer(context) as server:
        await fetch(server, ["https://a.example/"] * 3 + ["https://b.example/", "https://a.example/"])
        assert server.resumed == [False, True, True, False, True]


async def test_session_that_the_server_has_forgotten_costs_a_full_handshake(root: Identity, tmp_path: Path) -> None:
    context = server_context(saved(tmp_path, issued(root, names=NAMES)))
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0
    async with ClosingServer(context) as server:
        await fetch(server, ["https://a.example/"] * 2)
        assert server.resumed == [False, False]


async def test_sessions_beyond_the_limit_are_forgotten(
    root: Identity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "_MAX_SESSIONS", 2)
    async with ClosingServer(server_context(saved(tmp_path, issued(root, names=NAMES)))) as server:
        await fetch(server, [f"https://{name}/" for name in (*NAMES, "c.example", "a.example")])
        assert server.resumed == [False, False, False, True, False]


async def test_authorities_are_loaded_before_the_first_request(
    root: Identity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetcher = HttpFetcher(
        HttpOptions(user_agent="x", limits=LIMITS, allow=("127.0.0.0/8",), hosts={"a.example": ("127.0.0.1", 1)})
    )
    fetcher.load_authorities()
    monkeypatch.setattr(ssl, "create_default_context", lambda: pytest.fail("loaded during a request"))
    await fetcher.fetch(Request(url="https://a.example/"))
    await fetcher.close()

"""Requests through a SOCKS5 proxy on loopback."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from motherlode.fetch import HttpFetcher, HttpOptions
from motherlode.model import Failure, FailureKind, Fetched, Page, Request

from ..certificates import issued, saved, server_context
from ..conftest import LIMITS
from ..servers import LastingServer, answer

NAMES = {"inside.example": ("10.1.2.3", 80)}


@dataclass
class SocksServer:
    """A SOCKS5 proxy that connects every host to one local port."""

    to: int
    user: bytes = b""
    result: int = 0
    hosts: list[bytes] = field(default_factory=list)
    port: int = 0

    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            if await self._negotiate(reader, writer):
                await self._relay(reader, writer)
        await close(writer)

    async def _negotiate(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        wanted = 2 if self.user else 0
        writer.write(bytes([5, wanted if wanted in methods else 255]))
        if self.user:
            _, size = await reader.readexactly(2)
            user = await reader.readexactly(size)
            (size,) = await reader.readexactly(1)
            is_right = user + b":" + await reader.readexactly(size) == self.user
            writer.write(bytes([1, 0 if is_right else 1]))
            if not is_right:
                return False
        head = await reader.readexactly(4)
        size = (await reader.readexactly(1))[0] if head[3] == 3 else {1: 4, 4: 16}[head[3]]
        self.hosts.append(await reader.readexactly(size) + b":%d" % int.from_bytes(await reader.readexactly(2), "big"))
        for piece in (bytes([5, self.result]), bytes([0, 1, 127, 0, 0]), bytes([1, 0, 80])):
            writer.write(piece)
            await writer.drain()
        return not self.result

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.to)

        async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            with contextlib.suppress(ConnectionError):
                while data := await source.read(65536):
                    target.write(data)
                    await target.drain()
            target.close()

        try:
            await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))
        finally:
            await close(far_writer)


async def close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


@asynccontextmanager
async def serving(proxy: SocksServer) -> AsyncIterator[SocksServer]:
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    yield proxy
    server.close()
    for task in proxy.tasks:
        task.cancel()
    await asyncio.gather(*proxy.tasks, return_exceptions=True)
    await server.wait_closed()


async def hello(path: str, before: int, writer: asyncio.StreamWriter) -> None:
    writer.write(answer(b"hello"))
    await writer.drain()


async def fetch(proxy: str, url: str) -> Fetched:
    fetcher = HttpFetcher(
        HttpOptions(user_agent="x", limits=LIMITS, hosts=NAMES, proxy=proxy, any_certificate=lambda host: True)
    )
    found = await fetcher.fetch(Request(url=url))
    await fetcher.close()
    return found


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_socks_proxy_gets_the_name_and_the_host_the_plain_request(tmp_path: Path, scheme: str) -> None:
    tls = server_context(saved(tmp_path, issued(names=["far.invalid"]))) if scheme == "https" else None
    async with LastingServer(hello, tls=tls) as server, serving(SocksServer(server.port)) as proxy:
        found = await fetch(f"socks5://127.0.0.1:{proxy.port}", f"{scheme}://far.invalid/x")
    assert isinstance(found, Page), found
    assert (found.body, found.address) == (b"hello", "")
    assert proxy.hosts == [b"far.invalid:443" if tls else b"far.invalid:80"]
    assert server.heads[0].startswith("GET /x HTTP/1.1\r\nHost: far.invalid\r\n")


@pytest.mark.parametrize(("user", "detail"), [("ann:s%20cret@", ""), ("ann:x@", "refused user"), ("", "wants a user")])
async def test_socks_proxy_with_password(user: str, detail: str) -> None:
    async with LastingServer(hello) as server, serving(SocksServer(server.port, user=b"ann:s cret")) as proxy:
        found = await fetch(f"socks5h://{user}127.0.0.1:{proxy.port}", "http://far.invalid/")
    if not detail:
        assert isinstance(found, Page), found
        return
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.CONNECT
    assert detail in found.detail
    assert "Authorization" not in "".join(server.heads)


async def test_socks_proxy_that_cannot_connect_gives_its_reason() -> None:
    async with serving(SocksServer(1, result=4)) as proxy:
        found = await fetch(f"socks5://127.0.0.1:{proxy.port}", "http://far.invalid/")
    assert isinstance(found, Failure)
    assert (found.kind, found.detail) == (FailureKind.CONNECT, "the proxy could not connect: host unreachable")


async def test_server_that_is_no_socks_proxy_is_a_protocol_failure() -> None:
    async def speak_http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(3)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await close(writer)

    server = await asyncio.start_server(speak_http, "127.0.0.1", 0)
    found = await fetch(f"socks5://127.0.0.1:{server.sockets[0].getsockname()[1]}", "http://far.invalid/")
    server.close()
    await server.wait_closed()
    assert isinstance(found, Failure)
    assert found.detail == "the proxy does not speak SOCKS5"


@pytest.mark.parametrize("url", ["http://inside.example/", "http://10.0.0.1/", "https://[::1]/"])
async def test_socks_proxy_private_host_is_refused_before_connecting(url: str) -> None:
    async with serving(SocksServer(1)) as proxy:
        found = await fetch(f"socks5://127.0.0.1:{proxy.port}", url)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.GUARD
    assert proxy.hosts == []

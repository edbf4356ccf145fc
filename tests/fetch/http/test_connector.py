"""Opening connections: with TLS, through proxies, and within their timeout."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import uvloop

from motherlode.fetch import HttpFetcher, HttpOptions
from motherlode.fetch.http.proxy import Proxy
from motherlode.model import Failure, FailureKind, Page, Request

from ..certificates import certificate, server_context
from ..conftest import LIMITS
from ..servers import LastingServer, RawServer, answer
from ..waiting import GENEROUS_SECONDS

LOOPBACK = ("127.0.0.0/8", "::1")


@pytest.fixture(scope="module")
def trusted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("certificate"))


async def hello(path: str, before: int, writer: asyncio.StreamWriter) -> None:
    writer.write(answer(f"hello {path}".encode()))
    await writer.drain()


@asynccontextmanager
async def fetching(proxy: str | None = None) -> AsyncIterator[HttpFetcher]:
    made = HttpFetcher(HttpOptions(user_agent="x", limits=LIMITS, allow=LOOPBACK, proxy=proxy))
    yield made
    await made.close()


async def failure(fetcher: HttpFetcher, url: str) -> Failure:
    found = await fetcher.fetch(Request(url=url))
    assert isinstance(found, Failure)
    return found


async def test_connector_https_request_succeeds(trusted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    async with LastingServer(hello, tls=server_context(trusted)) as server, fetching() as fetcher:
        for path in ("/a", "/b"):
            page = await fetcher.fetch(Request(url=server.url(path)))
            assert isinstance(page, Page)
            assert (page.body, page.address) == (f"hello {path}".encode(), "127.0.0.1")
        assert server.connections == 1


async def test_connector_unknown_authority_is_refused(trusted: Path) -> None:
    async with LastingServer(hello, tls=server_context(trusted)) as server, fetching() as fetcher:
        assert (await failure(fetcher, server.url("/"))).kind is FailureKind.CERTIFICATE
        assert server.heads == []


async def test_connector_certificate_for_other_name_is_refused(trusted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    async with LastingServer(hello, tls=server_context(trusted)) as server:
        table = {"other.example": ("127.0.0.1", server.port)}
        fetcher = HttpFetcher(HttpOptions(user_agent="x", limits=LIMITS, allow=LOOPBACK, hosts=table))
        found = await failure(fetcher, "https://other.example/")
        assert found.kind is FailureKind.CERTIFICATE
        assert "other.example" in found.detail
        await fetcher.close()


async def test_connector_endless_handshake_times_out(server: RawServer) -> None:
    async with fetching() as fetcher:
        found = await failure(fetcher, f"https://127.0.0.1:{server.port}/")
        assert found.kind is FailureKind.TIMEOUT


@pytest.mark.parametrize("tunnel", [b"", b"HTTP/1.1 200 OK\r\n\r\n"], ids=["directly", "proxy"])
async def test_connector_cancelled_handshake_closes_socket(tunnel: bytes) -> None:
    """The server keeps the connection open without end."""
    loop = asyncio.get_running_loop()
    limits = replace(LIMITS, connect=0.3)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        place = f"127.0.0.1:{listener.getsockname()[1]}"
        proxy = f"http://{place}" if tunnel else None
        fetcher = HttpFetcher(HttpOptions(user_agent="x", limits=limits, allow=LOOPBACK, proxy=proxy))
        asking = asyncio.create_task(failure(fetcher, f"https://{place}/"))
        held, _ = await loop.sock_accept(listener)
        with held:
            await loop.sock_sendall(held, tunnel)
            assert (await asking).kind is FailureKind.TIMEOUT
            with contextlib.suppress(ConnectionError):
                while await asyncio.wait_for(loop.sock_recv(held, 1 << 16), 1):
                    pass
        await fetcher.close()


async def test_connector_close_delimited_body_over_tls_is_complete(
    trusted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def until_close(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 50_000)
        await writer.drain()
        writer.close()

    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    async with LastingServer(until_close, tls=server_context(trusted)) as server, fetching() as fetcher:
        page = await fetcher.fetch(Request(url=server.url("/")))
        assert isinstance(page, Page)
        assert len(page.body) == 50_000


class ForwardingProxy:
    """A proxy that supports only CONNECT."""

    def __init__(
        self,
        answer_to_connect: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n",
        *,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.heads: list[str] = []
        self._tls = tls
        self._answer = answer_to_connect
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self._tls)
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        writer.write(self._answer)
        await writer.drain()
        if b" 200 " in self._answer:
            host, _, port = head.split()[1].rpartition(":")
            far_reader, far_writer = await asyncio.open_connection(host, int(port))
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
            far_writer.close()
        writer.close()
        self._tasks.discard(task)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()


async def test_connector_https_through_proxy_succeeds(trusted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    proxy = ForwardingProxy()
    async with LastingServer(hello, tls=server_context(trusted)) as server, proxy.running() as place:
        async with fetching(f"http://ann:s%3Dcret@{place}") as fetcher:
            for path in ("/a", "/b"):
                page = await fetcher.fetch(Request(url=f"https://localhost:{server.port}{path}"))
                assert isinstance(page, Page)
                assert (page.body, page.address) == (f"hello {path}".encode(), "")
        assert server.connections == 1, "a tunnel is reused"
    (head,) = proxy.heads
    assert head.startswith(f"CONNECT localhost:{server.port} HTTP/1.1\r\nHost: localhost:{server.port}\r\n")
    assert "Proxy-Authorization: Basic YW5uOnM9Y3JldA==\r\n" in head
    assert all("proxy-authorization" not in head.lower() for head in server.heads), "this header is for the proxy only"


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_connector_https_through_tls_proxy_succeeds(
    run: Callable[[Coroutine[Any, Any, None]], None], trusted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    context = server_context(trusted)

    async def test() -> None:
        proxy = ForwardingProxy(tls=context)
        async with LastingServer(hello, tls=context) as server, proxy.running() as place:
            async with fetching(f"https://{place}") as fetcher:
                for path in ("/a", "/b"):
                    page = await fetcher.fetch(Request(url=server.url(path)))
                    assert isinstance(page, Page)
                    assert page.body == f"hello {path}".encode()
            assert (server.connections, len(proxy.heads)) == (1, 1)

    run(test())


@pytest.mark.parametrize("host", ["a" * 64 + ".example", ".example", ".".join(["a" * 60] * 5)])
async def test_connector_impossible_certificate_name_is_failure(host: str) -> None:
    """Behind a proxy the name is not resolved here, so that only TLS can refuse it."""
    proxy = ForwardingProxy()
    async with proxy.running() as place, fetching(f"http://{place}") as fetcher:
        found = await failure(fetcher, f"https://{host}/")
        assert found.kind in (FailureKind.DNS, FailureKind.TLS)
    assert proxy.heads == []


async def test_connector_slow_connect_response_times_out() -> None:
    async def slowly(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        for byte in b"HTTP/1.1 200 Connection established\r\n\r\n":
            writer.write(bytes([byte]))
            await asyncio.sleep(0.1)

    async with LastingServer(slowly) as server, fetching(server.url("")) as fetcher:
        began = time.monotonic()
        assert (await failure(fetcher, "https://127.0.0.1:1/")).kind is FailureKind.TIMEOUT
        assert time.monotonic() - began < LIMITS.connect + GENEROUS_SECONDS


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", FailureKind.CONNECT),
        (b"HTTP/1.1 502 Bad Gateway\r\n\r\nno such host", FailureKind.CONNECT),
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", FailureKind.CONNECT),
        (b"garbage\r\n\r\n", FailureKind.PROTOCOL),
        (b"", FailureKind.RESET),
    ],
)
async def test_connector_proxy_refusing_tunnel_is_connect_failure(said: bytes, kind: FailureKind) -> None:
    async with ForwardingProxy(said).running() as place, fetching(f"http://{place}") as fetcher:
        assert (await failure(fetcher, "https://127.0.0.1:1/")).kind is kind


async def test_connector_certificates_are_checked_behind_tunnel(trusted: Path) -> None:
    proxy = ForwardingProxy()
    async with LastingServer(hello, tls=server_context(trusted)) as server, proxy.running() as place:
        fetcher = HttpFetcher(HttpOptions(user_agent="x", limits=LIMITS, allow=LOOPBACK, proxy=f"http://{place}"))
        assert (await failure(fetcher, server.url("/"))).kind is FailureKind.CERTIFICATE
        await fetcher.close()


async def test_connector_missing_proxy_is_connect_failure(unused_tcp_port: int) -> None:
    async with fetching(f"http://127.0.0.1:{unused_tcp_port}") as fetcher:
        for url in ("http://127.0.0.1/", "https://127.0.0.1/"):
            assert (await failure(fetcher, url)).kind is FailureKind.CONNECT
    async with fetching("http://nobody.invalid:3128") as fetcher:
        assert (await failure(fetcher, "http://127.0.0.1/")).kind is FailureKind.DNS


async def test_connector_plain_request_authenticates_to_proxy() -> None:
    async with LastingServer(hello) as server:
        async with fetching(f"http://ann@127.0.0.1:{server.port}") as fetcher:
            page = await fetcher.fetch(Request(url="http://127.0.0.1:81/x"))
        assert isinstance(page, Page)
        assert page.body == b"hello http://127.0.0.1:81/x"
        assert "Proxy-Authorization: Basic YW5uOg==\r\n" in server.heads[0]


async def test_connector_plain_request_to_tls_proxy_succeeds(trusted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    async with LastingServer(hello, tls=server_context(trusted)) as server, fetching(server.url("")) as fetcher:
        assert isinstance(await fetcher.fetch(Request(url="http://127.0.0.1:81/x")), Page)


def test_proxy_without_user_has_no_headers() -> None:
    proxy = Proxy.from_url("http://[::1]:3128/")
    assert (proxy.origin.host, proxy.origin.port, proxy.headers) == ("::1", 3128, {})

"""The connection pool: which connections are reused, and that none is left open."""

from __future__ import annotations

import asyncio
import random
import resource
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import uvloop

from motherlode.fetch import AddressGuard, HttpFetcher, HttpLimits, HttpOptions
from motherlode.fetch.http import connections
from motherlode.fetch.http.connections import ConnectionPool, Connector
from motherlode.fetch.http.endpoints import Endpoint, PendingRequest
from motherlode.fetch.http.errors import FetchError
from motherlode.fetch.http.tls import TlsContexts
from motherlode.model import Failure, FailureKind, Page, Posting, Request, RequestKind
from motherlode.www.urls import split_url

from ..certificates import certificate, server_context
from ..odd_tls import open_sockets
from ..servers import LastingServer, answer
from ..waiting import GENEROUS_SECONDS, until
from .test_parser import Notes

Reply = Callable[[str, int, asyncio.StreamWriter], Awaitable[None]]


def new_pool(*, read_timeout: float) -> ConnectionPool:
    connector = Connector(AddressGuard(["127.0.0.0/8"]), TlsContexts(), proxy=None, timeout=20.0)
    return ConnectionPool(connector, read_timeout=read_timeout)


@pytest.fixture
async def pool() -> AsyncIterator[ConnectionPool]:
    made = new_pool(read_timeout=20.0)
    yield made
    await made.close()


async def request(
    pool: ConnectionPool, url: str, *, address: str = "127.0.0.1", is_repeatable: bool = True
) -> Notes | FetchError:
    origin, target = split_url(url)
    notes = Notes()
    sent = f"GET {target} HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n".encode()
    deadline = asyncio.get_running_loop().time() + GENEROUS_SECONDS
    pending = PendingRequest(sent, notes, deadline, head_only=False, is_repeatable=is_repeatable)
    return await pool.send(Endpoint(origin, address, origin.port), pending) or notes


async def echo(path: str, before: int, writer: asyncio.StreamWriter) -> None:
    writer.write(answer(path.encode()))
    await writer.drain()


async def test_pool_reuses_connection_for_sequential_requests(pool: ConnectionPool) -> None:
    async with LastingServer(echo) as server:
        for number in range(5):
            notes = await request(pool, server.url(f"/{number}"))
            assert isinstance(notes, Notes)
            assert notes.body == b"/%d" % number
        assert server.connections == 1


async def test_pool_opens_connection_per_concurrent_request(pool: ConnectionPool) -> None:
    async with LastingServer(echo) as server:
        for _ in range(3):
            await asyncio.gather(*(request(pool, server.url("/")) for _ in range(4)))
        assert server.connections == 4


async def test_pool_does_not_share_connections_between_names_or_addresses(pool: ConnectionPool) -> None:
    async with LastingServer(echo) as server:
        for host in ("a.example", "b.example", "a.example"):
            assert isinstance(await request(pool, f"http://{host}:{server.port}/"), Notes)
        assert server.connections == 2
        refused = await request(pool, f"http://a.example:{server.port}/", address="10.0.0.1")
        assert isinstance(refused, FetchError), "a connection to another address of the name is not reused"
        assert refused.kind is FailureKind.GUARD


@pytest.mark.parametrize("address", ["localhost", "127.0.0.1.", "0x7f000001", ""])
async def test_pool_refuses_anything_but_ip_address(pool: ConnectionPool, address: str) -> None:
    refused = await request(pool, "http://a.example/", address=address)
    assert isinstance(refused, FetchError)
    assert refused.kind is FailureKind.GUARD


def hangs_up(*, answering: int) -> Reply:
    """Close each connection at the request after the first `answering` ones, without a response."""

    async def reply(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        if before >= answering:
            writer.transport.abort()
            return
        await echo(path, before, writer)

    return reply


async def test_pool_repeats_request_if_kept_connection_ends(pool: ConnectionPool) -> None:
    async with LastingServer(hangs_up(answering=1)) as server:
        for _ in range(3):
            assert isinstance(await request(pool, server.url("/x")), Notes)
        assert server.connections == 3
        assert len(server.heads) == 5, "two were sent twice"


async def test_pool_does_not_repeat_request_on_new_connection(pool: ConnectionPool) -> None:
    async with LastingServer(hangs_up(answering=0)) as server:
        error = await request(pool, server.url("/x"))
        assert isinstance(error, FetchError)
        assert error.kind is FailureKind.RESET
        assert len(server.heads) == 1


async def test_pool_does_not_repeat_request_after_response_started(pool: ConnectionPool) -> None:
    async def reply(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        if before:
            writer.write(b"HTTP/1.1 200 OK\r\n")
            await writer.drain()
            writer.close()
        else:
            await echo(path, before, writer)

    async with LastingServer(reply) as server:
        assert isinstance(await request(pool, server.url("/x")), Notes)
        error = await request(pool, server.url("/x"))
        assert isinstance(error, FetchError)
        assert error.kind is FailureKind.RESET
        assert len(server.heads) == 2


async def test_pool_unrepeatable_request_is_sent_once_over_new_connection(pool: ConnectionPool) -> None:
    async with LastingServer(hangs_up(answering=1)) as server:
        for _ in range(3):
            assert isinstance(await request(pool, server.url("/x"), is_repeatable=False), Notes)
        assert (server.connections, len(server.heads)) == (3, 3)


async def test_idle_connection_is_closed_after_keepalive_timeout(
    pool: ConnectionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "KEEPALIVE_SECONDS", 0.1)
    monkeypatch.setattr(connections, "_SWEEP_SECONDS", 0.05)
    async with LastingServer(echo) as server:
        assert isinstance(await request(pool, server.url("/")), Notes)
        await until(lambda: server.open_connections == 0)
        assert isinstance(await request(pool, server.url("/")), Notes)
        assert server.connections == 2


async def test_pool_keeps_limited_number_of_idle_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_IDLE_CONNECTIONS", 3)
    pool = new_pool(read_timeout=20.0)
    async with LastingServer(echo) as server:
        names = [f"http://{number}.example:{server.port}/" for number in range(6)]
        for name in names:
            await request(pool, name)
        for name in reversed(names):
            await request(pool, name)
        assert server.connections == 6 + 3, "the three most recently used connections were kept"
        await pool.close()


async def test_pool_close_ends_requests_in_flight() -> None:
    pool = new_pool(read_timeout=60.0)

    async def never(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async with LastingServer(never) as server:
        pending_requests = [asyncio.create_task(request(pool, server.url("/"))) for _ in range(3)]
        await until(lambda: len(server.heads) == 3)
        await pool.close()
        for found in await asyncio.gather(*pending_requests):
            assert isinstance(found, FetchError)
            assert found.kind is FailureKind.RESET
        await pool.close()


async def test_pool_cancelled_request_closes_its_connection(pool: ConnectionPool) -> None:
    is_next_done = asyncio.Event()

    async def slowly(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        if path == "/slow":
            await is_next_done.wait()
        await echo(path, before, writer)

    async with LastingServer(slowly) as server:
        assert isinstance(await request(pool, server.url("/first")), Notes)
        pending_requests = asyncio.create_task(request(pool, server.url("/slow")))
        await until(lambda: len(server.heads) == 2)
        pending_requests.cancel()
        with pytest.raises(asyncio.CancelledError):
            await pending_requests
        notes = await request(pool, server.url("/next"))
        is_next_done.set()
        assert isinstance(notes, Notes)
        assert notes.body == b"/next", "and not the response to the cancelled request"
        assert server.connections == 2


def misbehaves(dice: random.Random) -> Reply:
    """Respond with the requested path. In between, close connections or send garbage at the worst moments."""

    async def reply(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        whole = answer(path.encode())
        match dice.randrange(12):
            case 0:
                writer.transport.abort()
            case 1:
                writer.write(whole[: dice.randrange(len(whole))])
                writer.close()
            case 2:
                writer.write(whole)
                writer.close()
            case 3:
                writer.write(whole)
                await asyncio.sleep(0.001)
                writer.transport.abort()
            case 4:
                writer.write(whole + answer(b"poison"))
            case 5:
                writer.write(whole + b"garbage")
            case 6:
                writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + path.encode())
                writer.close()
            case 7:
                for place in range(0, len(whole), 7):
                    writer.write(whole[place : place + 7])
                    await asyncio.sleep(0)
            case 8:
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" + whole)
            case 9:
                chunk = f"{len(path):x}\r\n{path}\r\n0\r\n\r\n"
                writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk.encode())
            case _:
                writer.write(whole)
        await writer.drain()

    return reply


@pytest.mark.parametrize("secured", ["plain", "tls"])
@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_pool_returns_right_response_if_connections_end_at_bad_moments(
    run: Callable[..., None], secured: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    context = server_context(own) if secured == "tls" else None
    before = open_sockets()
    run(fetch_from_misbehaving_server(random.Random(7), context))
    assert open_sockets() <= before


async def fetch_from_misbehaving_server(dice: random.Random, context: ssl.SSLContext | None) -> None:
    limits = HttpLimits(connect=20.0, first_byte=20.0, whole=60.0)
    fetcher = HttpFetcher(HttpOptions(user_agent="x", limits=limits, allow=("127.0.0.0/8",)))
    outcomes: list[Page | Failure] = []

    async def worker(name: int, url: Callable[[str], str]) -> None:
        for number in range(60):
            path = f"/{name}/{number}"
            pending_requests = asyncio.create_task(fetcher.fetch(Request(url=url(path))))
            if dice.random() < 0.1:
                await asyncio.sleep(dice.random() * 0.004)
                pending_requests.cancel()
            try:
                fetched = await pending_requests
            except asyncio.CancelledError:
                continue
            if isinstance(fetched, Page):
                assert fetched.body == path.encode()
            else:
                assert fetched.kind in (FailureKind.RESET, FailureKind.PROTOCOL), fetched
            outcomes.append(fetched)

    async with LastingServer(misbehaves(dice), tls=context) as server:
        await asyncio.gather(*(worker(name, server.url) for name in range(20)))
        await fetcher.close()
        pages = sum(isinstance(outcome, Page) for outcome in outcomes)
        assert pages > 600, "most requests succeed"
        assert server.connections < len(server.heads), "connections are reused"


async def test_pool_reuses_connection_after_head_request(pool: ConnectionPool) -> None:
    async def reply(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(b"", length=500) if before == 0 else answer(b"next"))
        await writer.drain()

    fetcher = HttpFetcher(HttpOptions(user_agent="x", allow=("127.0.0.0/8",)))
    async with LastingServer(reply) as server:
        probe = await fetcher.fetch(Request(url=server.url("/"), kind=RequestKind.PROBE))
        assert isinstance(probe, Page)
        page = await fetcher.fetch(Request(url=server.url("/")))
        assert isinstance(page, Page)
        assert (page.body, server.connections) == (b"next", 1)
        await fetcher.close()


async def test_pool_post_is_not_sent_twice() -> None:
    fetcher = HttpFetcher(HttpOptions(user_agent="x", allow=("127.0.0.0/8",)))
    posting = Posting(body=b"", headers={"Content-Type": "text/plain"}, seconds=2.0)
    async with LastingServer(hangs_up(answering=1)) as server:
        request = Request(url=server.url("/"), kind=RequestKind.SUBREQUEST, posting=posting)
        for _ in range(2):
            assert isinstance(await fetcher.fetch(request), Page)
        assert (server.connections, len(server.heads)) == (2, 2)
        await fetcher.close()


async def test_pool_idle_connections_leave_descriptors_for_active_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (12, 12))
    pool = new_pool(read_timeout=20.0)
    async with LastingServer(echo) as server:
        names = [f"http://{number}.example:{server.port}/" for number in range(6)]
        for name in (*names, *reversed(names)):
            await request(pool, name)
        assert server.connections == 6 + 2, "idle connections get a third of the descriptors"
        await pool.close()


async def test_pool_timeout_on_kept_connection_is_silent_and_on_new_one_is_not() -> None:
    async def once(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        if path == "/first":
            await echo(path, before, writer)

    pool = new_pool(read_timeout=1.0)
    try:
        async with LastingServer(once) as server:
            on_new = await request(pool, server.url("/second"))
            assert isinstance(on_new, FetchError) and on_new.kind is FailureKind.TIMEOUT
            assert not on_new.silent
            assert isinstance(await request(pool, server.url("/first")), Notes)
            on_kept = await request(pool, server.url("/second"))
            assert isinstance(on_kept, FetchError) and on_kept.kind is FailureKind.TIMEOUT
            assert on_kept.silent
    finally:
        await pool.close()


async def test_close_idle_closes_idle_connections_at_once(pool: ConnectionPool) -> None:
    async with LastingServer(echo) as server:
        assert isinstance(await request(pool, server.url("/")), Notes)
        pool.close_idle()
        await until(lambda: server.open_connections == 0)
        assert isinstance(await request(pool, server.url("/")), Notes)
        assert server.connections == 2

"""One connection: its responses, its timeouts, and when it may be reused."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvloop

from motherlode.fetch.http.connections import Connection, PendingRequest
from motherlode.fetch.http.errors import TIMED_OUT
from motherlode.model import FailureKind

from ..servers import LastingServer, answer
from ..waiting import GENEROUS_SECONDS, until
from .test_parser import Notes

REQUEST = b"GET / HTTP/1.1\r\n\r\n"


class Register:
    """Records the open connections."""

    def __init__(self) -> None:
        self.connections: set[Connection] = set()

    def connection_opened(self, connection: Connection) -> None:
        self.connections.add(connection)

    def connection_closed(self, connection: Connection) -> None:
        self.connections.remove(connection)


def pending(notes: Notes, *, sent: bytes = REQUEST, seconds: float = 5.0, head_only: bool = False) -> PendingRequest:
    deadline = asyncio.get_running_loop().time() + seconds
    return PendingRequest(sent, notes, deadline, head_only, is_repeatable=True)


@asynccontextmanager
async def connected(reply: object, *, read_timeout: float = 5.0) -> AsyncIterator[tuple[Connection, Register]]:
    register = Register()
    async with LastingServer(reply) as server:  # type: ignore[arg-type]
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            lambda: Connection(read_timeout=read_timeout, owner=register), "127.0.0.1", server.port
        )
        yield connection, register
        connection.abort()
        await until(lambda: not register.connections)


def sends(*pieces: bytes, pause: float = 0.0, close: bool = False) -> object:
    async def reply(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)
        if close:
            writer.close()

    return reply


async def test_connection_serves_sequential_requests() -> None:
    async with connected(sends(answer(b"hello"))) as (connection, _):
        for _ in range(3):
            notes = Notes()
            assert await connection.send(pending(notes)) is None
            assert (notes.body, notes.peer, connection.is_reusable) == (b"hello", "127.0.0.1", True)


async def test_connection_close_delimited_body_is_complete() -> None:
    async with connected(sends(b"HTTP/1.1 200 OK\r\n\r\nhel", b"lo", pause=0.01, close=True)) as (connection, register):
        notes = Notes()
        assert await connection.send(pending(notes)) is None
        assert (notes.body, connection.is_reusable) == (b"hello", False)
        assert register.connections == set()


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\n", answer(b"half", length=9)])
async def test_connection_closed_mid_response_is_reset(sent: bytes) -> None:
    async with connected(sends(sent, close=True)) as (connection, _):
        error = await connection.send(pending(Notes()))
        assert error is not None
        assert error.kind is FailureKind.RESET
        assert connection.has_response == bool(sent)
        again = await connection.send(pending(Notes()))
        assert again is not None, "the connection is closed"


async def test_connection_read_timeout_ends_request() -> None:
    async with connected(sends(b"HTTP/1.1 200 OK\r\n", b"", pause=60), read_timeout=0.2) as (connection, _):
        began = time.monotonic()
        assert await connection.send(pending(Notes())) == TIMED_OUT
        assert 0.18 <= time.monotonic() - began < GENEROUS_SECONDS
        assert not connection.is_reusable


async def test_connection_data_extends_read_timeout_but_not_deadline() -> None:
    async with connected(sends(*[b"HTTP/1.1 200 OK\r\n", *[b"X: y\r\n"] * 90], pause=0.05), read_timeout=1.0) as (
        connection,
        _,
    ):
        began = time.monotonic()
        assert await connection.send(pending(Notes(), seconds=1.6)) == TIMED_OUT
        assert 1.55 <= time.monotonic() - began < GENEROUS_SECONDS


async def test_connection_unsolicited_data_closes_it() -> None:
    is_idle = asyncio.Event()

    async def reply(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(b"mine"))
        await is_idle.wait()
        writer.write(answer(b"not requested"))
        await writer.drain()

    async with connected(reply) as (connection, register):
        assert await connection.send(pending(Notes())) is None
        assert connection.is_reusable
        is_idle.set()
        await until(lambda: not connection.is_reusable)
        await until(lambda: not register.connections)


@pytest.mark.parametrize("after", [b"HTTP/1.1", answer(b"not asked for")])
async def test_connection_data_after_response_closes_it(after: bytes) -> None:
    async with connected(sends(answer(b"mine") + after)) as (connection, _):
        notes = Notes()
        assert await connection.send(pending(notes)) is None
        assert (notes.body, connection.is_reusable) == (b"mine", False)


async def test_connection_closed_by_server_while_idle_is_not_reusable() -> None:
    async with connected(sends(answer(b"hello"), close=True)) as (connection, register):
        assert await connection.send(pending(Notes())) is None
        await until(lambda: not register.connections)
        assert not connection.is_reusable


async def test_connection_abort_ends_request() -> None:
    async with connected(sends(b"", pause=5)) as (connection, register):
        asking = connection.send(pending(Notes()))
        asking.cancel()
        connection.abort()
        await until(lambda: not register.connections)


async def test_connection_idle_holds_no_body() -> None:
    async with connected(sends(answer(b"hello"))) as (connection, _):
        notes = Notes()
        await connection.send(pending(notes))
        known = weakref.ref(notes)
        del notes
        assert connection.is_reusable
        assert known() is None


def sends_without_pause(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                connection.sendall(b"x" * (1 << 20))
        except OSError:
            pass  # the client closed the connection


class Turns(Notes):
    """Counts the pieces that arrive while no other task runs."""

    def __init__(self) -> None:
        super().__init__()
        self.in_a_row = self.longest = 0

    def receive_body(self, data: bytes) -> bool:
        self.pieces += 1
        self.in_a_row += 1
        self.longest = max(self.longest, self.in_a_row)
        time.sleep(0.001)  # slow processing, so that there is always more to read
        return self.pieces < 150


@pytest.mark.parametrize("run", [uvloop.run, asyncio.run])
def test_connection_with_continuous_data_lets_other_tasks_run(run) -> None:  # type: ignore[no-untyped-def]
    async def ask(port: int) -> Turns:
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            lambda: Connection(read_timeout=5.0, owner=Register()), "127.0.0.1", port
        )
        notes = Turns()
        answered = connection.send(pending(notes, seconds=20.0))
        while not answered.done():
            notes.in_a_row = 0
            await asyncio.sleep(0)
        assert answered.result() is None
        await asyncio.sleep(0.01)
        return notes

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=sends_without_pause, args=(listener,))
        thread.start()
        notes = run(ask(listener.getsockname()[1]))
        thread.join()
    assert notes.pieces == 150
    assert notes.longest <= 4, "uvloop reads 32 times in a row"


async def test_connection_slow_upload_is_not_a_read_timeout() -> None:
    async def respond_late(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.6)  # three times the read timeout
        writer.write(answer(b"too much"))
        await has_response.wait()
        writer.transport.abort()

    has_response = asyncio.Event()

    async with connected(respond_late, read_timeout=0.2) as (connection, _):
        notes = Notes()
        assert await connection.send(pending(notes, sent=REQUEST + b"x" * 30_000_000)) is None
        has_response.set()
        assert (notes.body, connection.is_reusable) == (b"too much", False)


@pytest.mark.parametrize("how", ["late", "cancelled"])
async def test_connection_aborted_request_discards_unsent_data(how: str) -> None:
    """The server sees a reset, after which the kernel sends nothing. A normal close would follow the unsent data."""
    ends: list[str] = []
    received = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        received.set()
        try:
            ends.append("end" if await reader.read() == b"" else "more")
        except ConnectionResetError:
            ends.append("reset")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    loop, port = asyncio.get_running_loop(), server.sockets[0].getsockname()[1]
    register = Register()
    _, connection = await loop.create_connection(
        lambda: Connection(read_timeout=0.5, owner=register), "127.0.0.1", port
    )
    asked = connection.send(pending(Notes()))
    if how == "late":
        assert await asked == TIMED_OUT
    else:
        await received.wait()
        connection.abort()
    await until(lambda: bool(ends))
    server.close()
    await server.wait_closed()
    assert ends == ["reset"]


async def test_connection_timeout_after_response_start_closes_normally() -> None:
    async with connected(sends(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", pause=5), read_timeout=0.1) as (
        connection,
        _,
    ):
        assert await connection.send(pending(Notes())) == TIMED_OUT
        assert not connection.is_reusable

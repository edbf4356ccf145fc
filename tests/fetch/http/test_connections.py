"""One connection: its answers, its limits of time, and when it may be used again."""

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
from .test_parser import Notes

ASKED = b"GET / HTTP/1.1\r\n\r\n"


class Register:
    """Which wires are open."""

    def __init__(self) -> None:
        self.wires: set[Connection] = set()

    def connection_opened(self, wire: Connection) -> None:
        self.wires.add(wire)

    def connection_closed(self, wire: Connection) -> None:
        self.wires.remove(wire)


def question(notes: Notes, *, sent: bytes = ASKED, seconds: float = 5.0, head_only: bool = False) -> PendingRequest:
    deadline = asyncio.get_running_loop().time() + seconds
    return PendingRequest(sent, notes, deadline, head_only, is_repeatable=True)


@asynccontextmanager
async def wire_to(reply: object, *, read_timeout: float = 5.0) -> AsyncIterator[tuple[Connection, Register]]:
    register = Register()
    async with LastingServer(reply) as server:  # type: ignore[arg-type]
        loop = asyncio.get_running_loop()
        _, wire = await loop.create_connection(
            lambda: Connection(read_timeout=read_timeout, owner=register), "127.0.0.1", server.port
        )
        yield wire, register
        wire.abort()
        await asyncio.sleep(0.01)
        assert register.wires == set()


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
    async with wire_to(sends(answer(b"hello"))) as (wire, _):
        for _ in range(3):
            notes = Notes()
            assert await wire.send(question(notes)) is None
            assert (notes.body, notes.peer, wire.is_reusable) == (b"hello", "127.0.0.1", True)


async def test_connection_close_delimited_body_is_complete() -> None:
    async with wire_to(sends(b"HTTP/1.1 200 OK\r\n\r\nhel", b"lo", pause=0.01, close=True)) as (wire, register):
        notes = Notes()
        assert await wire.send(question(notes)) is None
        assert (notes.body, wire.is_reusable) == (b"hello", False)
        assert register.wires == set()


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\n", answer(b"half", length=9)])
async def test_connection_closed_mid_response_is_reset(sent: bytes) -> None:
    async with wire_to(sends(sent, close=True)) as (wire, _):
        trouble = await wire.send(question(Notes()))
        assert trouble is not None
        assert trouble.kind is FailureKind.RESET
        assert wire.has_response == bool(sent)
        again = await wire.send(question(Notes()))
        assert again is not None, "nobody is there any more"


async def test_connection_read_timeout_ends_request() -> None:
    async with wire_to(sends(b"HTTP/1.1 200 OK\r\n", b"", pause=5), read_timeout=0.2) as (wire, _):
        began = time.monotonic()
        assert await wire.send(question(Notes())) == TIMED_OUT
        assert 0.18 <= time.monotonic() - began < 1.0
        assert not wire.is_reusable


async def test_connection_data_extends_read_timeout_but_not_deadline() -> None:
    async with wire_to(sends(*[b"HTTP/1.1 200 OK\r\n", *[b"X: y\r\n"] * 90], pause=0.05), read_timeout=0.2) as (
        wire,
        _,
    ):
        began = time.monotonic()
        assert await wire.send(question(Notes(), seconds=0.6)) == TIMED_OUT
        assert 0.55 <= time.monotonic() - began < 1.5


async def test_connection_unsolicited_data_closes_it() -> None:
    async with wire_to(sends(answer(b"mine"), answer(b"not asked for"), pause=0.02)) as (wire, register):
        assert await wire.send(question(Notes())) is None
        assert wire.is_reusable
        await asyncio.sleep(0.1)
        assert not wire.is_reusable
        assert register.wires == set()


@pytest.mark.parametrize("after", [b"HTTP/1.1", answer(b"not asked for")])
async def test_connection_data_after_response_closes_it(after: bytes) -> None:
    async with wire_to(sends(answer(b"mine") + after)) as (wire, _):
        notes = Notes()
        assert await wire.send(question(notes)) is None
        assert (notes.body, wire.is_reusable) == (b"mine", False)


async def test_connection_closed_by_server_while_idle_is_not_reusable() -> None:
    async with wire_to(sends(answer(b"hello"), close=True)) as (wire, register):
        assert await wire.send(question(Notes())) is None
        await asyncio.sleep(0.05)
        assert not wire.is_reusable
        assert register.wires == set()


async def test_connection_abort_ends_request() -> None:
    async with wire_to(sends(b"", pause=5)) as (wire, register):
        asking = wire.send(question(Notes()))
        asking.cancel()
        wire.abort()
        await asyncio.sleep(0.02)
        assert register.wires == set()


async def test_connection_idle_holds_no_body() -> None:
    async with wire_to(sends(answer(b"hello"))) as (wire, _):
        notes = Notes()
        await wire.send(question(notes))
        known = weakref.ref(notes)
        del notes
        assert wire.is_reusable
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
            pass  # the client has had enough


class Turns(Notes):
    """Counts how many pieces come while nobody else has a turn."""

    def __init__(self) -> None:
        super().__init__()
        self.in_a_row = self.longest = 0

    def receive_body(self, data: bytes) -> bool:
        self.pieces += 1
        self.in_a_row += 1
        self.longest = max(self.longest, self.in_a_row)
        time.sleep(0.001)  # as if it were a hard one, so that there is always more to read
        return self.pieces < 150


@pytest.mark.parametrize("run", [uvloop.run, asyncio.run])
def test_connection_with_continuous_data_lets_other_tasks_run(run) -> None:  # type: ignore[no-untyped-def]
    async def ask(port: int) -> Turns:
        loop = asyncio.get_running_loop()
        _, wire = await loop.create_connection(
            lambda: Connection(read_timeout=5.0, owner=Register()), "127.0.0.1", port
        )
        notes = Turns()
        answered = wire.send(question(notes, seconds=20.0))
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
    async def slow_to_listen(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.6)
        writer.write(answer(b"too much"))
        await asyncio.sleep(0.1)
        writer.transport.abort()

    async with wire_to(slow_to_listen, read_timeout=0.2) as (wire, _):
        notes = Notes()
        assert await wire.send(question(notes, sent=ASKED + b"x" * 30_000_000)) is None
        assert (notes.body, wire.is_reusable) == (b"too much", False)


@pytest.mark.parametrize("how", ["late", "cancelled"])
async def test_connection_aborted_request_discards_unsent_data(how: str) -> None:
    """As the server sees it: a reset, after which the system sends nothing more, where a plain end would come behind
    all that has not arrived yet."""
    ends: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        try:
            ends.append("end" if await reader.read() == b"" else "more")
        except ConnectionResetError:
            ends.append("reset")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    loop, port = asyncio.get_running_loop(), server.sockets[0].getsockname()[1]
    register = Register()
    _, wire = await loop.create_connection(lambda: Connection(read_timeout=0.1, owner=register), "127.0.0.1", port)
    asked = wire.send(question(Notes()))
    if how == "late":
        assert await asked == TIMED_OUT
    else:
        await asyncio.sleep(0.05)
        wire.abort()
    await asyncio.sleep(0.1)
    server.close()
    await server.wait_closed()
    assert ends == ["reset"]


async def test_connection_timeout_after_response_start_closes_normally() -> None:
    async with wire_to(sends(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", pause=5), read_timeout=0.1) as (wire, _):
        assert await wire.send(question(Notes())) == TIMED_OUT
        assert not wire.is_reusable

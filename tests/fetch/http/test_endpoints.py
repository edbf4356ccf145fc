"""The race between several endpoints of one host."""

from __future__ import annotations

import asyncio

import pytest

from motherlode.fetch.http.connections import Connector
from motherlode.fetch.http.endpoints import Endpoint, OnTcp, PendingRequest, RaceResult, race
from motherlode.fetch.http.errors import NO_CONNECTION, FetchError
from motherlode.model import FailureKind
from motherlode.www.urls import Origin, split_url

from ..odd_tls import open_sockets
from ..servers import LastingServer, answer
from ..waiting import GENEROUS_SECONDS, until
from .test_connection_pool import new_pool
from .test_parser import Notes

REFUSED = FetchError(FailureKind.CONNECT, "refused")
NEVER = 1000.0
"""A head start after which no test waits."""


def endpoints(count: int) -> list[Endpoint]:
    origin, _ = split_url("http://a.example/")
    return [Endpoint(origin, f"127.0.0.{number + 1}", 80) for number in range(count)]


class Network:
    """Addresses by their last number: an error, None for a connection, or an event that the connection waits for."""

    def __init__(self, *behaviour: FetchError | asyncio.Event | None) -> None:
        self.behaviour = behaviour
        self.begun: list[int] = []
        self.cancelled: list[int] = []

    async def open(self, endpoint: Endpoint, on_tcp: OnTcp) -> FetchError | None:
        number = int(endpoint.address.rpartition(".")[2]) - 1
        self.begun.append(number)
        how = self.behaviour[number]
        if isinstance(how, FetchError):
            return how
        try:
            if how is not None:
                await how.wait()
        except asyncio.CancelledError:
            self.cancelled.append(number)
            raise
        on_tcp()
        return None


async def test_race_first_endpoint_that_connects_is_the_only_attempt() -> None:
    network = Network(None, None)
    assert await race(network.open, endpoints(2), head_start=NEVER) == RaceResult(0, None, 1)
    assert network.begun == [0]


async def test_race_silent_endpoint_loses_and_is_cancelled() -> None:
    network = Network(asyncio.Event(), asyncio.Event(), None)
    assert await race(network.open, endpoints(3), head_start=0.001) == RaceResult(2, None, 3)
    assert (network.begun, network.cancelled) == ([0, 1, 2], [0, 1])


async def test_race_endpoint_that_refuses_gives_way_at_once() -> None:
    network = Network(REFUSED, None)
    assert await race(network.open, endpoints(2), head_start=NEVER) == RaceResult(1, None, 2)


async def test_race_slow_first_endpoint_still_wins_against_silent_ones() -> None:
    slow = asyncio.Event()
    network = Network(slow, asyncio.Event())
    running = asyncio.create_task(race(network.open, endpoints(2), head_start=0.001))
    await until(lambda: len(network.begun) == 2)
    slow.set()
    assert await running == RaceResult(0, None, 2)
    assert network.cancelled == [1]


async def test_race_all_endpoints_fail_returns_the_first_error_and_is_silent_only_if_all_are() -> None:
    network = Network(NO_CONNECTION, REFUSED)
    assert await race(network.open, endpoints(2)) == RaceResult(0, NO_CONNECTION._replace(silent=False), 2)
    network = Network(NO_CONNECTION, NO_CONNECTION)
    assert await race(network.open, endpoints(2)) == RaceResult(0, NO_CONNECTION, 2)


async def test_race_tls_handshake_of_the_first_endpoint_may_take_long() -> None:
    established, begun = asyncio.Event(), []

    async def open_connection(endpoint: Endpoint, on_tcp: OnTcp) -> FetchError | None:
        begun.append(endpoint)
        on_tcp()
        await established.wait()
        return None

    running = asyncio.create_task(race(open_connection, endpoints(2), head_start=0.0))
    for _ in range(20):
        await asyncio.sleep(0)
    assert (len(begun), running.done()) == (1, False)
    established.set()
    assert (await running).winner == 0


async def test_race_that_is_cancelled_cancels_its_attempts() -> None:
    network = Network(asyncio.Event(), asyncio.Event())
    running = asyncio.create_task(race(network.open, endpoints(2), head_start=0.001))
    await until(lambda: len(network.begun) == 2)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert network.cancelled == [0, 1]


def pending(origin: Origin, notes: Notes, alternatives: list[Endpoint]) -> PendingRequest:
    data = f"GET / HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n".encode()
    deadline = asyncio.get_running_loop().time() + GENEROUS_SECONDS
    return PendingRequest(data, notes, deadline, head_only=False, is_repeatable=True, alternatives=alternatives)


async def test_pool_keeps_connection_of_faster_address_for_its_next_request(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hello(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(b"hello"))

    connect, asked = Connector._open_directly, []

    async def open_directly(connector: Connector, protocol: object, to: Endpoint, *rest: object) -> FetchError | None:
        asked.append(to.address)
        if to.address == "127.0.0.9":
            await asyncio.Event().wait()
        return await connect(connector, protocol, to, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Connector, "_open_directly", open_directly)
    pool, before = new_pool(read_timeout=20.0), open_sockets()
    async with LastingServer(hello) as server:
        origin, _ = split_url(f"http://a.example:{server.port}/")
        silent, alive = (Endpoint(origin, f"127.0.0.{last}", origin.port) for last in (9, 1))
        error = await pool.send(silent, pending(origin, Notes(), [alive]))
        assert error == NO_CONNECTION
        assert (server.connections, server.heads) == (1, []), "no request without a lease"
        notes = Notes()
        assert await pool.send(alive, pending(origin, notes, [])) is None
        assert (notes.body, server.connections) == (b"hello", 1)
        assert asked == ["127.0.0.9", "127.0.0.1"]
        await pool.close()
    await until(lambda: open_sockets() <= before)


async def test_pool_checks_every_address_of_a_race_with_the_guard() -> None:
    pool = new_pool(read_timeout=20.0)  # its guard allows loopback only
    origin, _ = split_url("http://a.example:1/")
    first, second = (Endpoint(origin, address, 1) for address in ("127.0.0.1", "10.0.0.1"))
    error = await pool.send(first, pending(origin, Notes(), [second]))
    assert error is not None
    assert (error.kind, error.lost) == (FailureKind.CONNECT, 1)
    error = await pool.send(second, pending(origin, Notes(), [first]))
    assert error is not None
    assert (error.kind, error.lost) == (FailureKind.GUARD, 1)
    await pool.close()

"""The buffer between the thread of a crawl and its consumer."""

from __future__ import annotations

import asyncio
import threading

from motherlode.api.visit_buffer import VisitBuffer
from motherlode.model import Visit

LONG_SECONDS = 60.0


def visit(number: int) -> Visit:
    return Visit(number=number, url=f"http://a.example/{number}", host="a.example")


def produce(buffer: VisitBuffer, count: int, done: list[int]) -> threading.Thread:
    async def put_all() -> None:
        for number in range(count):
            await buffer.put(visit(number))
            done.append(number)
        buffer.end()

    thread = threading.Thread(target=lambda: asyncio.run(put_all()))
    thread.start()
    return thread


def test_get_returns_all_visits_in_order_and_none_at_the_end() -> None:
    buffer, done = VisitBuffer(3), list[int]()
    thread = produce(buffer, 50, done)
    found = []
    while not buffer.is_over:
        if (one := buffer.get(LONG_SECONDS)) is not None:
            found.append(one.number)
            assert len(done) <= len(found) + 3
    thread.join()
    assert found == list(range(50))
    assert buffer.get(LONG_SECONDS) is None


async def test_get_async_returns_all_visits_in_order() -> None:
    buffer = VisitBuffer(3)
    thread = produce(buffer, 50, [])
    found = []
    while not buffer.is_over:
        if (one := await buffer.get_async(LONG_SECONDS)) is not None:
            found.append(one.number)
    thread.join()
    assert found == list(range(50))


def test_discard_lets_a_waiting_producer_end() -> None:
    buffer = VisitBuffer(1)
    thread = produce(buffer, 50, [])
    assert buffer.get(LONG_SECONDS) is not None
    buffer.discard()
    thread.join()
    assert buffer.is_over


def test_get_without_visits_returns_none_after_the_timeout() -> None:
    assert VisitBuffer().get(0.001) is None
    assert asyncio.run(VisitBuffer().get_async(0.001)) is None

"""Tests of the queue in which clients wait in turn. No test measures a time."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.index.query import fair_queue
from motherlode.index.query.fair_queue import CLIENT, FairQueue, QueueFullError


class Requests:
    """Requests of several clients to a queue. Each holds its slot until the test ends it."""

    def __init__(self, slots: int = 1, max_waiting: int = 1000) -> None:
        self.queue = FairQueue(slots, max_waiting=max_waiting)
        self.running: list[tuple[str, asyncio.Event]] = []
        self.order: list[str] = []
        self.refused: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def _request(self, client: str) -> None:
        CLIENT.set(client)
        try:
            async with self.queue.slot():
                end = asyncio.Event()
                self.running.append((client, end))
                self.order.append(client)
                await end.wait()
        except QueueFullError:
            self.refused.append(client)

    async def send(self, clients: str) -> None:
        """Send a request of each client, in this order."""
        self.tasks += [asyncio.create_task(self._request(client)) for client in clients]
        await settle()

    async def end_first(self) -> None:
        self.running.pop(0)[1].set()
        await settle()

    async def end_all(self) -> str:
        """End all requests, one after the other. Return the clients in the order in which they got a slot."""
        while self.running:
            await self.end_first()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        assert len(self.queue) == 0
        return "".join(self.order)


async def settle() -> None:
    """Let all tasks run until they wait."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_waiting_clients_get_slots_in_turn() -> None:
    requests = Requests()
    await requests.send("a" * 6 + "bbcc" + "d")
    assert await requests.end_all() == "a" + "bcd" + "abc" + "aaaa"


async def test_a_new_client_waits_for_one_request_of_each_other_client() -> None:
    requests = Requests(slots=2)
    await requests.send("a" * 500 + "b" * 500)
    await requests.send("c")
    for _ in range(2):
        await requests.end_first()
    assert requests.order == ["a", "a", "b", "c"]
    assert Counter(await requests.end_all()) == {"a": 500, "b": 500, "c": 1}


async def test_client_with_one_request_at_a_time_is_not_preferred() -> None:
    requests = Requests()
    await requests.send("aabb")
    for _ in range(3):
        await requests.send("c")
        await requests.end_first()
    assert "".join(requests.order) == "abca"
    await requests.end_all()


async def test_requests_beyond_the_slots_wait_until_one_ends() -> None:
    requests = Requests(slots=2)
    await requests.send("aaa")
    assert len(requests.running) == 2
    assert len(requests.queue) == 1
    await requests.end_first()
    assert len(requests.running) == 2


async def test_full_queue_refuses_the_client_with_most_requests() -> None:
    requests = Requests(max_waiting=4)
    await requests.send("a" + "aaaa")
    await requests.send("a")
    assert requests.refused == ["a"], "its own request is the last one"
    await requests.send("b")
    assert requests.refused == ["a", "a"], "the last of its waiting requests made room"
    await requests.send("b")
    assert requests.refused == ["a", "a", "a"]
    await requests.send("b")
    assert requests.refused == ["a", "a", "a", "b"], "both have two waiting requests"
    assert await requests.end_all() == "a" + "baba"


async def test_queue_without_waiting_room_refuses_at_once() -> None:
    requests = Requests(max_waiting=0)
    await requests.send("ab")
    assert requests.refused == ["b"]
    assert await requests.end_all() == "a"


async def test_cancelled_request_leaves_the_queue() -> None:
    requests = Requests()
    await requests.send("abc")
    requests.tasks[1].cancel()
    await settle()
    assert len(requests.queue) == 1
    assert await requests.end_all() == "ac"


async def test_slot_that_was_given_to_a_cancelled_request_goes_to_the_next() -> None:
    requests = Requests()
    await requests.send("abc")
    requests.running.pop(0)[1].set()
    await asyncio.sleep(0)
    assert len(requests.queue) == 1, "the slot is given to b, whose task has not run yet"
    requests.tasks[1].cancel()
    await settle()
    assert await requests.end_all() == "ac"


async def test_queue_remembers_a_limited_number_of_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_queue, "_MAX_REMEMBERED_CLIENTS", 3)
    requests = Requests()
    await requests.send("abcdefg")
    assert await requests.end_all() == "abcdefg"
    assert list(requests.queue._last_turns) == ["e", "f", "g"]


def test_time_to_wait_is_at_least_a_second() -> None:
    assert FairQueue(1, max_waiting=1).seconds_to_wait == 1


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(st.sampled_from("abcd") | st.sampled_from(["end", "cancel"]), max_size=60),
    slots=st.integers(1, 3),
    room=st.integers(0, 6),
)
async def test_no_slot_is_lost_and_no_limit_is_exceeded(steps: list[str], slots: int, room: int) -> None:
    requests = Requests(slots=slots, max_waiting=room)
    for step in steps:
        if step == "end" and requests.running:
            await requests.end_first()
        elif step == "cancel" and requests.tasks:
            requests.tasks.pop().cancel()
            await settle()
        elif step in "abcd":
            await requests.send(step)
        assert len(requests.queue) <= room
    await requests.end_all()
    for _ in range(slots):
        await requests.send("z")
    assert len([client for client, _ in requests.running if client == "z"]) == slots
    await requests.end_all()

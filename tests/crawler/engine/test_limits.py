"""Slots: slow requests do not count, up to a limit."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from math import inf

import pytest

from motherlode.crawler.engine.limits import SLOW_SECONDS, Slots, cancel
from motherlode.frontier import Lease
from motherlode.model import RequestKind
from tests.frontier.fakes import entry

URL = "http://a.example/"
LEASE = Lease(url=URL, host="a.example", kind=RequestKind.PAGE, entry=entry(URL))
ROBOTS = Lease(url=URL + "robots.txt", host="a.example", kind=RequestKind.ROBOTS, entry=entry(URL))


def test_slot_is_in_use_from_take_to_free() -> None:
    slots = Slots(2)
    one, _ = slots.take(LEASE), slots.take(ROBOTS)
    assert slots.is_full(0.0)
    assert (slots.in_use, slots.pages_in_use) == (2, 1)
    slots.free(one)
    assert not slots.is_full(0.0)
    assert (slots.in_use, slots.pages_in_use) == (1, 0)


def test_slot_that_is_freed_twice_is_an_error() -> None:
    slots = Slots(1)
    one = slots.take(LEASE)
    slots.free(one)
    with pytest.raises(KeyError):
        slots.free(one)


async def test_take_tasks_returns_each_task_once() -> None:
    slots = Slots(3)
    one, other, _ = slots.take(LEASE), slots.take(LEASE), slots.take(ROBOTS)
    one.task, other.task = (asyncio.create_task(asyncio.sleep(60)) for _ in range(2))
    tasks = slots.take_tasks()
    assert len(tasks) == 2
    assert slots.take_tasks() == []
    assert slots.in_use == 3, "the slots stay taken"
    await cancel(tasks)
    assert all(task.cancelled() for task in tasks)


def test_request_that_ended_is_not_slow_any_more() -> None:
    slots = Slots(1)
    one = slots.take(LEASE)
    with slots.waiting(one, 0.0):
        assert slots.is_full(SLOW_SECONDS / 2)
        assert not slots.is_full(SLOW_SECONDS)
    assert slots.is_full(SLOW_SECONDS), "its body is in memory now"


def test_request_to_a_slow_host_does_not_count_from_the_start() -> None:
    freed: list[bool] = []
    slots = Slots(1, on_free=lambda: freed.append(True))
    one = slots.take(LEASE)
    with slots.waiting(one, 0.0, usual=SLOW_SECONDS / 2):
        assert slots.is_full(0.0)
        assert not freed
    with slots.waiting(one, 0.0, usual=2 * SLOW_SECONDS):
        assert not slots.is_full(0.0)
        assert freed
    assert slots.is_full(0.0), "its body is in memory now"


def test_next_slow_gives_the_seconds_until_a_request_becomes_slow() -> None:
    slots = Slots(2)
    assert slots.next_slow(0.0) == inf
    one, other = slots.take(LEASE), slots.take(LEASE)
    with slots.waiting(one, 1.0), slots.waiting(other, 1.2):
        assert slots.next_slow(1.1) == pytest.approx(SLOW_SECONDS - 0.1)
        slots.is_full(1.0 + SLOW_SECONDS)
        assert slots.next_slow(1.3) == pytest.approx(SLOW_SECONDS - 0.1)
        assert slots.next_slow(9.0) == 0.0


def test_slow_requests_are_bounded() -> None:
    slots = Slots(10)
    with ExitStack() as requests:
        while not slots.is_full(now := float(slots.in_use)):
            requests.enter_context(slots.waiting(slots.take(LEASE), now - SLOW_SECONDS))
            assert slots.in_use <= 100
        assert slots.in_use == 40

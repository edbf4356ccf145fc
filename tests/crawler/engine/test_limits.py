"""Slow requests give up their places, but not without end."""

from __future__ import annotations

from contextlib import ExitStack
from math import inf

import pytest

from motherlode.crawler.engine.limits import SLOW_SECONDS, Slots


def test_a_place_is_taken_until_its_end() -> None:
    places = Slots(2)
    places.open = 2
    assert places.full(0.0)
    places.open = 1
    assert not places.full(0.0)


def test_a_request_that_ended_is_slow_no_more() -> None:
    places = Slots(1)
    places.open = 1
    with places.asking(0.0):
        assert places.full(SLOW_SECONDS / 2)
        assert not places.full(SLOW_SECONDS)
    assert places.full(SLOW_SECONDS), "its body is here now, and takes its place"


def test_a_request_to_a_slow_host_takes_no_place_from_its_beginning() -> None:
    freed: list[bool] = []
    places = Slots(1, freed=lambda: freed.append(True))
    places.open = 1
    with places.asking(0.0, usual=SLOW_SECONDS / 2):
        assert places.full(0.0)
        assert not freed
    with places.asking(0.0, usual=2 * SLOW_SECONDS):
        assert not places.full(0.0)
        assert freed
    assert places.full(0.0), "its body is here now, and takes its place"


def test_it_is_told_when_the_next_request_is_slow() -> None:
    places = Slots(2)
    assert places.next_slow(0.0) == inf
    with places.asking(1.0), places.asking(1.2):
        assert places.next_slow(1.1) == pytest.approx(SLOW_SECONDS - 0.1)
        places.full(1.0 + SLOW_SECONDS)
        assert places.next_slow(1.3) == pytest.approx(SLOW_SECONDS - 0.1)
        assert places.next_slow(9.0) == 0.0


def test_slow_requests_are_bounded_too() -> None:
    places = Slots(10)
    with ExitStack() as requests:
        while not places.full(now := float(places.open)):
            requests.enter_context(places.asking(now - SLOW_SECONDS))
            places.open += 1
            assert places.open <= 100
        assert places.open == 40

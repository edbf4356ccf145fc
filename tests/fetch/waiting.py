"""Waiting for a condition instead of for a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

GENEROUS_SECONDS = 30.0
"""Far more than any of these conditions takes, even on a busy machine."""


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds. Raise TimeoutError if it does not hold in time."""
    async with asyncio.timeout(GENEROUS_SECONDS):
        while not condition():  # noqa: ASYNC110 - conditions such as open sockets have no event
            await asyncio.sleep(0.005)

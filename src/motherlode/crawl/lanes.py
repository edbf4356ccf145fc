"""Two lanes of readers: what is large must not keep what is small waiting.

A page of ten megabytes can take seconds to read, a usual one a few milliseconds. In one queue, a host that sends large
bodies without end slows down every other host. So large pages go to a reader of their own, which is started when the
first of them comes; there they wait for each other.
"""

from __future__ import annotations

import asyncio

from motherlode.crawl.pool import ReaderPool
from motherlode.crawl.readings import Body, Instructions, Reading

LARGE = 1 << 20
"""Bytes of a body."""


class ReaderLanes:
    """Reads like a `ReaderPool`."""

    def __init__(self, instructions: Instructions, *, workers: int, seconds: float, large: int = LARGE) -> None:
        self._instructions = instructions
        self._seconds = seconds
        self._large = large
        self._usual = ReaderPool(instructions, workers=workers, seconds=seconds)
        self._slow: ReaderPool | None = None

    async def read(self, page: Body) -> Reading:
        """What a reader makes of a page; UnreadableError where it broke or outlasted its reader."""
        if len(page.body) < self._large:
            return await self._usual.read(page)
        if self._slow is None:
            self._slow = ReaderPool(self._instructions, workers=1, seconds=self._seconds)
        return await self._slow.read(page)

    @property
    def replaced(self) -> int:
        """Readers that had to be replaced."""
        return self._usual.replaced + (self._slow.replaced if self._slow is not None else 0)

    def process_ids(self) -> list[int]:
        return self._usual.process_ids() + (self._slow.process_ids() if self._slow is not None else [])

    async def close(self) -> None:
        await asyncio.gather(*(pool.close() for pool in (self._usual, self._slow) if pool is not None))

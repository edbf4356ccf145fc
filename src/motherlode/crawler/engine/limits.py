"""How many URLs may be under way. A server that keeps us waiting must not keep others from being asked.

A URL takes a place from the frontier to its end, and there are `most` of them; that bounds what is in memory. But a
request whose answer has not come after a while costs next to nothing, and a few dozen servers that send a byte a second
would bring a crawl to a halt. So a request that is slow gives its place up until its answer is there, and one to a host
that was slow before takes none to begin with; there may be three times as many slow requests as places, and those
beyond keep theirs.

>>> places = Places(2)
>>> with places.asking(now=0.0), places.asking(now=0.3):
...     places.open += 2
...     [places.full(now) for now in (0.4, 0.6)]
[True, False]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf

SLOW_SECONDS = 0.5
_SLOW_FOR_EACH = 3
MAX_REQUESTS_PER_SLOT = 1 + _SLOW_FOR_EACH
"""Requests that may be under way for each place."""


class Slots:
    """`open` counts URLs under way; `asking` surrounds every request."""

    def __init__(self, most: int, *, freed: Callable[[], None] = lambda: None) -> None:
        self._most = most
        self._freed = freed
        """Called when a request turns out to need no place."""
        self.open = 0
        self._asked: dict[int, float] = {}
        """When each request began that is not slow yet, in that order."""
        self._slow: set[int] = set()
        self._last = 0

    @contextmanager
    def asking(self, now: float, *, usual: float = 0.0) -> Iterator[None]:
        """`usual` is how long answers of that server take, as far as is known."""
        self._last += 1
        mark = self._last
        if usual < SLOW_SECONDS:
            self._asked[mark] = now
        else:
            self._slow.add(mark)
            self._freed()
        try:
            yield
        finally:
            self._asked.pop(mark, None)
            self._slow.discard(mark)

    def full(self, now: float) -> bool:
        while self._asked:
            mark, began = next(iter(self._asked.items()))
            if began > now - SLOW_SECONDS:
                break
            del self._asked[mark]
            self._slow.add(mark)
        return self.open - min(len(self._slow), _SLOW_FOR_EACH * self._most) >= self._most

    def next_slow(self, now: float) -> float:
        """Seconds until another request gives its place up; infinite where there is none."""
        return max(0.0, next(iter(self._asked.values()), inf) + SLOW_SECONDS - now)

"""A simulated crawl with one fetching process and several remote parsers, each with a core of its own.

`bench/remote_parsers.py` and the tables of the papers use it for more parsers than this machine has cores.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from random import Random

CALL_SECONDS = 0.002
"""Time of a call to another machine and back, without the work."""


def simulate(
    actors: int, *, fetching: float, parsing: float | Sequence[float], sent: int, pages: int = 20_000, seed: int = 0
) -> float:
    """Return the pages per second of one fetching process and `actors` remote parsers, each with a core.

    The fetching process is busy `fetching` seconds per page. `parsing` has the seconds of measured pages, from which
    the pages are drawn, or their mean; then times are exponentially distributed. There are `sent` slots per parser and
    as many for the fetching process. A parser gets its share of the waiting pages in one call, and returns all results
    in the next.
    """
    random = Random(seed)
    fetchable = sent * (actors + 1)
    waiting, idle, done, now, fetch_free = 0, deque(range(actors)), 0, 0.0, True
    events: list[tuple[float, int, int]] = []  # time; pages; parser, or -1 for the fetching process
    while done < pages:
        if fetch_free and fetchable:
            fetchable, fetch_free = fetchable - 1, False
            heapq.heappush(events, (now + fetching, 1, -1))
        while idle and waiting:
            batch = min(sent, -(-waiting // len(idle)))
            work = sum(_seconds(parsing, random) for _ in range(batch))
            waiting -= batch
            heapq.heappush(events, (now + CALL_SECONDS + work, batch, idle.popleft()))
        now, count, parser = heapq.heappop(events)
        if parser < 0:
            fetch_free, waiting = True, waiting + 1
        else:
            idle.append(parser)
            done, fetchable = done + count, fetchable + count
    return done / now


def _seconds(parsing: float | Sequence[float], random: Random) -> float:
    return random.expovariate(1 / parsing) if isinstance(parsing, float) else random.choice(parsing)

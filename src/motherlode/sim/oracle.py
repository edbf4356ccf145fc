"""The oracle: it knows every page's label and every link. An upper bound that no policy can reach without luck.

It takes a relevant page when one is discovered; otherwise the discovered page from which the way to an undiscovered
relevant page is shortest. Ways only grow longer as relevant pages are discovered, so a stored distance is a lower
bound: it is checked by a search when its page comes to the top, and put back if it has grown.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence

from motherlode.model import Feedback, Link, Parent, Rating
from motherlode.sim.webs import SimulatedWeb

_FAR = 1 << 30
"""No relevant page can be reached."""


class OraclePolicy:
    """Each URL is an arm of its own, because any URL's value may change at any time."""

    def __init__(self, web: SimulatedWeb) -> None:
        self._numbers: dict[str, int] = {}
        self._urls: list[str] = []
        self._out: list[list[int]] = []
        self._relevant: list[bool] = []
        self._read(web)
        self._discovered = [False] * len(self._urls)
        self._distance = self._all_distances()
        self._heap: list[tuple[int, int, str]] = []
        self._awake: dict[str, int] = {}
        self._count = 0

    def _read(self, web: SimulatedWeb) -> None:
        pages = list(web.everything())
        for number, page in enumerate(pages):
            self._numbers[page.url] = number
            self._urls.append(page.url)
            self._relevant.append(page.relevant)
        for page in pages:
            targets = [page.location] if page.location else [link.url for link in page.links]
            self._out.append([self._numbers[url] for url in targets if url in self._numbers])

    def _all_distances(self) -> list[int]:
        """Links from each page to the nearest relevant page other than itself, at the start."""
        into: list[list[int]] = [[] for _ in self._out]
        for source, targets in enumerate(self._out):
            for target in targets:
                into[target].append(source)
        distance = [_FAR] * len(self._out)
        queue: deque[tuple[int, int]] = deque((page, 0) for page, yes in enumerate(self._relevant) if yes)
        while queue:
            page, steps = queue.popleft()
            for source in into[page]:
                if distance[source] == _FAR:
                    distance[source] = steps + 1
                    queue.append((source, steps + 1))
        return distance

    def _distance_now(self, page: int) -> int:
        """Links to the nearest relevant page that is still undiscovered."""
        seen = {page}
        queue: deque[tuple[int, int]] = deque([(page, 0)])
        while queue:
            at, steps = queue.popleft()
            for target in self._out[at]:
                if target not in seen:
                    if self._relevant[target] and not self._discovered[target]:
                        return steps + 1
                    seen.add(target)
                    if not self._discovered[target]:
                        queue.append((target, steps + 1))
        return _FAR

    def rate(self, links: Sequence[Link], parent: Parent | None) -> Sequence[Rating]:
        ratings = []
        for link in links:
            number = self._numbers.get(link.url)
            if number is not None:
                self._discovered[number] = True
            ratings.append(Rating(arm=link.url, score=0.0))
        return ratings

    def learn(self, feedback: Feedback) -> None:
        """Everything was known before."""

    def wake(self, arm: str, best: float, waiting: int) -> None:
        if arm in self._awake:
            return
        self._count += 1
        self._awake[arm] = self._count
        number = self._numbers.get(arm)
        value = _FAR if number is None else 0 if self._relevant[number] else self._distance[number]
        heapq.heappush(self._heap, (value, self._count, arm))

    def rest(self, arm: str) -> None:
        self._awake.pop(arm, None)

    def pick(self) -> str | None:
        while self._heap:
            value, count, arm = self._heap[0]
            if self._awake.get(arm) != count:
                heapq.heappop(self._heap)
                continue
            number = self._numbers.get(arm)
            if value in (0, _FAR) or number is None:
                return arm
            now = self._distance_now(number)
            if now == value:
                return arm
            self._distance[number] = now
            heapq.heapreplace(self._heap, (now, count, arm))
        return None

    def dump(self) -> bytes:
        return b""

    def load(self, state: bytes) -> None:
        """Nothing was learned."""

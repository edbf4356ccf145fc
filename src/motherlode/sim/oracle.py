"""The oracle: it knows every page's label and every link. An upper bound that no policy can reach without luck.

It takes a relevant page when one is discovered; otherwise the discovered page from which the way to an undiscovered
relevant page is shortest. Ways only grow longer as relevant pages are discovered, so a stored distance is a lower
bound: it is checked by a search when its page comes to the top, and put back if it has grown.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence

from motherlode.frontier import MAX_REDIRECTS
from motherlode.model import Feedback, Link, Parent, Rating
from motherlode.sim.webs import SimPage, SimulatedWeb

_FAR = 1 << 30
"""No relevant page can be reached."""


class LinkGraph:
    """Labels and links of a whole web as numbers. Made once, shared by the oracles of all repetitions.

    Redirects are steps like any other. What pages link to and the web does not count among its pages (endless
    calendars, forms) is known by its label, and a redirect by where it leads; what lies behind such pages is not.
    """

    def __init__(self, web: SimulatedWeb) -> None:
        self.numbers: dict[str, int] = {}
        self.relevant: list[bool] = []
        self.out: list[Sequence[int]] = []
        self._redirects: deque[tuple[int, str, int]] = deque()
        """Numbers of redirects that the web did not count, their targets, and how many led to them in a row."""
        held = list(web.everything())
        for page in held:
            self._add(page.url, page)
        for number, page in enumerate(held):
            self.out[number] = [self._number(web, url, 0) for url in _targets(page)]
        while self._redirects:
            number, target, hops = self._redirects.popleft()
            self.out[number] = [self._number(web, target, hops)]
        self.nearest = self._distances()

    def _add(self, url: str, page: SimPage) -> int:
        number = self.numbers[url] = len(self.relevant)
        self.relevant.append(page.relevant)
        self.out.append(())
        return number

    def _number(self, web: SimulatedWeb, url: str, hops: int) -> int:
        number = self.numbers.get(url)
        if number is None:
            page = web.page(url)
            number = self._add(url, page)
            if page.location and hops < MAX_REDIRECTS:
                self._redirects.append((number, page.location, hops + 1))
        return number

    def _distances(self) -> list[int]:
        """Links from each page to the nearest relevant page, at least one."""
        into: list[list[int]] = [[] for _ in self.out]
        for source, targets in enumerate(self.out):
            for target in targets:
                into[target].append(source)
        distance = [_FAR] * len(self.out)
        queue: deque[tuple[int, int]] = deque((page, 0) for page, yes in enumerate(self.relevant) if yes)
        while queue:
            page, steps = queue.popleft()
            for source in into[page]:
                if distance[source] == _FAR:
                    distance[source] = steps + 1
                    queue.append((source, steps + 1))
        return distance


def _targets(page: SimPage) -> list[str]:
    return [page.location] if page.location else [link.url for link in page.links]


class OraclePolicy:
    """Each URL is an arm of its own, because any URL's value may change at any time."""

    def __init__(self, graph: LinkGraph) -> None:
        self._graph = graph
        self._distance = list(graph.nearest)
        self._discovered = bytearray(len(graph.relevant))
        self._heap: list[tuple[int, int, str]] = []
        """Steps to the next find, order of discovery, URL."""
        self._awake: dict[str, tuple[int, int]] = {}
        self._order: dict[str, int] = {}

    def rate(self, links: Sequence[Link], parent: Parent | None) -> Sequence[Rating]:
        ratings = []
        for link in links:
            number = self._graph.numbers.get(link.url)
            if number is not None:
                self._discovered[number] = True
            self._order[link.url] = len(self._order)
            ratings.append(Rating(arm=link.url, score=0.0))
        return ratings

    def learn(self, feedback: Feedback) -> None:
        """Everything was known before."""

    def wake(self, arm: str, best: float, waiting: int) -> None:
        if arm not in self._awake:
            number = self._graph.numbers.get(arm)
            relevant = number is not None and self._graph.relevant[number]
            heapq.heappush(self._heap, self._placed(arm, 0 if relevant else self._known_distance(number)))

    def _known_distance(self, number: int | None) -> int:
        """As it was last found out: never more than it is now."""
        return _FAR if number is None else self._distance[number]

    def _placed(self, arm: str, distance: int) -> tuple[int, int, str]:
        place = self._awake[arm] = (distance, self._order[arm])
        return (*place, arm)

    def rest(self, arm: str) -> None:
        self._awake.pop(arm, None)

    def pick(self) -> str | None:
        while self._heap:
            distance, order, arm = self._heap[0]
            if self._awake.get(arm) != (distance, order):
                heapq.heappop(self._heap)
                continue
            if distance in (0, _FAR):
                return arm
            number = self._graph.numbers[arm]
            now = self._distance_now(number)
            if now == distance:
                return arm
            self._distance[number] = now
            heapq.heapreplace(self._heap, self._placed(arm, now))
        return None

    def _distance_now(self, page: int) -> int:
        """Links to the nearest relevant page that is still undiscovered, past pages that are."""
        out, relevant, discovered = self._graph.out, self._graph.relevant, self._discovered
        seen = {page}
        queue: deque[tuple[int, int]] = deque([(page, 0)])
        while queue:
            at, steps = queue.popleft()
            for target in out[at]:
                if target not in seen and not discovered[target]:
                    if relevant[target]:
                        return steps + 1
                    seen.add(target)
                    queue.append((target, steps + 1))
        return _FAR

    def dump(self) -> bytes:
        return b""

    def load(self, state: bytes) -> None:
        """Nothing was learned."""

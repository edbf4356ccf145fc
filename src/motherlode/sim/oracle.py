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
from motherlode.policy.waiting import Patient
from motherlode.sim.webs import SimPage, SimulatedWeb
from motherlode.www.urls import host_of

_FAR = 1 << 30
"""No relevant page can be reached."""


class LinkGraph:
    """Labels and links of a whole web as numbers. Made once, shared by the oracles of all repetitions.

    Redirects are steps like any other. A synthetic web is endless beyond the pages that it counts (calendars, say):
    of what lies there, the nearest is known too, as much again as the web counts.
    """

    def __init__(self, web: SimulatedWeb) -> None:
        self.numbers: dict[str, int] = {}
        self.relevant: list[bool] = []
        self.out: list[Sequence[int]] = []
        self._unread: deque[tuple[int, list[str]]] = deque()
        """Pages whose links have no numbers yet."""
        for page in web.everything():
            self._add(page.url, page)
        most = 2 * len(self.relevant)
        while self._unread:
            number, targets = self._unread.popleft()
            self.out[number] = [found for url in targets if (found := self._number(web, url, most)) is not None]
        self.edges = sum(map(len, self.out))
        self._into: list[list[int]] = [[] for _ in self.out]
        for source, ends in enumerate(self.out):
            for target in ends:
                self._into[target].append(source)
        self.nearest = self.distances(bytearray(len(self.relevant)))

    def _add(self, url: str, page: SimPage) -> int:
        number = self.numbers[url] = len(self.relevant)
        self.relevant.append(page.relevant)
        self.out.append(())
        targets = _targets(page)
        if targets:
            self._unread.append((number, targets))
        return number

    def _number(self, web: SimulatedWeb, url: str, most: int) -> int | None:
        number = self.numbers.get(url)
        if number is None and len(self.relevant) < most:
            number = self._add(url, web.page(url))
        return number

    def distances(self, discovered: bytearray) -> list[int]:
        """Links from each page to the nearest relevant page that is undiscovered, by pages that are so, too."""
        distance = [_FAR] * len(self.out)
        queue = deque((page, 0) for page, yes in enumerate(self.relevant) if yes and not discovered[page])
        while queue:
            page, steps = queue.popleft()
            for source in self._into[page]:
                if distance[source] == _FAR:
                    distance[source] = steps + 1
                    if not discovered[source] and not self.relevant[source]:
                        queue.append((source, steps + 1))
        return distance


def _targets(page: SimPage) -> list[str]:
    return [page.location] if page.location else [link.url for link in page.links]


class OraclePolicy(Patient):
    """Each URL is an arm of its own, because any URL's value may change at any time.

    Where clocks let hosts rest, the best crawl is one that waits for them.
    """

    def __init__(self, graph: LinkGraph) -> None:
        super().__init__()
        self._graph = graph
        self._distance = list(graph.nearest)
        self._discovered = bytearray(len(graph.relevant))
        self._heap: list[tuple[int, int, str]] = []
        """Steps to the next find, order of discovery, URL."""
        self._awake: dict[str, tuple[int, int]] = {}
        self._order: dict[str, int] = {}
        self._searched = 0
        """Steps of searches since all distances were computed anew."""

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
        self._wakes(host_of(arm), arm)
        if arm not in self._awake:
            heapq.heappush(self._heap, self._placed(arm, self._value(arm)))

    def _value(self, arm: str) -> int:
        """Steps to the next find as they were last computed: never more than they are now."""
        number = self._graph.numbers.get(arm)
        if number is None:
            return _FAR
        return 0 if self._graph.relevant[number] else self._distance[number]

    def _placed(self, arm: str, distance: int) -> tuple[int, int, str]:
        place = self._awake[arm] = (distance, self._order[arm])
        return (*place, arm)

    def rest(self, arm: str) -> None:
        known = self._awake.pop(arm, None)
        self._rests(host_of(arm), arm, _worth(known[0]) if known is not None else None)

    def pick(self) -> str | None:
        arm = self._best()
        return self._taken(arm, _worth(self._awake[arm][0]) if arm is not None else 0.0)

    def _best(self) -> str | None:
        while self._heap:
            distance, order, arm = self._heap[0]
            if self._awake.get(arm) != (distance, order):
                heapq.heappop(self._heap)
                continue
            if distance in (0, _FAR):
                return arm
            if self._searched > self._graph.edges:  # searching one by one has cost as much as all at once
                self._refresh()
                continue
            number = self._graph.numbers[arm]
            now = self._distance_now(number)
            if now == distance:
                return arm
            self._distance[number] = now
            heapq.heapreplace(self._heap, self._placed(arm, now))
        return None

    def _refresh(self) -> None:
        self._searched = 0
        self._distance = self._graph.distances(self._discovered)
        self._heap = [self._placed(arm, self._value(arm)) for arm in self._awake]
        heapq.heapify(self._heap)

    def _distance_now(self, page: int) -> int:
        """Links to the nearest relevant page that is still undiscovered, past pages that are."""
        out, relevant, discovered = self._graph.out, self._graph.relevant, self._discovered
        seen = {page}
        queue: deque[tuple[int, int]] = deque([(page, 0)])
        while queue:
            at, steps = queue.popleft()
            self._searched += len(out[at])
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


def _worth(distance: int) -> float:
    """Finds per request on the way to the nearest find."""
    return 0.0 if distance == _FAR else 1.0 / (1.0 + distance)

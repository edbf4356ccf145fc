"""The oracle: a policy that knows the label of every page and every link. It is the upper baseline of simulations.

It picks a relevant page if one is discovered. Otherwise it picks the discovered page with the shortest path to an
undiscovered relevant page; among equally short paths, the one whose last page links to most such pages. As relevant
pages are discovered, paths only become longer and lead to fewer pages. A stored path length is therefore a lower bound:
when its page comes to the top of the queue, a search checks it, and the page is put back if the path has become longer.

The optimal crawl is not known, because planning it is as hard as the travelling salesman problem. A crawl that
accepts longer paths to larger groups of relevant pages can beat this oracle if the nearest relevant page is always
a single one.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence

from motherlode.model import Link, Outcome, Rating
from motherlode.policies.priority_queue import WaitRule
from motherlode.sim.web_protocol import SimPage, SimulatedWeb
from motherlode.www.urls import host_of

_FAR = 1 << 30

Way = tuple[int, int]
"""Number of links to the nearest undiscovered relevant page, and the negated number of such pages that the last page
before it links to. The smallest pair is the best."""
_FOUND: Way = (0, 0)
_NOWHERE: Way = (_FAR, 0)
"""No relevant page is reachable."""


class LinkGraph:
    """Labels and links of a whole web as arrays. It is built once and shared by the oracles of all repetitions.

    A redirect counts as a link. A synthetic web has infinitely many pages beyond those that it counts, for example
    calendars. The nearest of these are included, up to the number of counted pages.
    """

    def __init__(self, web: SimulatedWeb, on_page: Callable[[], None] = lambda: None) -> None:
        """`on_page` is called for each page that is read."""
        self._on_page = on_page
        self.numbers: dict[str, int] = {}
        self.relevant: list[bool] = []
        self.out: list[Sequence[int]] = []
        self._unread: deque[tuple[int, list[str]]] = deque()
        """Pages whose links are not in the arrays yet."""
        for page in web.everything():
            self._add(page.url, page)
        most = 2 * len(self.relevant)
        while self._unread:
            number, targets = self._unread.popleft()
            found = dict.fromkeys(self._number(web, url, most) for url in targets)
            self.out[number] = [end for end in found if end is not None]
        self.edges = sum(map(len, self.out))
        self._into: list[list[int]] = [[] for _ in self.out]
        for source, ends in enumerate(self.out):
            for target in ends:
                self._into[target].append(source)
        self.nearest = self.ways(bytearray(len(self.relevant)))

    def _add(self, url: str, page: SimPage) -> int:
        self._on_page()
        number = self.numbers[url] = len(self.relevant)
        self.relevant.append(page.relevant)
        self.out.append(())
        targets = [page.location] if page.location else [link.url for link in page.links]
        if targets:
            self._unread.append((number, targets))
        return number

    def _number(self, web: SimulatedWeb, url: str, most: int) -> int | None:
        number = self.numbers.get(url)
        if number is None and len(self.relevant) < most:
            number = self._add(url, web.page(url))
        return number

    def ways(self, discovered: bytearray) -> list[Way]:
        """Return each page's path length to the nearest undiscovered relevant page, through undiscovered pages."""
        ways = [_NOWHERE] * len(self.out)
        level = []
        for page, ends in enumerate(self.out):
            finds = sum(self.relevant[end] and not discovered[end] for end in ends)
            if finds:
                ways[page] = (1, -finds)
                level.append(page)
        while level:
            longer: dict[int, Way] = {}
            for page in level:
                if not discovered[page] and not self.relevant[page]:
                    steps, finds = ways[page]
                    for source in self._into[page]:
                        if ways[source] == _NOWHERE:
                            longer[source] = min(longer.get(source, _NOWHERE), (steps + 1, finds))
            for source, way in longer.items():
                ways[source] = way
            level = list(longer)
        return ways


class OraclePolicy(WaitRule):
    """The oracle policy. Each URL is an arm of its own, because the value of any URL may change at any time.

    While hosts are snoozed, the oracle waits for them, as the best crawl would.
    """

    def __init__(self, graph: LinkGraph) -> None:
        super().__init__()
        self._graph = graph
        self._ways = list(graph.nearest)
        self._discovered = bytearray(len(graph.relevant))
        self._heap: list[tuple[Way, int, str]] = []
        """Path to the next relevant page, order of discovery, URL."""
        self._ready: dict[str, tuple[Way, int]] = {}
        self._order: dict[str, int] = {}
        self._searched = 0
        """Search steps since all paths were last computed."""

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        ratings = []
        for link in links:
            number = self._graph.numbers.get(link.url)
            if number is not None:
                self._discovered[number] = True
            self._order[link.url] = len(self._order)
            ratings.append(Rating(arm=link.url, score=0.0))
        return ratings

    def learn(self, outcome: Outcome) -> None:
        """Do nothing: the oracle knows all outcomes."""

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        self._on_ready(host_of(arm), arm)
        if arm not in self._ready:
            heapq.heappush(self._heap, self._placed(arm, self._value(arm)))

    def _value(self, arm: str) -> Way:
        """Return the path to the next relevant page as it was last computed, which is a lower bound."""
        number = self._graph.numbers.get(arm)
        if number is None:
            return _NOWHERE
        return _FOUND if self._graph.relevant[number] else self._ways[number]

    def _placed(self, arm: str, way: Way) -> tuple[Way, int, str]:
        priority = self._ready[arm] = (way, self._order[arm])
        return (*priority, arm)

    def arm_snoozed(self, arm: str) -> None:
        known = self._ready.pop(arm, None)
        self._on_snoozed(host_of(arm), arm, _rate(known[0]) if known is not None else None)

    def pick(self) -> str | None:
        arm = self._best()
        return self._pick_or_wait(arm, _rate(self._ready[arm][0]) if arm is not None else 0.0)

    def _best(self) -> str | None:
        while self._heap:
            way, order, arm = self._heap[0]
            if self._ready.get(arm) != (way, order):
                heapq.heappop(self._heap)
                continue
            if way in (_FOUND, _NOWHERE):
                return arm
            if self._searched > self._graph.edges:  # single searches have cost as much as a pass over the graph
                self._refresh()
                continue
            number = self._graph.numbers[arm]
            now = self._way_now(number)
            if now == way:
                return arm
            self._ways[number] = now
            heapq.heapreplace(self._heap, self._placed(arm, now))
        return None

    def _refresh(self) -> None:
        self._searched = 0
        self._ways = self._graph.ways(self._discovered)
        self._heap = [self._placed(arm, self._value(arm)) for arm in self._ready]
        heapq.heapify(self._heap)

    def _way_now(self, page: int) -> Way:
        """Return the path to the nearest undiscovered relevant page, through undiscovered pages."""
        seen = {page}
        level, steps = [page], 1
        while level:
            most, further = 0, []
            for at in level:
                finds, others = self._behind(at)
                most = max(most, finds)
                further += [other for other in others if other not in seen]
                seen.update(others)
            if most:
                return steps, -most
            level, steps = further, steps + 1
        return _NOWHERE

    def _behind(self, page: int) -> tuple[int, list[int]]:
        """Return the number of relevant undiscovered pages that a page links to, and the other undiscovered pages."""
        ends = self._graph.out[page]
        self._searched += len(ends)
        unknown = [end for end in ends if not self._discovered[end]]
        others = [end for end in unknown if not self._graph.relevant[end]]
        return len(unknown) - len(others), others

    def dump(self) -> bytes:
        return b""

    def load(self, state: bytes) -> None:
        """Do nothing: the oracle learns nothing."""


def _rate(way: Way) -> float:
    """Return the reward per request of a path: one relevant page, divided by the number of requests to get to it."""
    return 0.0 if way == _NOWHERE else 1.0 / (1.0 + way[0])

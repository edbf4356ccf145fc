"""The oracle: it knows every page's label and every link. A yardstick that no policy reaches without luck.

It takes a relevant page when one is discovered; otherwise the discovered page from which the way to an undiscovered
relevant page is shortest, and of several that are equally short the one at whose end most such pages are linked. Ways
only grow longer, and lead to less, as relevant pages are discovered, so a stored way is a lower bound: it is checked by
a search when its page comes to the top, and put back if it has grown.

The best of all crawls is not known: to plan it is as hard as to plan the round trip of a salesman. One that goes
further for more may be ahead where the nearest find is always a single one.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence

from motherlode.model import Link, Outcome, Parent, Rating
from motherlode.policies.priority_queue import WaitRule
from motherlode.sim.simulated_web import SimPage, SimulatedWeb
from motherlode.www.urls import host_of

_FAR = 1 << 30

Way = tuple[int, int]
"""Links to the nearest undiscovered relevant page, and, negative, how many of them the last page before it links to.
The least is the best."""
_FOUND: Way = (0, 0)
_NOWHERE: Way = (_FAR, 0)
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
            found = dict.fromkeys(self._number(web, url, most) for url in targets)
            self.out[number] = [end for end in found if end is not None]
        self.edges = sum(map(len, self.out))
        self._into: list[list[int]] = [[] for _ in self.out]
        for source, ends in enumerate(self.out):
            for target in ends:
                self._into[target].append(source)
        self.nearest = self.ways(bytearray(len(self.relevant)))

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

    def ways(self, discovered: bytearray) -> list[Way]:
        """From each page to the nearest relevant page that is undiscovered, by pages that are so, too."""
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


def _targets(page: SimPage) -> list[str]:
    return [page.location] if page.location else [link.url for link in page.links]


class OraclePolicy(WaitRule):
    """Each URL is an arm of its own, because any URL's value may change at any time.

    Where clocks let hosts rest, the best crawl is one that waits for them.
    """

    def __init__(self, graph: LinkGraph) -> None:
        super().__init__()
        self._graph = graph
        self._ways = list(graph.nearest)
        self._discovered = bytearray(len(graph.relevant))
        self._heap: list[tuple[Way, int, str]] = []
        """The way to the next find, order of discovery, URL."""
        self._awake: dict[str, tuple[Way, int]] = {}
        self._order: dict[str, int] = {}
        self._searched = 0
        """Steps of searches since all ways were computed anew."""

    def rate(self, links: Sequence[Link], parent: Parent | None) -> Sequence[Rating]:
        ratings = []
        for link in links:
            number = self._graph.numbers.get(link.url)
            if number is not None:
                self._discovered[number] = True
            self._order[link.url] = len(self._order)
            ratings.append(Rating(arm=link.url, score=0.0))
        return ratings

    def learn(self, outcome: Outcome) -> None:
        """Everything was known before."""

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        self._on_ready(host_of(arm), arm)
        if arm not in self._awake:
            heapq.heappush(self._heap, self._placed(arm, self._value(arm)))

    def _value(self, arm: str) -> Way:
        """The way to the next find as it was last computed: never longer than it is now."""
        number = self._graph.numbers.get(arm)
        if number is None:
            return _NOWHERE
        return _FOUND if self._graph.relevant[number] else self._ways[number]

    def _placed(self, arm: str, way: Way) -> tuple[Way, int, str]:
        place = self._awake[arm] = (way, self._order[arm])
        return (*place, arm)

    def arm_snoozed(self, arm: str) -> None:
        known = self._awake.pop(arm, None)
        self._on_snoozed(host_of(arm), arm, _worth(known[0]) if known is not None else None)

    def pick(self) -> str | None:
        arm = self._best()
        return self._pick_or_wait(arm, _worth(self._awake[arm][0]) if arm is not None else 0.0)

    def _best(self) -> str | None:
        while self._heap:
            way, order, arm = self._heap[0]
            if self._awake.get(arm) != (way, order):
                heapq.heappop(self._heap)
                continue
            if way in (_FOUND, _NOWHERE):
                return arm
            if self._searched > self._graph.edges:  # searching one by one has cost as much as all at once
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
        self._heap = [self._placed(arm, self._value(arm)) for arm in self._awake]
        heapq.heapify(self._heap)

    def _way_now(self, page: int) -> Way:
        """To the nearest relevant page that is still undiscovered, past pages that are."""
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
        """Undiscovered pages that a page links to: how many are relevant, and the others."""
        ends = self._graph.out[page]
        self._searched += len(ends)
        unknown = [end for end in ends if not self._discovered[end]]
        others = [end for end in unknown if not self._graph.relevant[end]]
        return len(unknown) - len(others), others

    def dump(self) -> bytes:
        return b""

    def load(self, state: bytes) -> None:
        """Nothing was learned."""


def _worth(way: Way) -> float:
    """Finds per request on the way to the nearest find."""
    return 0.0 if way == _NOWHERE else 1.0 / (1.0 + way[0])

"""Policies that learn nothing: breadth-first, depth-first and random order, and breadth-first to a bounded depth.

*Bounded depth.* Swoogle's HTML crawler stays with "URIs relative to the given base URI in a limited search space";
BioCrawler "in its current path, increases the depth of crawling by a fixed value when it discovers an RDF document, and
decreases the depth if an HTML document is visited" (Emamdadi et al., related work). So each link has a remaining depth:
one less than its page, or more if its page is relevant. If no depth remains, the link is refused. Links from an
irrelevant page to another domain are refused, too. The papers give no numbers. The default is a depth of 3, and 3 more
at a relevant page.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import msgspec

from motherlode.model import Explanation, Link, LinkSource, Outcome, Rating
from motherlode.policies.model_io import random_state, set_random_state
from motherlode.policies.priority_queue import BestScorePolicy
from motherlode.www.urls import host_of, registrable_domain

DEPTH = 3
_MAX_DEPTH = 255
TOO_DEEP = "beyond the bounded depth"
OTHER_DOMAIN = "another domain, from a page that is not relevant"


_SAYS = {
    "bfs": "Breadth-first: URLs are fetched in the order of their discovery. Nothing is learned.",
    "dfs": "Depth-first: URLs are fetched in the reverse order of their discovery. Nothing is learned.",
    "random": "Random: each URL gets a random number when it is found, and the highest is fetched first. Nothing is "
    "learned.",
}


class OrderPolicy(BestScorePolicy):
    """Picks the waiting URL that was found first (`bfs`), last (`dfs`), or has the highest number (`random`).

    The arms are hosts.
    """

    def __init__(self, order: str, random: Random) -> None:
        super().__init__()
        self._order = order
        self._random = random
        self._count = 0

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        return [Rating(arm=host_of(link.url), score=self._next_score()) for link in links]

    def _next_score(self) -> float:
        self._count += 1
        if self._order == "random":
            return self._random.random()
        return self._count if self._order == "dfs" else -self._count

    def learn(self, outcome: Outcome) -> None:
        """Do nothing: this policy does not learn."""

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        return Explanation(says=_SAYS[self._order], value=rating.score)

    def dump(self) -> bytes:
        return msgspec.msgpack.encode((self._count, random_state(self._random) if self._order == "random" else b""))

    def load(self, state: bytes) -> None:
        self._count, randomness = msgspec.msgpack.decode(state, type=tuple[int, bytes])
        if self._order == "random":
            set_random_state(self._random, randomness)


class BoundedPolicy(BestScorePolicy):
    """Crawls breadth-first; `depth` is the remaining depth of seeds, `growth` is added at a relevant page."""

    def __init__(self, depth: int = DEPTH, growth: int | None = None) -> None:
        super().__init__()
        growth = depth if growth is None else growth
        if not (0 < depth <= _MAX_DEPTH and 0 < growth <= _MAX_DEPTH):
            raise ValueError(f"depth and growth must be from 1 to {_MAX_DEPTH}; got {depth} and {growth}")
        self._depth = depth
        self._growth = growth
        self._found = 0

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        if parent is None:
            return [self._rating(link.url, self._depth) for link in links]
        had = parent.policy_state[0] if parent.policy_state else self._depth
        left = min(had + self._growth, _MAX_DEPTH) if parent.relevant else had - 1
        domain = registrable_domain(parent.host)
        return [self._rate_link(link, parent, left, had, domain) for link in links]

    def _rate_link(self, link: Link, parent: Outcome, left: int, had: int, domain: str) -> Rating:
        if link.source is LinkSource.REDIRECT:  # a redirect does not count as a step
            return self._rating(link.url, had)
        if left < 0:
            return self._rating(link.url, 0, TOO_DEEP)
        host = host_of(link.url)
        in_domain = host == parent.host or f".{host.partition(':')[0]}".endswith(f".{domain}")
        if not parent.relevant and not in_domain:
            return self._rating(link.url, 0, OTHER_DOMAIN)
        return self._rating(link.url, left)

    def _rating(self, url: str, left: int, refused: str = "") -> Rating:
        self._found += 1
        return Rating(arm=host_of(url), score=-self._found, policy_state=bytes((left,)), refused=refused)

    def learn(self, outcome: Outcome) -> None:
        """Do nothing: `rate` computes the remaining depth of a link from its parent page alone."""

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        left = rating.policy_state[0] if rating.policy_state else 0
        return Explanation(
            says="Breadth-first to a depth that grows at relevant pages and shrinks at others. Nothing is learned.",
            value=rating.score,
            record={"depth_left": left},
        )

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(self._found)

    def load(self, state: bytes) -> None:
        self._found = msgspec.msgpack.decode(state, type=int)

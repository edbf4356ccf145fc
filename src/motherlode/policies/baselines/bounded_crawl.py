"""Bounded HTML crawling: breadth-first in a limited space that grows where something is found.

Swoogle's HTML crawler stays with "URIs relative to the given base URI in a limited search space"; BioCrawler "in its
current path, increases the depth of crawling by a fixed value when it discovers an RDF document, and decreases the
depth if an HTML document is visited" (Emamdadi et al., related work). So every link carries the depth that is left: one
less than its page had, or more where its page was a find. Where none is left, the link is refused; and from a page that
was no find, nothing leads to another domain. The papers tell no figures: three levels, and three more for a find.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from motherlode.model import Explanation, Link, LinkSource, Outcome, Parent, Rating
from motherlode.policies.priority_queue import ReadyArms
from motherlode.www.urls import host_of, registrable_domain

DEPTH = 3
_MOST = 255
TOO_DEEP = "beyond the bounded depth"
ELSEWHERE = "another domain, from a page without a find"


def _within(host: str, domain: str) -> bool:
    """Whether a host belongs to a registered domain; without a look at the list of suffixes, which takes long.

    >>> _within("www.example.org", "example.org"), _within("myexample.org", "example.org")
    (True, False)
    """
    return host.endswith(domain) and (len(host) == len(domain) or host[-len(domain) - 1] == ".")


class BoundedPolicy:
    """A depth for seeds, and what a find adds to it."""

    def __init__(self, depth: int = DEPTH, growth: int | None = None) -> None:
        growth = depth if growth is None else growth
        if not (0 < depth <= _MOST and 0 < growth <= _MOST):
            raise ValueError(f"depth and growth are from 1 to {_MOST}; got {depth} and {growth}")
        self._depth = depth
        self._growth = growth
        self._found = 0
        self._ready = ReadyArms()

    def rate(self, links: Sequence[Link], parent: Parent | None) -> Sequence[Rating]:
        if parent is None:
            return [self._rating(link.url, self._depth) for link in links]
        had = parent.policy_state[0] if parent.policy_state else self._depth
        left = min(had + self._growth, _MOST) if parent.relevant else had - 1
        domain = registrable_domain(parent.host)
        return [self._followed(link, parent, left, had, domain) for link in links]

    def _followed(self, link: Link, parent: Parent, left: int, had: int, domain: str) -> Rating:
        if link.source is LinkSource.REDIRECT:  # the same step, not one further
            return self._rating(link.url, had)
        if left < 0:
            return self._rating(link.url, 0, TOO_DEEP)
        host = host_of(link.url)
        if not parent.relevant and host != parent.host and not _within(host.partition(":")[0], domain):
            return self._rating(link.url, 0, ELSEWHERE)
        return self._rating(link.url, left)

    def _rating(self, url: str, left: int, refused: str = "") -> Rating:
        self._found += 1
        return Rating(arm=host_of(url), score=-self._found, policy_state=bytes((left,)), refused=refused)

    def learn(self, outcome: Outcome) -> None:
        """What was found shows in the depth of the links that it has."""

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        self._ready.put(arm, best)

    def arm_snoozed(self, arm: str) -> None:
        self._ready.remove(arm)

    def pick(self) -> str | None:
        return self._ready.best()

    def explain(self, link: Link, rating: Rating, parent: Parent | None) -> Explanation:
        left = rating.policy_state[0] if rating.policy_state else 0
        return Explanation(
            says="Breadth-first within a depth that grows behind a find and shrinks otherwise; nothing is learned.",
            value=rating.score,
            record={"depth_left": left},
        )

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(self._found)

    def load(self, state: bytes) -> None:
        self._found = msgspec.msgpack.decode(state, type=int)

"""What a request is worth: the best rate of finds per request that it can open up.

A page that is surely a find is worth 1. A list that holds nothing but leads to ten sure finds is worth 10 in 11
requests. An arm of which little is known is worth more than its chance: if the first try is a find, more of the same
follow, and if not, one request is lost. These are stopping problems, and the best rate over all moments to stop is
their Gittins index (Gittins 1979); here it is computed for one step of learning and for what lies directly behind.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

_LONGEST = 200.0
"""Requests that a plan takes at most. Lists lead to lists for ever."""


class Plan(NamedTuple):
    """So many finds in so many requests."""

    rate: float
    finds: float
    requests: float


def plan(finds: float, requests: float) -> Plan:
    """
    >>> plan(10.0, 11.0).rate > plan(0.5, 1.0).rate
    True
    """
    rate = finds / requests
    return Plan(rate, rate * _LONGEST, _LONGEST) if requests > _LONGEST else Plan(rate, finds, requests)


def discounted(then: Plan, share: float) -> Plan:
    """A plan of which only so much is counted on.

    >>> discounted(plan(10.0, 20.0), 0.5)
    Plan(rate=0.25, finds=5.0, requests=20.0)
    """
    return Plan(then.rate * share, then.finds * share, then.requests)


def behind(chance: float, follow: Iterable[tuple[Plan, float]]) -> Plan:
    """A page and then the best of what it leads to: plans, with the number of new links to each.

    >>> behind(0.0, [(plan(1.0, 1.0), 10.0), (plan(0.1, 1.0), 50.0)])
    Plan(rate=0.9090909090909091, finds=10.0, requests=11.0)
    """
    finds, requests = chance, 1.0
    for then, links in sorted(follow, reverse=True):
        if then.rate * requests <= finds:
            break
        finds += links * then.finds
        requests += links * then.requests
    return plan(finds, requests)


def follow_up(chance: float, tries: float, more: float) -> tuple[float, float]:
    """The finds and requests that a find at the next try would be followed up with.

    `tries` is how much is known: after a find among so many, the chance of the next is that much higher.

    >>> follow_up(0.5, tries=1.0, more=0.0)
    (0.0, 0.0)
    >>> follow_up(0.1, tries=1.0, more=20.0), follow_up(0.1, tries=99.0, more=20.0)
    ((1.1, 2.0), (0.218, 2.0))
    """
    after = (chance * tries + 1.0) / (tries + 1.0)
    return chance * more * after, chance * more

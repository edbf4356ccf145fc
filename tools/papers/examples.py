"""Links with their outcomes, on which classifiers are compared."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import NamedTuple

from tools.papers.observed_policy import observe
from tools.papers.webs import opened, starts

from motherlode.model import Link, Outcome
from motherlode.policies import policy_from
from motherlode.sim.simulator import Simulation


class Example(NamedTuple):
    """A link, its page, and whether it led to a relevant page."""

    link: Link
    parent: Outcome | None
    relevant: bool


@lru_cache(maxsize=1)
def crawled(web: str, order: str, pages: int, target: str = "any") -> list[Example]:
    """Return the pages of a crawl from every home page in the order of fetching, without seeds, which have no link."""
    found: list[Example] = []

    def seen(link: Link, parent: Outcome | None, outcome: Outcome) -> None:
        if parent is not None:
            found.append(Example(link, parent, outcome.relevant))

    known = opened(web, target)
    policy = observe(policy_from(order, 0), seen)
    Simulation(known, policy, scope=lambda url: "").run(starts(known, "homes"), pages=pages)
    return found


def balanced(examples: list[Example], most: int, random: Random) -> Iterator[Example]:
    """Return a random sample with equally many relevant and other examples, `most` at most."""
    good = [example for example in examples if example.relevant]
    bad = [example for example in examples if not example.relevant]
    each = min(len(good), len(bad), most // 2)
    return iter([*random.sample(good, each), *random.sample(bad, each)])

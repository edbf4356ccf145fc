"""Links with the outcome of following them: what classifiers are compared on."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from tools.papers.watching import Watching
from tools.papers.webs import opened, starts

from motherlode.model import Link, Outcome
from motherlode.policies import policy_from
from motherlode.sim.simulator import Simulation


class Example(NamedTuple):
    """A link, the page that had it, and whether it led to a relevant page."""

    link: Link
    parent: Outcome | None
    relevant: bool


def crawled(web: str, order: str, pages: int, target: str = "any") -> list[Example]:
    """The pages of a crawl from every home page, in the order in which they were fetched; seeds have no link."""
    found: list[Example] = []

    def seen(link: Link, parent: Outcome | None, outcome: Outcome) -> None:
        if parent is not None:
            found.append(Example(link, parent, outcome.relevant))

    known = opened(web, target)
    policy = Watching(policy_from(order, 0), seen)
    Simulation(known, policy, scope=lambda url: "").run(starts(known, "homes"), pages=pages)
    return found


def balanced(examples: list[Example], most: int, random: Random) -> Iterator[Example]:
    """As many relevant ones as others, drawn at random, at most so many in all."""
    good = [example for example in examples if example.relevant]
    bad = [example for example in examples if not example.relevant]
    each = min(len(good), len(bad), most // 2)
    return iter([*random.sample(good, each), *random.sample(bad, each)])

"""Anthelion, Table 2 on the recorded web with the home pages in random orders, to show how much one order decides."""

from __future__ import annotations

from random import Random
from statistics import mean, stdev

from tools.papers.anthelion_selection import OTHERS, PUBLISHED, policies
from tools.papers.lab import Lab
from tools.papers.markdown import agreement, note, section, table
from tools.papers.simulated_crawl import fits
from tools.papers.static_crawlers import named_policy
from tools.papers.webs import opened, starts

from motherlode.sim.simulator import Simulation

ORDERS = 5


def harvest_in_order(*, web: str, policy: str, order: int, pages: int) -> float:
    """Return the harvest rate of a crawl from the home pages in a random order."""
    known = opened(web)
    homes = list(starts(known, "homes"))
    Random(order).shuffle(homes)
    made = named_policy(policy, web=web, target="any", seed=order)
    return Simulation(known, made, scope=lambda url: "", seed=order).run(homes, pages=pages).harvest_rate


def host_orders(lab: Lab) -> str:
    """Return the section: mean and standard deviation of each row over the orders."""
    web = next(web for web in lab.scale.webs if web.is_recorded)
    rows = {**policies(web), **{f"*{name}*": name for name in OTHERS if fits(name, web.web)}}
    keys = [(row, order) for row in rows for order in range(ORDERS)]
    asked = [{"web": web.web, "policy": rows[row], "order": order, "pages": web.requests} for row, order in keys]
    found: dict[str, list[float]] = {}
    for (row, _), rate in zip(keys, lab.run(harvest_in_order, asked), strict=True):
        found.setdefault(row, []).append(rate)
    means = {row: mean(found[row]) for row in PUBLISHED}
    return section(
        "### Table 2 with random orders of the hosts",
        f"The recorded web again, {web.requests:,} requests, {ORDERS} random orders of the home pages, also for "
        "policies without randomness: mean, standard deviation, lowest and highest share.",
        table(
            ("selection", "mean", "standard deviation", "lowest", "highest"),
            [
                (row, f"{mean(rates):.3f}", f"{stdev(rates):.3f}", f"{min(rates):.3f}", f"{max(rates):.3f}")
                for row, rates in found.items()
            ],
        ),
        f"Pairs of rows in the published order, by their means: {agreement(PUBLISHED, means)}.",
        note("host-orders"),
    )

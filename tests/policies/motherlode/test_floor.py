"""Lower bounds of the focus of the default policy on small webs; `make focus` measures large ones."""

from __future__ import annotations

from functools import lru_cache

import pytest

from motherlode.policies import policy_from, target_from
from motherlode.sim.experiment import focus
from motherlode.sim.oracle import LinkGraph, OraclePolicy
from motherlode.sim.simulator import Simulation
from motherlode.sim.synthetic.adapter import SyntheticSimWeb
from motherlode.sim.web_protocol import SimulatedWeb

PAGES = 3000
SEEDS = (501, 502, 503, 504, 505)
"""On one of these webs a few hosts have all relevant pages, so the order of the first tries changes the focus by
0.15."""
SHARE = 0.12


def relevant_pages(web: SimulatedWeb, policy: object) -> int:
    pages = round(SHARE * PAGES)
    return Simulation(web, policy, scope=lambda url: "").run(web.home_pages(), pages=pages).relevant  # type: ignore[arg-type]


@lru_cache(maxsize=len(SEEDS))
def opened(target: str, seed: int) -> tuple[SimulatedWeb, int, int]:
    """Return a web, with the number of relevant pages that breadth-first and the oracle fetch."""
    web = SyntheticSimWeb(pages=PAGES, seed=seed, target=target_from(target))
    return web, relevant_pages(web, policy_from("bfs")), relevant_pages(web, OraclePolicy(LinkGraph(web)))


def mean_focus(policy: str, target: str) -> float:
    scores = []
    for seed in SEEDS:
        web, plain, full = opened(target, seed)
        scores.append(focus(relevant_pages(web, policy_from(policy, seed)), plain, full) or 0.0)
    return sum(scores) / len(scores)


@pytest.mark.parametrize(("target", "floor"), [("any", 0.83), ("microdata", 0.82), ("rdf", 0.97), ("jsonld", 0.78)])
def test_focus_of_default_policy_is_above_floor(target: str, floor: float) -> None:
    ours = mean_focus("motherlode", target)
    assert ours >= floor
    assert ours > mean_focus("bandit:success-rate", target)

"""What each part of our policy adds: focus at 12 % without it, as a Markdown table.

python tools/ablation.py TRACE [--webs 4] [--missing]

TRACE is made by `motherlode record ../shared/corpus/sites.warc.gz -o TRACE`. Halves of its hosts are webs of their own,
and so are synthetic webs. With --missing, links to what the recording lacks are kept, and fail.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from random import Random
from statistics import mean

from motherlode.model import Policy
from motherlode.policy import policy_from, target_from
from motherlode.policy.motherlode import Motherlode, Settings
from motherlode.sim.oracle import LinkGraph, OraclePolicy
from motherlode.sim.recorded import TraceWeb
from motherlode.sim.run import Simulation
from motherlode.sim.scores import focus
from motherlode.sim.subset import HostSubset
from motherlode.sim.synthetic import SyntheticSimWeb
from motherlode.sim.webs import SimulatedWeb
from motherlode.www.urls import host_of

VARIANTS = {
    "all": Settings(),
    "without features": Settings(learns_features=False),
    "without what lies behind": Settings(looks_behind=False),
    "without the worth of a try": Settings(looks_ahead=False),
    "without the place in the page": Settings(places=0),
    "without what the family led to": Settings(borrowed_pages=0.0),
    "without forgetting": Settings(keep=1.0),
    "without trust in doors": Settings(unseen=0, seeds_are_doors=False),
    "without doubt about silent hosts": Settings(silent_tries=1e9),
}
TARGETS = ("any", "microdata", "jsonld", "rdf")
SHARE = 0.12


def finds(web: SimulatedWeb, policy: Policy) -> int:
    pages = round(SHARE * web.page_count)
    return Simulation(web, policy, scope=lambda url: "").run(web.home_pages(), pages=pages).relevant


def webs(trace: Path, target: str, count: int, *, keep_missing: bool) -> list[SimulatedWeb]:
    whole = TraceWeb(trace, target_from(target), keep_missing=keep_missing)
    hosts = sorted({host_of(url) for url in whole.home_pages()})
    halves = [HostSubset(whole, Random(f"half {n}").sample(hosts, len(hosts) // 2)) for n in range(count - 1)]
    made = [SyntheticSimWeb(pages=4000, seed=700 + n, target=target_from(target)) for n in range(count)]
    return [whole, *halves, *made]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trace", type=Path)
    parser.add_argument("--webs", type=int, default=4)
    parser.add_argument("--missing", action="store_true")
    options = parser.parse_args()
    print("| policy | " + " | ".join(f"`{target}`" for target in TARGETS) + " |")
    print("|---" * (len(TARGETS) + 1) + "|")
    rows: dict[str, list[float]] = {name: [] for name in VARIANTS} | {"bandit:success-rate": []}
    for target in TARGETS:
        scores: dict[str, list[float]] = {name: [] for name in rows}
        for web in webs(options.trace, target, options.webs, keep_missing=options.missing):
            plain, full = finds(web, policy_from("bfs")), finds(web, OraclePolicy(LinkGraph(web)))
            for name in rows:
                policy = Motherlode(settings=VARIANTS[name]) if name in VARIANTS else policy_from(name, 1)
                score = focus(finds(web, policy), plain, full)
                if score is not None and full - plain >= 10:
                    scores[name].append(score)
        for name in rows:
            rows[name].append(mean(scores[name]))
    for name, values in rows.items():
        print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in values) + " |")


if __name__ == "__main__":
    main()

"""What each part of our policy adds: focus at 12 % without it, as a Markdown table.

python tools/ablation.py TRACE [--webs 4] [--seeds FILE] [--missing]

TRACE is made by `motherlode record ../shared/corpus/sites.warc.gz -o TRACE`. Halves of its hosts are webs of their own,
and so are synthetic webs. With --seeds, crawls start from the URLs of a file; with --missing, links to what the
recording lacks are kept, and fail. Neither is known of synthetic webs, which are left out then.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import mean

from motherlode.crawler import canonical_seeds
from motherlode.crawler.config.job_file import read_seeds
from motherlode.model import FailureKind, Policy
from motherlode.policies import policy_from, target_from
from motherlode.policies.motherlode import Motherlode, PolicyConfig
from motherlode.sim.experiment import focus
from motherlode.sim.oracle import LinkGraph, OraclePolicy
from motherlode.sim.simulated_web import HostSubset, SimulatedWeb
from motherlode.sim.simulator import Simulation
from motherlode.sim.synthetic.adapter import SyntheticSimWeb
from motherlode.sim.trace.trace_web import TraceWeb
from motherlode.www.urls import host_of

VARIANTS = {
    "all": PolicyConfig(),
    "without features": PolicyConfig(learns_features=False),
    "without what lies behind": PolicyConfig(looks_behind=False),
    "without the worth of a try": PolicyConfig(looks_ahead=False),
    "without the place in the page": PolicyConfig(places=0),
    "with one question, not two": PolicyConfig(asks_apart=False),
    "without lists as arms": PolicyConfig(list_links=0),
    "without records of hosts": PolicyConfig(host_pages=0.0),
    "without rows of failures": PolicyConfig(keep_answers=PolicyConfig().keep),
    "without a record of strangers": PolicyConfig(stranger_tries=0.0),
    "without doubt about silent hosts": PolicyConfig(silent_tries=1e9),
    "without what the family led to": PolicyConfig(borrowed_pages=0.0),
    "without hunches": PolicyConfig(hunch=0.0),
    "without forgetting": PolicyConfig(keep=1.0),
    "without trust in doors": PolicyConfig(unseen=0, seeds_are_doors=False),
    "with every host as a door": PolicyConfig(door_links=1 << 30),
}
OTHER = "bandit:success-rate"
TARGETS = ("any", "microdata", "jsonld", "rdf")
SHARE = 0.12
LEAST = 10
"""Webs on which the oracle gains fewer finds over breadth-first than this are left out: chance decides there."""


def finds(web: SimulatedWeb, policy: Policy, seeds: Sequence[str]) -> int:
    """What a crawl finds; it starts from the home pages where none of the seeds is known."""
    pages = round(SHARE * web.page_count)
    spelled = dict.fromkeys(map(web.spelling, seeds))
    starts = [url for url in spelled if web.page(url).failure is not FailureKind.NOT_FOUND] or web.home_pages()
    return Simulation(web, policy, scope=lambda url: "").run(starts, pages=pages).relevant


def webs(options: argparse.Namespace, target: str) -> list[SimulatedWeb]:
    whole = TraceWeb(options.trace, target_from(target), keep_missing=options.missing)
    hosts = sorted({host_of(url) for url in whole.home_pages()})
    halves = [HostSubset(whole, Random(f"half {n}").sample(hosts, len(hosts) // 2)) for n in range(options.webs - 1)]
    if options.seeds or options.missing:
        return [whole, *halves]
    made = [SyntheticSimWeb(pages=4000, seed=700 + n, target=target_from(target)) for n in range(options.webs)]
    return [whole, *halves, *made]


def scores(options: argparse.Namespace, target: str) -> dict[str, float]:
    """The mean focus of every variant, and of a bandit to compare with."""
    found: dict[str, list[float]] = {name: [] for name in (*VARIANTS, OTHER)}
    seeds = canonical_seeds(read_seeds(options.seeds)) if options.seeds else ()
    for web in webs(options, target):
        plain = finds(web, policy_from("bfs"), seeds)
        full = finds(web, OraclePolicy(LinkGraph(web)), seeds)
        if full - plain < LEAST:
            continue
        for name, own in found.items():
            own.append(focus(finds(web, _policy(name, target), seeds), plain, full) or 0.0)
    return {name: mean(own) for name, own in found.items()}


def _policy(name: str, target: str) -> Policy:
    if name not in VARIANTS:
        return policy_from(name, 1)
    variant = Motherlode(settings=VARIANTS[name])
    variant.aim(target_from(target))
    return variant


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--webs", type=int, default=4)
    parser.add_argument("--seeds", type=Path, help="a file of URLs where crawls of recorded sites start")
    parser.add_argument("--missing", action="store_true", help="keep links to what was not recorded")
    options = parser.parse_args()
    columns = [scores(options, target) for target in TARGETS]
    print("| policy | " + " | ".join(f"`{target}`" for target in TARGETS) + " | mean |")
    print("|---" * (len(TARGETS) + 2) + "|")
    for name in columns[0]:
        row = [column[name] for column in columns]
        print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in (*row, mean(row))) + " |")


if __name__ == "__main__":
    main()

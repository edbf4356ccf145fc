"""Ablation of the default policy: print its focus at 12 % without each part, as a Markdown table.

python tools/ablation.py TRACE [--webs 4] [--seeds FILE] [--missing] [--targets TARGET …]

TRACE is made by `motherlode record ../shared/corpus/sites.warc.gz -o TRACE`. Random halves of its hosts and synthetic
webs are further webs. With --seeds, crawls start from the URLs of a file; with --missing, links to pages that were not
recorded are kept and fail. Synthetic webs support neither option and are then left out.
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
from motherlode.sim.simulator import Simulation
from motherlode.sim.synthetic.adapter import SyntheticSimWeb
from motherlode.sim.trace.trace_web import TraceWeb
from motherlode.sim.web_protocol import HostSubset, SimulatedWeb
from motherlode.www.urls import host_of

VARIANTS = {
    "all parts": PolicyConfig(),
    "without features": PolicyConfig(learns_features=False),
    "without pages behind a page": PolicyConfig(values_links=False),
    "without exploration": PolicyConfig(values_information=False),
    "without position in the page": PolicyConfig(tag_path_steps=0),
    "with one question instead of two": PolicyConfig(separate_responses=False),
    "without list arms": PolicyConfig(hub_min_links=0),
    "without host lift": PolicyConfig(host_prior_pages=0.0),
    "without faster decay of responses": PolicyConfig(response_retention=PolicyConfig().retention),
    "without statistics of unseen hosts": PolicyConfig(learns_unseen_hosts=False),
    "without doubt about unresponsive hosts": PolicyConfig(silent_host_prior_tries=1e9),
    "without links of the family": PolicyConfig(family_prior_pages=0.0),
    "without target prior": PolicyConfig(target_prior=0.0),
    "without words of the target": PolicyConfig(word_prior=0.0),
    "without waiting links of silent hosts": PolicyConfig(counts_links_of_silent_hosts=False),
    "without decay": PolicyConfig(retention=1.0, response_retention=1.0),
    "without gateway hosts": PolicyConfig(gateway_links=0, seeds_are_gateways=False),
    "with every new host as gateway": PolicyConfig(gateway_links=1 << 30),
}
OTHER = "bandit:success-rate"
TARGETS = ("any", "microdata", "jsonld", "rdf")
SHARE = 0.12
MIN_ORACLE_GAIN = 10
"""Minimum number of relevant pages by which the oracle must beat breadth-first; other webs are left out as noise."""


def relevant_pages(web: SimulatedWeb, policy: Policy, seeds: Sequence[str]) -> int:
    """Return the relevant pages that a crawl finds. It starts from the home pages if no seed is in the web."""
    pages = round(SHARE * web.page_count)
    spelled = dict.fromkeys(map(web.spelling, seeds))
    starts = [url for url in spelled if web.page(url).failure is not FailureKind.NOT_FOUND] or web.home_pages()
    return Simulation(web, policy, scope=lambda url: "").run(starts, pages=pages).relevant


def webs(options: argparse.Namespace, target: str) -> list[SimulatedWeb]:
    """Return the recorded web, halves of its hosts and, unless an option excludes them, synthetic webs."""
    whole = TraceWeb(options.trace, target_from(target), dead=float(options.missing))
    hosts = sorted({host_of(url) for url in whole.home_pages()})
    halves = [HostSubset(whole, Random(f"half {n}").sample(hosts, len(hosts) // 2)) for n in range(options.webs - 1)]
    if options.seeds or options.missing:
        return [whole, *halves]
    made = [SyntheticSimWeb(pages=4000, seed=700 + n, target=target_from(target)) for n in range(options.webs)]
    return [whole, *halves, *made]


def scores(options: argparse.Namespace, target: str) -> dict[str, float]:
    """Return the mean focus of every variant and of a bandit for comparison."""
    found: dict[str, list[float]] = {name: [] for name in (*VARIANTS, OTHER)}
    seeds = canonical_seeds(read_seeds(options.seeds)) if options.seeds else ()
    for web in webs(options, target):
        plain = relevant_pages(web, policy_from("bfs"), seeds)
        full = relevant_pages(web, OraclePolicy(LinkGraph(web)), seeds)
        if full - plain < MIN_ORACLE_GAIN:
            continue
        for name, own in found.items():
            own.append(focus(relevant_pages(web, _policy(name, target), seeds), plain, full) or 0.0)
    return {name: mean(own) for name, own in found.items()}


def _policy(name: str, target: str) -> Policy:
    if name not in VARIANTS:
        return policy_from(name, 1)
    variant = Motherlode(config=VARIANTS[name])
    variant.aim(target_from(target))
    return variant


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--webs", type=int, default=4)
    parser.add_argument("--seeds", type=Path, help="a file of URLs where crawls of recorded sites start")
    parser.add_argument("--missing", action="store_true", help="keep links to pages that were not recorded")
    parser.add_argument("--targets", nargs="+", default=TARGETS)
    options = parser.parse_args()
    targets = options.targets
    columns = [scores(options, target) for target in targets]
    print("| policy | " + " | ".join(f"`{target}`" for target in targets) + " | mean |")
    print("|---" * (len(targets) + 2) + "|")
    for name in columns[0]:
        row = [column[name] for column in columns]
        print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in (*row, mean(row))) + " |")


if __name__ == "__main__":
    main()

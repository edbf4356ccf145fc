"""Print how much focus is possible on synthetic webs if every template is known, but no single page.

python tools/template_oracle.py [--webs 10] [--first-seed 501] [--pages 6000] [--targets any,jsonld]

The oracle of simulations knows the label of every page. A policy can at best learn which templates have relevant pages:
a page without data among pages with data, or the other way round, cannot be foreseen. The template oracle knows the
share of relevant pages of each template before the crawl begins, and takes all pages of a template for relevant if at
least half of them are. So its focus is about the highest that a policy can reach. A template is the pages of a host
with the same first folder and number of folders, with or without a query.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping
from statistics import mean
from urllib.parse import urlsplit

import msgspec

from motherlode.model import Policy
from motherlode.policies import policy_from, target_from
from motherlode.sim.experiment import focus, in_host_order
from motherlode.sim.oracle import LinkGraph, OraclePolicy
from motherlode.sim.simulator import Simulation
from motherlode.sim.synthetic.adapter import SyntheticSimWeb
from motherlode.sim.web_protocol import HostSubset, SimPage, SimulatedWeb
from motherlode.www.urls import host_of

SHARE = 0.12
OURS = "motherlode"

Template = tuple[str, str, int, bool]
"""Host, first folder, number of folders, whether the URL has a query."""


def template_of(url: str) -> Template:
    """Return the template of a page.

    >>> template_of("http://a.example/news/1.html"), template_of("http://a.example/?page=2")
    (('a.example', 'news', 1, False), ('a.example', '', 0, True))
    """
    parts = urlsplit(url)
    folders = parts.path.split("/")[1:-1]
    return host_of(url), folders[0] if folders else "", len(folders), bool(parts.query)


def likely_relevant(labels: Mapping[str, bool]) -> dict[str, bool]:
    """Return for each page whether at least half of the pages of its template are relevant.

    >>> labels = {"http://a.example/x/1": True, "http://a.example/x/2": False, "http://a.example/y/1": False}
    >>> list(likely_relevant(labels).values())
    [True, True, False]
    """
    pages = Counter(map(template_of, labels))
    relevant = Counter(template_of(url) for url, is_relevant in labels.items() if is_relevant)
    return {url: 2 * relevant[template_of(url)] >= pages[template_of(url)] for url in labels}


class RelabelledWeb(HostSubset):
    """All pages of a web with other labels. Pages without a label are irrelevant."""

    def __init__(self, web: SimulatedWeb, labels: Mapping[str, bool]) -> None:
        super().__init__(web, {host_of(url) for url in web.home_pages()}, keeps_outside=True)
        self._whole = web
        self._labels = labels

    def page(self, url: str) -> SimPage:
        return msgspec.structs.replace(self._whole.page(url), relevant=self._labels.get(url, False))

    def everything(self) -> Iterator[SimPage]:
        return (self.page(page.url) for page in super().everything())


def template_oracle(web: SimulatedWeb) -> OraclePolicy:
    """Return an oracle that knows the templates and links of a web, but not the labels of its pages."""
    return OraclePolicy(LinkGraph(RelabelledWeb(web, likely_relevant(dict(web.labels())))))


def relevant_pages(web: SimulatedWeb, policy: Policy, order: int) -> int:
    """Return the relevant pages that a crawl from the home pages finds, with the hosts in a random order."""
    starts = in_host_order(web.home_pages(), order)
    return Simulation(web, policy, scope=lambda url: "").run(starts, pages=round(SHARE * web.page_count)).relevant


def measure(target: str, *, seed: int, pages: int) -> tuple[float, float, float]:
    """Return the focus of the template oracle and of our policy, and the share of relevant pages in other templates."""
    web = SyntheticSimWeb(pages=pages, seed=seed, target=target_from(target))
    labels = dict(web.labels())
    likely = likely_relevant(labels)
    plain = relevant_pages(web, policy_from("bfs", seed), seed)
    full = relevant_pages(web, OraclePolicy(LinkGraph(web)), seed)
    known = focus(relevant_pages(web, template_oracle(web), seed), plain, full) or 0.0
    ours = focus(relevant_pages(web, policy_from(OURS, seed, target=target_from(target)), seed), plain, full) or 0.0
    others = sum(relevant and not likely[url] for url, relevant in labels.items())
    return known, ours, others / max(1, sum(labels.values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--webs", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=501)
    parser.add_argument("--pages", type=int, default=6000)
    parser.add_argument("--targets", default="any,jsonld")
    options = parser.parse_args()
    print(f"| target, {options.webs} webs | template oracle | lowest | `{OURS}` | relevant pages in other templates |")
    print("|---|--:|--:|--:|--:|")
    for target in options.targets.split(","):
        seeds = range(options.first_seed, options.first_seed + options.webs)
        known, ours, others = zip(*(measure(target, seed=seed, pages=options.pages) for seed in seeds), strict=True)
        print(f"| `{target}` | {mean(known):.3f} | {min(known):.3f} | {mean(ours):.3f} | {mean(others):.1%} |")


if __name__ == "__main__":
    main()

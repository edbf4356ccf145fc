"""Crawls of single sites for RDF documents, with the predicted class of every followed link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from math import ceil
from random import Random
from typing import Any

from tools.papers.observed_policy import observe
from tools.papers.scale import RECORDED
from tools.papers.simulated_crawl import Answer
from tools.papers.webs import opened, starts, web_spec

from motherlode.model import FailureKind, Link, Outcome
from motherlode.policies import policy_from
from motherlode.policies.linkanalysis.heuristics import (
    HEURISTICS,
    SIMILARITY,
    LinkClass,
    concepts_from,
    is_html_document,
    is_rdf_document,
    link_properties,
    relevancy_r,
)
from motherlode.sim.runner import SYNTHETIC, synthetic_pages
from motherlode.sim.simulator import Simulation
from motherlode.sim.synthetic import SyntheticWeb
from motherlode.sim.web_protocol import SimulatedWeb
from motherlode.www.urls import host_of

MOST = 2000
"""Maximum number of requests to one site, as in the paper."""
_SHARE = 0.4
"""Maximum share of a site, because at the end of a site all orders are equal."""
_SAMPLE = 60
_APART = 1e12
"""Difference between the scores of two classes in the policy."""


def rdf_sites(*, web: str, most: int) -> list[dict[str, Any]]:
    """Return the largest sites with at least twenty RDF documents that also have HTML documents."""
    known = opened(web, "rdf")
    by_host: dict[str, list[str]] = {}
    for url in _addresses(web, known):
        by_host.setdefault(host_of(url), []).append(url)
    found: list[dict[str, Any]] = []
    for host in sorted(by_host, key=lambda host: (-len(by_host[host]), host)):
        urls = by_host[host]
        sample = urls if len(urls) <= 500 else Random(0).sample(urls, _SAMPLE)
        kinds = Counter(_kind(known, url) for url in sample)
        rdf = kinds["R"] / len(sample)
        if 0.04 <= rdf <= 0.9 and rdf * len(urls) >= 20:
            found.append({"host": host, "documents": len(urls), "rdf": rdf})
        if len(found) == most:
            break
    return found


@lru_cache(maxsize=1)
def _hosts_with_documents(web: str) -> frozenset[str]:
    """Return the hosts with documents. Other hosts only contain identifiers, which redirect to documents of a site."""
    known = opened(web, "rdf")
    urls = (url for url, _ in known.labels()) if web == RECORDED else iter(known.home_pages())
    return frozenset(map(host_of, urls))


def _addresses(name: str, web: SimulatedWeb) -> Iterator[str]:
    """Return all documents of a recorded web, or all URLs of a synthetic one without computing a million pages."""
    if not name.startswith(SYNTHETIC):
        return (url for url, _ in web.labels())
    made = SyntheticWeb(synthetic_pages(name), web_spec(name).web_seed)
    return (url for host in made.hosts() for url in made.urls(host))


def _kind(web: SimulatedWeb, url: str) -> str:
    kind = web.page(url).kind
    return "R" if is_rdf_document(kind) else "H" if is_html_document(kind) else "N"


def site_crawl(*, web: str, host: str, documents: int, policy: str) -> Answer:
    """Crawl one site from its home page (and further roots of recorded sites); count classes and heuristics."""
    known = opened(web, "rdf")
    counts = _Counts(known, policy)
    watched = observe(policy_from(policy, 0), counts.seen)
    begin = [url for url in starts(known, "seeds" if web == RECORDED else "homes") if host_of(url) == host]
    pages = min(MOST, max(20, round(documents * _SHARE)))
    others = _hosts_with_documents(web) - {host}
    simulation = Simulation(known, watched, scope=lambda url: "another site" if host_of(url) in others else "")
    result = simulation.run(begin, pages=pages)
    return {
        "requests": result.fetched,
        "documents": result.fetched - sum(result.failures.values()),
        "rdf": result.relevant,
        "curve": result.curve[:: max(1, len(result.curve) // 100)],
        "pages": pages,
        "predicted": counts.predicted,
        "right": counts.right,
        "true": counts.true,
        "fired": counts.fired,
        "fired_right": counts.fired_right,
    }


class _Counts:
    """Counts of predicted and true classes of all links that were followed and led to a document."""

    def __init__(self, web: SimulatedWeb, policy: str) -> None:
        self._web = web
        self._new_path_only = "path=new" in policy
        self._concepts = concepts_from(whole_words="match=word" in policy or "literal" in policy)
        self.predicted: Counter[str] = Counter()
        self.right: Counter[str] = Counter()
        self.true: Counter[str] = Counter()
        """Documents by their true class, whatever the prediction."""
        self.fired: Counter[str] = Counter()
        self.fired_right: Counter[str] = Counter()

    def seen(self, link: Link, parent: Outcome | None, outcome: Outcome) -> None:
        if parent is None or outcome.failure is not None:
            return
        properties = link_properties(link, parent, new_path_only=self._new_path_only)
        concepts = self._concepts
        predicted = relevancy_r(properties, concepts)[0]
        if predicted is LinkClass.H and ceil(outcome.score / _APART) == LinkClass.HR.value:
            predicted = LinkClass.HR
        true = self._true_class(outcome.url)
        names = [name for name, heuristic in HEURISTICS.items() if heuristic(properties, concepts)]
        if predicted is LinkClass.HR:
            names = [SIMILARITY]
        elif predicted is not LinkClass.R:
            names = []
        self.true[true] += 1
        self.predicted[predicted.name] += 1
        self.fired.update(names)
        if predicted.name == true:
            self.right[true] += 1
            self.fired_right.update(names)

    def _true_class(self, url: str) -> str:
        found = _kind(self._web, url)
        if found != "H":
            return found
        return "HR" if any(self._leads_to_rdf(link.url) for link in self._web.page(url).links) else "H"

    def _leads_to_rdf(self, url: str) -> bool:
        page = self._web.page(url)
        for _ in range(5):
            if page.failure is not FailureKind.REDIRECT:
                break
            page = self._web.page(page.location)
        return page.failure is None and is_rdf_document(page.kind)

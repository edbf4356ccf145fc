"""The two webs in numbers: hosts, pages, redirects and relevant pages."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from tools.papers.lab import Lab
from tools.papers.markdown import MISSING, percent, section, table
from tools.papers.scale import RECORDED
from tools.papers.webs import opened, web_spec

from motherlode.model import FailureKind
from motherlode.sim.runner import synthetic_pages
from motherlode.sim.synthetic import SyntheticWeb
from motherlode.sim.web_protocol import PAGE_KINDS
from motherlode.www.urls import host_of

TARGETS = ("any", "rdf", "microdata", "microdata>=5")
_SAMPLED_HOSTS, _PAGES_PER_HOST = 750, 40
"""The sample of a synthetic web: hosts with a probability in proportion to their size, and random pages of each."""


def web_facts(*, web: str, target: str) -> dict[str, Any]:
    """Return the numbers of a web; of a synthetic one those of a random sample of its pages."""
    known = opened(web, target)
    if web == RECORDED:
        pages = list(known.everything())
    else:
        pages = [known.page(url) for url in _sampled(SyntheticWeb(synthetic_pages(web), web_spec(web).web_seed))]
    documents = [
        (host_of(page.url), page.relevant) for page in pages if page.failure is None and page.kind in PAGE_KINDS
    ]
    redirects = Counter(str(page.status) for page in pages if page.failure is FailureKind.REDIRECT)
    return {
        "hosts": len(known.home_pages()),
        "pages": known.page_count,
        "documents": len(documents),
        "relevant": sum(relevant for _, relevant in documents),
        "redirects": redirects,
        "explained": explained_variance(documents),
    }


def _sampled(web: SyntheticWeb) -> list[str]:
    random = Random(0)
    urls = {host: list(web.urls(host)) for host in web.hosts()}
    hosts = random.choices(list(urls), weights=[len(each) for each in urls.values()], k=_SAMPLED_HOSTS)
    drawn = (random.sample(urls[host], min(_PAGES_PER_HOST, len(urls[host]))) for host in hosts)
    return list(dict.fromkeys(url for each in drawn for url in each))


def explained_variance(labels: list[tuple[str, bool]]) -> float | None:
    """Return the share of the variance of the label that the host explains; None if all labels are equal.

    >>> explained_variance([("a", True), ("a", True), ("b", False)]), explained_variance([("a", True), ("a", False)])
    (1.0, 0.0)
    """
    counts, relevant = Counter(host for host, _ in labels), Counter(host for host, label in labels if label)
    share = relevant.total() / max(1, counts.total())
    whole = counts.total() * share * (1 - share)
    between = sum(count * (relevant[host] / count - share) ** 2 for host, count in counts.items())
    return between / whole if whole else None


def webs(lab: Lab) -> str:
    """Return the section: one column per web."""
    keys = [(web, target) for web in lab.scale.webs for target in TARGETS]
    answers = lab.run(web_facts, [{"web": web.web, "target": target} for web, target in keys])
    found = {(web.name, target): answer for (web, target), answer in zip(keys, answers, strict=True)}
    names = [web.name for web in lab.scale.webs]
    facts = [found[name, "any"] for name in names]
    rows: list[tuple[str, ...]] = [
        ("hosts", *(f"{fact['hosts']:,}" for fact in facts)),
        ("HTML and RDF pages", *(f"{fact['pages']:,}" for fact in facts)),
        ("pages that were read for the rows below", *(f"{fact['documents']:,}" for fact in facts)),
        ("redirects per page", *(_per_page(fact, sum(fact["redirects"].values())) for fact in facts)),
        ("of them 303", *(_per_page(fact, fact["redirects"].get("303", 0)) for fact in facts)),
    ]
    for target in TARGETS:
        shares = [found[name, target]["relevant"] / max(1, found[name, target]["documents"]) for name in names]
        rows.append((f"pages that match `{target}`", *map(percent, shares)))
    rows.append(("variance of the label `any` that the host explains", *(percent(fact["explained"]) for fact in facts)))
    return section("## The two webs", table(("", *names), rows))


def _per_page(fact: dict[str, Any], count: int) -> str:
    """Return redirects per page. A synthetic web has identifiers that redirect, too, and no list of them."""
    return f"{count / fact['documents']:.2f}" if fact["redirects"] else MISSING

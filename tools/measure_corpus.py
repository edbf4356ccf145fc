"""Measure the figures of a recorded or synthetic web to which the synthetic web is fitted.

    python tools/measure_corpus.py FILE.warc.gz [--json]
    python tools/measure_corpus.py synthetic:5000

Labels come from markers (`itemscope`, `application/ld+json` …), not from full extraction, because only the statistics
of the web matter here, and markers are wrong for only a few pages in a thousand.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import exp, log
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType
from selectolax.lexbor import LexborHTMLParser

from motherlode.sim.synthetic import Role, SyntheticWeb
from motherlode.www.urls import canonical, host_of, resolve

RDF_TYPES = ("turtle", "rdf+xml", "n-triples", "n-quads", "trig", "ld+json", "n3")
MARKERS = {
    "microdata": re.compile(rb"\sitemscope", re.I),
    "jsonld": re.compile(rb"application/ld\+json", re.I),
    "rdfa": re.compile(rb"\s(?:typeof|vocab)=[\"']", re.I),
    "microformats": re.compile(
        rb"class=[\"'](?:[^\"']*\s)?"
        rb"(?:h-(?:card|entry|event|feed|item|product|recipe|cite)|vcard|hentry|vevent)[\s\"']"
    ),
}
DIGITS = re.compile(r"\d+")


@dataclass(slots=True, kw_only=True)
class MeasuredPage:
    """One response."""

    url: str
    status: int
    rdf: bool
    size: int
    syntaxes: frozenset[str] = frozenset()
    links: list[str] = field(default_factory=list)
    """Canonical targets of `a` and `link` elements, once each."""

    @property
    def relevant(self) -> bool:
        return self.rdf or bool(self.syntaxes)


def https(url: str) -> str:
    """Return the URL with https, because the recorded web treats http and https alike."""
    return "https:" + url[5:] if url.startswith("http:") else url


def links_of(body: bytes, base: str) -> list[str]:
    found: dict[str, None] = {}
    for node in LexborHTMLParser(body.decode("utf-8", "replace")).css("a[href], link[href]"):
        target = resolve(base, node.attributes.get("href") or "")
        if target is not None:
            found[https(target)] = None
    return list(found)


def read(path: Path) -> Iterator[MeasuredPage]:
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response):
            url = canonical(record.headers["WARC-Target-URI"])
            if url is None or record.http_headers is None:
                continue
            status = int(record.http_headers.status_code or 0)
            media = (record.http_headers.get("Content-Type") or "").lower()
            body = record.reader.read()
            rdf = status == 200 and any(name in media for name in RDF_TYPES)
            if status == 200 and "html" in media:
                names = frozenset(name for name, marker in MARKERS.items() if marker.search(body))
                yield MeasuredPage(
                    url=https(url), status=status, rdf=False, size=len(body), syntaxes=names, links=links_of(body, url)
                )
            elif rdf or 300 <= status < 400:
                yield MeasuredPage(url=https(url), status=status, rdf=rdf, size=len(body))


def synthesised(pages: int) -> Iterator[MeasuredPage]:
    """Yield the pages of a synthetic web from its own models."""
    web = SyntheticWeb(pages=pages, seed=1)
    for host in web.hosts():
        for url in web.urls(host):
            page = web.page_model(url, attempt=1)
            data = page.role is Role.DATA
            yield MeasuredPage(
                url=url,
                status=page.status,
                rdf=data,
                size=page.size,
                syntaxes=frozenset() if data else frozenset(syntax.value for syntax in page.counts),
                links=[] if data else [link.url for link in page.links],
            )


def template_of(url: str) -> str:
    """Return host and folder of a page: the best guess at its template from the URL alone."""
    return DIGITS.sub("0", url.partition("?")[0].rpartition("/")[0])


def quantiles(values: Iterable[float]) -> dict[str, float]:
    ordered = sorted(values)
    shares = {f"p{percent}": ordered[len(ordered) * percent // 100] for percent in (10, 50, 90, 99)}
    return {**shares, "max": ordered[-1], "mean": round(statistics.fmean(ordered), 2)}


def lognormal(values: Iterable[float]) -> dict[str, float]:
    logs = [log(value) for value in values if value > 0]
    return {"median": round(exp(statistics.fmean(logs)), 1), "sigma": round(statistics.pstdev(logs), 3)}


def grouped(pages: Sequence[MeasuredPage], key: str) -> dict[str, list[MeasuredPage]]:
    groups: dict[str, list[MeasuredPage]] = defaultdict(list)
    for page in pages:
        groups[host_of(page.url) if key == "host" else template_of(page.url)].append(page)
    return groups


def adoption(groups: dict[str, list[MeasuredPage]], least: int) -> dict[str, float]:
    """Return the shares of groups of at least `least` pages that have data on all, some or none of their pages."""
    shares = [sum(p.relevant for p in pages) / len(pages) for pages in groups.values() if len(pages) >= least]
    return {
        "groups": len(shares),
        "all": round(sum(share >= 0.95 for share in shares) / len(shares), 3),
        "some": round(sum(0.05 < share < 0.95 for share in shares) / len(shares), 3),
        "none": round(sum(share <= 0.05 for share in shares) / len(shares), 3),
    }


def variance_explained(groups: dict[str, list[MeasuredPage]]) -> float:
    """Return the share of the label's variance between the groups (eta squared)."""
    pages = [page for group in groups.values() for page in group]
    rate = sum(page.relevant for page in pages) / len(pages)
    within = 0.0
    for group in groups.values():
        share = sum(page.relevant for page in group) / len(group)
        within += len(group) * share * (1 - share)
    return round(1 - within / (len(pages) * rate * (1 - rate)), 3)


def link_figures(pages: Sequence[MeasuredPage], known: dict[str, MeasuredPage]) -> dict[str, object]:
    inside = outside = held = same_label = labelled = 0
    in_degree: Counter[str] = Counter()
    foreign: Counter[str] = Counter()
    for page in pages:
        own = host_of(page.url)
        for target in page.links:
            if host_of(target) == own:
                inside += 1
            else:
                outside += 1
                foreign[host_of(target)] += 1
            if (other := known.get(target)) is not None:
                held += 1
                in_degree[target] += 1
                if other.status == 200 and host_of(target) == own:
                    labelled += 1
                    same_label += page.relevant == other.relevant
    total = inside + outside
    return {
        "links_per_page": quantiles(len(page.links) for page in pages),
        "links_lognormal": lognormal(len(page.links) for page in pages),
        "in_host_share": round(inside / total, 3),
        "held_by_the_web": round(held / total, 3),
        "same_label_in_host": round(same_label / labelled, 3),
        "in_degree": quantiles(in_degree.values()),
        "foreign_hosts": len(foreign),
        "share_of_top_tenth_foreign": round(
            sum(n for _, n in foreign.most_common(max(1, len(foreign) // 10))) / max(1, sum(foreign.values())), 3
        ),
    }


def measure(responses: Sequence[MeasuredPage]) -> dict[str, object]:
    known = {response.url: response for response in responses}
    documents = [response for response in known.values() if response.status == 200]
    html = [response for response in documents if not response.rdf]
    hosts = grouped(documents, "host")
    shares = {host: sum(page.relevant for page in pages) / len(pages) for host, pages in hosts.items()}
    templates = grouped(documents, "template")
    mixed = {name: pages for name, pages in templates.items() if 0.05 < shares[host_of(pages[0].url)] < 0.95}
    return {
        "documents": len(documents),
        "html": len(html),
        "rdf": len(documents) - len(html),
        "redirects": len(known) - len(documents),
        "relevant_share": round(sum(page.relevant for page in documents) / len(documents), 3),
        "syntax_shares_of_html": {
            name: round(sum(name in page.syntaxes for page in html) / len(html), 3) for name in MARKERS
        },
        "syntaxes_on_relevant_html": dict(
            Counter("+".join(sorted(page.syntaxes)) for page in html if page.syntaxes).most_common(8)
        ),
        "pages_per_host": quantiles(len(pages) for pages in hosts.values()),
        "pages_per_host_lognormal": lognormal(len(pages) for pages in hosts.values()),
        "html_bytes": quantiles(page.size for page in html),
        "html_bytes_lognormal": lognormal(page.size for page in html),
        "hosts": adoption(hosts, 3),
        "templates_of_mixed_hosts": adoption(mixed, 5),
        "label_variance_between_hosts": variance_explained(hosts),
        "label_variance_between_templates": variance_explained(templates),
        **link_figures(html, known),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="a WARC file, or synthetic:PAGES")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    kind, _, pages = options.source.partition(":")
    responses = synthesised(int(pages)) if kind == "synthetic" else read(Path(options.source))
    figures = measure(list(responses))
    if options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:34} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

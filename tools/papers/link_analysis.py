"""Emamdadi, Kahani and Zarrinkalam: Figure 4 (discovery rate), Table I (precision by class), Table II (heuristics)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from typing import Any

from tools.papers.lab import Lab
from tools.papers.markdown import MISSING, claims, note, number, percent, section, table
from tools.papers.simulated_crawl import Answer
from tools.papers.sites import rdf_sites, site_crawl

from motherlode.crawler.report.plot import Axes, Curve
from motherlode.policies.linkanalysis.heuristics import HEURISTICS, SIMILARITY
from motherlode.sim.experiment import relevant_at

PRECISION = {
    "dbtune.org": (56.96, 90.82),
    "openlylocal.com": (100, 56.57),
    "deri.ie": (75.35, 98.88),
    "rossettiarchive.org": (100, 98.88),
    "Average": (83.08, 86.29),
}
"""Table I: per cent, for class R and class HR."""
PUBLISHED: dict[str, tuple[float, float | None]] = {
    "type:terms": (83.96, 100),
    "title:terms": (3.64, 100),
    "anchortext:terms": (16, 75),
    "context:terms": (15.99, 66.67),
    "path:terms": (15.52, 74.42),
    "type:content-types": (83.96, 100),
    "title:content-types": (34.34, 100),
    "anchortext:content-types": (0, None),
    "context:content-types": (0, None),
    "extension:file-extensions": (80.89, 99.88),
    SIMILARITY: (86.34, 72.45),
}
"""Table II: recall and precision of each heuristic in per cent; None if it predicted nothing."""
PAPER = "linkanalysis"
OURS = "linkanalysis:match=word,path=new"
POLICIES = {"as published": PAPER, "ours": OURS}
"""`ours` finds terms as whole words and ignores directories that also contain the linking page."""
NON_FOCUSED = "bfs"
Sites = list[dict[str, Any]]
Crawls = dict[str, list[Answer]]
"""The crawls of all sites by policy."""


def link_analysis(lab: Lab) -> str:
    """Return the sections on Figure 4, Table I and Table II."""
    sites: dict[str, Sites] = {}
    found: dict[str, Crawls] = {}
    for web in lab.scale.webs:
        (sites[web.name],) = lab.run(rdf_sites, [{"web": web.web, "most": web.sites}])
        found[web.name] = {policy: _crawled(lab, web.web, policy, sites[web.name]) for policy in _policies()}
    numbers = " and ".join(f"{len(sites[web])} of the {web} web" for web in sites)
    return section(
        "### Figure 4: discovery rate",
        f"The largest sites with at least twenty RDF documents, 4 to 90 % of all ({numbers}), each "
        "crawled separately from its home page (and from its further roots in seeds.txt): 2,000 requests as "
        "in the paper, or two fifths of the site if that is less "
        "(recorded sites are cut at 240 pages). Hosts that only redirect, such as w3id.org, belong to every "
        "site. The table shows the discovery rate NT_R / N by the paper's definition: documents that were correctly "
        "predicted as class R, of all documents that were crawled. The non-focused crawler predicts nothing; for it, "
        "all RDF documents count. In parentheses RDF documents per request, predicted or not, where redirects and "
        "failures are requests too. The paper shows bars for its four sites without "
        "numbers: focused is above non-focused on each.",
        _discovery(sites, found),
        claims(_discovery_claims(found)),
        note("emamdadi-figure-4"),
        *(_picture(lab, web, crawls) for web, crawls in found.items()),
        "### Table I: precision by class",
        _precision(sites, found),
        claims(_precision_claims(found)),
        note("emamdadi-table-1"),
        "### Table II: precision and recall of each heuristic",
        "Recall (of all) / precision over links that were followed and led to a document: the mean of all sites on "
        "which the measure is defined, as in the paper. Recall is NT_{C,H} / NT_C as published, where NT_C are the "
        "documents that were correctly predicted as class C. By this definition the only heuristic of class HR has a "
        "recall of 100 %, but the paper prints 86.3 %; so the share of all documents of the class is in parentheses.",
        _heuristics(found),
        claims(_heuristic_claims(found)),
        note("emamdadi-table-2"),
    )


def _policies() -> tuple[str, ...]:
    return (NON_FOCUSED, *POLICIES.values())


def _crawled(lab: Lab, web: str, policy: str, sites: Sites) -> list[Answer]:
    asked = [{"web": web, "host": s["host"], "documents": s["documents"], "policy": policy} for s in sites]
    return lab.run(site_crawl, asked)


def discovery_rate(answer: Answer, policy: str) -> float:
    """Return NT_R / N (section IV.A.2)."""
    found = answer["rdf"] if policy == NON_FOCUSED else answer["right"].get("R", 0)
    return found / answer["documents"] if answer["documents"] else 0.0


def _rate(answer: Answer) -> float:
    return answer["rdf"] / answer["requests"] if answer["requests"] else 0.0


def _both_rates(answers: Sequence[Answer], policy: str) -> str:
    rate = mean(discovery_rate(answer, policy) for answer in answers)
    return f"{number(rate)} ({number(mean(map(_rate, answers)))})"


def _discovery(sites: Mapping[str, Sites], found: Mapping[str, Crawls]) -> str:
    rows: list[Sequence[object]] = []
    for web, chosen in sites.items():
        for place, site in enumerate(chosen):
            rates = [_both_rates([found[web][policy][place]], policy) for policy in _policies()]
            size, requests = site["documents"], found[web][NON_FOCUSED][place]["requests"]
            rows.append((f"{site['host']} ({web})", f"{size:,}", f"{requests:,}", *rates))
        averages = [_both_rates(found[web][policy], policy) for policy in _policies()]
        rows.append((f"**Average, {web}**", "", "", *averages))
    return table(("site", "documents", "requests", "non-focused", *(f"focused, {name}" for name in POLICIES)), rows)


def _discovery_claims(found: Mapping[str, Crawls]) -> list[tuple[str, dict[str, bool]]]:
    def better(policy: str) -> dict[str, bool]:
        return {
            web: all(
                discovery_rate(one, policy) > discovery_rate(other, NON_FOCUSED)
                for one, other in zip(crawls[policy], crawls[NON_FOCUSED], strict=True)
            )
            for web, crawls in found.items()
        }

    on_average = {
        web: mean(discovery_rate(one, PAPER) for one in crawls[PAPER])
        > mean(discovery_rate(one, NON_FOCUSED) for one in crawls[NON_FOCUSED])
        for web, crawls in found.items()
    }
    return [
        ("the focused crawler discovers more on every site, as published", better(PAPER)),
        ("the same with whole words and our reading of paths", better(OURS)),
        ("the focused crawler discovers more on average, as published", on_average),
    ]


def _picture(lab: Lab, web: str, crawls: Crawls) -> str:
    """Draw the mean of all sites; the x axis is the share of each site's crawl."""
    names = {"non-focused": NON_FOCUSED, **{f"focused, {name}": policy for name, policy in POLICIES.items()}}
    curves = []
    for name, policy in names.items():
        points = []
        for per_cent in range(2, 101):
            values = []
            for answer in crawls[policy]:
                at = answer["pages"] * per_cent / 100
                values.append(1000 * relevant_at(answer["curve"], at) / at)
            points.append((per_cent, round(mean(values))))
        curves.append(Curve(name=name, points=tuple(points)))
    title = f"Figure 4, {web}: RDF documents per request, mean of the sites"
    return lab.figure(
        f"emamdadi-4-{web}", title, curves, Axes(x="per cent of the crawl", y="discovery rate", unit=" ‰")
    )


def _ratio(one: float, other: float) -> float | None:
    return one / other if other else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def _class_precision(answer: Answer, name: str) -> float | None:
    return _ratio(answer["right"].get(name, 0), answer["predicted"].get(name, 0))


def _precision(sites: Mapping[str, Sites], found: Mapping[str, Crawls]) -> str:
    rows: list[Sequence[object]] = [
        (f"{name} (published)", *(f"{value:.1f} %" for value in values), MISSING, MISSING)
        for name, values in PRECISION.items()
    ]
    for web, chosen in sites.items():
        for place, site in enumerate(chosen):
            cells = [percent(_class_precision(found[web][p][place], c)) for p in POLICIES.values() for c in ("R", "HR")]
            rows.append((f"{site['host']} ({web})", *cells))
        averages = [percent(_average(found[web][p], c)) for p in POLICIES.values() for c in ("R", "HR")]
        rows.append((f"**Average, {web}**", *averages))
    return table(("site", *(f"{name}: {c}" for name in POLICIES for c in ("R", "HR"))), rows)


def _average(answers: Sequence[Answer], name: str) -> float | None:
    return _mean(_class_precision(answer, name) for answer in answers)


def _precision_claims(found: Mapping[str, Crawls]) -> list[tuple[str, dict[str, bool]]]:
    made = []
    for name, policy in POLICIES.items():
        above = {
            web: all((_average(crawls[policy], c) or 0) > 0.8 for c in ("R", "HR")) for web, crawls in found.items()
        }
        made.append((f"on average the precision of both classes is above 80 % ({name})", above))
    return made


Quality = tuple[float | None, float | None, float | None]


def quality(answers: Sequence[Answer], heuristic: str) -> Quality:
    """Return recall as published, recall of all documents of the class, and precision (section IV.A.2).

    They are NT_{C,H} / NT_C, where NT_C are the documents correctly predicted as class C; NT_{C,H} divided by all
    documents of class C; and NT_{C,H} / N_{C,H}.
    """
    predicts = "HR" if heuristic == SIMILARITY else "R"
    recalls = (_ratio(one["fired_right"].get(heuristic, 0), one["right"].get(predicts, 0)) for one in answers)
    of_all = (_ratio(one["fired_right"].get(heuristic, 0), one["true"].get(predicts, 0)) for one in answers)
    precisions = (_ratio(one["fired_right"].get(heuristic, 0), one["fired"].get(heuristic, 0)) for one in answers)
    return _mean(recalls), _mean(of_all), _mean(precisions)


def _heuristics(found: Mapping[str, Crawls]) -> str:
    rows = []
    for heuristic in (*HEURISTICS, SIMILARITY):
        recall, precision = PUBLISHED.get(heuristic, (None, None))
        told = MISSING if recall is None else f"{recall:.1f} / {MISSING if precision is None else f'{precision:.1f}'} %"
        cells = []
        for crawls in found.values():
            for policy in POLICIES.values():
                ours = quality(crawls[policy], heuristic)
                recall_here, of_all, precision_here = (percent(value).removesuffix(" %") for value in ours)
                cells.append(f"{recall_here} ({of_all}) / {precision_here} %")
        rows.append((heuristic, told, *cells))
    return table(("heuristic", "published", *(f"{web}, {name}" for web in found for name in POLICIES)), rows)


def _heuristic_claims(found: Mapping[str, Crawls]) -> list[tuple[str, dict[str, bool]]]:
    qualities = {web: {name: quality(crawls[PAPER], name) for name in PUBLISHED} for web, crawls in found.items()}

    def precise(cells: Mapping[str, Quality]) -> bool:
        return all(precision is None or precision > 0.65 for _, _, precision in cells.values())

    def context_last(cells: Mapping[str, Quality]) -> bool:
        known = {name: precision for name, (_, _, precision) in cells.items() if precision is not None}
        return bool(known) and min(known, key=lambda name: known[name]) == "context:terms"

    return [
        (
            "all heuristics that fire have a precision above 65 %",
            {web: precise(cells) for web, cells in qualities.items()},
        ),
        ("terms in the context are the least precise", {web: context_last(cells) for web, cells in qualities.items()}),
        (
            "file extensions are precise to 99 %",
            {web: (cells["extension:file-extensions"][2] or 0) > 0.99 for web, cells in qualities.items()},
        ),
        (
            "the similarity metric recalls more than 80 % of all documents of class HR",
            {web: (cells[SIMILARITY][1] or 0) > 0.8 for web, cells in qualities.items()},
        ),
    ]

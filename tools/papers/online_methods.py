"""Compare every online method with breadth-first and random on the recorded web, and ablate their features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from tools.papers.lab import Lab
from tools.papers.markdown import note, percent, section, table
from tools.papers.scale import RECORDED
from tools.papers.simulated_crawl import Answer, crawl, repetitions
from tools.papers.webs import opened

SHARE = 0.12
TARGETS = ("any", "rdf", "microdata")
STARTS = {"homes": "every home page", "seeds": "../shared/corpus/seeds.txt"}
BASELINES = ("bfs", "random")
METHODS = (
    "motherlode",
    "ldcoc",
    "ldcoc:head=no",
    "linkanalysis",
    "nb-online",
    "ht-online",
    "bandit:success-rate",
    "bandit:best-score",
    "bandit:thompson",
    "bandit:negative-bad",
    "bandit:good-best-score",
    "bandit:thompson-best-score",
    "bandit:success-best-score",
    "pld",
    "sb-classifier",
    "tres",
)
_SETS = ("url", "parent", "sibling", "url+parent", "url+parent+sibling")
ABLATION = {
    "LDCOC, without HEAD requests": tuple(
        f"ldcoc:{sets}:head=no" for sets in ("t", "r", "p", "x", "tr", "tp", "rp", "trp", "trpx")
    ),
    "LDCOC, with HEAD requests": (
        "ldcoc:t",
        "ldcoc:trp",
        "ldcoc:trpx",
        "ldcoc:trp:ftrl=eq1",
        "ldcoc:trp:head=no,ftrl=eq1",
    ),
    "Anthelion, Naive Bayes": (
        *(f"nb-online:{sets}" for sets in _SETS),
        "nb-online:smoothing=m",
        "nb-online:tokens=authors",
        "bandit:success-best-score",
        "bandit:success-best-score:smoothing=m",
    ),
    "Anthelion, Hoeffding tree": (
        *(f"ht-online:{sets}" for sets in _SETS),
        "bandit:success-best-score:classifier=ht",
    ),
    "link analysis": ("linkanalysis", "linkanalysis:literal", "linkanalysis:match=word,path=new"),
}
"""The methods with parts of their features, and their variants."""
Column = tuple[str, str]
"""A column of the tables: target and start."""


def methods(lab: Lab) -> str:
    """Return the section: relevant pages for each target and start."""
    names = ("oracle", *BASELINES, *METHODS)
    found = _crawled(lab, names)
    columns = list(next(iter(found.values())))
    lost = _lost_columns(found)
    return section(
        "## Every online method on the recorded web",
        f"`--share {SHARE}`, mean of {lab.scale.methods_repeat}: pages that match the target. In **bold** "
        "methods that beat both "
        "breadth-first and random. `oracle` knows every label and every link.",
        _table(found, names, columns),
        lost,
        "How the requests were spent: the share of requests with a redirect as response, and the approximate number "
        "of requests before the first RDF document was found.",
        _evidence(found, names),
        note("online-methods"),
        "### Ablation: what each set of features adds",
        "The same crawls with parts of the features, and with variants of the methods. The bare names are the methods "
        "as published.",
        *_ablations(lab, found),
        note("ablation"),
    )


def _crawled(lab: Lab, names: Sequence[str]) -> dict[str, dict[Column, list[Answer]]]:
    pages = round(SHARE * opened(RECORDED).page_count)
    columns = [(target, start) for target in TARGETS for start in STARTS]
    keys = [
        (name, column, seed)
        for column in columns
        for name in names
        for seed in range(1 if name == "oracle" else repetitions(name, lab.scale.methods_repeat))
    ]
    asked = [
        {"web": RECORDED, "target": target, "policy": name, "seed": seed, "pages": pages, "start": start}
        for name, (target, start), seed in keys
    ]
    found: dict[str, dict[Column, list[Answer]]] = {name: {} for name in names}
    for (name, column, _), answer in zip(keys, lab.run(crawl, asked), strict=True):
        found[name].setdefault(column, []).append(answer)
    return found


def _relevant(answers: Sequence[Answer]) -> float:
    relevant: list[int] = [answer["relevant"] for answer in answers]
    return mean(relevant)


def _bar(found: Mapping[str, Mapping[Column, list[Answer]]], column: Column) -> float:
    return max(_relevant(found[name][column]) for name in BASELINES)


def _table(found: Mapping[str, Mapping[Column, list[Answer]]], names: Sequence[str], columns: Sequence[Column]) -> str:
    rows = []
    for name in names:
        cells = []
        for column in columns:
            value = _relevant(found[name][column])
            wins = name in METHODS and value > _bar(found, column)
            cells.append(f"**{value:.0f}**" if wins else f"{value:.0f}")
        rows.append((name, *cells))
    return table(
        ("policy", *(f"{target}, {'homes' if start == 'homes' else 'seeds.txt'}" for target, start in columns)), rows
    )


def _lost_columns(found: Mapping[str, Mapping[Column, list[Answer]]]) -> str:
    """List the columns in which a method does not beat the baselines."""
    lines = []
    for name in METHODS:
        lost = [
            f"{target} from {'home pages' if start == 'homes' else 'seeds.txt'} ({_relevant(answers):.0f} "
            f"against {_bar(found, (target, start)):.0f})"
            for (target, start), answers in found[name].items()
            if _relevant(answers) <= _bar(found, (target, start))
        ]
        if lost:
            lines.append(f"- {name}: {'; '.join(lost)}")
    if not lines:
        return "Every method beats both, for every target and from every start."
    return "Methods that do not beat both breadth-first and random:\n\n" + "\n".join(lines)


def _evidence(found: Mapping[str, Mapping[Column, list[Answer]]], names: Sequence[str]) -> str:
    """Return a table of redirects and of requests before the first relevant page; it explains most of the results."""
    shown = (("any", "homes"), ("rdf", "homes"), ("rdf", "seeds"))
    rows = []
    for name in names:
        cells = []
        for column in shown:
            shares = [answer["failures"].get("redirect", 0) / answer["requests"] for answer in found[name][column]]
            cells.append(percent(mean(shares)))
        for column in shown[1:]:
            cells.append(f"{mean(_before_first(answer) for answer in found[name][column]):.0f}")
        rows.append((name, *cells))
    redirects = [f"redirects: {target}, {start}" for target, start in shown]
    return table(
        ("policy", *redirects, *(f"first relevant page: {target}, {start}" for target, start in shown[1:])), rows
    )


def _before_first(answer: Answer) -> int:
    requests: list[int] = [fetched for fetched, relevant in answer["curve"] if relevant]
    return requests[0] if requests else int(answer["requests"])


def _ablations(lab: Lab, baselines: Mapping[str, Mapping[Column, list[Answer]]]) -> list[str]:
    parts = []
    for title, names in ABLATION.items():
        found = _crawled(lab, names)
        shown = {**{name: baselines[name] for name in BASELINES}, **found}
        parts.append(f"**{title}**\n\n{_plain(shown)}")
    return parts


def _plain(found: Mapping[str, Mapping[Column, list[Answer]]]) -> str:
    columns = list(next(iter(found.values())))
    rows = [(name, *(f"{_relevant(cells[column]):.0f}" for column in columns)) for name, cells in found.items()]
    return table(
        ("policy", *(f"{target}, {'homes' if start == 'homes' else 'seeds.txt'}" for target, start in columns)), rows
    )

"""Every online method against breadth-first and random on the recorded web, and what each set of features is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from tools.papers.crawling import Answer, crawl, repetitions
from tools.papers.lab import Lab
from tools.papers.scale import RECORDED
from tools.papers.webs import opened
from tools.papers.writing import note, percent, section, table

SHARE = 0.12
TARGETS = ("any", "rdf", "microdata")
STARTS = {"homes": "every home page", "seeds": "../shared/corpus/seeds.txt"}
YARDSTICKS = ("bfs", "random")
METHODS = (
    "motherlode",
    "ldcoc",
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
)
ABLATION = {
    "LDCOC": (
        "ldcoc:t",
        "ldcoc:r",
        "ldcoc:p",
        "ldcoc:x",
        "ldcoc:tr",
        "ldcoc:tp",
        "ldcoc:rp",
        "ldcoc:trp",
        "ldcoc:trpx",
    ),
    "Anthelion, Naive Bayes": tuple(
        f"nb-online:{sets}" for sets in ("url", "parent", "sibling", "url+parent", "url+parent+sibling")
    ),
    "Anthelion, Hoeffding tree": tuple(
        f"ht-online:{sets}" for sets in ("url", "parent", "sibling", "url+parent", "url+parent+sibling")
    ),
    "link analysis": ("linkanalysis", "linkanalysis:literal"),
}
"""Each method with parts of its features."""
Place = tuple[str, str]
"""Target and start."""


def methods(lab: Lab) -> str:
    """Relevant pages found, for each target and start."""
    names = ("oracle", *YARDSTICKS, *METHODS)
    found = _crawled(lab, names)
    places = list(next(iter(found.values())))
    losers = _losers(found)
    return section(
        "## Every online method on the recorded web",
        f"`--share {SHARE}`, mean of {lab.scale.methods_repeat}: pages that match the target. In **bold** "
        "what beats both "
        "breadth-first and random. `oracle` knows every label and every link.",
        _table(found, names, places),
        losers,
        "Where the requests went: the share of them that were answered by a redirect, and about how many "
        "were spent before "
        "the first RDF document was found.",
        _evidence(found, names),
        note("online-methods"),
        "### What each set of features is worth",
        "The same crawls with parts of the features.",
        *_ablations(lab, found),
        note("ablation"),
    )


def _crawled(lab: Lab, names: Sequence[str]) -> dict[str, dict[Place, list[Answer]]]:
    pages = round(SHARE * opened(RECORDED).page_count)
    places = [(target, start) for target in TARGETS for start in STARTS]
    keys = [
        (name, place, seed)
        for place in places
        for name in names
        for seed in range(1 if name == "oracle" else repetitions(name, lab.scale.methods_repeat))
    ]
    asked = [
        {"web": RECORDED, "target": target, "policy": name, "seed": seed, "pages": pages, "start": start}
        for name, (target, start), seed in keys
    ]
    found: dict[str, dict[Place, list[Answer]]] = {name: {} for name in names}
    for (name, place, _), answer in zip(keys, lab.run(crawl, asked), strict=True):
        found[name].setdefault(place, []).append(answer)
    return found


def _relevant(answers: Sequence[Answer]) -> float:
    relevant: list[int] = [answer["relevant"] for answer in answers]
    return mean(relevant)


def _bar(found: Mapping[str, Mapping[Place, list[Answer]]], place: Place) -> float:
    return max(_relevant(found[name][place]) for name in YARDSTICKS)


def _table(found: Mapping[str, Mapping[Place, list[Answer]]], names: Sequence[str], places: Sequence[Place]) -> str:
    rows = []
    for name in names:
        cells = []
        for place in places:
            value = _relevant(found[name][place])
            wins = name in METHODS and value > _bar(found, place)
            cells.append(f"**{value:.0f}**" if wins else f"{value:.0f}")
        rows.append((name, *cells))
    return table(
        ("policy", *(f"{target}, {'homes' if start == 'homes' else 'seeds.txt'}" for target, start in places)), rows
    )


def _losers(found: Mapping[str, Mapping[Place, list[Answer]]]) -> str:
    """Which method does not beat the yardsticks where: computed."""
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
    return "Not better than the better of breadth-first and random:\n\n" + "\n".join(lines)


def _evidence(found: Mapping[str, Mapping[Place, list[Answer]]], names: Sequence[str]) -> str:
    """What explains most of the table above: redirects, and how late the first find comes."""
    shown = (("any", "homes"), ("rdf", "homes"), ("rdf", "seeds"))
    rows = []
    for name in names:
        cells = []
        for place in shown:
            shares = [answer["failures"].get("redirect", 0) / answer["fetched"] for answer in found[name][place]]
            cells.append(percent(mean(shares)))
        for place in shown[1:]:
            cells.append(f"{mean(_before_first(answer) for answer in found[name][place]):.0f}")
        rows.append((name, *cells))
    redirects = [f"redirects: {target}, {start}" for target, start in shown]
    return table(("policy", *redirects, *(f"first find: {target}, {start}" for target, start in shown[1:])), rows)


def _before_first(answer: Answer) -> int:
    requests: list[int] = [fetched for fetched, relevant in answer["curve"] if relevant]
    return requests[0] if requests else int(answer["fetched"])


def _ablations(lab: Lab, yardsticks: Mapping[str, Mapping[Place, list[Answer]]]) -> list[str]:
    parts = []
    for title, names in ABLATION.items():
        found = _crawled(lab, names)
        shown = {**{name: yardsticks[name] for name in YARDSTICKS}, **found}
        parts.append(f"**{title}**\n\n{_plain(shown)}")
    return parts


def _plain(found: Mapping[str, Mapping[Place, list[Answer]]]) -> str:
    places = list(next(iter(found.values())))
    rows = [(name, *(f"{_relevant(cells[place]):.0f}" for place in places)) for name, cells in found.items()]
    return table(
        ("policy", *(f"{target}, {'homes' if start == 'homes' else 'seeds.txt'}" for target, start in places)), rows
    )

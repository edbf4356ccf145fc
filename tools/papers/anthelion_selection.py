"""Anthelion, Table 2: share of relevant pages of all its rows."""

from __future__ import annotations

from collections.abc import Mapping

from tools.papers.anthelion_curves import ONLY_IN_FIGURES, Rows, figures_2_to_7
from tools.papers.lab import Lab
from tools.papers.markdown import Holds, agreement, claims, note, number, section, table
from tools.papers.scale import Web
from tools.papers.simulated_crawl import crawls, harvest, too_large_webs

PUBLISHED = {
    "Random": 0.159,
    "BFS": 0.291,
    "Naive Bayes (100K training set)": 0.312,
    "Naive Bayes (250K training set)": 0.316,
    "Naive Bayes (1000K training set)": 0.311,
    "Naive Bayes (online)": 0.534,
    "HoeffdingTree (100K training set)": 0.408,
    "HoeffdingTree (250K training set)": 0.381,
    "HoeffdingTree (1000K training set)": 0.482,
    "HoeffdingTree (online)": 0.512,
    "Thompson Sampling (λ = 0.0)": 0.452,
    "Thompson Sampling · Best Score (λ = 0.0)": 0.562,
    "Negative Absolute Bad (λ = 0.0)": 0.300,
    "Absolute Good · Best Score (λ = 0.0)": 0.589,
    "Success Rate (λ = 0.0)": 0.628,
    "Success Rate · Best Score (λ = 0.0)": 0.550,
    "Success Rate (λ = 0.1)": 0.628,
    "Success Rate (λ = 0.2)": 0.600,
    "Absolute Good · Best Score (λ = 0.1)": 0.558,
    "Absolute Good · Best Score (λ = 0.2)": 0.590,
    "Success Rate (decaying λ = 0.2)": 0.662,
    "Success Rate (decaying λ = 0.5)": 0.673,
}
"""Table 2: the share of relevant pages after a million crawled pages."""
OTHERS = ("motherlode", "ldcoc", "ldcoc:head=no", "linkanalysis", "sb-classifier", "tres")
"""Policies for comparison that are not in the paper: ours, and those of other papers."""


def policies(web: Web) -> dict[str, str]:
    """Return the policy of each row. Training sets and m have the paper's proportion to the crawl."""
    few, some, many = (max(10, round(web.requests * share)) for share in (0.1, 0.25, 1.0))
    m = max(1, web.requests // 100)
    names = (
        "random",
        "bfs",
        *(f"pretrained:nb:{size}" for size in (few, some, many)),
        "nb-online",
        *(f"pretrained:ht:{size}" for size in (few, some, many)),
        "ht-online",
        "bandit:thompson:0",
        "bandit:thompson-best-score:0",
        "bandit:negative-bad:0",
        "bandit:good-best-score:0",
        "bandit:success-rate:0",
        "bandit:success-best-score:0",
        "bandit:success-rate:0.1",
        "bandit:success-rate:0.2",
        "bandit:good-best-score:0.1",
        "bandit:good-best-score:0.2",
        f"bandit:success-rate:0.2:{m}",
        f"bandit:success-rate:0.5:{m}",
    )
    return dict(zip(PUBLISHED, names, strict=True))


def table_2(lab: Lab) -> str:
    """Return the section: the table, the claims that hold, and the figures."""
    found: dict[str, Rows] = {}
    extra: dict[str, Rows] = {}
    for web in lab.scale.webs:
        rows = policies(web)
        answers = crawls(lab, web, [*rows.values(), *ONLY_IN_FIGURES.values(), *OTHERS])
        found[web.name] = {row: answers[policy] for row, policy in rows.items()}
        extra[web.name] = {
            policy: answers[policy] for policy in (*OTHERS, *ONLY_IN_FIGURES.values()) if policy in answers
        }
    shares = {web: {row: harvest(answers) for row, answers in rows.items()} for web, rows in found.items()}
    lines = [(row, number(share), *(number(shares[web][row]) for web in shares)) for row, share in PUBLISHED.items()]
    lines += [
        (f"*{name}*", "", *(number(harvest(rows[name]) if name in rows else None) for rows in extra.values()))
        for name in OTHERS
    ]
    orders = ", ".join(f"{agreement(PUBLISHED, shares[web])} on {web}" for web in shares)
    return section(
        "### Table 2: share of relevant pages, all 22 rows",
        _scale(lab),
        table(("selection", "published", *shares), lines),
        "The rows in italics are not in the paper. Methods that take too long on large webs take part "
        f"only on smaller ones, and have a dash: {too_large_webs(OTHERS)}.",
        f"Pairs of rows in the published order, with Kendall's τ: {orders}. Conclusions of the paper:",
        claims((claim, {web: holds(shares[web]) for web in shares}) for claim, holds in CLAIMS.items()),
        note("anthelion-table-2"),
        figures_2_to_7(lab, found, extra),
    )


def _best(shares: Mapping[str, float], *begins: str) -> float:
    return max(share for row, share in shares.items() if row.startswith(begins) and "online" not in row)


_STATIC = ("Naive Bayes", "HoeffdingTree")
_BANDITS = ("Thompson", "Negative", "Absolute", "Success")
CLAIMS: dict[str, Holds] = {
    "online Naive Bayes beats every static classifier": lambda s: s["Naive Bayes (online)"] > _best(s, *_STATIC),
    "each online classifier beats its own static ones": lambda s: all(
        s[f"{name} (online)"] > _best(s, name) for name in _STATIC
    ),
    "static classifiers beat breadth-first": lambda s: (
        min(v for k, v in s.items() if k.startswith(_STATIC) and "online" not in k) > s["BFS"]
    ),
    "every value function beats random and breadth-first": lambda s: (
        min(v for k, v in s.items() if k.startswith(_BANDITS)) > max(s["BFS"], s["Random"])
    ),
    "success rate is the best value function without λ": lambda s: (
        s["Success Rate (λ = 0.0)"] == max(v for k, v in s.items() if k.endswith("(λ = 0.0)"))
    ),
    "the best bandit beats online classification alone": lambda s: _best(s, *_BANDITS) > s["Naive Bayes (online)"],
    "a decaying λ makes success rate better than any fixed λ": lambda s: (
        max(v for k, v in s.items() if "decaying" in k)
        > max(v for k, v in s.items() if k.startswith("Success Rate (λ"))
    ),
}
"""The paper's conclusions as predicates over the shares of a web."""


def _scale(lab: Lab) -> str:
    told = [
        f"{web.requests:,} requests on the {web.name} web "
        f"({'mean of ' + str(web.repeat) if web.repeat > 1 else 'once'})"
        for web in lab.scale.webs
    ]
    return (
        "Target `any`. The paper crawls a million of 5.5 million pages from one root; here it is "
        f"{' and '.join(told)}. "
        "Training sets (a tenth, a quarter and the whole of the crawl's length) and the decay m (a hundredth "
        "of it) keep "
        "the paper's proportions. Static classifiers are trained on pages of a random crawl, which are not counted. "
        "Policies without randomness run once. Every request counts, also redirects and failures."
    )

"""Anthelion, Figure 8: the same methods for pages with at least five Microdata statements."""

from __future__ import annotations

from tools.papers.anthelion_curves import short_name
from tools.papers.lab import Lab
from tools.papers.markdown import Holds, claims, note, number, section, table
from tools.papers.simulated_crawl import SHARE, crawls, harvest, share_curve, too_large_webs

_OTHERS = ("sb-classifier", "tres")
NARROW = "microdata>=5"
PUBLISHED = {"Naive Bayes (online)": 0.08, "Success Rate (λ = 0.2)": 0.12}
"""Section 5.3, at least five Microdata statements; the paper gives no numbers for the other curves."""


def narrower(lab: Lab) -> str:
    """Return the section on Figure 8."""
    parts, shares = [], {}
    for web in lab.scale.webs:
        m = max(1, web.requests // 100)
        rows = {
            "BFS": "bfs",
            "Naive Bayes (online)": "nb-online",
            "Absolute Good · Best Score (λ = 0.0)": "bandit:good-best-score:0",
            "Success Rate · Best Score (λ = 0.1)": "bandit:success-best-score:0.1",
            "Success Rate (λ = 0.2)": "bandit:success-rate:0.2",
            "Success Rate (decaying λ = 0.5)": f"bandit:success-rate:0.5:{m}",
            "*motherlode*": "motherlode",
            "*ldcoc:head=no*": "ldcoc:head=no",
            "*sb-classifier*": "sb-classifier",
            "*tres*": "tres",
        }
        answers = crawls(lab, web, rows.values(), target=NARROW)
        shares[web.name] = {row: harvest(answers[policy]) for row, policy in rows.items() if policy in answers}
        curves = [
            share_curve(short_name(row.strip("*")), answers[policy])
            for row, policy in rows.items()
            if policy in answers
        ]
        title = f"Figure 8, {web.name}: at least five Microdata statements"
        parts.append(lab.figure(f"anthelion-8-{web.name}", title, curves, SHARE))
    names = list(dict.fromkeys(row for found in shares.values() for row in found))
    lines = [(row, number(PUBLISHED.get(row), 2), *(number(shares[web].get(row)) for web in shares)) for row in names]
    return section(
        "### Figure 8: the narrower objective",
        f"Target `{NARROW}`; all other settings as in Table 2. The paper gives the final values of two curves. "
        f"The rows in italics are not in the paper. A dash: the web is too large for {too_large_webs(_OTHERS)}.",
        table(("selection", "published", *shares), lines),
        claims((claim, {web: holds(shares[web]) for web in shares}) for claim, holds in CLAIMS.items()),
        note("anthelion-figure-8"),
        *parts,
    )


CLAIMS: dict[str, Holds] = {
    "all functions are more than twice as good as breadth-first": lambda s: (
        min(v for k, v in s.items() if k != "BFS" and "*" not in k) > 2 * s["BFS"]
    ),
    "success rate with λ = 0.2 beats online classification": lambda s: (
        s["Success Rate (λ = 0.2)"] > s["Naive Bayes (online)"]
    ),
    "a decaying λ is no better than a fixed one (within a tenth)": lambda s: (
        s["Success Rate (decaying λ = 0.5)"] < 1.1 * s["Success Rate (λ = 0.2)"]
    ),
}

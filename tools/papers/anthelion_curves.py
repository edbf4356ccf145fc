"""Anthelion, Figures 2 to 7: curves of the crawls of Table 2."""

from __future__ import annotations

from collections.abc import Mapping

from tools.papers.lab import Lab
from tools.papers.markdown import note, section
from tools.papers.simulated_crawl import SHARE, Answer, accuracy_curve, share_curve

from motherlode.crawler.report.plot import Axes

Rows = Mapping[str, list[Answer]]
"""Crawls by the row names of the table."""
_FIGURES: dict[str, tuple[str, tuple[str, ...]]] = {
    "2": (
        "batch and online Naive Bayes",
        ("Naive Bayes (online)", *(f"Naive Bayes ({size} training set)" for size in ("100K", "250K", "1000K")), "BFS"),
    ),
    "4": (
        "value functions without λ",
        (
            "Success Rate (λ = 0.0)",
            "Success Rate · Best Score (λ = 0.0)",
            "Absolute Good · Best Score (λ = 0.0)",
            "Thompson Sampling · Best Score (λ = 0.0)",
            "Thompson Sampling (λ = 0.0)",
            "Negative Absolute Bad (λ = 0.0)",
            "Naive Bayes (online)",
            "BFS",
            "Random",
        ),
    ),
    "5": (
        "the best value functions with different λ",
        (
            "Success Rate (λ = 0.0)",
            "Success Rate (λ = 0.1)",
            "Success Rate (λ = 0.2)",
            "Absolute Good · Best Score (λ = 0.0)",
            "Absolute Good · Best Score (λ = 0.1)",
            "Absolute Good · Best Score (λ = 0.2)",
            "Success Rate · Best Score (λ = 0.0)",
            "Success Rate · Best Score (λ = 0.1)",
            "Success Rate · Best Score (λ = 0.2)",
        ),
    ),
    "7": (
        "success rate with a fixed and with a decaying λ",
        (
            "Success Rate (λ = 0.0)",
            "Success Rate (λ = 0.2)",
            "Success Rate (λ = 0.5)",
            "Success Rate (decaying λ = 0.2)",
            "Success Rate (decaying λ = 0.5)",
        ),
    ),
}
"""Number of the figure: its title, and the rows of Table 2 or of `ONLY_IN_FIGURES` that it draws."""
ONLY_IN_FIGURES = {
    "Success Rate (λ = 0.5)": "bandit:success-rate:0.5",
    "Success Rate · Best Score (λ = 0.1)": "bandit:success-best-score:0.1",
    "Success Rate · Best Score (λ = 0.2)": "bandit:success-best-score:0.2",
}
"""Crawls that the paper draws and has no row for in Table 2."""


def figures_2_to_7(lab: Lab, found: Mapping[str, Rows], extra: Mapping[str, Rows]) -> str:
    parts = []
    for web in lab.scale.webs:
        rows = {**found[web.name], **{row: extra[web.name][policy] for row, policy in ONLY_IN_FIGURES.items()}}
        drawn = {
            key: lab.figure(
                f"anthelion-{key}-{web.name}",
                f"Figure {key}, {web.name}: {title}",
                [share_curve(short_name(row), rows[row]) for row in shown],
                SHARE,
            )
            for key, (title, shown) in _FIGURES.items()
        }
        zoomed = _FIGURES["5"][1]
        drawn["6"] = lab.figure(
            f"anthelion-6-{web.name}",
            f"Figure 6, {web.name}: the first two fifths of Figure 5",
            [share_curve(short_name(row), rows[row], upto=web.requests * 2 // 5) for row in zoomed],
            SHARE,
        )
        drawn["3"] = lab.figure(
            f"anthelion-3-{web.name}",
            f"Figure 3, {web.name}: accuracy of batch and online Naive Bayes",
            [accuracy_curve(short_name(row), rows[row]) for row in _FIGURES["2"][1][:4]],
            _ACCURACY,
        )
        parts += [drawn[key] for key in sorted(drawn)]
    return section("#### Figures 2 to 7", FIGURES_SAY, *parts, note("anthelion-figures"))


FIGURES_SAY = (
    "The paper describes its curves: static classifiers are slightly above breadth-first, and the online classifier is "
    "ahead after two fifths of the crawl (2); the accuracy is 0.45 to 0.55 for static classifiers and 0.7 for the "
    "online one (3); λ > 0 raises the share in the first two fifths of the crawl from 0.3 to 0.4 and lowers it at the "
    "end (5, 6); with decay, λ = 0.5 goes from worst to best (7). Shares are drawn in thousandths."
)
_ACCURACY = Axes(x="pages crawled", y="share of pages put into their class", unit=" ‰")


_SHORTER = {
    "Naive Bayes": "NB",
    "HoeffdingTree": "HT",
    " training set": "",
    "Thompson Sampling": "Thompson",
    "Negative Absolute Bad": "Bad",
    "Absolute Good": "Good",
    "Success Rate": "Success",
    "Best Score": "Best",
    "(decaying λ = ": "(λ ↘ ",
    "λ = ": "λ ",
}


def short_name(row: str) -> str:
    """Shorten the name of a row so that it fits beside a curve.

    >>> short_name("Success Rate · Best Score (decaying λ = 0.5)")
    'Success · Best (λ ↘ 0.5)'
    """
    for long, short in _SHORTER.items():
        row = row.replace(long, short)
    return row.replace(" (λ 0.0)", "")

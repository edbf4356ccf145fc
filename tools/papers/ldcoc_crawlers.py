"""LDCOC, Figure 2b: the share of relevant URIs that crawlers with offline and online classifiers retrieve."""

from __future__ import annotations

from tools.papers.lab import Lab
from tools.papers.markdown import MISSING, Holds, claims, note, number, section, table
from tools.papers.simulated_crawl import SHARE, crawls, harvest, share_curve

ROWS = (
    "BFS",
    "crawler_NB (20K)",
    "crawler_NB (40K)",
    "crawler_SVM (20K)",
    "crawler_SVM (40K)",
    "crawler_KNN (20K)",
    "crawler_KNN (40K)",
    "LDCOC (τ = 0.5, ε = 0.17)",
)
"""Rows of Figure 2(b). Its published figures are cut off in our copy of the paper; the claims in the text remain."""


def figure_2b(lab: Lab) -> str:
    shares: dict[str, dict[str, float]] = {}
    pictures, sizes = [], []
    for web in lab.scale.webs:
        pages = web.requests if web.is_recorded else lab.scale.uri_requests
        few, many = max(10, round(pages / 15)), max(20, round(pages * 2 / 15))
        kinds = [f"uris:{kind}:{size}" for kind in ("nb", "svm", "knn") for size in (few, many)]
        names = dict(zip(ROWS, ("bfs", *kinds, "ldcoc"), strict=True))
        answers = crawls(lab, web, names.values(), pages=pages)
        shares[web.name] = {row: harvest(answers[policy]) for row, policy in names.items()}
        sizes.append(f"{few:,} and {many:,} pages before {pages:,} requests on the {web.name} web")
        pictures.append(
            lab.figure(
                f"ldcoc-2b-{web.name}",
                f"Figure 2b, {web.name}: relevant URIs retrieved",
                [share_curve(row.replace("crawler_", "").partition(" (τ")[0], answers[names[row]]) for row in ROWS],
                SHARE,
            )
        )
    found: list[tuple[str, Holds]] = [
        (
            "LDCOC beats every crawler with an offline classifier",
            lambda s: s[ROWS[-1]] > max(s[row] for row in ROWS[1:-1]),
        ),
        ("every crawler with a classifier beats breadth-first", lambda s: min(s[row] for row in ROWS[1:]) > s["BFS"]),
        (
            "twice the training pages do not help much (less than 0.05)",
            lambda s: all(s[f"crawler_{k} (40K)"] - s[f"crawler_{k} (20K)"] < 0.05 for k in ("NB", "SVM", "KNN")),
        ),
    ]
    return section(
        "### Figure 2b: crawlers with offline and online classifiers",
        "All with F₊ₜ₊ᵣ₊ₚ, target `any`. The training pages come from a separate breadth-first crawl, in the same "
        f"proportion to the crawl as in the paper (20,000 and 40,000 for 300,000): {'; '.join(sizes)}.",
        table(
            ("crawler", "published", *shares),
            [(row, MISSING, *(number(shares[web][row]) for web in shares)) for row in ROWS],
        ),
        "The published column is cut off in our copy of the paper. The text of the paper claims:",
        claims((claim, {web: holds(shares[web]) for web in shares}) for claim, holds in found),
        note("ldcoc-figure-2b"),
        *pictures,
    )

"""LDCOC, Figure 2b: the share of relevant URIs that crawlers with offline and online classifiers retrieve."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from tools.papers.lab import Lab
from tools.papers.markdown import MISSING, Holds, claims, note, number, section, table
from tools.papers.simulated_crawl import SHARE, Answer, crawls, harvest, share_curve

LDCOC = "LDCOC (τ = 0.5, ε = 0.17)"
WITHOUT_HEADS = "LDCOC without HEAD (ours)"
"""LDCOC that predicts without the content type, as the crawlers with offline classifiers do here."""
OFFLINE = (
    "crawler_NB (20K)",
    "crawler_NB (40K)",
    "crawler_SVM (20K)",
    "crawler_SVM (40K)",
    "crawler_KNN (20K)",
    "crawler_KNN (40K)",
)
ROWS = ("BFS", *OFFLINE, LDCOC, WITHOUT_HEADS)
"""Rows of Figure 2(b). Its published figures are cut off in our copy of the paper; the claims in the text remain."""
_CLAIMS: list[tuple[str, Holds]] = [
    ("LDCOC beats every crawler with an offline classifier", lambda s: s[LDCOC] > max(s[row] for row in OFFLINE)),
    (
        "LDCOC without HEAD requests beats them",
        lambda s: s[WITHOUT_HEADS] > max(s[row] for row in OFFLINE),
    ),
    ("every crawler with a classifier beats breadth-first", lambda s: min(s[row] for row in ROWS[1:]) > s["BFS"]),
    (
        "twice the training pages do not help much (less than 0.05)",
        lambda s: all(s[f"crawler_{k} (40K)"] - s[f"crawler_{k} (20K)"] < 0.05 for k in ("NB", "SVM", "KNN")),
    ),
]


def figure_2b(lab: Lab) -> str:
    by_request: dict[str, dict[str, float]] = {}
    by_get: dict[str, dict[str, float]] = {}
    pictures, sizes = [], []
    for web in lab.scale.webs:
        pages = web.requests if web.is_recorded else lab.scale.uri_requests
        few, many = max(10, round(pages / 15)), max(20, round(pages * 2 / 15))
        kinds = [f"uris:{kind}:{size}" for kind in ("nb", "svm", "knn") for size in (few, many)]
        names = dict(zip(ROWS, ("bfs", *kinds, "ldcoc", "ldcoc:head=no"), strict=True))
        answers = crawls(lab, web, names.values(), pages=pages)
        by_request[web.name] = {row: harvest(answers[policy]) for row, policy in names.items()}
        by_get[web.name] = {row: _per_get(answers[policy]) for row, policy in names.items()}
        sizes.append(f"{few:,} and {many:,} pages before {pages:,} requests on the {web.name} web")
        curves = [share_curve(_short(row), answers[names[row]]) for row in ROWS]
        title = f"Figure 2b, {web.name}: relevant URIs retrieved"
        pictures.append(lab.figure(f"ldcoc-2b-{web.name}", title, curves, SHARE))
    columns = [(web, shares) for web in by_get for shares in (by_get[web], by_request[web])]
    return section(
        "### Figure 2b: crawlers with offline and online classifiers",
        "All with F₊ₜ₊ᵣ₊ₚ, target `any`. The training pages come from a separate breadth-first crawl, in the same "
        f"proportion to the crawl as in the paper (20,000 and 40,000 for 300,000): {'; '.join(sizes)}. The paper "
        "counts crawled URIs and does not say whether a HEAD request counts. So the columns *per GET* count only "
        "downloads, and the columns *per request*, like all other tables of this page, charge the HEADs. Crawlers with "
        "an offline classifier send none and have no content type.",
        table(
            ("crawler", "published", *(f"{web}, per {what}" for web in by_get for what in ("GET", "request"))),
            [(row, MISSING, *(number(shares[row]) for _, shares in columns)) for row in ROWS],
        ),
        "The published column is cut off in our copy of the paper. The text of the paper claims (here by GET):",
        claims((claim, {web: holds(by_get[web]) for web in by_get}) for claim, holds in _CLAIMS),
        note("ldcoc-figure-2b"),
        *pictures,
    )


def _per_get(answers: Sequence[Answer]) -> float:
    """Return the mean share of GET requests that gave a relevant page."""
    shares: list[float] = [answer["relevant"] / max(1, answer["fetched"]) for answer in answers]
    return mean(shares)


def _short(row: str) -> str:
    return row.replace("crawler_", "").replace(" (ours)", "").partition(" (τ")[0]

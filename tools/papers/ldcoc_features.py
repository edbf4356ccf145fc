"""LDCOC, Figure 2a: eight combinations of feature sets with three offline classifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from tools.papers.examples import crawled
from tools.papers.lab import Lab
from tools.papers.markdown import agreement, claims, note, number, section, table
from tools.papers.webs import opened

from motherlode.policies.ftrl import Hasher
from motherlode.policies.ldcoc.ldcoc_features import Hardness, Known, hardness, page_features
from motherlode.www.urls import host_of

PUBLISHED = {
    "trpx": (0.6951, 0.7407, 0.7154, 0.7462, 0.7944, 0.7722),
    "tpx": (0.6261, 0.6832, 0.7094, 0.7413, 0.7801, 0.7643),
    "trx": (0.6773, 0.7121, 0.7111, 0.7448, 0.7829, 0.7650),
    "trp": (0.7592, 0.7731, 0.7660, 0.7701, 0.8216, 0.7902),
    "rpx": (0.6015, 0.7010, 0.6328, 0.7075, 0.6839, 0.7074),
    "tx": (0.5582, 0.6912, 0.6012, 0.6172, 0.6828, 0.6277),
    "rp": (0.3953, 0.5810, 0.4874, 0.6097, 0.6790, 0.6424),
    "px": (0.4392, 0.5739, 0.6086, 0.6238, 0.6689, 0.6269),
}
"""Figure 2(a): F-measure and accuracy of KNN, Naive Bayes and the support vector machine."""
CLASSIFIERS = ("KNN", "NB", "SVM")
SPLITS = {"pages": "a random quarter of the pages held out", "hosts": "a quarter of the hosts held out"}
_SIZE = 1 << 18
_PARTS = 4
_DRAWS = 3
"""Number of random splits; the mean is reported."""

Cell = dict[str, float]


@lru_cache(maxsize=1)
def _dataset(web: str, pages: int) -> tuple[list[list[str]], list[bool], list[str]]:
    """Return the feature names of every set, labels and hosts of the hard URIs of a breadth-first crawl."""
    relevances: dict[str, bool] = {}
    names, labels, hosts = [], [], []
    for example in crawled(web, "bfs", pages + len(opened(web).home_pages())):  # home pages have no linking page
        if hardness(example.link) is Hardness.HARD:
            names += page_features([example.link], example.parent, "trpx", known=Known(relevances=relevances))
            labels.append(example.relevant)
            hosts.append(host_of(example.link.url))
        relevances[example.link.url] = example.relevant
    return names, labels, hosts


def offline_quality(*, web: str, sets: str, classifier: str, split: str, examples: int) -> Cell:
    """Return the mean F-measure and accuracy on held-out URIs over some splits."""
    names, labels, hosts = _dataset(web, examples + examples // 2)
    names, labels, hosts = names[:examples], labels[:examples], hosts[:examples]
    matrix = _matrix([[name for name in row if name[0] in sets] for row in names])
    truth = np.array(labels)
    scores = []
    for draw in range(_DRAWS):
        random = np.random.default_rng(draw)
        part = random.integers(_PARTS, size=len(hosts))
        if split == "hosts":
            distinct = sorted(set(hosts))
            by_host = dict(zip(distinct, random.integers(_PARTS, size=len(distinct)), strict=True))
            part = np.array([by_host[host] for host in hosts])
        kept, asked = part != 0, part == 0
        # indices without a training page would all count as absent features and dominate Naive Bayes
        used = np.flatnonzero(matrix[kept].getnnz(axis=0))
        model = _model(classifier).fit(matrix[kept][:, used], truth[kept])
        predicted = model.predict(matrix[asked][:, used])
        scores.append(_scores(predicted, truth[asked]))
    return {key: float(np.mean([score[key] for score in scores])) for key in scores[0]} | {
        "pages": len(labels),
        "relevant": sum(labels) / len(labels),
        "hosts": len(set(hosts)),
    }


def _matrix(rows: Sequence[Sequence[str]]) -> Any:
    from scipy.sparse import csr_matrix

    hashed = Hasher(_SIZE).rows(["bias", *row] for row in rows)
    ones = np.ones(len(hashed.indices), dtype=np.float32)
    return csr_matrix((ones, hashed.indices, hashed.starts), shape=(len(rows), _SIZE))


def _model(name: str) -> Any:
    """Return a classifier with the settings of our offline baselines; the paper gives none."""
    from sklearn.naive_bayes import BernoulliNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import LinearSVC

    if name == "KNN":
        return KNeighborsClassifier(5, metric="cosine", algorithm="brute")
    return BernoulliNB() if name == "NB" else LinearSVC(random_state=0, max_iter=10_000)


def _scores(predicted: Any, truth: Any) -> Cell:
    found = int((predicted & truth).sum())
    missed, wrong = int((~predicted & truth).sum()), int((predicted & ~truth).sum())
    measure = 2 * found / (2 * found + missed + wrong) if found else 0.0
    return {"f": measure, "accuracy": float((predicted == truth).mean())}


def figure_2a(lab: Lab) -> str:
    """Return the section: for each web two tables, with pages and with hosts held out."""
    parts, all_claims = [], []
    for split, told in SPLITS.items():
        cells = {web.name: _cells(lab, web.web, split, web.examples) for web in lab.scale.webs}
        for web, found in cells.items():
            first = next(iter(found.values()))
            parts.append(
                f"**{web} web**, {told} ({first['pages']:,.0f} hard URIs of {first['hosts']:,.0f} hosts, "
                f"{100 * first['relevant']:.0f} % relevant; mean of {_DRAWS} draws)"
            )
            parts.append(_table(found))
        all_claims.append((split, cells))
    return section(
        "### Figure 2a: feature sets and offline classifiers",
        "Hard URIs of a breadth-first crawl from every home page, target `any`; the classifiers of scikit-learn "
        "(KNN: the five nearest by cosine, NB: Bernoulli Naive Bayes, SVM: a linear support vector machine); features "
        "are hashed to 2¹⁸ indices. The paper has 103,000 URIs and does not say how they were split, so two splits are "
        "used. Each cell: F-measure / accuracy.",
        *parts,
        *(_conclusions(split, cells) for split, cells in all_claims),
        note("ldcoc-figure-2a"),
    )


def _cells(lab: Lab, web: str, split: str, examples: int) -> dict[tuple[str, str], Cell]:
    keys = [(sets, classifier) for sets in PUBLISHED for classifier in CLASSIFIERS]
    asked = [
        {"web": web, "sets": sets, "classifier": classifier, "split": split, "examples": examples}
        for sets, classifier in keys
    ]
    return dict(zip(keys, lab.run(offline_quality, asked), strict=True))


def _table(found: Mapping[tuple[str, str], Cell]) -> str:
    head = ["feature sets"]
    for classifier in CLASSIFIERS:
        head += [f"{classifier} published", f"{classifier} here"]
    rows = []
    for sets, published in PUBLISHED.items():
        row = ["".join(f"+{letter}" for letter in sets)]
        for place, classifier in enumerate(CLASSIFIERS):
            cell = found[sets, classifier]
            row.append(f"{number(published[2 * place])} / {number(published[2 * place + 1])}")
            row.append(f"{number(cell['f'])} / {number(cell['accuracy'])}")
        rows.append(row)
    return table(head, rows)


def _conclusions(split: str, cells: Mapping[str, Mapping[tuple[str, str], Cell]]) -> str:
    measures = {web: {key: cell["f"] for key, cell in found.items()} for web, found in cells.items()}
    published = {
        (sets, classifier): row[2 * place]
        for sets, row in PUBLISHED.items()
        for place, classifier in enumerate(CLASSIFIERS)
    }
    orders = []
    for web, ours in measures.items():
        for classifier in CLASSIFIERS:
            told = {sets: published[sets, classifier] for sets in PUBLISHED}
            orders.append(
                f"{classifier} {agreement(told, {sets: ours[sets, classifier] for sets in PUBLISHED})} on {web}"
            )

    def on_each(holds: Any) -> dict[str, bool]:
        return {web: bool(holds(measure)) for web, measure in measures.items()}

    found = [
        (
            "+t+r+p is the best combination (within 0.005)",
            on_each(lambda f: all(f["trp", c] >= max(f[s, c] for s in PUBLISHED) - 0.005 for c in CLASSIFIERS)),
        ),
        (
            "siblings do not help +t+r+p",
            on_each(lambda f: all(f["trpx", c] <= f["trp", c] + 0.005 for c in CLASSIFIERS)),
        ),
        (
            "of the combinations of three sets, the one without t is worst (+r+p+x)",
            on_each(lambda f: all(f["rpx", c] <= min(f[s, c] for s in ("tpx", "trx", "trp")) for c in CLASSIFIERS)),
        ),
        (
            "SVM beats KNN and NB on every combination",
            on_each(lambda f: all(f[s, "SVM"] >= max(f[s, "KNN"], f[s, "NB"]) for s in PUBLISHED)),
        ),
    ]
    return f"With {split} held out, pairs in the published order of F-measures: {', '.join(orders)}.\n\n{claims(found)}"

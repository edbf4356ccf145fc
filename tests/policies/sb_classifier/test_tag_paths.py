"""Clusters of tag paths."""

from __future__ import annotations

from math import sqrt
from random import Random

import numpy as np
import pytest

from motherlode.model import Link, LinkSource
from motherlode.policies.sb_classifier.tag_paths import DIMENSIONS, TagPathClusters, cosine, full_path, path_vector

TAGS = ("div.main", "ul", "li", "nav.menu", "section#top", "p", "span")


def paths(count: int, seed: int = 1) -> list[str]:
    random = Random(seed)
    return [" ".join(("html body", *random.choices(TAGS, k=random.randint(1, 6)), "a")) for _ in range(count)]


def dense(path: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    row = np.zeros(DIMENSIONS)
    for place, value in path_vector(path).items():
        row[place] = value
    return row


def test_path_vector_sums_to_one_and_depends_on_order() -> None:
    vector = path_vector("html body ul li a")
    assert sum(vector.values()) == pytest.approx(1.0)
    assert vector != path_vector("html body li ul a")
    assert vector != path_vector("html body ul.list li a")


def test_cosine_equals_that_of_dense_vectors() -> None:
    for one, other in zip(paths(30), paths(30, seed=2), strict=True):
        a, b = dense(one), dense(other)
        assert cosine(path_vector(one), path_vector(other)) == pytest.approx(a @ b / sqrt((a @ a) * (b @ b)))


def test_assign_equals_exhaustive_search_with_dense_means() -> None:
    clusters = TagPathClusters(threshold=0.617)
    rows: list[list[np.ndarray[tuple[int], np.dtype[np.float64]]]] = []
    known: dict[str, int] = {}
    for path in paths(200):
        row = dense(path)
        means = [np.mean(members, axis=0) for members in rows]
        similar = [float(row @ mean / sqrt((row @ row) * (mean @ mean))) for mean in means]
        found = clusters.assign("a.example", path)
        if path in known:
            assert found == known[path]
        elif similar and max(similar) >= 0.617:
            assert similar[found] == pytest.approx(max(similar))
        else:
            assert found == len(rows)
        if found == len(rows):
            rows.append([])
        rows[found].append(row)
        known[path] = found
    assert 5 < len(clusters) < len(set(known))


def test_assign_keeps_clusters_of_sites_apart() -> None:
    clusters = TagPathClusters(threshold=0.75)
    assert clusters.assign("a.example", "html body a") != clusters.assign("b.example", "html body a")


def test_assign_starts_no_more_clusters_than_allowed() -> None:
    clusters = TagPathClusters(threshold=1.0, most=3)
    found = {clusters.assign(f"{number % 9}.example", path) for number, path in enumerate(paths(60))}
    assert len(clusters) <= 4  # one more that late sites share
    assert found == set(range(len(clusters)))


def test_load_restores_clusters_and_later_assignments() -> None:
    one, other = TagPathClusters(threshold=0.7), TagPathClusters(threshold=0.7)
    for path in paths(50):
        one.assign("a.example", path)
    other.load(one.dump())
    assert [one.assign("a.example", path) for path in paths(50, 7)] == [
        other.assign("a.example", path) for path in paths(50, 7)
    ]
    assert other.dump() == one.dump()


def test_full_path_ignores_ids_of_steps_that_the_path_lacks() -> None:
    link = Link(url="http://a.example/", source=LinkSource.ANCHOR, tag_path="html body a", element_ids="1#top 9#deep")
    assert full_path(link) == "html body#top a"

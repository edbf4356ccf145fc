"""Online clustering of tag paths: a path joins the most similar cluster, or starts a new one.

A tag path is the sequence of elements from the root of a page to a link, each with its classes and its id. It becomes a
vector of the frequencies of its 2-grams (two elements in a row), with markers for the start and the end. The 2-grams
are hashed to 2^12 dimensions, as in the authors' program, but by a hash of the text instead of its number in a growing
vocabulary. The similarity of a path and a cluster is the cosine of the angle between the path's vector and the mean
vector of all links in the cluster.
"""

from __future__ import annotations

import itertools
from collections import Counter
from functools import lru_cache
from math import sqrt

import msgspec
import xxhash

from motherlode.model import Link

DIMENSIONS = 1 << 12
MAX_CLUSTERS = 10_000
"""Clusters of all sites together. After that, a path joins the nearest cluster of its site, however different it is."""
_MAX_KNOWN_PATHS = 50_000
"""Maximum number of paths whose cluster is kept, so that it is not searched again."""
_START, _END = "[start]", "[end]"

Vector = dict[int, float]
"""A sparse vector: index → value of each component that is not 0."""


def full_path(link: Link) -> str:
    """Return the tag path of a link with the ids of its elements; for links without a path, where they were found.

    >>> from motherlode.model import LinkSource
    >>> url = "http://a.example/"
    >>> full_path(Link(url=url, source=LinkSource.ANCHOR, tag_path="html body main.list a", element_ids="2#content"))
    'html body main.list#content a'
    >>> full_path(Link(url=url, source=LinkSource.TRIPLE, predicate="http://p.example/knows"))
    'triple http://p.example/knows'
    """
    if not link.tag_path:
        return f"{link.source.value} {link.predicate or link.rel}".strip()
    if not link.element_ids:
        return link.tag_path
    steps = link.tag_path.split(" ")
    for given in link.element_ids.split(" "):
        number, mark, name = given.partition("#")
        if mark and number.isdecimal() and int(number) < len(steps):
            steps[int(number)] += f"#{name}"
    return " ".join(steps)


@lru_cache(maxsize=8192)
def path_vector(path: str) -> Vector:
    """Return the frequencies of the 2-grams of a path, hashed. Do not change the result: it is cached."""
    steps = [_START, *path.split(" "), _END]
    grams = Counter(
        xxhash.xxh3_64_intdigest(f"{one} {next_one}".encode()) % DIMENSIONS
        for one, next_one in itertools.pairwise(steps)
    )
    total = len(steps) - 1
    return {dimension: count / total for dimension, count in grams.items()}


def cosine(one: Vector, other: Vector) -> float:
    """Return the cosine of the angle between two vectors; 0 if one has no length.

    >>> round(cosine({1: 1.0, 2: 1.0}, {1: 2.0}), 3)
    0.707
    """
    product = sum(value * other.get(dimension, 0.0) for dimension, value in one.items())
    length = sqrt(sum(value * value for value in one.values()) * sum(value * value for value in other.values()))
    return product / length if length else 0.0


class TagPathCluster(msgspec.Struct, array_like=True):
    """A group of similar tag paths of one site: an action of the bandit."""

    site: str
    label: str
    """The path that started the cluster."""
    centroid: Vector
    links: int = 0
    """Number of links in the cluster. The centroid is the mean of their vectors."""

    def add(self, vector: Vector) -> None:
        """Move the centroid to the mean that includes one more link."""
        self.links += 1
        share = 1.0 / self.links
        centroid = {dimension: value * (1.0 - share) for dimension, value in self.centroid.items()}
        for dimension, value in vector.items():
            centroid[dimension] = centroid.get(dimension, 0.0) + value * share
        self.centroid = centroid


class TagPathClusters:
    """The clusters of all sites, numbered from 0.

    >>> clusters = TagPathClusters(threshold=0.75)
    >>> menu, again = (clusters.assign("a.example", "html body nav ul li a") for _ in range(2))
    >>> menu == again, clusters.assign("a.example", "html body main div.results h2 a") == menu
    (True, False)
    """

    def __init__(self, *, threshold: float, most: int = MAX_CLUSTERS) -> None:
        self._threshold = threshold
        self._most = most
        self.clusters: list[TagPathCluster] = []
        self._of_site: dict[str, list[int]] = {}
        self._known: dict[tuple[str, str], int] = {}
        """The cluster of a site and path. A path stays in its cluster, although the centroids move."""

    def __len__(self) -> int:
        return len(self.clusters)

    def assign(self, site: str, path: str) -> int:
        """Add a link to the cluster of its path, and return the number of the cluster."""
        key = site, path
        number = self._known.get(key)
        if number is None:
            number = self._search(site, path)
            if len(self._known) >= _MAX_KNOWN_PATHS:
                self._known.clear()
            self._known[key] = number
        self.clusters[number].add(path_vector(path))
        return number

    def _search(self, site: str, path: str) -> int:
        number, similarity = self.nearest(site, path)
        if number is not None and similarity >= self._threshold:
            return number
        if len(self.clusters) < self._most:
            return self._start(site, path)
        if number is None:  # sites found too late share clusters
            number, _ = self.nearest("", path)
        return self._start("", path) if number is None else number

    def nearest(self, site: str, path: str) -> tuple[int | None, float]:
        """Return the most similar cluster of a site and its similarity; None and 0 if the site has no cluster."""
        vector = path_vector(path)
        best, highest = None, 0.0
        for number in self._of_site.get(site, ()):
            similarity = cosine(vector, self.clusters[number].centroid)
            if best is None or similarity > highest:
                best, highest = number, similarity
        return best, highest

    def _start(self, site: str, path: str) -> int:
        self.clusters.append(TagPathCluster(site, path, {}))
        self._of_site.setdefault(site, []).append(len(self.clusters) - 1)
        return len(self.clusters) - 1

    def dump(self) -> bytes:
        return msgspec.msgpack.encode((self.clusters, [(*key, number) for key, number in self._known.items()]))

    def load(self, state: bytes) -> None:
        self.clusters, known = msgspec.msgpack.decode(
            state, type=tuple[list[TagPathCluster], list[tuple[str, str, int]]]
        )
        self._known = {(site, path): number for site, path, number in known}
        self._of_site = {}
        for number, cluster in enumerate(self.clusters):
            self._of_site.setdefault(cluster.site, []).append(number)

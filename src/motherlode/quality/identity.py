"""Identity of things: descriptions of one thing on several pages and hosts become one cluster.

Descriptions that share an identifier form a *group*. The names of a group decide what the identifier is worth. If most
of them agree, descriptions with agreeing names are joined; a description without a name is joined by a strong
identifier only. If a large part of them disagrees, the identifier belongs to no single thing: it is a *hub*, such as
the telephone number of a shop or a GTIN that was copied into a template, and joins nothing. Each join keeps its
evidence.

Joins are edges between descriptions, and clusters are the connected components (union-find). Two further rules protect
them. A weak identifier never joins descriptions with different strong identifiers of one kind. And a description whose
name disagrees with a cluster does not bring it together with another cluster.

Clusters are updated incrementally: `add` marks the groups of a description as changed, and only these are compared
again.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

import msgspec
from rapidfuzz import fuzz

from motherlode.quality.identifiers import STRONG_KINDS, Identifier, IdentifierKind

MIN_SIMILARITY = {True: 50.0, False: 75.0}
"""Similarity of two names (0 to 100) from which they agree, for a strong and for a weak identifier."""
MIN_HUB_SIZE = 3
"""Number of different names from which a group may be a hub."""
MAX_HUB_AGREEMENT = 0.5
"""A group is a hub if its largest set of agreeing descriptions is at most this share of it."""


class ThingDescription(msgspec.Struct, frozen=True, kw_only=True):
    """One description of a thing: on one page, or of one IRI."""

    id: str
    """The IRI, or another key that is unique in the crawl."""
    names: tuple[str, ...] = ()
    identifiers: tuple[Identifier, ...] = ()
    types: tuple[str, ...] = ()


class Evidence(msgspec.Struct, frozen=True):
    """The reason of one join: two descriptions share an identifier."""

    one: str
    other: str
    identifier: Identifier
    similarity: float
    """Similarity of their names, 0 to 100; -1 if one has no name."""


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """Descriptions of one thing."""

    id: str
    """The smallest id of its members, so that it does not depend on the order of the pages."""
    members: tuple[str, ...]
    evidence: tuple[Evidence, ...]


@lru_cache(maxsize=1 << 16)
def normalize_name(name: str) -> str:
    """Return a name in small letters without accents and punctuation.

    >>> normalize_name("  Crème-Brûlée (6 pcs.) ")
    'creme brulee 6 pcs'
    """
    plain = unicodedata.normalize("NFKD", name.casefold())
    return " ".join(re.findall(r"\w+", "".join(char for char in plain if not unicodedata.combining(char))))


def compare_names(one: str, other: str) -> float:
    """Return the similarity of two normalised names, 0 to 100. The order of words and additions count little.

    Numbers are compared first: names with different numbers, such as two models of a series, do not agree.

    >>> compare_names("acme lamp 300", "lamp 300 acme sale") > 90, compare_names("acme lamp 300", "acme lamp 400")
    (True, 0.0)
    """
    numbers, others = set(re.findall(r"\d+", one)), set(re.findall(r"\d+", other))
    if numbers and others and not (numbers <= others or others <= numbers):
        return 0.0
    if not one or not other:
        return 0.0
    shorter, longer = sorted((set(one.split()), set(other.split())), key=len)
    common = len(shorter & longer) / len(shorter)
    return max(100.0 * common if len(shorter) > 1 else 0.0, fuzz.token_sort_ratio(one, other))


class IdentityIndex:
    """Things by identifier, and the clusters that follow from them."""

    def __init__(self) -> None:
        self._things: dict[str, ThingDescription] = {}
        self._groups: defaultdict[Identifier, dict[str, None]] = defaultdict(dict)
        """Ids of the things with an identifier, in the order of discovery."""
        self._edges: dict[Identifier, list[Evidence]] = {}
        self._hubs: set[Identifier] = set()
        self._changed: set[Identifier] = set()

    def add(self, thing: ThingDescription) -> None:
        """Add a description, or replace that with the same id."""
        self.remove(thing.id)
        self._things[thing.id] = thing
        for identifier in self._identifiers(thing):
            self._groups[identifier][thing.id] = None
            self._changed.add(identifier)

    def remove(self, id: str) -> None:
        """Remove a description, if there is one."""
        thing = self._things.pop(id, None)
        if thing is None:
            return
        for identifier in self._identifiers(thing):
            self._groups[identifier].pop(id, None)
            self._changed.add(identifier)

    @staticmethod
    def _identifiers(thing: ThingDescription) -> Iterator[Identifier]:
        """Yield the identifiers of a thing, and its own IRI, which the sameAs of another thing may name."""
        yield from dict.fromkeys(thing.identifiers)
        if thing.id.startswith(("http://", "https://")):
            own = thing.id.partition("#")[0].partition("://")[2].removeprefix("www.").rstrip("/")
            yield Identifier(IdentifierKind.SAME_AS, own)

    def clusters(self) -> list[Cluster]:
        """Return all clusters with at least two members, by id."""
        for identifier in self._changed:
            self._edges[identifier] = list(self._join_group(identifier))
        self._changed.clear()
        return build_clusters(self._accepted_edges())

    def _accepted_edges(self) -> Iterator[Evidence]:
        """Yield the edges that no conflict rules out, those of strong identifiers first."""
        edges = [edge for group in self._edges.values() for edge in group]
        for edge in sorted(edges, key=_rank_edge):
            if edge.identifier.kind in STRONG_KINDS or not self._conflicts(edge.one, edge.other):
                yield edge

    def _conflicts(self, one: str, other: str) -> bool:
        """Return whether two things have strong identifiers of one kind, and none in common."""
        return any(
            ours and theirs and not ours & theirs
            for ours, theirs in zip(self._strong_values(one), self._strong_values(other), strict=True)
        )

    def _strong_values(self, id: str) -> list[set[str]]:
        identifiers = [found for found in self._things[id].identifiers if found not in self._hubs]
        return [{value for kind, value in identifiers if kind is strong} for strong in sorted(STRONG_KINDS)]

    def _join_group(self, identifier: Identifier) -> Iterator[Evidence]:
        """Yield the joins of the things that share an identifier; none if it is a hub."""
        ids, is_strong = self._groups[identifier], identifier.kind in STRONG_KINDS
        self._hubs.discard(identifier)
        if len(ids) < 2:
            return
        by_name: dict[str, list[str]] = {}
        for id in ids:
            by_name.setdefault(self._name(id), []).append(id)
        nameless = by_name.pop("", [])
        agreeing = group_names(by_name, MIN_SIMILARITY[is_strong])
        if is_hub(agreeing, by_name):
            self._hubs.add(identifier)
            return
        for names in agreeing:
            yield from self._join_members(identifier, names, by_name)
        if is_strong and len(agreeing) <= 1:
            anchor = by_name[agreeing[0][0]][0] if agreeing else nameless[0]
            yield from (Evidence(anchor, id, identifier, -1.0) for id in nameless if id != anchor)

    @staticmethod
    def _join_members(identifier: Identifier, names: list[str], ids: Mapping[str, list[str]]) -> Iterator[Evidence]:
        anchor_name = names[0]
        anchor = ids[anchor_name][0]
        for name in names:
            similarity = compare_names(anchor_name, name)
            yield from (Evidence(anchor, id, identifier, similarity) for id in ids[name] if id != anchor)

    def _name(self, id: str) -> str:
        return next(filter(None, map(normalize_name, self._things[id].names)), "")


def _rank_edge(edge: Evidence) -> tuple[bool, str, str]:
    return edge.identifier.kind not in STRONG_KINDS, edge.one, edge.other


def group_names(counted: Mapping[str, list[str]], min_similarity: float) -> list[list[str]]:
    """Return sets of agreeing names, the largest first. The most frequent name of a set represents it."""
    sizes = Counter({name: len(ids) for name, ids in counted.items()})
    found: list[list[str]] = []
    for name, _ in sizes.most_common():
        home = next((names for names in found if compare_names(names[0], name) >= min_similarity), None)
        if home is None:
            found.append([name])
        else:
            home.append(name)
        if len(found) > _MAX_NAME_SETS:
            break
    return sorted(found, key=lambda names: -sum(sizes[name] for name in names))


_MAX_NAME_SETS = 50
"""Number of sets of names after which a group is a hub in any case, so that a hub of any size costs little."""


def is_hub(agreeing: list[list[str]], counted: Mapping[str, list[str]]) -> bool:
    """Return whether an identifier belongs to many different things."""
    if len(agreeing) > _MAX_NAME_SETS:
        return True
    total = sum(map(len, counted.values()))
    largest = sum(len(counted[name]) for name in agreeing[0]) if agreeing else 0
    return len(agreeing) >= MIN_HUB_SIZE and largest <= MAX_HUB_AGREEMENT * total


def build_clusters(edges: Iterable[Evidence]) -> list[Cluster]:
    """Return the connected components of the edges."""
    parents: dict[str, str] = {}

    def find(id: str) -> str:
        while parents.setdefault(id, id) != id:
            parents[id] = id = parents[parents[id]]
        return id

    kept = list(edges)
    for edge in kept:
        one, other = sorted((find(edge.one), find(edge.other)))
        parents[other] = one
    members: defaultdict[str, list[str]] = defaultdict(list)
    evidence: defaultdict[str, list[Evidence]] = defaultdict(list)
    for id in list(parents):
        members[find(id)].append(id)
    for edge in kept:
        evidence[find(edge.one)].append(edge)
    return [
        Cluster(id=root, members=tuple(sorted(ids)), evidence=tuple(evidence[root]))
        for root, ids in sorted(members.items())
    ]

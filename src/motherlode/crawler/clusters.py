"""Clusters of a crawl as RDF: which descriptions are of one thing, and why.

They are in the graph `urn:motherlode:clusters` of the store. Identifiers and joins stay in `identity.db`, so that a
later run reads only the things of new and changed pages, compares only what they share with others, and writes only
clusters that changed.
"""

import hashlib
from collections.abc import Iterator

import msgspec
import pyoxigraph as ox

from motherlode.crawler.crawl_table import describe_thing, term_of
from motherlode.crawler.folder import CrawlFolder
from motherlode.index.page_record import CLUSTERS, GRAPH_OF_PAGE, OWN_GRAPHS, PROVENANCE
from motherlode.index.quad_store import QuadStore
from motherlode.model.terms import PREFIXES, RDF_TYPE, XSD, literal
from motherlode.quality.identity import Cluster, Evidence, IdentityIndex
from motherlode.quality.things import ListedThing, ThingList

_ML = PREFIXES["ml"]
_CLUSTER, _JOIN, _MEMBER, _HAS_JOIN, _SIZE, _KIND, _VALUE, _SIMILARITY = (
    f"<{_ML}{name}>"
    for name in ("Cluster", "Join", "member", "join", "size", "identifierKind", "identifier", "nameSimilarity")
)
_GRAPH = f"<{CLUSTERS}>"
_HASH = f"<{_ML}contentHash>"
_NAME_CHARACTERS = 24
_QUADS_PER_WRITE = 20_000
"""Number of quads that are written at a time. Each write makes new files of the store."""


class ClusterCounts(msgspec.Struct, kw_only=True):
    """Counts of one update of the clusters."""

    things: int = 0
    """Number of descriptions with a type."""
    described: int = 0
    """Number of those that were read, because their pages are new or have changed."""
    clusters: int = 0
    members: int = 0
    """Number of descriptions in clusters."""
    written: int = 0
    """Number of clusters that are new or have changed."""
    removed: int = 0


def update_clusters(folder: CrawlFolder) -> ClusterCounts:
    """Bring the clusters of a crawl up to date, and write them to its store. JobError if the crawl is running."""
    folder.lock()
    try:
        store = QuadStore(folder.store)
        index = IdentityIndex(folder.identity)
        try:
            counts = _update_index(store, index)
            _write_clusters(store, index, counts)
            index.save()
            store.flush()
            store.save_graph(CLUSTERS)
        finally:
            index.close()
            store.close()
    finally:
        folder.unlock()
    return counts


def _update_index(store: QuadStore, index: IdentityIndex) -> ClusterCounts:
    """Add the descriptions of new and changed pages to the index, and remove those that are gone."""
    counts, things = ClusterCounts(), ThingList()
    try:
        things.add(
            (str(quad.subject), str(quad.graph_name))
            for quad in store.match(predicate=RDF_TYPE)
            if str(quad.graph_name)[1:-1] not in OWN_GRAPHS
        )
        things.number_things()
        counts.things = len(things)
        for thing in things:
            mark = _make_mark(store, thing)
            if not index.is_current(thing.term.strip("<>"), mark):
                index.add(describe_thing(store, thing), mark=mark)
                counts.described += 1
        for id in [id for id in index.ids() if term_of(id) not in things]:
            index.remove(id)
    finally:
        things.close()
    return counts


def _make_mark(store: QuadStore, thing: ListedThing) -> bytes:
    """Return a hash of the pages that describe a thing and of their contents, to detect a changed description."""
    mark = hashlib.blake2b(digest_size=12)
    for graph in thing.graphs:
        page = graph[1:-1].partition(GRAPH_OF_PAGE)[0]
        hashes = store.match(subject=f"<{page}>", predicate=_HASH, graph=f"<{PROVENANCE}>")
        mark.update(graph.encode("utf-8", "replace"))
        for found in sorted(str(quad.object) for quad in hashes):
            mark.update(found.encode())
    return mark.digest()


def _write_clusters(store: QuadStore, index: IdentityIndex, counts: ClusterCounts) -> None:
    """Write the clusters that changed, and remove those that are gone."""
    current = ThingList()
    outdated: list[str] = []
    added: list[ox.Quad] = []
    for cluster in index.clusters():
        name = name_cluster(cluster)
        current.add([(name, "")])
        counts.clusters += 1
        counts.members += len(cluster.members)
        before, now = set(_stored_quads(store, name)), set(cluster_quads(cluster))
        if before == now:
            continue
        counts.written += 1
        outdated += {str(quad.subject) for quad in before}
        added += now
        if len(added) >= _QUADS_PER_WRITE:
            store.update_graph(CLUSTERS, without=outdated, added=added)
            outdated, added = [], []
    store.update_graph(CLUSTERS, without=outdated, added=added)
    current.number_things()
    stored = (str(quad.subject) for quad in store.match(predicate=RDF_TYPE, object_=_CLUSTER, graph=_GRAPH))
    for name in [name for name in stored if name not in current]:
        store.update_graph(CLUSTERS, without={str(quad.subject) for quad in _stored_quads(store, name)})
        counts.removed += 1
    current.close()


def _stored_quads(store: QuadStore, name: str) -> Iterator[ox.Quad]:
    """Yield the stored statements about a cluster and its joins. A join names an identifier that two members share."""
    for quad in store.match(subject=name, graph=_GRAPH):
        yield quad
        if str(quad.predicate) == _HAS_JOIN:
            yield from store.match(subject=str(quad.object), graph=_GRAPH)


def name_cluster(cluster: Cluster) -> str:
    """Return the IRI of a cluster in N-Triples. It stays the same while the cluster keeps its smallest member."""
    return f"<urn:motherlode:cluster:{_hash(cluster.id)}>"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_NAME_CHARACTERS]


def cluster_quads(cluster: Cluster) -> Iterator[ox.Quad]:
    """Yield the quads of a cluster: its members, and one join for each identifier that two of them share."""
    name = name_cluster(cluster)
    lines = [
        f"{name} {RDF_TYPE} {_CLUSTER} {_GRAPH} .\n",
        f"{name} {_SIZE} {literal(str(len(cluster.members)), datatype=XSD + 'integer')} {_GRAPH} .\n",
        *(f"{name} {_MEMBER} {term_of(member)} {_GRAPH} .\n" for member in cluster.members),
        *(line for evidence in cluster.evidence for line in _join_lines(name, evidence)),
    ]
    return ox.parse("".join(lines).encode("utf-8", "replace"), ox.RdfFormat.N_QUADS, lenient=True)


def _join_lines(cluster: str, evidence: Evidence) -> Iterator[str]:
    kind, value = evidence.identifier
    join = f"<urn:motherlode:join:{_hash(chr(10).join((evidence.one, evidence.other, kind, value)))}>"
    yield f"{cluster} {_HAS_JOIN} {join} {_GRAPH} .\n"
    pairs = [
        *((RDF_TYPE, _JOIN), (_MEMBER, term_of(evidence.one)), (_MEMBER, term_of(evidence.other))),
        *((_KIND, literal(kind)), (_VALUE, literal(value))),
    ]
    if evidence.similarity >= 0:
        pairs.append((_SIMILARITY, literal(str(round(evidence.similarity)), datatype=XSD + "integer")))
    for predicate, object_ in pairs:
        yield f"{join} {predicate} {object_} {_GRAPH} .\n"

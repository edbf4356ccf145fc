"""The quad store on disk: pyoxigraph, one graph a page, and the union of all pages as the default graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyoxigraph as ox

from motherlode.index.records import PROVENANCE, PageRecord, provenance_lines
from motherlode.model.prefixes import PREFIXES
from motherlode.model.terms import page_iri

_PROVENANCE = ox.NamedNode(PROVENANCE)
_GRAPH = ox.NamedNode(PREFIXES["ml"] + "graph")
_BULK = 4_000
"""From this many quads on, files written whole beat a transaction (docs/decisions.md)."""

QueryAnswer = ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples


class QuadStore:
    """Writing a page again replaces what it said before, so a page written twice is the same store as written once."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        try:
            self._store = ox.Store.read_only(str(path)) if read_only else ox.Store(str(path))
        except OSError as error:
            raise OSError(f"the quad store in {path} cannot be opened: {error}") from error
        self.broken_lines = 0
        """Statements that were no N-Quads and had to be left out; a transform of ours is at fault then."""

    def write(self, records: Sequence[PageRecord]) -> None:
        """Store pages with their provenance. Lasting once `flush` has been called."""
        newest = {page_iri(record.url): record for record in records}.values()
        for record in newest:
            self._forget(record.url)
        data = b"".join(part for r in newest for part in (r.lines, provenance_lines(r).encode("utf-8", "replace")))
        large = sum(record.quads for record in newest) >= _BULK
        add = self._store.bulk_extend if large else self._store.extend
        try:
            # parsed here, and not by load, which renames blank nodes: a page must be the same however often written
            add(ox.parse(data, ox.RdfFormat.N_QUADS, lenient=True))
        except SyntaxError:
            add(self._readable(data))

    def _readable(self, data: bytes) -> Iterable[ox.Quad]:
        """Quad by quad: one broken line must not cost the other pages of a batch."""
        for line in data.split(b"\n"):
            try:
                yield from ox.parse(line, ox.RdfFormat.N_QUADS, lenient=True)
            except SyntaxError:
                self.broken_lines += 1

    def _forget(self, url: str) -> None:
        """Take out what a page said before, but not what another page says, too."""
        page = _node(page_iri(url))
        own = list(self._store.quads_for_pattern(page, None, None, _PROVENANCE))
        named = (quad.object for quad in own if quad.predicate == _GRAPH)
        graphs = {page, *(name for name in named if isinstance(name, ox.NamedNode))}
        for graph in graphs:
            if not self._store.contains_named_graph(graph):
                continue
            # the union first and the graph last: should the process end in between, the graph still tells what to take
            for quad in self._store.quads_for_pattern(None, None, None, graph):
                if not self._said_elsewhere(quad, graphs):
                    self._store.remove(ox.Quad(quad.subject, quad.predicate, quad.object))
            self._store.remove_graph(graph)
        for quad in own:
            self._store.remove(quad)

    def _said_elsewhere(self, quad: ox.Quad, graphs: set[ox.NamedNode]) -> bool:
        found = self._store.quads_for_pattern(quad.subject, quad.predicate, quad.object, None)
        others = (other.graph_name for other in found)
        return any(name != _PROVENANCE and name not in graphs for name in others if isinstance(name, ox.NamedNode))

    def flush(self) -> None:
        self._store.flush()

    def query(self, sparql: str) -> QueryAnswer:
        """The answer to a SPARQL 1.1 query; the default graph is the union of the pages' graphs."""
        return self._store.query(sparql, prefixes=PREFIXES)

    def quads(self) -> Iterator[ox.Quad]:
        """Every quad of every page and of the provenance, graph by graph; not the union, which only repeats them."""
        for graph in self._store.named_graphs():
            yield from self._store.quads_for_pattern(None, None, None, graph)


def _node(term: str) -> ox.NamedNode:
    """The node as the store reads it; the constructor would insist on more than a URL of the web promises."""
    line = f"{term} {term} {term} .".encode()
    quad: ox.Quad = next(iter(ox.parse(line, ox.RdfFormat.N_TRIPLES, lenient=True)))
    return quad.predicate

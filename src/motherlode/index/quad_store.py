"""The quad store on disk: pyoxigraph, one graph a page, and the union of all pages as the default graph.

One process writes; any number of others read, each a picture of the moment it opened (`index.snapshot`). New pages go
in as whole sorted files where there are enough of them, which passes by the library's memory tables: those may grow to
128 MB for each of its twelve tables, six times over, and nothing bounds their sum. What comes in small portions must go
through them, and is moved on to disk before it gets large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import pyoxigraph as ox

from motherlode.index.page_record import (
    KEY,
    PROVENANCE,
    PageRecord,
    RunRecord,
    ending_lines,
    key_function,
    provenance_of,
    run_lines,
)
from motherlode.index.rdf_patch import ChangeLog, changes_path, copy_changes
from motherlode.index.snapshot import DamagedError, Snapshot, is_damage, store_advice
from motherlode.model import Term
from motherlode.model.sparql import query_in_order
from motherlode.model.terms import PREFIXES, page_iri

_PROVENANCE = ox.NamedNode(PROVENANCE)
_GRAPH = ox.NamedNode(PREFIXES["ml"] + "graph")
_UNION = ox.DefaultGraph()
_BULK = 2_000
"""From this many quads on, files written whole beat a transaction (docs/decisions.md)."""
_IN_MEMORY = 50_000
"""Quads that may stay in the memory tables and in the log, some 100 MB."""

QueryAnswer = ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples
_Found = TypeVar("_Found")
Function = Callable[..., ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple | None]


class QuadStore:
    """Writing a page again replaces what it said before, so a page written twice is the same store as written once."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self._snapshot: Snapshot | None = None
        try:
            if read_only:
                self._snapshot = Snapshot(path)
                self._store = self._snapshot.store
            else:
                self._store = ox.Store(str(path))
        except OSError as error:
            raise OSError(f"the quad store in {path} cannot be opened: {error}") from error
        except RuntimeError as error:
            if not (read_only and is_damage(error)):  # a crawl gives its own advice, and not for damage alone
                raise
            raise DamagedError(store_advice(path, str(error))) from error
        self._path = path
        self._changes = ChangeLog(changes_path(path))
        self._run: RunRecord | None = None
        self._in_memory = 0
        self.broken_lines = 0
        """Statements that were no N-Quads and had to be left out; a transform of ours is at fault then."""

    def has(self, url: str) -> bool:
        """Whether the page has ever been stored: whatever it brought, it brought provenance."""
        return next(self.match(page_iri(url), graph=f"<{PROVENANCE}>"), None) is not None

    def begin(self, run: RunRecord) -> None:
        """Pages from here on were fetched by this run."""
        self._run = run
        self.note(run_lines(run).encode())

    def note(self, lines: bytes) -> None:
        """Quads about the crawl itself."""
        self._add(lines, quads=0)

    def finish(self, ended_at: float) -> None:
        """The run has come to its end."""
        if self._run is not None:
            self.note(ending_lines(self._run, ended_at).encode())
            self.flush()

    def write(self, records: Sequence[PageRecord]) -> None:
        """Store pages with their provenance. Lasting once `flush` has been called."""
        self._writable()
        run = self._run.iri if self._run is not None else ""
        fresh: list[bytes] = []
        quads = 0
        for page, record in {page_iri(record.url): record for record in records}.items():
            about = provenance_of(record, run)
            # whatever a page brought, it brought provenance: one look-up tells whether it has ever been here
            known = list(self._store.quads_for_pattern(_node(page), None, None, _PROVENANCE))
            if known:
                self._replace(page, record, about, known)
            else:
                fresh += (record.graph_quads, record.union_quads, about)
                quads += record.quads
        if fresh:
            self._add(b"".join(fresh), quads=quads)

    def _writable(self) -> None:
        if self._snapshot is not None:
            raise ValueError(f"the quad store in {self._path} was opened to be read")

    def _add(self, data: bytes, *, quads: int) -> None:
        self._writable()
        # parsed here, and not by load, which renames blank nodes: a page must be the same however often written
        try:
            self._insert(ox.parse(data, ox.RdfFormat.N_QUADS, lenient=True), quads)
        except SyntaxError:
            self._insert(self._readable(data), quads)

    def _insert(self, quads: Iterable[ox.Quad], count: int) -> None:
        if count >= _BULK:
            self._store.bulk_extend(quads)
            return
        self._store.extend(quads)
        self._in_memory += count + 10
        if self._in_memory >= _IN_MEMORY:
            self.flush()

    def _readable(self, data: bytes) -> Iterable[ox.Quad]:
        """Quad by quad: one broken line must not cost the other pages of a batch."""
        for line in data.split(b"\n"):
            try:
                yield from ox.parse(line, ox.RdfFormat.N_QUADS, lenient=True)
            except SyntaxError:
                self.broken_lines += 1

    def _replace(self, page: Term, record: PageRecord, about: bytes, known: list[ox.Quad]) -> None:
        """Make a page say what it says now: add and take out what differs, and keep the difference.

        New comes in before old goes out, so that no reader finds less than a page; provenance goes out last, so that it
        still leads to what must go after a crash.
        """
        new, new_about = self._as_stored(record.graph_quads), self._as_stored(about)
        names = (quad.object for quad in known if quad.predicate == _GRAPH)
        graphs = {_node(page), *(name for name in names if isinstance(name, ox.NamedNode))}
        old = {quad for graph in graphs for quad in self._store.quads_for_pattern(None, None, None, graph)}
        removed, added = old - new, new - old
        if removed or added:
            self._changes.add(page, at=record.fetched_at, removed=removed, added=added)
        union = (ox.Quad(quad.subject, quad.predicate, quad.object) for quad in added)
        self._insert([*added, *union, *new_about], len(added))
        self._take_out(removed, graphs, {quad.triple for quad in new})
        for graph in graphs - {quad.graph_name for quad in new}:
            self._store.remove_graph(graph)
        for quad in set(known) - new_about:
            self._store.remove(quad)

    def _as_stored(self, lines: bytes) -> set[ox.Quad]:
        """The quads of a page's graphs as the store gives them back, which spells numbers and dates its own way."""
        try:
            quads = list(ox.parse(lines, ox.RdfFormat.N_QUADS, lenient=True))
        except SyntaxError:
            quads = list(self._readable(lines))
        mirror = ox.Store()
        mirror.extend(quads)
        return set(mirror)

    def _take_out(self, removed: set[ox.Quad], graphs: set[ox.NamedNode], kept: set[ox.Triple]) -> None:
        """Take quads out of a page's graphs, and out of the union where nobody else says them."""
        for quad in removed:
            if quad.triple not in kept and not self._said_elsewhere(quad, graphs):
                self._store.remove(ox.Quad(quad.subject, quad.predicate, quad.object))
            self._store.remove(quad)

    def _said_elsewhere(self, quad: ox.Quad, graphs: set[ox.NamedNode]) -> bool:
        found = self._store.quads_for_pattern(quad.subject, quad.predicate, quad.object, None)
        others = (other.graph_name for other in found)
        return any(name != _PROVENANCE and name not in graphs for name in others if isinstance(name, ox.NamedNode))

    def flush(self) -> None:
        self._changes.flush()
        self._store.flush()
        self._in_memory = 0

    def backup(self, path: Path) -> None:
        """A copy as of now in a new folder on the same disk; files are shared with it, so it costs next to nothing."""
        self._writable()
        self._store.backup(str(path))
        copy_changes(self._path, path)

    def close(self) -> None:
        """Give back what the store holds; answers that are still being read end here."""
        self._changes.close()
        if self._snapshot is not None:
            self._snapshot.close()

    def query(
        self,
        sparql: str,
        *,
        functions: Mapping[ox.NamedNode, Function] | None = None,
        base: str = "",
        default_graphs: Sequence[str] | None = None,
        named_graphs: Sequence[str] | None = None,
    ) -> QueryAnswer:
        """The answer to a SPARQL 1.1 query; the default graph is the union of the pages' graphs.

        `ml:key(?s, ?p, ?o)` is known (`index.keys`), and what else `functions` names. Graphs that are named here, by
        their IRIs, stand in the place of those that the query names itself (SPARQL 1.1 Protocol, 2.1.4). Relative IRIs
        are resolved against `base`, unless the query has a BASE of its own; without either they are a SyntaxError.
        """
        ask = partial(
            self._store.query,
            base_iri=base or None,
            prefixes=PREFIXES,
            custom_functions={KEY: key_function, **(functions or {})},
            default_graph=None if default_graphs is None else [_node(f"<{iri}>") for iri in default_graphs],
            named_graphs=None if named_graphs is None else [_node(f"<{iri}>") for iri in named_graphs],
        )
        return query_in_order(ask, sparql)

    def match(
        self,
        subject: Term | None = None,
        predicate: Term | None = None,
        object_: Term | None = None,
        graph: Term | None = None,
    ) -> Iterator[ox.Quad]:
        """The quads of pages and provenance that have these terms, as N-Triples spells them; None is any.

        All sixteen patterns are answered by an index. The union, which only repeats what pages say, is left out.
        """
        if subject is predicate is object_ is graph is None:
            return self.quads()
        s, p, o, g = (None if term is None else _term(term) for term in (subject, predicate, object_, graph))
        if isinstance(s, ox.Literal) or not isinstance(p, ox.NamedNode | None) or isinstance(g, ox.Literal):
            return iter(())  # no quad has such a term there
        found = self._pattern(s, p, o, g)
        return (quad for quad in found if quad.graph_name != _UNION)

    def statements(self) -> Iterator[ox.Quad]:
        """The union: every statement of every page, once, subject by subject."""
        return self._pattern(None, None, None, _UNION)

    def quads(self) -> Iterator[ox.Quad]:
        """Every quad of every page and of the provenance, graph by graph; not the union, which only repeats them."""
        for graph in self._whole(self._store.named_graphs()):
            yield from self._pattern(None, None, None, graph)

    def _pattern(
        self,
        subject: ox.NamedNode | ox.BlankNode | ox.Triple | None,
        predicate: ox.NamedNode | None,
        object_: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple | None,
        graph: ox.NamedNode | ox.BlankNode | ox.DefaultGraph | None,
    ) -> Iterator[ox.Quad]:
        return self._whole(self._store.quads_for_pattern(subject, predicate, object_, graph))

    def _whole(self, found: Iterable[_Found]) -> Iterator[_Found]:
        """What the store gives, to its end; DamagedError with advice where its files are not what was written."""
        try:
            yield from found
        except RuntimeError as error:
            if not is_damage(error):
                raise
            raise DamagedError(store_advice(self._path, str(error))) from error

    def extend(self, quads: Iterable[ox.Quad]) -> None:
        """Take in quads of another store as they are, each once more in the union; bounded, however many they are."""
        self._writable()
        self._store.bulk_extend(_with_union(quads))


def _with_union(quads: Iterable[ox.Quad]) -> Iterator[ox.Quad]:
    for quad in quads:
        yield quad
        if quad.graph_name != _PROVENANCE:
            yield ox.Quad(quad.subject, quad.predicate, quad.object)


def merge(sources: Iterable[Path], into: Path) -> None:
    """Several stores, one a shard perhaps, as one new store."""
    target = QuadStore(into)
    for path in sources:
        source = QuadStore(path, read_only=True)
        target.extend(source.quads())
        source.close()
        copy_changes(path, into)
    target.flush()
    target.close()


def store_bytes(path: Path) -> int:
    """Bytes that a store takes on disk, its log of recent writes and its changes included."""
    total = 0
    for place in (path, changes_path(path)):
        for name in [place, *place.rglob("*")]:
            try:
                total += name.stat().st_blocks * 512
            except FileNotFoundError:  # the writer has just merged it away, or there have been no changes
                continue
    return total


def _node(term: str) -> ox.NamedNode:
    """The node as the store reads it; the constructor would insist on more than a URL of the web promises."""
    line = f"{term} {term} {term} .".encode()
    quad: ox.Quad = next(iter(ox.parse(line, ox.RdfFormat.N_TRIPLES, lenient=True)))
    return quad.predicate


def _term(term: Term) -> ox.NamedNode | ox.BlankNode | ox.Literal:
    line = f"<urn:s> <urn:p> {term} .".encode("utf-8", "replace")
    try:
        quad: ox.Quad = next(iter(ox.parse(line, ox.RdfFormat.N_TRIPLES, lenient=True)))
    except (SyntaxError, StopIteration) as error:
        raise ValueError(f"{term!r} is no term of N-Triples") from error
    if isinstance(quad.object, ox.Triple):
        raise ValueError(f"{term!r} is a triple, which has no place here")
    return quad.object

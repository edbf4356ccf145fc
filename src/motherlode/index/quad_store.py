"""The quad store on disk (pyoxigraph): one graph per page, and the union of all pages as the default graph.

One process writes. Any number of processes read, each from a snapshot (`index.snapshot`). Large batches of new pages
are bulk-loaded as sorted files, which bypasses RocksDB's memtables: six memtables of 128 MB may exist for each of the
twelve column families, and nothing bounds their sum. Small batches go through the memtables, which are flushed before
they become large.
"""

from __future__ import annotations

import gzip
import logging
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import IO, TypeVar, cast

import pyoxigraph as ox

from motherlode.index.page_record import (
    DERIVED_GRAPHS,
    GRAPH_OF_PAGE,
    KEY,
    OWN_GRAPHS,
    PAGE,
    PROVENANCE,
    RESERVED,
    URL,
    PageRecord,
    RunRecord,
    key_function,
    parse_quads,
    provenance_quads,
    serialize_run,
    serialize_run_end,
)
from motherlode.index.rdf_patch import ChangeLog, changes_path, copy_changes
from motherlode.index.segment_files import sync_path
from motherlode.index.snapshot import DamagedError, Snapshot, is_damage, store_advice
from motherlode.model import Term
from motherlode.model.sparql import query_in_order
from motherlode.model.terms import PREFIXES, RDF_TYPE, literal, page_iri

_logger = logging.getLogger(__name__)
_PROVENANCE = ox.NamedNode(PROVENANCE)
_OWN_GRAPHS = frozenset(map(ox.NamedNode, OWN_GRAPHS))
_GRAPH = ox.NamedNode(PREFIXES["ml"] + "graph")
_PAGE = ox.NamedNode(PAGE[1:-1])
_URL_TYPES = (PAGE, URL)
_UNION = ox.DefaultGraph()
_READ_BYTES = 1 << 20
_MIN_BULK_QUADS = 2_000
"""From this number of quads on, a bulk load is faster than a transaction (docs/decisions.md)."""
_MAX_MEMORY_QUADS = 50_000
"""Quads in the memtables and in the write-ahead log before a flush: about 100 MB."""

_parse = partial(ox.parse, format=ox.RdfFormat.N_QUADS, lenient=True)

StoreResult = ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples
_Found = TypeVar("_Found")
Function = Callable[..., ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple | None]


class QuadStore:
    """A quad store. Writing a page again replaces its old statements, so that writing it twice changes nothing."""

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
            if not (read_only and is_damage(error)):  # a crawl, which opens it for writing, adds its own advice
                raise
            raise DamagedError(store_advice(path, str(error))) from error
        self._path = path
        self._changes = ChangeLog(changes_path(path))
        self._run: RunRecord | None = None
        self._in_memory = 0
        self.skip_known_changes = self._changes.skip_known

    def has(self, url: str) -> bool:
        """Return whether the page has ever been stored. Every stored page has provenance."""
        return next(self.match(page_iri(url), RDF_TYPE, PAGE, f"<{PROVENANCE}>"), None) is not None

    def begin(self, run: RunRecord) -> None:
        self._run = run
        self.add_run_quads(serialize_run(run).encode())

    def add_run_quads(self, lines: bytes) -> None:
        self._add(lines, quads=0)

    def finish(self, ended_at: float) -> None:
        if self._run is not None:
            self.add_run_quads(serialize_run_end(self._run, ended_at).encode())
            self.flush()

    def write(self, records: Sequence[PageRecord]) -> None:
        """Store pages with their provenance. They are durable after the next `flush`."""
        self._require_writable()
        run = self._run.iri if self._run is not None else ""
        fresh: list[PageRecord] = []
        outdated: list[ox.Quad] = []
        for page, record in _last_records(records).items():
            about = provenance_quads(record, run)
            # every stored page has provenance, so one look-up shows whether the page is known
            known = list(self._store.quads_for_pattern(_node(page), None, None, _PROVENANCE))
            is_page = any(quad.object == _PAGE for quad in known)
            if is_page and not record.state:
                self._replace(page, record, about, known)
            elif not is_page:
                fresh.append(record)
                outdated += set(known) - _canonical_quads(about) if known else ()
        self._add_pages(fresh, run)
        for quad in outdated:  # of URLs that had failed, were refused or waited
            self._store.remove(quad)

    def _add_pages(self, records: list[PageRecord], run: str) -> None:
        """Add pages that are not stored, in one load, because a page is stored completely or not at all."""
        count = sum(record.quads for record in records)
        if count < _MIN_BULK_QUADS:
            self._add(b"".join(_texts(records, run)), quads=count)
            return
        try:
            self._insert(_parse_parts(_texts(records, run), _parse), count)
        except SyntaxError:
            self._insert(_parse_parts(_texts(records, run), parse_quads), count)

    def _require_writable(self) -> None:
        if self._snapshot is not None:
            raise ValueError(f"the quad store in {self._path} was opened read-only")

    def _add(self, data: bytes, *, quads: int) -> None:
        self._require_writable()
        # `Store.load` would rename blank nodes, so that a page that is written again would look changed
        try:
            self._insert(_parse(data), quads)
        except SyntaxError:
            self._insert(parse_quads(data), quads)

    def _insert(self, quads: Iterable[ox.Quad], count: int) -> None:
        if count >= _MIN_BULK_QUADS:
            self._store.bulk_extend(quads)
            return
        self._store.extend(quads)
        self._in_memory += count + 10
        if self._in_memory >= _MAX_MEMORY_QUADS:
            self.flush()

    def _replace(self, page: Term, record: PageRecord, about: bytes, known: list[ox.Quad]) -> None:
        """Replace the statements of a known page, and append the difference to the change log.

        New quads are added before old ones are removed, so that no reader finds an incomplete page. Old provenance is
        removed last, because after a crash it is needed to find the old graphs.
        """
        new, new_about = _canonical_quads(record.graph_quads), _canonical_quads(about)
        names = (quad.object for quad in known if quad.predicate == _GRAPH)
        graphs = {_node(page), *(name for name in names if isinstance(name, ox.NamedNode))}
        old = {quad for graph in graphs for quad in self._store.quads_for_pattern(None, None, None, graph)}
        removed, added = old - new, new - old
        if removed or added:
            self._changes.add(page, at=record.fetched_at, removed=removed, added=added)
        union = (ox.Quad(quad.subject, quad.predicate, quad.object) for quad in added)
        self._insert([*added, *union, *new_about], len(added))
        kept = {quad.triple for quad in new}
        for quad in removed:
            if quad.triple not in kept and not self._is_on_other_page(quad, graphs):
                self._store.remove(ox.Quad(quad.subject, quad.predicate, quad.object))  # from the union
            self._store.remove(quad)
        for graph in graphs - {quad.graph_name for quad in new}:
            self._store.remove_graph(graph)
        for quad in set(known) - new_about:
            self._store.remove(quad)

    def _is_on_other_page(self, quad: ox.Quad, graphs: set[ox.NamedNode]) -> bool:
        found = self._store.quads_for_pattern(quad.subject, quad.predicate, quad.object, None)
        others = (other.graph_name for other in found)
        pages = (name for name in others if isinstance(name, ox.NamedNode) and name not in _OWN_GRAPHS)
        return any(name not in graphs for name in pages)

    def flush(self) -> None:
        self._changes.flush()
        self._store.flush()
        self._in_memory = 0

    def backup(self, path: Path) -> None:
        """Copy the current state to a new folder on the same disk. It is fast, because files are hard-linked."""
        self._require_writable()
        self._store.backup(str(path))
        copy_changes(self._path, path)

    def close(self) -> None:
        """Close the store. Query results cannot be read any further."""
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
    ) -> StoreResult:
        """Execute a SPARQL 1.1 query. The default graph is the union of the pages' graphs.

        The query can call `ml:key(?s, ?p, ?o)` (`index.page_record`) and `functions`. Graph IRIs, if any are given,
        override the FROM clauses of the query (SPARQL 1.1 Protocol, 2.1.4). Relative IRIs are resolved against `base`,
        unless the query has its own BASE. They are a SyntaxError if there is neither.
        """
        is_given = default_graphs is not None or named_graphs is not None
        ask = partial(
            self._store.query,
            base_iri=base or None,
            prefixes=PREFIXES,
            custom_functions={KEY: key_function, **(functions or {})},
            default_graph=[_node(f"<{iri}>") for iri in default_graphs or ()] if is_given else None,
            named_graphs=[_node(f"<{iri}>") for iri in named_graphs or ()] if is_given else None,
        )
        return query_in_order(ask, sparql)

    def match(
        self,
        subject: Term | None = None,
        predicate: Term | None = None,
        object_: Term | None = None,
        graph: Term | None = None,
    ) -> Iterator[ox.Quad]:
        """Yield the quads of pages and provenance with these terms, given in N-Triples. None matches any term.

        All sixteen patterns use an index. The union is left out, because it repeats the quads of the pages.
        """
        if subject is predicate is object_ is graph is None:
            return self.quads()
        s, p, o, g = (None if term is None else _term(term) for term in (subject, predicate, object_, graph))
        if isinstance(s, ox.Literal) or not isinstance(p, ox.NamedNode | None) or isinstance(g, ox.Literal):
            return iter(())  # no quad can have such a term at this position
        found = self._raising_damage(self._store.quads_for_pattern(s, p, o, g))
        return (quad for quad in found if quad.graph_name != _UNION)

    def statements(self) -> Iterator[ox.Quad]:
        """Yield the union: every statement of every page, once, in the order of subjects."""
        return self._raising_damage(self._store.quads_for_pattern(None, None, None, _UNION))

    def quads(self, *, without: Collection[str] = ()) -> Iterator[ox.Quad]:
        """Yield every quad of the pages and of the provenance, graph by graph, without the union.

        The statements of the pages in `without` are left out. Their provenance is not.
        """
        for graph in self._raising_damage(self._store.named_graphs()):
            if without and graph.value.partition(GRAPH_OF_PAGE)[0] in without:
                continue
            yield from self._raising_damage(self._store.quads_for_pattern(None, None, None, graph))

    def logged_pages(self) -> Iterator[bytes]:
        """Yield the N-Quads of each page as the log has them: its statements and then its provenance, its type first.

        The last item has the quads about the runs.
        """
        about_runs: list[str] = []
        for subject, group in groupby(self.match(graph=f"<{PROVENANCE}>"), key=lambda quad: quad.subject):
            about = list(group)
            is_a = next(
                (quad for quad in about if str(quad.predicate) == RDF_TYPE and str(quad.object) in _URL_TYPES), None
            )
            if is_a is None:
                about_runs += (f"{quad} .\n" for quad in about)
                continue
            graphs = (str(subject), *(str(quad.object) for quad in about if quad.predicate == _GRAPH))
            quads = [quad for graph in graphs for quad in self.match(graph=graph)] if str(is_a.object) == PAGE else []
            lines = [*quads, is_a, *(quad for quad in about if quad != is_a)]
            yield "".join(f"{quad} .\n" for quad in lines).encode("utf-8", "replace")
        yield "".join(about_runs).encode("utf-8", "replace")

    def graph_names(self) -> Iterator[str]:
        """Yield the names of all graphs: of pages, and our own."""
        graphs = self._raising_damage(self._store.named_graphs())
        return (graph.value for graph in graphs if isinstance(graph, ox.NamedNode))

    def pages_that_reserve(self, uses: Iterable[str]) -> set[str]:
        """Return the URLs of the pages that reserve one of the uses (`model.usage.Usage`)."""
        return {
            quad.subject.value
            for use in uses
            for quad in self.match(predicate=RESERVED, object_=literal(use), graph=f"<{PROVENANCE}>")
            if isinstance(quad.subject, ox.NamedNode)
        }

    def _raising_damage(self, found: Iterable[_Found]) -> Iterator[_Found]:
        """Yield all items. DamagedError, with advice for the user, if the files of the store are damaged."""
        try:
            yield from found
        except RuntimeError as error:
            if not is_damage(error):
                raise
            raise DamagedError(store_advice(self._path, str(error))) from error

    def update_graph(self, graph: str, *, without: Iterable[Term] = (), added: Iterable[ox.Quad] = ()) -> None:
        """Remove the statements about the IRIs `without` from one of our own graphs, and add others.

        The union stays as it is, because it has the statements of pages only.
        """
        self._require_writable()
        name = ox.NamedNode(graph)
        for subject in without:
            for quad in [*self._store.quads_for_pattern(_node(subject), None, None, name)]:
                self._store.remove(quad)
        self._store.bulk_extend(added)

    def clear_graph(self, graph: str) -> None:
        """Remove all statements of one of our own graphs."""
        self._require_writable()
        self._store.remove_graph(ox.NamedNode(graph))

    def save_graph(self, graph: str) -> None:
        """Copy a derived graph to a file beside the store, because a store that is built from a log lacks it."""
        path = graph_copy_path(self._path, graph)
        new = path.with_name(f"{path.name}.new")
        with cast(IO[bytes], gzip.open(new, "wb", compresslevel=1)) as file:
            ox.serialize(self.match(graph=f"<{graph}>"), file, ox.RdfFormat.N_QUADS)
        sync_path(new)
        new.replace(path)

    def load_derived_graphs(self, other: Path | None = None) -> None:
        """Add the derived graphs that were saved beside this store, or beside another one."""
        for graph in DERIVED_GRAPHS:
            path = graph_copy_path(other or self._path, graph)
            if _is_intact(path):
                with cast(IO[bytes], gzip.open(path, "rb")) as file:
                    self.update_graph(graph, added=ox.parse(file, ox.RdfFormat.N_QUADS, lenient=True))

    def extend(self, quads: Iterable[ox.Quad]) -> None:
        """Add quads of another store, and add the statements of pages to the union. Memory is bounded."""
        self._require_writable()
        self._store.bulk_extend(_with_union(quads))


def _texts(records: Iterable[PageRecord], run: str) -> Iterator[bytes]:
    for record in records:
        yield from (record.graph_quads, record.union_quads, provenance_quads(record, run))


def _parse_parts(parts: Iterable[bytes], parse: Callable[[bytes], Iterable[ox.Quad]]) -> Iterator[ox.Quad]:
    """Parse N-Quads some pages at a time, so that only a small part of their text is in memory twice."""
    waiting: list[bytes] = []
    size = 0
    for part in parts:
        waiting.append(part)
        size += len(part)
        if size >= _READ_BYTES:
            yield from parse(b"".join(waiting))
            waiting, size = [], 0
    yield from parse(b"".join(waiting))


def _canonical_quads(lines: bytes) -> set[ox.Quad]:
    """Parse quads and return them as the store returns them, with canonical numbers and dates."""
    mirror = ox.Store()
    mirror.extend(parse_quads(lines))
    return set(mirror)


def _last_records(records: Iterable[PageRecord]) -> dict[Term, PageRecord]:
    """Return the last record of each URL, by its IRI. A record without a page does not replace one with a page."""
    last: dict[Term, PageRecord] = {}
    for record in records:
        page = page_iri(record.url)
        if not record.state or page not in last or last[page].state:
            last[page] = record
    return last


def _with_union(quads: Iterable[ox.Quad]) -> Iterator[ox.Quad]:
    for quad in quads:
        yield quad
        if quad.graph_name not in _OWN_GRAPHS:
            yield ox.Quad(quad.subject, quad.predicate, quad.object)


def graph_copy_path(store: Path, graph: str) -> Path:
    """Return the path of the copy of a derived graph. It is beside the store."""
    return store.with_name(f"{graph.rpartition(':')[2]}.nq.gz")


def save_missing_copies(store: Path) -> None:
    """Save the derived graphs that have no copy, because an earlier version wrote them. A damaged store is skipped."""
    unsaved = [graph for graph in DERIVED_GRAPHS if not graph_copy_path(store, graph).exists()]
    with suppress(OSError, RuntimeError), closing(QuadStore(store, read_only=True)) as source:
        for graph in unsaved:
            if next(source.match(graph=f"<{graph}>"), None) is not None:
                source.save_graph(graph)


def _is_intact(path: Path) -> bool:
    """Return whether a compressed file exists and can be read to its end. Log a warning if it is damaged."""
    try:
        with gzip.open(path, "rb") as file:
            while file.read(_READ_BYTES):
                pass
    except FileNotFoundError:
        return False
    except (OSError, EOFError, zlib.error) as error:
        _logger.warning("%s cannot be read (%s): run the command again that made this graph", path, error)
        return False
    return True


def merge(sources: Iterable[Path], into: Path, *, before: Path | None = None) -> None:
    """Merge several stores, for example one per shard, into a new store.

    `before` is the store that the new one replaces. Its derived graphs are kept.
    """
    target = QuadStore(into)
    for path in sources:
        source = QuadStore(path, read_only=True)
        target.extend(source.quads())
        source.close()
        copy_changes(path, into)
    if before is not None:
        target.load_derived_graphs(before)
    target.flush()
    target.close()


def store_bytes(path: Path) -> int:
    """Return the bytes of a store on disk, including its write-ahead log and its change log."""
    total = 0
    for folder in (path, changes_path(path)):
        for name in [folder, *folder.rglob("*")]:
            try:
                total += name.stat().st_blocks * 512
            except FileNotFoundError:  # RocksDB has just compacted it, or there is no change log
                continue
    return total


def _node(iri: str) -> ox.NamedNode:
    """Parse an IRI leniently, as for stored quads. The constructor of NamedNode rejects some URLs of the web."""
    quad: ox.Quad = next(iter(ox.parse(f"{iri} {iri} {iri} .".encode(), ox.RdfFormat.N_TRIPLES, lenient=True)))
    return quad.predicate


def _term(term: Term) -> ox.NamedNode | ox.BlankNode | ox.Literal:
    line = f"<urn:s> <urn:p> {term} .".encode("utf-8", "replace")
    try:
        quad: ox.Quad = next(iter(ox.parse(line, ox.RdfFormat.N_TRIPLES, lenient=True)))
    except (SyntaxError, StopIteration) as error:
        raise ValueError(f"{term!r} is not an N-Triples term") from error
    if isinstance(quad.object, ox.Triple):
        raise ValueError(f"{term!r} is a triple term, which cannot be matched")
    return quad.object

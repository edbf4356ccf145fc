"""The table of the things of a crawl: its store, provenance and clusters for `quality.tables`."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pyoxigraph as ox

from motherlode.crawler.folder import CrawlFolder
from motherlode.index.export.table_files import Column, TableFormat, write_table
from motherlode.index.page_record import OWN_GRAPHS, PROVENANCE
from motherlode.index.quad_store import QuadStore
from motherlode.model.terms import PREFIXES, RDF
from motherlode.model.terms import iri as term_of_iri
from motherlode.quality.identifiers import Identifier, find_identifiers
from motherlode.quality.identity import IdentityIndex, ThingDescription
from motherlode.quality.tables import (
    OTHER_VALUES,
    SOURCE_COLUMNS,
    PageInfo,
    Profile,
    TableColumn,
    ThingTable,
    column_name,
    expand_type,
    find_coordinates,
    read_profile,
)
from motherlode.quality.things import ListedThing, ThingList

_SOURCE_KINDS = {"source_syntaxes": "list", "source_fetched_at": "time", "source_pages": "integer"}
_NAMES = frozenset({"name", "headline", "title", "legalName", "dcterms:title", "foaf:name", "rdfs:label"})
_MAX_CACHED_PAGES = 1 << 14
_MAX_JOINED = 1_000
"""Maximum number of descriptions of one thing whose values are compared. All are counted."""
_DISTINCT_COLUMNS = (Column("sources", "integer"), Column("source_things", "list"), Column("conflicts", "json"))


class TableError(ValueError):
    """A wrong argument of a table. The message says what to do."""


class CrawlTable:
    """The table of all things of a type. Its rows are read from the store while `open_table` holds it open."""

    def __init__(self, table: ThingTable, things: ThingList, *, is_distinct: bool) -> None:
        self._table = table
        self._things = things
        self._is_distinct = is_distinct
        self.things = len(things)
        """Number of things, before descriptions of one thing are joined."""
        self.count = things.count_rows() if is_distinct else self.things
        """Number of rows."""
        self.columns = [
            *(Column(name, _SOURCE_KINDS.get(name, "string")) for name in SOURCE_COLUMNS),
            *(made for column in table.columns for made in _make_columns(column)),
            Column(OTHER_VALUES, "json"),
            *(_DISTINCT_COLUMNS if is_distinct else ()),
        ]

    def rows(self, *, offset: int = 0, limit: int = -1) -> Iterator[dict[str, Any]]:
        """Yield the rows as dicts, by the names of the columns. All if `limit` is negative."""
        names = [name for column in self._table.columns for name in (made.name for made in _make_columns(column))]
        for things in self._things.rows(offset=offset, limit=limit):
            rows = [self._table.make_row(thing) for thing in things[:_MAX_JOINED]]
            yield join_rows(rows, names, count=len(things)) if self._is_distinct else rows[0]

    def write(self, output: Path | None, *, form: TableFormat) -> int:
        """Write the table, and return the number of rows."""
        names = [column.name for column in self.columns]
        rows = ([row[name] for name in names] for row in self.rows())
        coordinates = find_coordinates(names) if form == "parquet" else None
        return write_table(self.columns, rows, output, form=form, name="things", coordinates=coordinates)


def _make_columns(column: TableColumn) -> list[Column]:
    """Return the columns of one property: its values, then the parts of the values, such as `name@language`."""
    kind = "number" if column.kind == "money" else column.kind
    metadata = {name: value for name, value in (("language", column.language), ("type", column.kind)) if value}
    wrap = "list of {}".format if column.is_list else str
    parts = (Column(f"{column.path}@{part}", wrap("string")) for part in column.parts)
    return [Column(column.path, wrap(kind), metadata), *parts]


@contextmanager
def open_table(
    folder: CrawlFolder,
    type_: str,
    *,
    where: str = "",
    distinct: bool = False,
    profile: Path | None = None,
    sample: int | None = None,
) -> Iterator[CrawlTable]:
    """Open the store of a crawl and yield the table of a type. The store must be indexed.

    `sample` is the number of things from which the columns are chosen; all if it is None.
    """
    store, things = QuadStore(folder.store, read_only=True), ThingList()
    try:
        yield _make(store, things, type_, where=where, distinct=distinct, profile=profile, sample=sample)
    finally:
        things.close()
        store.close()


def _make(
    store: QuadStore,
    things: ThingList,
    type_: str,
    *,
    where: str,
    distinct: bool,
    profile: Path | None,
    sample: int | None,
) -> CrawlTable:
    iri = expand_type(type_, PREFIXES)
    if term_of_iri(iri) is None:
        raise TableError(f"{type_!r} is not a type: give a name of schema.org, a prefixed name, or an IRI")
    table = ThingTable(store, iri, profile=_load_profile(iri, profile), page_info=_page_reader(store))
    things.add(pair for pair in table.find_things() if pair[1][1:-1] not in OWN_GRAPHS)
    if where:
        things.keep(_select(store, where))
    things.number_things()
    table.choose_columns(islice(things, sample))
    if distinct:
        things.join(_find_clusters(store, things))
    return CrawlTable(table, things, is_distinct=distinct)


def _load_profile(iri: str, path: Path | None) -> Profile:
    if path is None:
        return read_profile(iri)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Profile)
    except (OSError, msgspec.MsgspecError) as error:
        raise TableError(f"the profile {path} cannot be read: {error}") from error


def _select(store: QuadStore, where: str) -> Iterator[str]:
    """Return the things that a pattern matches."""
    query = f"SELECT DISTINCT ?thing {{ {where} }}"
    try:
        rows = store.query(query)
    except SyntaxError as error:
        from motherlode.index.query.diagnostics import diagnose  # slow to import, and needed for errors only

        problem = diagnose(query, str(error))
        why = "; ".join(filter(None, (problem.message, problem.hint)))
        raise TableError(f"--where {where!r} is not a SPARQL pattern such as '?thing schema:name ?n': {why}") from error
    if "?thing" not in where and "$thing" not in where:
        raise TableError("--where needs the variable ?thing, as in '?thing schema:name ?name'")
    return (str(row[0]) for row in rows if row[0] is not None)  # type: ignore[union-attr]


def _page_reader(store: QuadStore) -> Callable[[str], PageInfo]:
    """Return a function that reads syntaxes and fetch time of a page from the provenance. The result is cached."""

    @lru_cache(maxsize=_MAX_CACHED_PAGES)
    def read(url: str) -> PageInfo:
        syntaxes, fetched_at = [], None
        for quad in store.match(subject=f"<{url}>", graph=f"<{PROVENANCE}>"):
            name = quad.predicate.value
            if not isinstance(quad.object, ox.Literal):
                continue
            if name == PREFIXES["ml"] + "syntax":
                syntaxes.append(quad.object.value)
            elif name == PREFIXES["prov"] + "generatedAtTime":
                fetched_at = datetime.fromisoformat(quad.object.value)
        return PageInfo(syntaxes=tuple(sorted(syntaxes)), fetched_at=fetched_at)

    return read


def _find_clusters(store: QuadStore, things: ThingList) -> Iterator[tuple[str, ...]]:
    """Yield clusters: for each thing with several descriptions, the terms (IRIs, blank nodes) of these descriptions."""
    index = IdentityIndex()
    for thing in things:
        index.add(describe_thing(store, thing))
    for cluster in index.clusters():
        yield tuple(map(term_of, cluster.members))
    index.close()


def term_of(id: str) -> str:
    """Convert the id of a description to a term in N-Triples."""
    return id if id.startswith("_:") else f"<{id}>"


def describe_thing(store: QuadStore, thing: ListedThing) -> ThingDescription:
    """Return names, types and identifiers of a thing for the comparison with others."""
    names, types = [], []
    identifiers: list[Identifier] = []
    for graph in thing.graphs:
        for quad in store.match(subject=thing.term, graph=graph):
            if isinstance(quad.object, ox.Literal) and column_name(quad.predicate.value) in _NAMES:
                names.append(quad.object.value)
            if quad.predicate.value == RDF + "type" and isinstance(quad.object, ox.NamedNode):
                types.append(quad.object.value)
            elif isinstance(quad.object, ox.Literal | ox.NamedNode):
                identifiers.extend(find_identifiers(quad.predicate.value, quad.object.value))
    return ThingDescription(
        id=thing.term[1:-1] if thing.term.startswith("<") else thing.term,
        names=tuple(dict.fromkeys(names)),
        identifiers=tuple(dict.fromkeys(identifiers)),
        types=tuple(sorted(set(types))),
    )


def join_rows(members: list[dict[str, Any]], names: Iterable[str], *, count: int) -> dict[str, Any]:
    """Return the row of a cluster: the most frequent value of each column, and all values where they differ.

    `count` is the number of all descriptions, of which `members` are the first.
    """
    joined = dict(members[0])
    conflicts = {}
    for name in names:
        values = [row[name] for row in members if row[name] is not None]
        counted = {repr(value): value for value in values}
        if not counted:
            continue
        most = max(counted, key=lambda key: sum(repr(value) == key for value in values))
        joined[name] = counted[most]
        if len(counted) > 1:
            conflicts[name] = list(counted.values())
    things = sorted(row["thing"] for row in members)
    return joined | {"sources": count, "source_things": things, "conflicts": conflicts or None}

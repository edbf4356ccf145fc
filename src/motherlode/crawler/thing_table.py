"""The table of the things of a crawl: its store, provenance and clusters for `quality.tables`."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import pyoxigraph as ox

from motherlode.crawler.folder import CrawlFolder
from motherlode.index.export.table_files import Column, TableFormat, write_table
from motherlode.index.page_record import PROVENANCE
from motherlode.index.quad_store import QuadStore
from motherlode.model.terms import PREFIXES
from motherlode.quality.identifiers import Identifier, find_identifiers
from motherlode.quality.identity import Cluster, IdentityIndex, ThingDescription
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

_SOURCE_KINDS = {"source_syntaxes": "list", "source_fetched_at": "time", "source_pages": "integer"}
_NAMES = frozenset({"name", "headline", "title", "legalName", "dcterms:title", "foaf:name", "rdfs:label"})
_MAX_CACHED_PAGES = 1 << 14
_DISTINCT_COLUMNS = (Column("sources", "integer"), Column("source_things", "list"), Column("conflicts", "json"))


class TableError(ValueError):
    """A wrong argument of a table. The message says what to do."""


Things = list[tuple[str, tuple[str, ...]]]


class CrawlTable:
    """The table of a type. It reads from the store of `open_table`."""

    def __init__(self, table: ThingTable, things: Things, clusters: list[Cluster] | None) -> None:
        self._table = table
        self._things = things
        self._clusters = clusters
        self.count = len(things)
        """Number of things, before descriptions of one thing are joined."""
        self.columns = [
            *(Column(name, _SOURCE_KINDS.get(name, "string")) for name in SOURCE_COLUMNS),
            *map(_make_column, table.columns),
            Column(OTHER_VALUES, "json"),
            *(() if clusters is None else _DISTINCT_COLUMNS),
        ]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as dicts, by the names of the columns."""
        rows = self._table.rows(self._things)
        if self._clusters is None:
            yield from rows
        else:
            yield from join_rows(rows, self._clusters, self._table.columns)

    def write(self, output: Path | None, *, form: TableFormat) -> int:
        """Write the table, and return the number of rows."""
        names = [column.name for column in self.columns]
        rows = ([row[name] for name in names] for row in self.rows())
        coordinates = find_coordinates(names) if form == "parquet" else None
        return write_table(self.columns, rows, output, form=form, name="things", coordinates=coordinates)


def _make_column(column: TableColumn) -> Column:
    return Column(column.path, f"list of {column.kind}" if column.is_list else column.kind)


@contextmanager
def open_table(
    folder: CrawlFolder, type_: str, *, where: str = "", distinct: bool = False, profile: Path | None = None
) -> Iterator[CrawlTable]:
    """Open the store of a crawl and yield the table of a type. The store must be indexed."""
    store = QuadStore(folder.store, read_only=True)
    try:
        yield _make(store, type_, where=where, distinct=distinct, profile=profile)
    finally:
        store.close()


def _make(store: QuadStore, type_: str, *, where: str, distinct: bool, profile: Path | None) -> CrawlTable:
    iri = expand_type(type_, PREFIXES)
    table = ThingTable(store, iri, profile=_load_profile(iri, profile), page_info=_page_reader(store))
    things: Things = [(thing, graphs) for thing, graphs in table.ids() if not _is_provenance(graphs)]
    if where:
        wanted = _select(store, where)
        things = [(thing, graphs) for thing, graphs in things if thing in wanted]
    table.choose_columns(things)
    return CrawlTable(table, things, _find_clusters(store, things) if distinct else None)


def _is_provenance(graphs: tuple[str, ...]) -> bool:
    return graphs == (f"<{PROVENANCE}>",)


def _load_profile(iri: str, path: Path | None) -> Profile:
    if path is None:
        return read_profile(iri)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Profile)
    except (OSError, msgspec.MsgspecError) as error:
        raise TableError(f"the profile {path} cannot be read: {error}") from error


def _select(store: QuadStore, where: str) -> set[str]:
    """Return the things that a pattern matches."""
    try:
        rows = store.query(f"SELECT DISTINCT ?thing {{ {where} }}")
    except SyntaxError as error:
        raise TableError(f"--where is not a SPARQL pattern: {error}") from error
    if "?thing" not in where and "$thing" not in where:
        raise TableError("--where needs the variable ?thing, as in '?thing schema:name ?name'")
    return {str(row[0]) for row in rows if row[0] is not None}  # type: ignore[union-attr]


def _page_reader(store: QuadStore) -> Any:
    """Return a function from the URL of a page to what the provenance says about it."""

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


def _find_clusters(store: QuadStore, things: Things) -> list[Cluster]:
    index = IdentityIndex()
    for thing, graphs in things:
        index.add(describe_thing(store, thing, graphs))
    return index.clusters()


def describe_thing(store: QuadStore, thing: str, graphs: Iterable[str]) -> ThingDescription:
    """Return names and identifiers of a thing for the comparison with others."""
    names: list[str] = []
    identifiers: list[Identifier] = []
    for graph in graphs:
        for quad in store.match(subject=thing, graph=graph):
            if isinstance(quad.object, ox.Literal) and column_name(quad.predicate.value) in _NAMES:
                names.append(quad.object.value)
            if isinstance(quad.object, ox.Literal | ox.NamedNode):
                identifiers.extend(find_identifiers(quad.predicate.value, quad.object.value))
    id = thing[1:-1] if thing.startswith("<") else thing
    return ThingDescription(id=id, names=tuple(names), identifiers=tuple(dict.fromkeys(identifiers)))


def join_rows(
    rows: Iterable[dict[str, Any]], clusters: Iterable[Cluster], columns: Iterable[TableColumn]
) -> Iterator[dict[str, Any]]:
    """Yield one row per cluster, with the number of sources and the values that differ, and the other rows."""
    homes = {member: cluster for cluster in clusters for member in cluster.members}
    collected: dict[str, list[dict[str, Any]]] = {}
    paths = [column.path for column in columns]
    for row in rows:
        cluster = homes.get(row["thing"])
        if cluster is None:
            yield row | {"sources": 1, "source_things": [row["thing"]], "conflicts": None}
            continue
        members = collected.setdefault(cluster.id, [])
        members.append(row)
        if len(members) == len(cluster.members):
            yield join_cluster(collected.pop(cluster.id), paths)
    for members in collected.values():
        yield join_cluster(members, paths)


def join_cluster(members: list[dict[str, Any]], paths: Iterable[str]) -> dict[str, Any]:
    """Return the row of a cluster: the most frequent value of each column, and all values where they differ."""
    joined = dict(members[0])
    conflicts = {}
    for path in paths:
        values = [row[path] for row in members if row[path] is not None]
        counted = {repr(value): value for value in values}
        if not counted:
            continue
        most = max(counted, key=lambda key: sum(repr(value) == key for value in values))
        joined[path] = counted[most]
        if len(counted) > 1:
            conflicts[path] = list(counted.values())
    things = sorted(row["thing"] for row in members)
    return joined | {"sources": len(members), "source_things": things, "conflicts": conflicts or None}

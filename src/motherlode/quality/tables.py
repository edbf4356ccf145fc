"""Tables of things: one row per thing of a type, with columns for its properties and those of its parts.

The columns follow from the data, or from a profile (`profiles/TYPE.json`) that names the first ones. A first pass over
the things counts how often each property occurs and of which type its values are; a second pass writes the rows. So
memory is bounded by the number of columns and of ids, and not by the values.

A column is a path of properties, such as `name`, `offers.price` or `address.postalCode`. Names of schema.org have no
prefix, others have the usual one (`dcterms:title`). A column has one type: integer, number, boolean, date, time or
string, and lists of these if a thing has several values. If few values do not fit the type of the others, they are in
the column `other_values`, so nothing is lost.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec
import pyoxigraph as ox

from motherlode.model.terms import RDF, prefixed_name
from motherlode.quality.vocabulary import NAMESPACES, local_name, type_iris

Value = str | int | float | bool | date | datetime
RDF_TYPE = f"<{RDF}type>"
MIN_COVERAGE = 0.02
"""Share of the things that must have a property for it to become a column."""
MAX_COLUMNS = 120
OTHER_VALUES = "other_values"
MAX_DEPTH = 2
"""Maximum number of steps from a thing to a part whose properties become columns, as in `offers.seller.name`."""
_MAX_VALUES = 100
"""Maximum number of values of one cell."""
_MAX_PROPERTIES = 5_000
"""Maximum number of different paths that are counted."""
MIN_TYPE_SHARE = 0.95
"""Share of the values of a column that must fit its type."""
SOURCE_COLUMNS = ("thing", "source_page", "source_host", "source_syntaxes", "source_fetched_at", "source_pages")


class Quads(Protocol):
    """A store of quads in which every page is a graph."""

    def match(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        object_: str | None = None,
        graph: str | None = None,
    ) -> Iterator[ox.Quad]:
        """Yield the quads with these terms, given in N-Triples. None matches any term."""
        ...


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """The first columns of the table of a type, in their order. A user may copy and change it."""

    type: str
    columns: tuple[str, ...] = ()
    depth: int = MAX_DEPTH
    min_coverage: float = MIN_COVERAGE


class PageInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about the page of a thing."""

    syntaxes: tuple[str, ...] = ()
    fetched_at: datetime | None = None


class TableColumn(msgspec.Struct, kw_only=True):
    """A column of a table."""

    path: str
    things: int = 0
    """Number of things with a value."""
    kinds: Counter[str] = msgspec.field(default_factory=Counter)
    """Number of values by the narrowest type that they fit."""
    is_list: bool = False

    @property
    def kind(self) -> str:
        """Type of the values: the narrowest that nearly all of them fit."""
        wanted = MIN_TYPE_SHARE * self.kinds.total()
        return next((kind for kind, fitting in _FITTING.items() if self._count(fitting) >= wanted), "string")

    def _count(self, kinds: Iterable[str]) -> int:
        return sum(self.kinds[kind] for kind in kinds)


_FITTING: Mapping[str, tuple[str, ...]] = {
    "boolean": ("boolean",),
    "integer": ("integer",),
    "number": ("integer", "number"),
    "date": ("date",),
    "time": ("date", "time"),
}
"""Type of a column → narrowest types of the values that fit it. The narrower types come first."""


def read_profile(name: str) -> Profile:
    """Return the bundled profile of a type, or an empty one."""
    path = Path(__file__).with_name("profiles") / f"{local_name(name) or name}.json"
    return msgspec.json.decode(path.read_bytes(), type=Profile) if path.exists() else Profile(type=name)


class ThingTable:
    """The table of the things of one type."""

    def __init__(self, quads: Quads, type_iri: str, *, profile: Profile, page_info: Callable[[str], PageInfo]) -> None:
        self._quads = quads
        self._types = type_iris(type_iri)
        self._profile = profile
        self._page_info = page_info
        self.columns: list[TableColumn] = []
        self.things = 0

    def ids(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the term of each thing, in N-Triples, with the graphs that state its type."""
        graphs: dict[str, list[str]] = {}
        for iri in self._types:
            for quad in self._quads.match(predicate=RDF_TYPE, object_=f"<{iri}>"):
                known = graphs.setdefault(str(quad.subject), [])
                if (graph := str(quad.graph_name)) not in known:
                    known.append(graph)
        for thing, found in graphs.items():
            yield thing, tuple(found)

    def choose_columns(self, things: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        """Count the properties of the things, and choose the columns and their types."""
        counted: dict[str, TableColumn] = {}
        for thing, graphs in things:
            self.things += 1
            for path, values in self._cells(thing, graphs).items():
                if path not in counted and len(counted) >= _MAX_PROPERTIES:
                    continue
                column = counted.setdefault(path, TableColumn(path=path))
                column.things += 1
                column.is_list = column.is_list or len(values) > 1
                column.kinds.update(map(kind_of, values))
        wanted = self._profile.columns
        first = [counted[path] for path in wanted if path in counted]
        rest = sorted((c for c in counted.values() if c.path not in wanted), key=lambda c: (-c.things, c.path))
        enough = [column for column in rest if column.things >= self._profile.min_coverage * self.things]
        self.columns = [*first, *enough][:MAX_COLUMNS]

    def rows(self, things: Iterable[tuple[str, tuple[str, ...]]]) -> Iterator[dict[str, Any]]:
        """Yield the rows, as dicts from the path of a column to its value."""
        for thing, graphs in things:
            cells = self._cells(thing, graphs)
            row: dict[str, Any] = dict(zip(SOURCE_COLUMNS, self._source(thing, graphs), strict=True))
            others: dict[str, list[str]] = {}
            for column in self.columns:
                row[column.path] = _make_cell(column, cells.get(column.path, ()), others)
            row[OTHER_VALUES] = others or None
            yield row

    def _source(self, thing: str, graphs: Sequence[str]) -> tuple[Any, ...]:
        page = graphs[0][1:-1].partition("#graph")[0] if graphs else ""
        info = self._page_info(page)
        host = urlsplit(page).netloc
        return _text_of(thing), page, host, list(info.syntaxes), info.fetched_at, len(graphs)

    def _cells(self, thing: str, graphs: Sequence[str]) -> dict[str, tuple[ox.Literal | str, ...]]:
        """Return the values of a thing and of its parts, by path."""
        found: dict[str, dict[ox.Literal | str, None]] = {}
        for graph in graphs:
            self._collect(thing, graph, "", self._profile.depth, found, {thing})
        return {path: tuple(values)[:_MAX_VALUES] for path, values in found.items()}

    def _collect(
        self,
        subject: str,
        graph: str,
        prefix: str,
        depth: int,
        found: dict[str, dict[ox.Literal | str, None]],
        above: set[str],
    ) -> None:
        for quad in self._quads.match(subject=subject, graph=graph):
            if quad.predicate.value == RDF + "type":
                if not prefix:
                    found.setdefault("type", {})[_short(_text_of(str(quad.object)))] = None
                continue
            path = prefix + column_name(quad.predicate.value)
            if isinstance(quad.object, ox.Literal):
                found.setdefault(path, {})[quad.object] = None
                continue
            part = str(quad.object)
            has_parts = depth > 0 and part not in above and self._is_described(part, graph)
            if has_parts:
                self._collect(part, graph, f"{path}.", depth - 1, found, {*above, part})
            if not part.startswith("_:"):
                found.setdefault(path, {})[_short(_text_of(part))] = None
            elif not has_parts:
                continue

    def _is_described(self, term: str, graph: str) -> bool:
        return next(iter(self._quads.match(subject=term, graph=graph)), None) is not None


def column_name(predicate: str) -> str:
    """Return the name of a property as a part of a column's path, such as `price` in `offers.price`.

    >>> column_name("https://schema.org/price"), column_name("http://purl.org/dc/terms/title")
    ('price', 'dcterms:title')
    """
    return local_name(predicate) or prefixed_name(predicate)


def _text_of(term: str) -> str:
    return term[1:-1] if term.startswith("<") else term


def _short(iri: str) -> str:
    """Return the name of a term of schema.org, such as InStock, and other IRIs as they are."""
    name = local_name(iri)
    return name if name and "/" not in name and "#" not in name else iri


_INTEGER = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(?:\d+[.]?\d*|[.]\d+)(?:[eE][+-]?\d+)?")
_LEADING_ZERO = re.compile(r"[+-]?0\d")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:[.]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?")
_BOOLEANS = {"true": True, "false": False, "True": True, "False": False}


def kind_of(value: ox.Literal | str) -> str:
    """Return the narrowest type that a value fits.

    >>> [kind_of(ox.Literal(text)) for text in ("12", "12.50", "2026-01-02", "true", "007", "12 EUR")]
    ['integer', 'number', 'date', 'boolean', 'string', 'string']
    """
    if isinstance(value, str):
        return "boolean" if value in _BOOLEANS else "string"
    text = value.value.strip()
    if value.language:
        return "string"
    if text in _BOOLEANS:
        return "boolean"
    if _INTEGER.fullmatch(text):
        return "string" if _LEADING_ZERO.match(text) or len(text) > 15 else "integer"
    if _NUMBER.fullmatch(text) and not _LEADING_ZERO.match(text):
        return "number"
    if _DATE.fullmatch(text):
        return "date" if _parse(date.fromisoformat, text) is not None else "string"
    if _TIME.fullmatch(text):
        return "time" if _parse(datetime.fromisoformat, text) is not None else "string"
    return "string"


def _parse(parser: Callable[[str], Any], text: str) -> Any:
    try:
        return parser(text)
    except ValueError:
        return None


def convert_to_text(value: ox.Literal | str) -> str:
    """Return the text of a value."""
    return value if isinstance(value, str) else value.value


def convert(value: ox.Literal | str, kind: str) -> Value:
    """Return a value converted to the type of its column. The value must fit that type."""
    text = convert_to_text(value)
    if kind == "string":
        return _short(text)
    text = text.strip()
    if kind == "integer":
        return int(text)
    if kind == "number":
        return float(text)
    if kind == "boolean":
        return _BOOLEANS[text]
    if kind == "date":
        return date.fromisoformat(text)
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _make_cell(column: TableColumn, values: Sequence[ox.Literal | str], others: dict[str, list[str]]) -> Any:
    """Return the cell of a row. Values that do not fit the type of the column are added to `others`."""
    kind = column.kind
    fitting = [value for value in values if kind == "string" or kind_of(value) in _FITTING[kind]]
    if len(fitting) < len(values):
        others[column.path] = [convert_to_text(value) for value in values if value not in fitting]
    converted = [convert(value, kind) for value in fitting]
    if column.is_list:
        return converted or None
    return converted[0] if converted else None


def find_coordinates(columns: Iterable[str]) -> tuple[str, str] | None:
    """Return the paths of longitude and latitude, the shortest if there are several."""
    paths = sorted(columns, key=len)
    for path in paths:
        if path.endswith("longitude") and (other := path.removesuffix("longitude") + "latitude") in paths:
            return path, other
    return None


def expand_type(name: str, prefixes: Mapping[str, str]) -> str:
    """Return the IRI of a type as a user writes it: an IRI, a prefixed name, or a name of schema.org.

    >>> expand_type("schema:Product", {"schema": "http://schema.org/"}), expand_type("Product", {})
    ('http://schema.org/Product', 'http://schema.org/Product')
    """
    if "://" in name:
        return name.strip("<>")
    prefix, colon, local = name.partition(":")
    if colon and prefix in prefixes:
        return prefixes[prefix] + local
    return name if colon else NAMESPACES[0] + name

"""Tables of things: one row per thing of a type, with columns for its properties and those of its parts.

The columns follow from the data, or from a profile (`profiles/TYPE.json`) that names the first ones. A first pass over
the things counts how often each property occurs and of which type its values are; a second pass writes the rows. So
memory is bounded by the number of columns and of ids, and not by the values.

A column is a path of properties, such as `name`, `offers.price` or `address.postalCode`. Names of schema.org have no
prefix, others have the usual one (`dcterms:title`). A column has one type (`quality.cell_values`), and is a list if a
thing has several values. If few values do not fit the type of the others, they are in the column `other_values`, so
nothing is lost. If the values have several languages, their tags are in `name@language`; if numbers are written with
currencies, these are in `price@currency`; if dates, times without a zone and times with one are mixed, what each value
was is in `startDate@precision`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec
import pyoxigraph as ox

from motherlode.model.terms import RDF, prefixed_name
from motherlode.quality.cell_values import (
    FITTING,
    Node,
    allows,
    convert,
    kind_of,
    language_of,
    parse_money,
    shorten,
    text_of,
)
from motherlode.quality.things import ListedThing
from motherlode.quality.vocabulary import NAMESPACES, local_name, type_iris

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
_MAX_LANGUAGES = 100
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
    languages: Counter[str] = msgspec.field(default_factory=Counter)
    """Number of values by language, "" for those without."""
    is_list: bool = False

    def count(self, values: Sequence[Node]) -> None:
        """Count the values of one thing."""
        self.things += 1
        self.is_list = self.is_list or len(values) > 1
        self.kinds.update(map(kind_of, values))
        for language in map(language_of, values):
            if language in self.languages or len(self.languages) < _MAX_LANGUAGES:
                self.languages[language] += 1

    @property
    def kind(self) -> str:
        """Type of the values: the narrowest that nearly all of them fit and that the property allows."""
        wanted, name = MIN_TYPE_SHARE * self.kinds.total(), self.path.rpartition(".")[2]
        fitting = (kind for kind, narrower in FITTING.items() if self._count(narrower) >= wanted)
        return next((kind for kind in fitting if allows(name, kind)), "string")

    @property
    def language(self) -> str:
        """The language of the values, if all that have one have the same, else ""."""
        tags = [language for language in self.languages if language]
        return tags[0] if len(tags) == 1 else ""

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of further columns for each value: its language, its currency or its precision."""
        kind = self.kind
        if kind == "money":
            return ("currency",)
        if kind in ("time", "local time"):
            return ("precision",) if any(self.kinds[narrower] for narrower in FITTING[kind] if narrower != kind) else ()
        is_text = kind == "string" and allows(self.path.rpartition(".")[2], "language")
        return ("language",) if is_text and sum(map(bool, self.languages)) > 1 else ()

    def _count(self, kinds: Iterable[str]) -> int:
        return sum(self.kinds[kind] for kind in kinds)


def read_profile(name: str) -> Profile:
    """Return the bundled profile of a type, or an empty one."""
    path = Path(__file__).with_name("profiles") / f"{local_name(name) or name}.json"
    return msgspec.json.decode(path.read_bytes(), type=Profile) if path.exists() else Profile(type=name)


class ThingTable:
    """The table of the things of one type."""

    def __init__(self, quads: Quads, type_iri: str, *, profile: Profile, page_info: Callable[[str], PageInfo]) -> None:
        self._quads = quads
        self._types = dict.fromkeys(type_iris(type_iri))
        self._profile = profile
        self._page_info = page_info
        self.columns: list[TableColumn] = []
        self._plan: list[tuple[TableColumn, str, tuple[str, ...]]] = []
        """The columns with their types and parts, which are costly to determine for each row."""
        self.things = 0

    def find_things(self) -> Iterator[tuple[str, str]]:
        """Yield the term of each thing with each graph that states its type, in N-Triples. Pairs may be repeated."""
        for iri in self._types:
            for quad in self._quads.match(predicate=RDF_TYPE, object_=f"<{iri}>"):
                yield str(quad.subject), str(quad.graph_name)

    def choose_columns(self, things: Iterable[ListedThing]) -> None:
        """Count the properties of the things, and choose the columns and their types."""
        counted: dict[str, TableColumn] = {}
        for thing in things:
            self.things += 1
            for path, values in self._cells(thing).items():
                if path in counted or len(counted) < _MAX_PROPERTIES:
                    counted.setdefault(path, TableColumn(path=path)).count(values)
        wanted = self._profile.columns
        first = [counted[path] for path in wanted if path in counted]
        rest = sorted((c for c in counted.values() if c.path not in wanted), key=lambda c: (-c.things, c.path))
        enough = [column for column in rest if column.things >= self._profile.min_coverage * self.things]
        self.columns = [*first, *enough][:MAX_COLUMNS]
        self._plan = [(column, column.kind, column.parts) for column in self.columns]

    def make_row(self, thing: ListedThing) -> dict[str, Any]:
        """Return the row of a thing, as a dict from the name of a column to its value."""
        cells = self._cells(thing)
        row: dict[str, Any] = dict(zip(SOURCE_COLUMNS, self._source(thing), strict=True))
        others: dict[str, list[str]] = {}
        for column, kind, parts in self._plan:
            row |= _make_cells(column, kind, parts, cells.get(column.path, ()), others)
        row[OTHER_VALUES] = others or None
        return row

    def _source(self, thing: ListedThing) -> tuple[Any, ...]:
        page = thing.graphs[0][1:-1].partition("#graph")[0] if thing.graphs else ""
        info = self._page_info(page)
        return (
            _without_brackets(thing.term),
            page,
            urlsplit(page).netloc,
            list(info.syntaxes),
            info.fetched_at,
            thing.pages,
        )

    def _cells(self, thing: ListedThing) -> dict[str, tuple[Node, ...]]:
        """Return the values of a thing and of its parts, by path."""
        found: _Found = {}
        for graph in thing.graphs:
            self._collect(thing.term, graph, "", self._profile.depth, found, {thing.term})
        return {path: tuple(values.values()) for path, values in found.items()}

    def _collect(self, subject: str, graph: str, prefix: str, depth: int, found: "_Found", above: set[str]) -> None:
        """Add the values of a subject, and those of its parts over `depth` steps. `above` are the things on the way."""
        for quad in self._quads.match(subject=subject, graph=graph):
            if quad.predicate.value == RDF + "type":
                if not prefix:
                    _add(found, "type", _without_brackets(str(quad.object)))
                continue
            path = prefix + column_name(quad.predicate.value)
            if isinstance(quad.object, ox.Literal):
                _add(found, path, quad.object)
                continue
            part = str(quad.object)
            is_part = part not in above and part != graph  # what a page says about itself is not about its things
            if depth > 0 and is_part and (rest := self._find_depth(part, graph, depth - 1)) is not None:
                self._collect(part, graph, f"{path}.", rest, found, {*above, part})
            if not part.startswith("_:"):
                _add(found, path, _without_brackets(part))

    def _find_depth(self, part: str, graph: str, depth: int) -> int | None:
        """Return over how many steps the parts of a part are flattened; None if the page does not describe it.

        A part of the table's own type has a row of its own, so only its own values are flattened.
        """
        is_described = False
        for quad in self._quads.match(subject=part, graph=graph):
            is_described = True
            if quad.predicate.value == RDF + "type" and _without_brackets(str(quad.object)) in self._types:
                return 0
        return depth if is_described else None


def column_name(predicate: str) -> str:
    """Return the name of a property as a part of a column's path, such as `price` in `offers.price`.

    >>> column_name("https://schema.org/price"), column_name("http://purl.org/dc/terms/title")
    ('price', 'dcterms:title')
    """
    return local_name(predicate) or prefixed_name(predicate)


def _without_brackets(term: str) -> str:
    return term[1:-1] if term.startswith("<") else term


_Found = dict[str, dict[str, Node]]
"""Path → text → value. A text that occurs with and without a language is one value."""


def _add(found: _Found, path: str, value: Node) -> None:
    text = text_of(value)
    values = found.get(path, {})
    if not text or (text not in values and len(values) >= _MAX_VALUES):
        return
    if text not in values or (language_of(value) and not language_of(values[text])):
        found.setdefault(path, values)[text] = value if isinstance(value, ox.Literal) else shorten(value)


def _make_cells(
    column: TableColumn, kind: str, parts: Iterable[str], values: Sequence[Node], others: dict[str, list[str]]
) -> dict[str, Any]:
    """Return the cells of a column and of its parts. Values that do not fit its type are added to `others`."""
    fitting = [value for value in values if kind == "string" or kind_of(value) in FITTING[kind]]
    if len(fitting) < len(values):
        others[column.path] = [text_of(value) for value in values if value not in fitting]
    cells: dict[str, list[Any]] = {column.path: [convert(value, kind) for value in fitting]}
    for part in parts:
        cells[f"{column.path}@{part}"] = [_PARTS[part](value) for value in fitting]
    return {name: _unwrap(found, is_list=column.is_list) for name, found in cells.items()}


def _unwrap(values: list[Any], *, is_list: bool) -> Any:
    if is_list:
        return values if any(value is not None for value in values) else None
    return values[0] if values else None


def _currency_of(value: Node) -> str | None:
    found = parse_money(text_of(value))
    return found[1] if found else None


_PARTS: Mapping[str, Callable[[Node], str | None]] = {
    "currency": _currency_of,
    "language": lambda value: language_of(value) or None,
    "precision": kind_of,
}
"""Name of a part of a value → how it is found."""


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

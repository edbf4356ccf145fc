"""Export the store as two Parquet tables: `quads.parquet` (a row per quad) and `pages.parquet` (a row per page)."""

import re
from collections.abc import Collection, Iterator
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyoxigraph as ox

from motherlode.index.export.streams import CountedQuads, Progress, ignore_progress
from motherlode.index.page_record import GRAPH_OF_PAGE, OWN_GRAPHS, PROVENANCE, serialize_term
from motherlode.index.quad_store import QuadStore
from motherlode.model.terms import PREFIXES

_ROWS_PER_GROUP = 50_000
_CHARACTERS_PER_GROUP = 100_000_000
"""A group ends when it has this number of characters, because Arrow limits the text of a column to 2 GB."""

_TEXT, _REQUIRED = pa.string(), {"nullable": False}
QUADS = pa.schema(
    [
        *(pa.field(name, _TEXT, **_REQUIRED) for name in ("subject", "predicate", "object", "object_kind")),
        *(pa.field(name, _TEXT) for name in ("datatype", "language")),
        *(pa.field(name, _TEXT, **_REQUIRED) for name in ("graph", "page")),
    ]
)
"""IRIs have no angle brackets, blank nodes are `_:label`. `object_kind` is iri, blank, literal or triple."""

_PROBLEM = pa.struct(
    [
        pa.field("line", pa.int32()),
        pa.field("column", pa.int32()),
        pa.field("syntax", _TEXT),
        pa.field("message", _TEXT),
        pa.field("repaired", pa.bool_()),
    ]
)
PAGES = pa.schema(
    [
        pa.field("url", _TEXT, **_REQUIRED),
        pa.field("fetched_at", pa.timestamp("ms", tz="UTC")),
        pa.field("status", pa.int32()),
        pa.field("size", pa.int64()),
        pa.field("media_type", _TEXT),
        pa.field("kind", _TEXT),
        pa.field("syntaxes", pa.list_(_TEXT), **_REQUIRED),
        *(pa.field(name, _TEXT) for name in ("content_hash", "referrer", "redirects_to", "run")),
        *(pa.field(name, pa.list_(_TEXT), **_REQUIRED) for name in ("reserved", "permitted")),
        *(pa.field(name, _TEXT) for name in ("failure", "detail")),
        pa.field("relevant", pa.bool_(), **_REQUIRED),
        pa.field("score", pa.float64()),
        pa.field("seconds", pa.float64()),
        pa.field("problems", pa.list_(_PROBLEM), **_REQUIRED),
    ]
)
"""A row per requested URL. `failure` is its kind, and null if there is a page or a redirect."""

_ML = PREFIXES["ml"]
_OWN_GRAPHS = frozenset(map(ox.NamedNode, OWN_GRAPHS))
_COLUMNS = {
    PREFIXES["prov"] + "generatedAtTime": "fetched_at",
    _ML + "status": "status",
    _ML + "size": "size",
    PREFIXES["dcterms"] + "format": "media_type",
    _ML + "kind": "kind",
    _ML + "contentHash": "content_hash",
    _ML + "referrer": "referrer",
    _ML + "redirectsTo": "redirects_to",
    PREFIXES["prov"] + "wasGeneratedBy": "run",
    _ML + "state": "state",
    _ML + "reason": "failure",
    _ML + "detail": "detail",
    _ML + "relevant": "relevant",
    _ML + "score": "score",
    _ML + "seconds": "seconds",
}
_LISTS = {
    _ML + "syntax": "syntaxes",
    _ML + "reserved": "reserved",
    _ML + "permitted": "permitted",
    _ML + "problem": "problems",
}
_CONVERTERS: dict[str, Any] = {
    "fetched_at": datetime.fromisoformat,
    "status": int,
    "size": int,
    "relevant": lambda text: text == "true",
    "score": float,
    "seconds": float,
}
_PROBLEM_TEXT = re.compile(r"(?:-|(\d+):(\d+)) ([^ :]+)( \(repaired\))?: (.*)", re.DOTALL)
"""A value of `ml:problem`, as `page_record.format_problem` writes it."""


def export_parquet(
    store: QuadStore, folder: Path, progress: Progress = ignore_progress, *, without: Collection[str] = ()
) -> tuple[int, int]:
    """Write `quads.parquet`, without the statements of some pages, and `pages.parquet`. Return the numbers of rows."""
    folder.mkdir(parents=True, exist_ok=True)
    of_pages = (quad for quad in store.quads(without=without) if quad.graph_name not in _OWN_GRAPHS)
    quads = CountedQuads(of_pages, progress)
    _write(folder / "quads.parquet", QUADS, (_quad_row(quad) for quad in quads))
    return quads.count, _write(folder / "pages.parquet", PAGES, _page_rows(store))


def _write(path: Path, schema: pa.Schema, rows: Iterator[tuple[Any, ...]]) -> int:
    count = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for group in _groups(rows):
            columns = zip(*group, strict=True)
            arrays = [pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
            count += len(group)
    return count


def _groups(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    group: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        group.append(row)
        size += sum(len(value) for value in row if isinstance(value, str))
        if len(group) >= _ROWS_PER_GROUP or size >= _CHARACTERS_PER_GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


def _quad_row(quad: ox.Quad) -> tuple[str | None, ...]:
    graph = str(quad.graph_name)[1:-1]  # the graph of a page is always an IRI
    subject = quad.subject.value if isinstance(quad.subject, ox.NamedNode) else str(quad.subject)
    term, datatype, language = quad.object, None, None
    if isinstance(term, ox.Literal):
        direction = f"--{term.direction}" if term.direction is not None else ""
        value, kind, datatype = term.value, "literal", term.datatype.value
        language = term.language and term.language + direction
    elif isinstance(term, ox.NamedNode):
        value, kind = term.value, "iri"
    else:
        value, kind = serialize_term(term), "triple" if isinstance(term, ox.Triple) else "blank"
    return (subject, quad.predicate.value, value, kind, datatype, language, graph, graph.partition(GRAPH_OF_PAGE)[0])


def _page_rows(store: QuadStore) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each subject of the provenance that was requested. The store returns quads sorted by subject."""
    quads = store.match(graph=f"<{PROVENANCE}>")
    for subject, group in groupby(quads, key=lambda quad: quad.subject):
        row: dict[str, Any] = {"url": subject.value, "relevant": False} | {column: [] for column in _LISTS.values()}
        is_page = False
        for quad in group:
            name = quad.predicate.value
            if not isinstance(quad.object, ox.Literal | ox.NamedNode):
                continue
            if (column := _COLUMNS.get(name)) is not None:
                row[column] = _CONVERTERS.get(column, str)(quad.object.value)
            elif (column := _LISTS.get(name)) is not None:
                row[column].append(quad.object.value)
            is_page = is_page or (isinstance(quad.object, ox.NamedNode) and quad.object.value == _ML + "Page")
        if is_page or row.get("state") == "failed":
            for column in _LISTS.values():
                row[column].sort()
            row["problems"] = sorted(map(_parse_problem, row["problems"]), key=_order_of_problem)
            yield tuple(row.get(field.name) for field in PAGES)


def _order_of_problem(problem: dict[str, Any]) -> tuple[int, int]:
    return problem["line"] or 0, problem["column"] or 0


def _parse_problem(text: str) -> dict[str, Any]:
    """Return the fields of a value of `ml:problem`. An unknown form is a message without a position."""
    match = _PROBLEM_TEXT.fullmatch(text)
    line, column, syntax, repaired, message = match.groups() if match is not None else ("", "", "", "", text)
    return {
        "line": int(line) if line else None,
        "column": int(column) if column else None,
        "syntax": syntax,
        "message": message,
        "repaired": bool(repaired),
    }

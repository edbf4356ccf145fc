"""A trace: pages, links and labels of a recorded web as Parquet files in a folder, a set of parts for each source.

`PART.pages.parquet` has a row for each response (url, status, kind, size, redirect, statements by syntax, types),
`PART.links.parquet` a row for each link with all its properties and the row number of its page, `PART.facts.parquet`
the page's statements as N-Triples, which only targets by type or query read. `trace.json` names the version and the
parts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from motherlode.model import Link, LinkSource

VERSION = 1
_MANIFEST = "trace.json"

PAGES = pa.schema(
    [
        ("url", pa.string()),
        ("status", pa.int16()),
        ("failure", pa.string()),
        ("kind", pa.string()),
        ("size", pa.int32()),
        ("location", pa.string()),
        ("counts", pa.map_(pa.string(), pa.int32())),
        ("types", pa.list_(pa.string())),
    ]
)
LINKS = pa.schema(
    [
        ("page", pa.int32()),
        ("url", pa.string()),
        ("source", pa.dictionary(pa.int8(), pa.string())),
        ("anchor", pa.string()),
        ("rel", pa.string()),
        ("type", pa.string()),
        ("title", pa.string()),
        ("context", pa.string()),
        ("tag_path", pa.string()),
        ("predicate", pa.string()),
        ("nofollow", pa.bool_()),
    ]
)
FACTS = pa.schema([("page", pa.int32()), ("ntriples", pa.binary())])


@dataclass(frozen=True, slots=True, kw_only=True)
class TracePage:
    """One row of the pages table."""

    url: str
    status: int
    failure: str = ""
    """The value of a FailureKind; empty for a page."""
    kind: str = ""
    size: int = 0
    location: str = ""
    counts: dict[str, int]
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one source has given, as the manifest tells it."""

    name: str
    source: str
    fingerprint: str
    """Changes when the source does, so that a part is made again only if it must be."""
    pages: int
    links: int
    broken: int


class TraceError(ValueError):
    """A trace that cannot be used; the message says what to do."""


class PartWriter:
    """Writes the three tables of a part; they appear under their names only when all is written."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._rows: dict[str, dict[str, list[Any]]] = {}
        self._writers = {
            table: pq.ParquetWriter(self._path(table, unfinished=True), schema, compression="zstd")
            for table, schema in (("pages", PAGES), ("links", LINKS), ("facts", FACTS))
        }
        self._schemas = {"pages": PAGES, "links": LINKS, "facts": FACTS}
        self._clear()
        self.pages = 0
        self.links = 0

    def _path(self, table: str, *, unfinished: bool = False) -> Path:
        return self._folder / f"{self._name}.{table}.parquet{'.part' if unfinished else ''}"

    def _clear(self) -> None:
        self._rows = {table: {name: [] for name in schema.names} for table, schema in self._schemas.items()}

    def add(self, page: TracePage, links: Sequence[Link], ntriples: bytes) -> None:
        rows = self._rows["pages"]
        for name in ("url", "status", "failure", "kind", "size", "location"):
            rows[name].append(getattr(page, name))
        rows["counts"].append(list(page.counts.items()))
        rows["types"].append(list(page.types))
        table = self._rows["links"]
        for link in links:
            table["page"].append(self.pages)
            table["source"].append(link.source.value)
            for name in ("url", "anchor", "rel", "type", "title", "context", "tag_path", "predicate", "nofollow"):
                table[name].append(getattr(link, name))
        if ntriples:
            self._rows["facts"]["page"].append(self.pages)
            self._rows["facts"]["ntriples"].append(ntriples)
        self.pages += 1
        self.links += len(links)
        if self.pages % 2000 == 0:
            self._write()

    def _write(self) -> None:
        for table, schema in self._schemas.items():
            self._writers[table].write_table(pa.table(self._rows[table], schema=schema))
        self._clear()

    def finish(self) -> None:
        self._write()
        for table, writer in self._writers.items():
            writer.close()
            self._path(table, unfinished=True).rename(self._path(table))

    def abandon(self) -> None:
        for table, writer in self._writers.items():
            writer.close()
            self._path(table, unfinished=True).unlink(missing_ok=True)


def read_parts(folder: Path) -> list[Part]:
    """The parts of a trace; none where the folder is new."""
    path = folder / _MANIFEST
    if not path.exists():
        return []
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        version = manifest["version"]
        parts = [Part(**part) for part in manifest["parts"]] if version == VERSION else []
    except (ValueError, KeyError, TypeError) as error:
        raise TraceError(f"{path} is not the manifest of a trace: {error}") from error
    if version != VERSION:
        raise TraceError(
            f"{folder} is a trace of version {version}, but {VERSION} is needed: make it again with `motherlode record`"
        )
    return parts


def write_parts(folder: Path, parts: Sequence[Part]) -> None:
    manifest = {
        "version": VERSION,
        "parts": [{name: getattr(part, name) for name in part.__slots__} for part in parts],
    }
    unfinished = folder / f"{_MANIFEST}.part"
    unfinished.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    unfinished.rename(folder / _MANIFEST)


@dataclass(frozen=True, slots=True)
class TraceRow:
    """A page of a trace with its links."""

    page: TracePage
    links: list[Link]


def read_trace(folder: Path) -> Iterator[TraceRow]:
    """Every page of every part, in order."""
    parts = read_parts(folder)
    if not parts:
        raise TraceError(f"{folder} holds no trace: make one with `motherlode record FILE.warc.gz -o {folder}`")
    for part in parts:
        pages = pq.read_table(folder / f"{part.name}.pages.parquet").to_pydict()
        links = _links_by_page(folder / f"{part.name}.links.parquet", len(pages["url"]))
        for row in range(len(pages["url"])):
            page = TracePage(
                url=pages["url"][row],
                status=pages["status"][row],
                failure=pages["failure"][row],
                kind=pages["kind"][row],
                size=pages["size"][row],
                location=pages["location"][row],
                counts=dict(pages["counts"][row]),
                types=tuple(pages["types"][row]),
            )
            yield TraceRow(page, links[row])


_SOURCES = {source.value: source for source in LinkSource}


def _links_by_page(path: Path, pages: int) -> list[list[Link]]:
    found: list[list[Link]] = [[] for _ in range(pages)]
    file = pq.ParquetFile(path)
    for batch in file.iter_batches(batch_size=50_000):
        columns = [batch.column(name).to_pylist() for name in LINKS.names]
        for page, url, source, anchor, rel, kind, title, context, tag_path, predicate, nofollow in zip(
            *columns, strict=True
        ):
            found[page].append(
                Link(
                    url=url,
                    source=_SOURCES[source],
                    anchor=anchor,
                    rel=rel,
                    type=kind,
                    title=title,
                    context=context,
                    tag_path=tag_path,
                    predicate=predicate,
                    nofollow=nofollow,
                )
            )
    return found


def read_facts(folder: Path) -> Iterator[tuple[int, bytes]]:
    """Row number over all parts, and the statements of that page as N-Triples."""
    before = 0
    for part in read_parts(folder):
        for batch in pq.ParquetFile(folder / f"{part.name}.facts.parquet").iter_batches(batch_size=1000):
            for page, ntriples in zip(
                batch.column("page").to_pylist(), batch.column("ntriples").to_pylist(), strict=True
            ):
                yield before + page, ntriples
        before += part.pages

"""A trace: pages, links and labels of a recorded web as Parquet files in a folder, a set of parts for each source.

`PART.pages.parquet` has a row for each response (url, status, kind, size, redirect, statements by syntax, types),
`PART.links.parquet` a row for each link with all its properties and the row number of its page, `PART.facts.parquet`
the page's statements as N-Triples, which only targets by type or query read. `trace.json` names the version and the
parts.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from motherlode.model import Link

VERSION = 4
_READABLE = frozenset({2, 3, VERSION})
"""Versions that can be read. Links of version 2 have no `element_ids`. Links of version 3 have no `properties` and
`sibling_groups`, and its pages no `content_type`. What is missing is empty."""
_MANIFEST = "trace.json"
_ROWS = 2000
"""Number of pages that are collected in memory before they are written to disk."""

PAGES = pa.schema(
    {
        "url": pa.string(),
        "status": pa.int16(),
        "failure": pa.string(),
        "kind": pa.string(),
        "content_type": pa.string(),
        "size": pa.int32(),
        "location": pa.string(),
        "counts": pa.map_(pa.string(), pa.int32()),
        "types": pa.list_(pa.string()),
    }
)
_TEXTS = ("anchor", "rel", "type", "title", "context", "tag_path", "element_ids", "predicate")
_LISTS = ("properties", "sibling_groups")
"""Columns with lists, each stored as one space-separated string: most are empty, and many links share the same one."""
LINKS = pa.schema(
    [
        ("page", pa.int32()),
        ("url", pa.string()),
        ("source", pa.dictionary(pa.int8(), pa.string())),
        *((name, pa.string()) for name in (*_TEXTS, *_LISTS)),
        ("nofollow", pa.bool_()),
    ]
)
FACTS = pa.schema([("page", pa.int32()), ("ntriples", pa.binary())])


class TracePage(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table of pages."""

    url: str
    status: int
    failure: str = ""
    """Value of the `FailureKind`. Empty for a page."""
    kind: str = ""
    content_type: str = ""
    """The Content-Type header."""
    size: int = 0
    location: str = ""
    counts: dict[str, int]
    types: tuple[str, ...] = ()


class TracePart(msgspec.Struct, frozen=True, kw_only=True):
    """The tables of one source, as listed in the manifest."""

    name: str
    source: str
    fingerprint: str
    """Fingerprint of the source. A part is made again only if this value changes."""
    pages: int
    links: int
    broken: int


class _Version(msgspec.Struct, frozen=True, kw_only=True):
    version: int


class _Manifest(_Version, frozen=True, kw_only=True):
    parts: list[TracePart]


class TraceError(ValueError):
    """The trace cannot be used. The message says what to do."""


_SCHEMAS = {"pages": PAGES, "links": LINKS, "facts": FACTS}


class PartWriter:
    """Writes the three tables of a part. The files get their final names only when all three are complete."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self.name = folder, name
        self._rows = self._no_rows()
        self._writers = {
            table: pq.ParquetWriter(self._path(table, unfinished=True), schema, compression="zstd")
            for table, schema in _SCHEMAS.items()
        }
        self.pages = 0
        self.links = 0

    def _path(self, table: str, *, unfinished: bool = False) -> Path:
        return self._folder / f"{self.name}.{table}.parquet{f'.{os.getpid()}.part' if unfinished else ''}"

    @staticmethod
    def _no_rows() -> dict[str, dict[str, list[Any]]]:
        return {table: {name: [] for name in schema.names} for table, schema in _SCHEMAS.items()}

    def add(self, page: TracePage, links: Sequence[Link], ntriples: bytes) -> None:
        rows = self._rows["pages"]
        for name in ("url", "status", "failure", "kind", "content_type", "size", "location"):
            rows[name].append(getattr(page, name))
        rows["counts"].append(list(page.counts.items()))
        rows["types"].append(list(page.types))
        table = self._rows["links"]
        for link in links:
            table["page"].append(self.pages)
            table["source"].append(link.source.value)
            for name in ("url", *_TEXTS, "nofollow"):
                table[name].append(getattr(link, name))
            for name in _LISTS:
                table[name].append(" ".join(map(str, getattr(link, name))))
        if ntriples:
            self._rows["facts"]["page"].append(self.pages)
            self._rows["facts"]["ntriples"].append(ntriples)
        self.pages += 1
        self.links += len(links)
        if self.pages % _ROWS == 0:
            self._write()

    def _write(self) -> None:
        for table, schema in _SCHEMAS.items():
            self._writers[table].write_table(pa.table(self._rows[table], schema=schema))
        self._rows = self._no_rows()

    def finish(self) -> None:
        self._write()
        for table, writer in self._writers.items():
            writer.close()
            self._path(table, unfinished=True).rename(self._path(table))

    def abandon(self) -> None:
        for table, writer in self._writers.items():
            writer.close()
            self._path(table, unfinished=True).unlink(missing_ok=True)


def read_parts(folder: Path) -> list[TracePart]:
    """Return the parts of a trace. The result is empty for a new folder."""
    path = folder / _MANIFEST
    if not path.exists():
        return []
    try:
        version = msgspec.json.decode(path.read_bytes(), type=_Version).version
        if version in _READABLE:
            return msgspec.json.decode(path.read_bytes(), type=_Manifest).parts
    except ValueError as error:
        raise TraceError(f"{path} is not the manifest of a trace: {error}") from error
    raise TraceError(
        f"{folder} is a trace of version {version}, but {VERSION} is needed: make it again with `motherlode record`"
    )


def write_parts(folder: Path, parts: Sequence[TracePart]) -> None:
    manifest = msgspec.json.encode(_Manifest(version=VERSION, parts=list(parts)))
    unfinished = folder / f"{_MANIFEST}.part"
    unfinished.write_bytes(msgspec.json.format(manifest, indent=1) + b"\n")
    unfinished.rename(folder / _MANIFEST)


def tidy(folder: Path, parts: Sequence[TracePart]) -> None:
    """Remove tables that no part needs: those of changed sources and those left by a killed process."""
    needed = {f"{part.name}.{table}.parquet" for part in parts for table in _SCHEMAS}
    for path in folder.glob("*.parquet*"):
        writer = path.name.removesuffix(".part").rpartition(".")[2]
        if path.name in needed or (path.suffix == ".part" and writer.isdigit() and _runs(int(writer))):
            continue
        path.unlink(missing_ok=True)


def remove_trace(folder: Path) -> None:
    """Remove the manifest and all tables of a trace, except those that another process is writing."""
    (folder / _MANIFEST).unlink(missing_ok=True)
    tidy(folder, ())


def _runs(process: int) -> bool:
    with contextlib.suppress(OSError):
        os.kill(process, 0)
        return process != os.getpid()
    return False


def existing_parts(folder: Path) -> list[TracePart]:
    parts = read_parts(folder)
    if not parts:
        raise TraceError(f"{folder} holds no trace: make one with `motherlode record FILE.warc.gz -o {folder}`")
    return parts


def read_table(folder: Path, part: TracePart, table: str, *, shared: Sequence[str] = ()) -> pa.Table:
    """Read one table of a part. Columns in `shared` hold each distinct text once."""
    path = folder / f"{part.name}.{table}.parquet"
    try:
        return _complete(pq.read_table(path, read_dictionary=list(shared)), table, shared)
    except (OSError, pa.ArrowInvalid) as error:
        reason = str(error).partition("\n")[0][:200]
        raise TraceError(f"{path} cannot be read ({reason}): make the trace again with `motherlode record`") from error


def _complete(read: pa.Table, table: str, shared: Sequence[str]) -> pa.Table:
    """Add the columns that older versions lack, with empty texts."""
    for name in _SCHEMAS[table].names:
        if name not in read.column_names:
            texts = pa.array([""] * read.num_rows, pa.string())
            read = read.append_column(name, texts.dictionary_encode() if name in shared else texts)
    return read


def read_facts(folder: Path, part: TracePart) -> Iterator[tuple[int, bytes]]:
    """Yield the row number of each page in its part, and its statements as N-Triples."""
    for batch in pq.ParquetFile(folder / f"{part.name}.facts.parquet").iter_batches(batch_size=1000):
        yield from zip(batch.column("page").to_pylist(), batch.column("ntriples").to_pylist(), strict=True)

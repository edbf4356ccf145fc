"""A trace: pages, links and labels of a recorded web as tables in a folder, a set of parts for each source.

`PART.pages.zst` has a row for each response (url, status, kind, size, redirect, statements by syntax, types),
`PART.links.zst` a row for each link with all its properties, and `PART.facts.zst` the page's statements as N-Triples,
which only targets by type or query read. `trace.json` names the version and the parts. `tables` defines the files.

Versions 2 to 4 were Parquet files. Such a trace is converted in its place when it is opened (`parquet_traces`).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from motherlode.model import Link
from motherlode.sim.trace.tables import (
    DamagedTableError,
    LinkChunkBuilder,
    LinkTable,
    TableWriter,
    read_chunks,
    read_links,
)

VERSION = 6
READ_VERSIONS = frozenset({5, VERSION})
"""Versions that are read as they are. Links of version 5 have no `modified`, which is then None."""
PARQUET_VERSIONS = frozenset({2, 3, 4})
"""Versions whose tables are Parquet files. Links of version 2 have no `element_ids`. Links of version 3 have no
`properties` and `sibling_groups`, and its pages no `content_type`. Missing columns are read as empty values."""
_MANIFEST = "trace.json"
_CHUNK_PAGES = 2000
"""Number of pages that are collected in memory before they are written to disk."""
TABLES = ("pages", "links", "facts")


class TracePage(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
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


_PageStatements = tuple[int, bytes]
"""Row number of a page in its part, and its statements as N-Triples."""


class PartWriter:
    """Writes the three tables of a part. The files get their final names only when all three are complete."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self.name = folder, name
        self._writers = {table: TableWriter(self._path(table, unfinished=True)) for table in TABLES}
        self._pages: list[TracePage] = []
        self._links = LinkChunkBuilder()
        self._statements: list[_PageStatements] = []
        self.pages = 0
        self.links = 0

    def _path(self, table: str, *, unfinished: bool = False) -> Path:
        path = table_path(self._folder, self.name, table)
        return path.with_name(f"{path.name}.{os.getpid()}.part") if unfinished else path

    def add(self, page: TracePage, links: Sequence[Link], ntriples: bytes) -> None:
        self._pages.append(page)
        self._links.add(links)
        if ntriples:
            self._statements.append((self.pages, ntriples))
        self.pages += 1
        self.links += len(links)
        if self.pages % _CHUNK_PAGES == 0:
            self._write()

    def _write(self) -> None:
        self._writers["pages"].write(self._pages)
        self._writers["links"].write(self._links.finish())
        self._writers["facts"].write(self._statements)
        self._pages, self._statements = [], []

    def finish(self) -> None:
        self._write()
        for table, writer in self._writers.items():
            writer.finish()
            self._path(table, unfinished=True).rename(self._path(table))

    def abandon(self) -> None:
        for table, writer in self._writers.items():
            writer.close()
            self._path(table, unfinished=True).unlink(missing_ok=True)


def table_path(folder: Path, part: str, table: str) -> Path:
    """Return the path of a table's file."""
    return folder / f"{part}.{table}.zst"


def read_parts(folder: Path) -> list[TracePart]:
    """Return the parts of a trace. The result is empty for a new folder. A trace of Parquet files is converted."""
    path = folder / _MANIFEST
    if not path.exists():
        return []
    try:
        version = msgspec.json.decode(path.read_bytes(), type=_Version).version
        parts = [] if version not in READ_VERSIONS | PARQUET_VERSIONS else _decode_parts(path)
    except ValueError as error:
        raise TraceError(f"{path} is not the manifest of a trace: {error}") from error
    if version in PARQUET_VERSIONS:
        from motherlode.sim.trace.parquet_traces import convert  # only old traces need it

        convert(folder, parts)
    elif version not in READ_VERSIONS:
        raise TraceError(
            f"{folder} is a trace of version {version}, but {VERSION} is needed: make it again with `motherlode record`"
        )
    return parts


def _decode_parts(path: Path) -> list[TracePart]:
    return msgspec.json.decode(path.read_bytes(), type=_Manifest).parts


def write_parts(folder: Path, parts: Sequence[TracePart]) -> None:
    manifest = msgspec.json.encode(_Manifest(version=VERSION, parts=list(parts)))
    unfinished = folder / f"{_MANIFEST}.part"
    unfinished.write_bytes(msgspec.json.format(manifest, indent=1) + b"\n")
    unfinished.rename(folder / _MANIFEST)


def tidy(folder: Path, parts: Sequence[TracePart]) -> None:
    """Remove tables that no part needs: those of changed sources and those left by a killed process."""
    needed = {table_path(folder, part.name, table).name for part in parts for table in TABLES}
    for path in (*folder.glob("*.parquet*"), *folder.glob("*.zst*")):
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


def read_pages(folder: Path, part: TracePart) -> list[TracePage]:
    """Read the rows of the pages of a part."""
    with _naming(table_path(folder, part.name, "pages")) as path:
        return [page for chunk in read_chunks(path, list[TracePage]) for page in chunk]


def read_link_table(folder: Path, part: TracePart) -> LinkTable:
    """Read the links of a part."""
    with _naming(table_path(folder, part.name, "links")) as path:
        return read_links(path)


def read_statements(folder: Path, part: TracePart) -> Iterator[_PageStatements]:
    """Yield the row number of each page in its part, and its statements as N-Triples."""
    with _naming(table_path(folder, part.name, "facts")) as path:
        for chunk in read_chunks(path, list[_PageStatements]):
            yield from chunk


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[Path]:
    """Turn the errors of reading a file into TraceError, with a message that says what to do."""
    try:
        yield path
    except (OSError, DamagedTableError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TraceError(f"{path} cannot be read ({reason}): make the trace again with `motherlode record`") from error

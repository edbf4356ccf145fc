"""The page with the table of a type, and its downloads as CSV, JSON lines, Parquet and SQLite."""

import asyncio
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from io import SEEK_END
from pathlib import Path
from typing import Any

from aiohttp import web

from motherlode.crawler.crawl_table import CrawlTable, TableError, open_table
from motherlode.crawler.folder import CrawlFolder
from motherlode.index.export.table_files import Column, TableFormat, format_duration
from motherlode.index.query.query_pool import QueryFailure, QueryPool, Row, select
from motherlode.model.terms import prefixed_name
from motherlode.quality.tables import OTHER_VALUES, SOURCE_COLUMNS
from motherlode.quality.vocabulary import NAMESPACES
from motherlode.runtime import MissingExtraError
from motherlode.serve.pages import render, render_error

_TYPES = "SELECT ?type (COUNT(?s) AS ?n) { ?s a ?type } GROUP BY ?type ORDER BY DESC(?n) ?type LIMIT 500"
_ROWS_PER_PAGE = 50
_SHOWN_COLUMNS = 8
"""Number of columns that are shown if the request names none."""
_SAMPLE = 10_000
"""Number of things from which the columns of the page are chosen. A download reads all things."""
_MAX_OPEN = 3
_FRESH_SECONDS = 30.0
"""A table is read again after this time if the store has changed."""
_CHUNK_BYTES = 1 << 16
_MEDIA_TYPES: Mapping[TableFormat, str] = {
    "csv": "text/csv",
    "json": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
    "sqlite": "application/vnd.sqlite3",
}
_ENDINGS: Mapping[TableFormat, str] = {"csv": "csv", "json": "jsonl", "parquet": "parquet", "sqlite": "db"}


@dataclass(frozen=True, slots=True)
class TableRequest:
    """The parameters of the page: type, columns and first row."""

    type: str = ""
    distinct: bool = False
    offset: int = 0
    columns: tuple[str, ...] = ()

    @classmethod
    def from_query(cls, query: Any) -> "TableRequest":
        """Read the parameters of a URL."""
        number = query.get("offset", "")
        offset = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
        is_distinct = query.get("distinct", "") not in ("", "0")
        return cls(query.get("type", "")[:2_000], is_distinct, offset, tuple(query.getall("column", ())))


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as the page shows it."""

    texts: tuple[str, ...]
    is_link: bool = False
    is_number: bool = False


class OpenTables:
    """The tables that were asked for last. They stay open, because their columns and clusters are costly to find."""

    def __init__(self, folder: CrawlFolder) -> None:
        self._folder = folder
        self._open: dict[tuple[str, bool], tuple[float, int, CrawlTable, ExitStack]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def borrow(self, type_: str, *, distinct: bool) -> Iterator[CrawlTable]:
        """Yield a table. One thread at a time has one."""
        key = type_, distinct
        with self._lock:
            opened_at, version, table, _ = self._open.get(key) or self._add(key)
            if time.monotonic() - opened_at > _FRESH_SECONDS and version != self._version():
                self._open.pop(key)[3].close()
                table = self._add(key)[2]
            self._open[key] = self._open.pop(key)  # the last one is the newest
            yield table

    def _add(self, key: tuple[str, bool]) -> tuple[float, int, CrawlTable, ExitStack]:
        resources, version = ExitStack(), self._version()
        opened = open_table(self._folder, key[0], distinct=key[1], sample=_SAMPLE)
        made = time.monotonic(), version, resources.enter_context(opened), resources
        self._open[key] = made
        while len(self._open) > _MAX_OPEN:
            self._open.pop(next(iter(self._open)))[3].close()
        return made

    def _version(self) -> int:
        """Return a number that changes when the store gets new files."""
        return self._folder.store.stat().st_mtime_ns


class TablePages:
    """The routes of tables."""

    def __init__(self, folder: CrawlFolder, pool: QueryPool, *, seconds: float) -> None:
        self._folder = folder
        self._pool = pool
        self._seconds = seconds
        self._tables = OpenTables(folder)

    def routes(self) -> list[web.RouteDef]:
        downloads = (web.get(f"/table.{ending}", partial(self._send, form)) for form, ending in _ENDINGS.items())
        return [web.get("/table", self._show), *downloads]

    async def _show(self, request: web.Request) -> web.Response:
        chosen = TableRequest.from_query(request.query)
        try:
            types = merge_types((await select(self._pool, _TYPES, seconds=self._seconds)).rows)
            status, text = await asyncio.to_thread(self._render, chosen, types)
        except QueryFailure as failed:
            status, text = failed.status, render_error("Error", str(failed))
        except TableError as error:
            status, text = 404, render_error("No such type", str(error))
        except OSError as error:  # the crawl has no store yet, or it is damaged
            status, text = 503, render_error("Error", str(error))
        return web.Response(status=status, text=text, content_type="text/html")

    def _render(self, chosen: TableRequest, types: Sequence[tuple[str, int]]) -> tuple[int, str]:
        if not chosen.type:
            return 200, render("table.html", title="Table", types=types, chosen=chosen, table=None)
        with self._tables.borrow(chosen.type, distinct=chosen.distinct) as table:
            names = [column.name for column in table.columns]
            shown = choose_columns(table.columns, chosen.columns)
            rows = list(table.rows(offset=chosen.offset, limit=_ROWS_PER_PAGE))
        text = render(
            "table.html",
            title=f"{prefixed_name(chosen.type)} · Table",
            types=types,
            chosen=chosen,
            table=table,
            names=names,
            shown=shown,
            rows=[(row, [make_cell(row.get(column.name), column.kind) for column in shown]) for row in rows],
            last=chosen.offset + len(rows),
            page_size=_ROWS_PER_PAGE,
            formats=_ENDINGS.values(),
        )
        return (200 if table.count else 404), text

    async def _send(self, form: TableFormat, request: web.Request) -> web.StreamResponse:
        """Write the table to a temporary file and send it."""
        chosen = TableRequest.from_query(request.query)
        if not chosen.type:
            return web.Response(status=400, text="name a type: ?type=schema:Product\n")
        with tempfile.TemporaryDirectory(prefix="motherlode-table-") as folder:
            path = Path(folder) / f"table.{_ENDINGS[form]}"
            try:
                await asyncio.to_thread(self._write, chosen, path, form)
            except (TableError, MissingExtraError) as error:
                return web.Response(status=400, text=f"{error}\n")
            except OSError as error:  # the crawl has no store yet, or it is damaged
                return web.Response(status=503, text=f"{error}\n")
            return await _stream(request, path, _MEDIA_TYPES[form], f"{file_name(chosen.type)}{path.suffix}")

    def _write(self, chosen: TableRequest, path: Path, form: TableFormat) -> None:
        with open_table(self._folder, chosen.type, distinct=chosen.distinct) as table:
            table.write(path, form=form)


async def _stream(request: web.Request, path: Path, media_type: str, name: str) -> web.StreamResponse:
    headers = {"Content-Type": media_type, "Content-Disposition": f'attachment; filename="{name}"'}
    response = web.StreamResponse(headers=headers)
    with path.open("rb") as file:
        response.content_length = file.seek(0, SEEK_END)
        file.seek(0)
        await response.prepare(request)
        while chunk := await asyncio.to_thread(file.read, _CHUNK_BYTES):
            await response.write(chunk)
    await response.write_eof()
    return response


def merge_types(rows: Sequence[Row]) -> list[tuple[str, int]]:
    """Return types with their numbers, most first. Those of schema.org with http and https are one."""
    counts: dict[str, int] = {}
    for row in rows:
        if "type" in row:
            iri = row["type"].value.replace(NAMESPACES[1], NAMESPACES[0], 1)
            counts[iri] = counts.get(iri, 0) + int(row["n"].value)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def choose_columns(columns: Sequence[Column], wanted: Sequence[str]) -> list[Column]:
    """Return the columns to show: the wanted ones, or the first ones of the properties. The source has its own."""
    if wanted:
        return [column for column in columns if column.name in wanted]
    apart = {*SOURCE_COLUMNS, OTHER_VALUES, "type", "source_things"}
    return [column for column in columns if column.name not in apart and "@" not in column.name][:_SHOWN_COLUMNS]


def make_cell(value: Any, kind: str) -> Cell:
    """Return a value as the page shows it."""
    values = value if isinstance(value, list) else [] if value is None else [value]
    plain = kind.removeprefix("list of ")
    return Cell(tuple(map(_show, values)), plain == "url", plain in ("integer", "number"))


def _show(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}{' UTC' if value.tzinfo else ''}"
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, date):
        return value.isoformat()
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)


def file_name(type_: str) -> str:
    """Return the name of a download without its ending.

    >>> file_name("http://schema.org/Product"), file_name('http://a.example/x?"')
    ('Product', 'table')
    """
    name = type_.rstrip("/#").replace("#", "/").replace(":", "/").rpartition("/")[2]
    return name if name.isascii() and name.isidentifier() else "table"

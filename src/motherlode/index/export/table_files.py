"""Tables as files: CSV, JSON lines, SQLite and Parquet, written row by row.

Values are str, int, float, bool, datetime, date, timedelta, list and dict. In CSV and SQLite, lists and dicts are JSON
texts. Durations are texts of ISO 8601, such as PT1H30M, except in Parquet.
"""

import csv
import json
import sqlite3
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

from motherlode.runtime import import_extra

TableFormat = Literal["csv", "json", "sqlite", "parquet"]
TABLE_SUFFIXES: dict[str, TableFormat] = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".db": "sqlite",
    ".sqlite": "sqlite",
}
"""Formats by the suffix of a file name."""
Row = Sequence[Any]
_ROWS_PER_GROUP = 10_000


class Column:
    """A column: its name, and the type of its values in Parquet and SQLite."""

    __slots__ = ("kind", "metadata", "name")

    def __init__(self, name: str, kind: str = "string", metadata: Mapping[str, str] | None = None) -> None:
        """Set the fields. `metadata` is written to Parquet files.

        `kind` is string, url, integer, number, boolean, date, time (in UTC), local time (without a zone), duration, a
        list of one of them, or json (any other value).
        """
        self.name = name
        self.kind = kind
        self.metadata = metadata


_SQLITE_TYPES = {"integer": "INTEGER", "number": "REAL", "boolean": "INTEGER"}


def write_table(
    columns: Sequence[Column],
    rows: Iterable[Row],
    output: Path | None,
    *,
    form: TableFormat,
    name: str = "rows",
    coordinates: tuple[str, str] | None = None,
) -> int:
    """Write a table to a file, or to stdout if `output` is None. Return the number of rows.

    `name` is the name of the table in a SQLite file. SQLite and Parquet need a file. `coordinates` are the columns of
    longitude and latitude; a Parquet file then is a GeoParquet file with a column `geometry`.
    """
    if form == "sqlite":
        return _write_sqlite(columns, rows, _need_file(output, form), name)
    if form == "parquet":
        return _write_parquet(columns, rows, _need_file(output, form), coordinates)
    write = _write_csv if form == "csv" else _write_json
    with _open_text(output) as file:
        return write(columns, rows, file)


def _need_file(output: Path | None, form: str) -> Path:
    if output is None:
        raise ValueError(f"{form} needs a file: -o FILE")
    return output


@contextmanager
def _open_text(output: Path | None) -> Iterator[IO[str]]:
    if output is None:
        yield sys.stdout
    else:
        with output.open("w", encoding="utf-8", newline="") as file:
            yield file


def _write_csv(columns: Sequence[Column], rows: Iterable[Row], file: IO[str]) -> int:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    count = 0
    for count, row in enumerate(rows, start=1):  # noqa: B007 - it is the number of rows
        writer.writerow([_to_cell(value) for value in row])
    return count


def _write_json(columns: Sequence[Column], rows: Iterable[Row], file: IO[str]) -> int:
    names, count = [column.name for column in columns], 0
    for count, row in enumerate(rows, start=1):  # noqa: B007 - it is the number of rows
        file.write(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, default=_to_text) + "\n")
    return count


def _write_sqlite(columns: Sequence[Column], rows: Iterable[Row], path: Path, name: str) -> int:
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    try:
        fields = ", ".join(f"{_quote(c.name)} {_SQLITE_TYPES.get(c.kind, 'TEXT')}" for c in columns)
        marks = ", ".join("?" * len(columns))
        with connection:
            connection.execute(f"CREATE TABLE {_quote(name)} ({fields})")
            cells = ([_to_cell(value) for value in row] for row in rows)
            cursor = connection.executemany(f"INSERT INTO {_quote(name)} VALUES ({marks})", cells)
        return max(cursor.rowcount, 0)
    finally:
        connection.close()


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _to_cell(value: Any) -> Any:
    """Return a value for CSV and SQLite."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, default=_to_text)
    return _to_text(value) if isinstance(value, (date, datetime, timedelta)) else value


def _to_text(value: Any) -> str:
    if isinstance(value, timedelta):
        return format_duration(value)
    return value.isoformat() if isinstance(value, (date, datetime)) else str(value)


def format_duration(value: timedelta) -> str:
    """Return a duration in ISO 8601.

    >>> format_duration(timedelta(hours=26, minutes=5)), format_duration(timedelta(0))
    ('P1DT2H5M', 'PT0S')
    """
    hours, rest = divmod(value.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    exact = f"{seconds + value.microseconds / 1e6:g}" if value.microseconds else str(seconds)
    clock = "".join(
        f"{amount}{unit}" for amount, unit in ((hours, "H"), (minutes, "M"), (exact, "S")) if amount not in (0, "0")
    )
    days = f"{value.days}D" if value.days else ""
    return f"P{days}T{clock}" if clock else f"P{days}" if days else "PT0S"


def _write_parquet(
    columns: Sequence[Column], rows: Iterable[Row], path: Path, coordinates: tuple[str, str] | None = None
) -> int:
    pa = import_extra("pyarrow", extra="parquet", purpose="a Parquet file")
    pq = import_extra("pyarrow.parquet", extra="parquet", purpose="a Parquet file")
    schema = pa.schema(
        [pa.field(column.name, _arrow_type(pa, column.kind), metadata=column.metadata) for column in columns]
    )
    converters = [_json_cell if column.kind == "json" else None for column in columns]
    if coordinates is not None:
        schema = schema.append(pa.field("geometry", pa.binary())).with_metadata({"geo": _GEO_METADATA})
        rows, converters = _add_points(columns, rows, coordinates), [*converters, None]
    count, source = 0, iter(rows)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := list(islice(source, _ROWS_PER_GROUP)):
            arrays = [
                pa.array(_convert(values, convert), type=field.type)
                for values, convert, field in zip(zip(*group, strict=True), converters, schema, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            count += len(group)
    return count


def _convert(values: Iterable[Any], convert: Callable[[Any], Any] | None) -> list[Any]:
    return list(values) if convert is None else [convert(value) for value in values]


def _json_cell(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, default=_to_text)


def _arrow_type(pa: Any, kind: str) -> Any:
    kinds: Mapping[str, Any] = {
        "integer": pa.int64(),
        "number": pa.float64(),
        "boolean": pa.bool_(),
        "time": pa.timestamp("ms", tz="UTC"),
        "local time": pa.timestamp("ms"),
        "date": pa.date32(),
        "duration": pa.duration("ms"),
    }
    if kind.startswith("list"):
        return pa.list_(kinds.get(kind.removeprefix("list of "), pa.string()))
    return kinds.get(kind, pa.string())


_GEO_METADATA = json.dumps(
    {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {"geometry": {"encoding": "WKB", "geometry_types": ["Point"]}},
    }
)
"""Metadata of GeoParquet 1.1. Coordinates without a reference system are longitude and latitude (OGC:CRS84)."""


def _add_points(columns: Sequence[Column], rows: Iterable[Row], coordinates: tuple[str, str]) -> Iterator[Row]:
    """Yield the rows with a point in WKB (little-endian) from their coordinates."""
    names = [column.name for column in columns]
    x, y = (names.index(name) for name in coordinates)
    for row in rows:
        yield [*row, _encode_point(row[x], row[y])]


def _encode_point(longitude: Any, latitude: Any) -> bytes | None:
    pair = [value[0] if isinstance(value, list) and value else value for value in (longitude, latitude)]
    if not all(isinstance(value, (int, float)) for value in pair):
        return None
    return struct.pack("<BIdd", 1, 1, *pair)

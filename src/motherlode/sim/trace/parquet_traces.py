"""Conversion of traces of versions 2 to 4, whose tables are Parquet files. It needs the extra `parquet`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from motherlode.model import Link, LinkSource
from motherlode.runtime import MissingExtraError, import_extra
from motherlode.sim.trace.files import PartWriter, TraceError, TracePage, TracePart, tidy, write_parts

_BATCH_ROWS = 10_000


def convert(folder: Path, parts: Sequence[TracePart]) -> None:
    """Convert the tables of all parts to the current format, in the same folder, and remove the Parquet files."""
    try:
        parquet = import_extra("pyarrow.parquet", extra="parquet", purpose="to convert it")
    except MissingExtraError as error:
        raise TraceError(
            f"{folder} is a trace of an earlier version, as Parquet files: {error}; "
            "or make the trace again with `motherlode record`"
        ) from error
    try:
        for part in parts:
            _convert_part(folder, part, parquet)
        write_parts(folder, parts)
    except OSError as error:
        raise TraceError(
            f"{folder} is a trace of an earlier version, and it cannot be converted: {error}; "
            "make it again with `motherlode record`"
        ) from error
    tidy(folder, parts)


def _convert_part(folder: Path, part: TracePart, parquet: Any) -> None:
    writer = PartWriter(folder, part.name)
    try:
        links = _LinksByPage(_read_rows(folder, part, "links", parquet))
        statements = {row["page"]: row["ntriples"] for row in _read_rows(folder, part, "facts", parquet)}
        for number, row in enumerate(_read_rows(folder, part, "pages", parquet)):
            counts = dict(row["counts"])
            known = {name: row[name] for name in TracePage.__struct_fields__ if name in row}
            page = TracePage(**{**known, "counts": counts, "types": tuple(row["types"])})
            writer.add(page, links.of(number), statements.get(number, b""))
        writer.finish()
    except BaseException:
        writer.abandon()
        raise


def _read_rows(folder: Path, part: TracePart, table: str, parquet: Any) -> Iterator[dict[str, Any]]:
    file = parquet.ParquetFile(folder / f"{part.name}.{table}.parquet")
    return chain.from_iterable(batch.to_pylist() for batch in file.iter_batches(batch_size=_BATCH_ROWS))


class _LinksByPage:
    """The links of a table, whose rows are in the order of their pages."""

    def __init__(self, rows: Iterator[dict[str, Any]]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def of(self, page: int) -> list[Link]:
        """Return the links of a page. Pages must be given in order."""
        found = []
        while self._next is not None and self._next["page"] == page:
            found.append(_make_link(self._next))
            self._next = next(self._rows, None)
        return found


def _make_link(row: dict[str, Any]) -> Link:
    known = {name: row[name] for name in Link.__struct_fields__ if name in row}
    known["source"] = LinkSource(row["source"])
    known["properties"] = tuple(row.get("properties", "").split())
    known["sibling_groups"] = tuple(map(int, row.get("sibling_groups", "").split()))
    return Link(**known)

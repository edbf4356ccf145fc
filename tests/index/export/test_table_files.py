"""Tables as files: every format keeps names, types and values."""

import csv
import json
import sqlite3
from datetime import UTC, date, datetime
from pathlib import Path

import polars
import pytest

from motherlode.index.export.table_files import Column, TableFormat, write_table

COLUMNS = [
    *(Column("name"), Column("count", "integer"), Column("price", "number"), Column("sold", "boolean")),
    *(Column("at", "time"), Column("day", "date"), Column("tags", "list"), Column("more", "json")),
]
ROWS = [
    ("cake", 3, 1.5, True, datetime(2026, 1, 2, tzinfo=UTC), date(2026, 1, 2), ["a", "b"], {"x": 1}),
    (None, None, None, None, None, None, None, None),
]


def test_csv_has_a_header_and_json_in_lists(tmp_path: Path) -> None:
    assert write_table(COLUMNS, ROWS, tmp_path / "t.csv", form="csv") == 2
    first, second = csv.DictReader((tmp_path / "t.csv").read_text().splitlines())
    assert first == {
        "name": "cake",
        "count": "3",
        "price": "1.5",
        "sold": "1",
        "at": "2026-01-02T00:00:00+00:00",
        "day": "2026-01-02",
        "tags": '["a", "b"]',
        "more": '{"x": 1}',
    }
    assert set(second.values()) == {""}


def test_json_has_an_object_per_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert write_table(COLUMNS, ROWS, None, form="json") == 2
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (first["count"], first["sold"], first["tags"], first["more"]) == (3, True, ["a", "b"], {"x": 1})


def test_sqlite_has_typed_columns_and_replaces_an_older_file(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    for _ in range(2):
        assert write_table(COLUMNS, ROWS, path, form="sqlite", name="things") == 2
    connection = sqlite3.connect(path)
    found = connection.execute('SELECT name, typeof("count"), typeof(price), sold FROM things').fetchall()
    connection.close()
    assert found == [("cake", "integer", "real", 1), (None, "null", "null", None)]


def test_parquet_is_read_by_polars_with_its_types(tmp_path: Path) -> None:
    assert write_table(COLUMNS, ROWS, tmp_path / "t.parquet", form="parquet") == 2
    table = polars.read_parquet(tmp_path / "t.parquet")
    assert table.row(0)[:7] == ROWS[0][:7]
    assert table["more"][0] == '{"x": 1}'
    assert table.row(1) == ROWS[1]


@pytest.mark.parametrize("form", ["sqlite", "parquet"])
def test_binary_format_without_a_file_is_refused(form: TableFormat) -> None:
    with pytest.raises(ValueError, match=f"{form} needs a file: -o FILE"):
        write_table(COLUMNS, ROWS, None, form=form)

"""Rows: values of terms, columns of one type, and data frames."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pyoxigraph as ox
import pytest

from motherlode.api.rows import Rows, to_value
from motherlode.model.terms import XSD
from motherlode.runtime import MissingExtraError


def typed(text: str, name: str) -> ox.Literal:
    return ox.Literal(text, datatype=ox.NamedNode(XSD + name))


@pytest.mark.parametrize(
    ("term", "value"),
    [
        (None, None),
        (ox.NamedNode("http://a.example/"), "http://a.example/"),
        (ox.Literal("Kuchen", language="de"), "Kuchen"),
        (typed("12", "integer"), 12),
        (typed("99999999999999999999", "integer"), "99999999999999999999"),
        (typed("1.5", "decimal"), 1.5),
        (typed("true", "boolean"), True),
        (typed("maybe", "boolean"), "maybe"),
        (typed("2026-01-02", "date"), date(2026, 1, 2)),
        (typed("2026-01-02T03:04:05Z", "dateTime"), datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (typed("soon", "date"), "soon"),
    ],
)
def test_to_value_follows_the_datatype(term: ox.NamedNode | ox.Literal | None, value: object) -> None:
    assert to_value(term) == value


ROWS = Rows(["name", "price", "mixed"], [("a", 1, 1), ("b", 2.5, "x"), (None, None, None)])


def test_rows_are_a_sequence_of_dicts() -> None:
    assert len(ROWS) == 3
    assert ROWS[1] == {"name": "b", "price": 2.5, "mixed": "x"}
    assert ROWS[-1]["name"] is None
    assert [row["name"] for row in ROWS[:2]] == ["a", "b"]


def test_to_dict_gives_each_column_one_type() -> None:
    assert ROWS.to_dict() == {"name": ["a", "b", None], "price": [1.0, 2.5, None], "mixed": ["1", "x", None]}


def test_to_arrow_and_to_polars_keep_columns_and_nulls() -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("polars")
    assert ROWS.to_arrow().to_pydict() == ROWS.to_dict()
    assert ROWS.to_polars().to_dict(as_series=False) == ROWS.to_dict()
    assert Rows(["a", "b"], []).to_arrow().column_names == ["a", "b"]
    assert Rows(["a", "b"], []).to_polars().columns == ["a", "b"]


def test_to_pandas_keeps_columns() -> None:
    pytest.importorskip("pandas")
    assert list(ROWS.to_pandas()["name"][:2]) == ["a", "b"]
    assert list(Rows(["a", "b"], []).to_pandas().columns) == ["a", "b"]


@pytest.mark.parametrize(
    ("method", "extra"), [("to_arrow", "parquet"), ("to_pandas", "pandas"), ("to_polars", "pandas")]
)
def test_data_frame_without_its_library_names_the_extra(
    method: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str) -> None:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr("motherlode.runtime.import_module", fail)
    with pytest.raises(MissingExtraError, match=rf'pip install "motherlode\[{extra}\]"'):
        getattr(ROWS, method)()


def test_long_value_is_shown_as_one_short_line() -> None:
    rows = Rows(["text"], [("line\n" * 100,)])
    assert repr(rows) == "text\n" + ("line " * 20) + "…"
    assert rows[0]["text"] == "line\n" * 100


def test_rows_show_as_a_table_in_a_notebook_with_escaped_texts() -> None:
    shown = Rows(["a<b"], [("<script>",)])._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown

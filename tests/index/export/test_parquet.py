"""Tests of the Parquet export, read by DuckDB and Polars."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest

from motherlode.index.export import parquet as parquet_module
from motherlode.index.export.parquet import export_parquet
from motherlode.index.page_record import PageRecord, RunRecord, format_problem
from motherlode.index.quad_store import QuadStore
from motherlode.model import Problem, Syntax
from motherlode.model.terms import XSD

from ..fakes import A, B, P, record, says


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(parquet_module, "_ROWS_PER_GROUP", 3)  # so that there are several groups
    store = QuadStore(tmp_path / "store")
    store.begin(RunRecord(identifier="r1", started_at=0.0, version="1"))
    odd = [
        ("_:b1", P, '"chat"@fr', ""),
        ("_:b1", P, f'"5"^^<{XSD}integer>', ""),
        ("_:b1", P, "_:b2", ""),
        ("_:b1", P, "<http://ex.org/o>", "<http://ex.org/g>"),
    ]
    store.write([record(A, says("x", "1"), *odd), record(B, says("x", "1"), at=1_500.25)])
    store.write([PageRecord(url="http://c.example/", fetched_at=0.0, status=301, redirects_to=A)])
    assert export_parquet(store, tmp_path / "out") == (6, 3)
    return tmp_path / "out"


def test_parquet_tables_can_be_joined_in_duckdb(tables: Path) -> None:
    query = f"""SELECT q.object, count(DISTINCT p.url) AS pages FROM '{tables}/quads.parquet' q
        JOIN '{tables}/pages.parquet' p ON q.page = p.url GROUP BY 1 ORDER BY 2 DESC, 1"""
    found = duckdb.sql(query).fetchall()
    assert found == [("1", 2), ("5", 1), ("_:b2", 1), ("chat", 1), ("http://ex.org/o", 1)]


def test_quads_table_has_all_columns_in_polars(tables: Path) -> None:
    quads = pl.read_parquet(tables / "quads.parquet")
    assert sorted(quads["object_kind"]) == ["blank", "iri", "literal", "literal", "literal", "literal"]
    assert quads.filter(pl.col("language") == "fr")["object"].to_list() == ["chat"]
    assert quads.filter(pl.col("datatype") == XSD + "integer")["object"].to_list() == ["5"]
    inner = quads.filter(pl.col("graph") != pl.col("page"))
    assert inner["graph"].to_list() == [f"{A}#graph=http://ex.org/g"]
    assert set(quads["subject"]) == {"http://ex.org/x", "_:b1"}


def test_pages_table_has_all_pages_in_polars(tables: Path) -> None:
    pages = {row["url"]: row for row in pl.read_parquet(tables / "pages.parquet").iter_rows(named=True)}
    assert set(pages) == {A, B, "http://c.example/"}, "a run is not a page"
    assert pages[B]["fetched_at"].timestamp() == 1_500.25
    assert (pages[B]["status"], pages[B]["syntaxes"], pages[B]["run"]) == (200, ["jsonld"], "urn:motherlode:run:r1")
    assert (pages["http://c.example/"]["redirects_to"], pages["http://c.example/"]["size"]) == (A, None)


def test_pages_table_has_failures_and_problems_with_positions(tmp_path: Path) -> None:
    store = QuadStore(tmp_path / "store")
    problems = (
        Problem(syntax=Syntax.JSON_LD, message="missing comma: x", line=3, column=14, repaired=True),
        Problem(syntax=None, message="the body was cut"),
    )
    page = PageRecord(
        url=A,
        fetched_at=1.0,
        status=200,
        is_relevant=True,
        score=-2.5,
        seconds=0.25,
        problems=tuple(map(format_problem, problems)),
    )
    gone = PageRecord(
        url=B,
        fetched_at=2.0,
        status=404,
        state="failed",
        reason="not-found",
        detail="the server answered 404",
        referrer=A,
    )
    refused = PageRecord(url="http://c.example/", fetched_at=2.0, status=None, state="refused", reason="robots")
    store.write([page, gone, refused])
    export_parquet(store, tmp_path / "out")
    rows = {row["url"]: row for row in pl.read_parquet(tmp_path / "out" / "pages.parquet").iter_rows(named=True)}
    assert set(rows) == {A, B}, "a refused URL was not requested"
    assert (rows[A]["failure"], rows[A]["relevant"], rows[A]["score"], rows[A]["seconds"]) == (None, True, -2.5, 0.25)
    assert rows[A]["problems"] == [
        {"line": None, "column": None, "syntax": "page", "message": "the body was cut", "repaired": False},
        {"line": 3, "column": 14, "syntax": "jsonld", "message": "missing comma: x", "repaired": True},
    ]
    assert (rows[B]["failure"], rows[B]["detail"]) == ("not-found", "the server answered 404")
    assert (rows[B]["status"], rows[B]["referrer"], rows[B]["relevant"], rows[B]["problems"]) == (404, A, False, [])


def test_export_parquet_of_empty_store_writes_empty_tables(tmp_path: Path) -> None:
    assert export_parquet(QuadStore(tmp_path / "store"), tmp_path / "out") == (0, 0)
    assert pl.read_parquet(tmp_path / "out" / "quads.parquet").height == 0


def test_export_parquet_long_texts_are_split_into_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_module, "_CHARACTERS_PER_GROUP", 10_000)
    store = QuadStore(tmp_path / "store")
    store.write([record(A, *(says(str(number), "x" * 9_000) for number in range(5)))])
    assert export_parquet(store, tmp_path / "out") == (5, 1)
    groups = pq.ParquetFile(tmp_path / "out" / "quads.parquet").metadata
    assert [groups.row_group(number).num_rows for number in range(groups.num_row_groups)] == [2, 2, 1]


def test_export_parquet_supports_rdf_1_2_terms(tmp_path: Path) -> None:
    inner = f'<http://ex.org/s> {P} "x"'
    store = QuadStore(tmp_path / "store")
    store.write([record(A, ("_:b", P, f"<<( {inner} )>>", ""), ("_:b", P, '"y"@ar--rtl', ""))])
    export_parquet(store, tmp_path / "out")
    rows = pl.read_parquet(tmp_path / "out" / "quads.parquet").sort("object_kind")
    assert rows["object_kind"].to_list() == ["literal", "triple"]
    assert rows["object"].to_list() == ["y", f"<<( {inner} )>>"]
    assert rows["language"].to_list() == ["ar--rtl", None]

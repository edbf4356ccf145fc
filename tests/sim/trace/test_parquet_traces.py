"""Traces of earlier versions, as Parquet files, are converted when they are opened."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from motherlode.model import LinkSource
from motherlode.runtime import MissingExtraError
from motherlode.sim.trace.files import VERSION, TraceError, existing_parts, read_link_table, read_pages, read_statements

PART = {"name": "one", "source": "/w.warc", "fingerprint": "one", "pages": 3, "links": 2, "broken": 0}


def write_old_trace(folder: Path, version: int) -> None:
    """Write a trace as the given version wrote it: a page with two links, a redirect, and a page without links."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    pages = {
        "url": ["https://a.example/", "https://a.example/r", "https://a.example/b"],
        "status": [200, 301, 200],
        "failure": ["", "redirect", ""],
        "kind": ["html", "", "turtle"],
        "size": [100, 0, 50],
        "location": ["", "https://a.example/b", ""],
        "counts": pa.array([[("jsonld", 2)], [], [("turtle", 1)]], pa.map_(pa.string(), pa.int32())),
        "types": pa.array([["http://schema.org/Thing"], [], []], pa.list_(pa.string())),
        **({"content_type": ["text/html", "", "text/turtle"]} if version >= 4 else {}),
    }
    links = {
        "page": [0, 0],
        "url": ["https://a.example/r", "https://a.example/b"],
        "source": ["anchor", "triple"],
        **{name: ["", "x"] for name in ("anchor", "rel", "type", "title", "context", "tag_path", "predicate")},
        **({"element_ids": ["2#a", ""]} if version >= 3 else {}),
        **(
            {"properties": ["http://p.example/ http://q.example/", ""], "sibling_groups": ["1 2", ""]}
            if version >= 4
            else {}
        ),
        "nofollow": [True, False],
    }
    facts = {"page": [0], "ntriples": [b"<a> <b> <c> .\n"]}
    for name, table in (("pages", pages), ("links", links), ("facts", facts)):
        parquet.write_table(pa.table(table), folder / f"one.{name}.parquet")
    (folder / "trace.json").write_text(json.dumps({"version": version, "parts": [PART]}))


@pytest.mark.parametrize("version", [2, 3, 4])
def test_old_trace_is_converted_once(tmp_path: Path, version: int) -> None:
    write_old_trace(tmp_path, version)
    (part,) = existing_parts(tmp_path)
    assert json.loads((tmp_path / "trace.json").read_text())["version"] == VERSION
    assert {path.name for path in tmp_path.iterdir()} == {
        "trace.json",
        "one.pages.zst",
        "one.links.zst",
        "one.facts.zst",
    }
    pages, table = read_pages(tmp_path, part), read_link_table(tmp_path, part)
    assert [page.kind for page in pages] == ["html", "", "turtle"]
    assert pages[0].counts == {"jsonld": 2}
    assert pages[0].types == ("http://schema.org/Thing",)
    assert pages[0].content_type == ("text/html" if version >= 4 else "")
    assert table.links_per_page.tolist() == [2, 0, 0]
    assert table.nofollow.tolist() == [True, False]
    assert table.texts["source"] == [LinkSource.ANCHOR.value, LinkSource.TRIPLE.value]
    assert table.texts["sibling_groups"] == (["1 2", ""] if version >= 4 else [""])
    assert list(read_statements(tmp_path, part)) == [(0, b"<a> <b> <c> .\n")]
    assert existing_parts(tmp_path) == [part]


def test_old_trace_without_the_extra_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_old_trace(tmp_path, 4)

    def fail(module: str, *, extra: str, purpose: str) -> None:
        raise MissingExtraError(f'{purpose} needs pyarrow, which is not installed: pip install "motherlode[{extra}]"')

    monkeypatch.setattr("motherlode.sim.trace.parquet_traces.import_extra", fail)
    with pytest.raises(TraceError, match=r'pip install "motherlode\[parquet\]"; or make the trace again'):
        existing_parts(tmp_path)
    assert (tmp_path / "one.pages.parquet").exists()


def test_old_trace_with_a_missing_table_stays_as_it_is(tmp_path: Path) -> None:
    write_old_trace(tmp_path, 4)
    (tmp_path / "one.links.parquet").unlink()
    with pytest.raises(TraceError, match="cannot be converted"):
        existing_parts(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"trace.json", "one.pages.parquet", "one.facts.parquet"}

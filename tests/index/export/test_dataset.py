"""The folder of a data set: quads, descriptions and README agree."""

import gzip
import hashlib
import json
from pathlib import Path

import pyarrow.parquet as pq
import pyoxigraph as ox
import pytest

from motherlode.index.export import dataset
from motherlode.index.export.dataset import export_dataset
from motherlode.index.quad_store import QuadStore

from ..fakes import A, B, record, says

LICENSE = "<http://schema.org/license>"


def write(tmp_path: Path) -> Path:
    store = QuadStore(tmp_path / "store")
    licensed = record(A, says("x", "one two"), says("x", "CC-BY", predicate=LICENSE))
    store.write([licensed, record(B, says("y", 'a \\"b\\"'))])
    export_dataset(store, tmp_path / "set", parameters={"pages": "10"})
    store.close()
    return tmp_path / "set"


def test_dataset_has_files_that_agree(tmp_path: Path) -> None:
    folder = write(tmp_path)
    lines = gzip.decompress((folder / "data.nq.gz").read_bytes()).decode().splitlines()
    readme = (folder / "README.md").read_text()
    assert f"{len(lines)} quads: 3 distinct statements of 2 pages" in readme
    assert "- `pages`: `10`" in readme
    assert "| `CC-BY` | 1 |" in readme
    void = list(ox.parse((folder / "void.ttl").read_bytes(), ox.RdfFormat.TURTLE))
    assert any(quad.predicate.value.endswith("#distribution") for quad in void)
    assert any(quad.predicate.value.endswith("statedLicense") for quad in void)


def test_croissant_describes_every_file_and_the_columns_of_the_tables(tmp_path: Path) -> None:
    folder = write(tmp_path)
    croissant = json.loads((folder / "croissant.json").read_text())
    assert croissant["license"] == ["CC-BY"]
    for file in croissant["distribution"]:
        content = (folder / file["contentUrl"]).read_bytes()
        assert file["sha256"] == hashlib.sha256(content).hexdigest()
        assert file["contentSize"] == f"{len(content)} B"
    assert [records["@id"] for records in croissant["recordSet"]] == ["quads", "pages"]
    for records in croissant["recordSet"]:
        table = pq.read_table(folder / records["field"][0]["source"]["fileObject"]["@id"])
        columns = [field["source"]["extract"]["column"] for field in records["field"]]
        assert set(columns) <= set(table.column_names)
        assert len(columns) >= 8
    assert pq.read_table(folder / "quads.parquet").num_rows == 3


def test_dataset_without_pyarrow_has_no_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "find_spec", lambda _name: None)
    folder = write(tmp_path)
    assert json.loads((folder / "croissant.json").read_text())["recordSet"] == []
    assert not list(folder.glob("*.parquet"))

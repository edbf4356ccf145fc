"""The folder of a data set: quads, descriptions and README agree."""

import gzip
import json
import re
from pathlib import Path

import pyoxigraph as ox

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


def test_dataset_has_four_files_that_agree(tmp_path: Path) -> None:
    folder = write(tmp_path)
    lines = gzip.decompress((folder / "data.nq.gz").read_bytes()).decode().splitlines()
    readme = (folder / "README.md").read_text()
    assert f"{len(lines)} quads: 3 distinct statements of 2 pages" in readme
    assert "- `pages`: `10`" in readme
    assert "| `CC-BY` | 1 |" in readme
    void = list(ox.parse((folder / "void.ttl").read_bytes(), ox.RdfFormat.TURTLE))
    assert any(quad.predicate.value.endswith("#distribution") for quad in void)
    assert any(quad.predicate.value.endswith("statedLicense") for quad in void)


def test_croissant_fields_extract_the_terms_of_every_line(tmp_path: Path) -> None:
    folder = write(tmp_path)
    croissant = json.loads((folder / "croissant.json").read_text())
    assert croissant["license"] == ["CC-BY"]
    patterns = [re.compile(field["source"]["transform"]["regex"]) for field in croissant["recordSet"][0]["field"]]
    for line in gzip.decompress((folder / "data.nq.gz").read_bytes()).decode().splitlines():
        terms = [match[1] for pattern in patterns if (match := pattern.match(line))]
        assert " ".join(terms) + " ." == line

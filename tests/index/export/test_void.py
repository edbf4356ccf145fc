"""Tests of the VoID description."""

from __future__ import annotations

import io
from pathlib import Path

import pyoxigraph as ox

from motherlode.index.export.void import count_statistics, export_void
from motherlode.index.page_record import PageRecord, RunRecord
from motherlode.index.quad_store import QuadStore
from motherlode.model.terms import PREFIXES, RDF_TYPE

from ..fakes import A, B, P, record, says

VOID, PROV = PREFIXES["void"], PREFIXES["prov"]


def filled(path: Path) -> QuadStore:
    store = QuadStore(path / "store")
    store.begin(RunRecord(identifier="r1", started_at=0.0, version="9.9", target="any"))
    typed = [(f"<http://ex.org/{name}>", RDF_TYPE, "<http://ex.org/Thing>", "") for name in "xy"]
    store.write([record(A, *typed, says("x", "1"), at=10.0), record(B, says("x", "1"), says("z", "2"), at=20.0)])
    store.finish(30.0)
    return store


def test_count_statistics_counts_triples_subjects_and_classes(tmp_path: Path) -> None:
    found = count_statistics(filled(tmp_path))
    assert (found.triples, found.subjects, found.documents) == (4, 3, 2)
    assert found.classes == {"http://ex.org/Thing": 2}
    assert found.properties[P[1:-1]] == 2
    assert (found.first, found.last) == ("1970-01-01T00:00:10Z", "1970-01-01T00:00:20Z")


def test_redirects_and_deleted_pages_are_not_counted_as_documents(tmp_path: Path) -> None:
    store = filled(tmp_path)
    moved = PageRecord(url="http://c.example/", fetched_at=30.0, status=301, redirects_to=A)
    store.write([PageRecord(url=B, fetched_at=30.0, status=404), moved])
    assert count_statistics(store).documents == 1


def test_void_description_can_be_queried(tmp_path: Path) -> None:
    output = io.BytesIO()
    count = export_void(filled(tmp_path), output)
    store = ox.Store()
    store.extend(ox.parse(output.getvalue(), ox.RdfFormat.TURTLE))
    assert len(store) == count
    query = """SELECT ?triples ?entities ?version { ?d a void:Dataset ; void:triples ?triples ;
        void:classPartition [ void:class <http://ex.org/Thing> ; void:entities ?entities ] ;
        prov:wasGeneratedBy [ ml:version ?version ; prov:endedAtTime ?end ; prov:wasAssociatedWith ?agent ] }"""
    answer = store.query(query, prefixes=PREFIXES)
    assert isinstance(answer, ox.QuerySolutions)
    (row,) = answer
    assert [row[name].value for name in ("triples", "entities", "version")] == ["4", "2", "9.9"]


def test_void_description_of_empty_store_is_valid(tmp_path: Path) -> None:
    output = io.BytesIO()
    assert export_void(QuadStore(tmp_path / "store"), output) > 0
    assert b"void:triples 0" in output.getvalue()

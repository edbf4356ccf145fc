"""Tests of the process that executes queries, on the level of frames."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import msgspec

from motherlode.index import QuadStore
from motherlode.index.query.query_worker import (
    CHUNK,
    DAMAGED,
    DONE,
    FAILED,
    HEAD,
    INVALID,
    READY,
    TOO_LARGE,
    WorkerQuery,
)
from motherlode.runtime import pack_frame, read_frame
from tests.index.fakes import record, says, spoil, spoil_inside


def frames(store: Path, *orders: WorkerQuery) -> list[tuple[bytes, bytes]]:
    command = [sys.executable, "-m", "motherlode.index.query.query_worker", str(store), str(store.with_name("words"))]
    sent = b"".join(pack_frame(msgspec.msgpack.encode(order)) for order in orders)
    output = io.BytesIO(subprocess.run(command, input=sent, capture_output=True, timeout=60, check=True).stdout)
    found = []
    while (frame := read_frame(output)) is not None:
        found.append((frame[:1], frame[1:]))
    return found


def test_worker_answers_queries_in_sequence(tmp_path: Path) -> None:
    store = QuadStore(tmp_path / "store")
    store.write([record("http://a.test/", *(says(f"x{n}", f"v{n}") for n in range(500)))])
    store.flush()
    found = frames(
        tmp_path / "store",
        WorkerQuery(sparql="ASK {}"),
        WorkerQuery(sparql="SELECT {"),
        WorkerQuery(sparql="SELECT * { ?s ?p ?o }", max_bytes=10_000),
        WorkerQuery(sparql="CONSTRUCT WHERE { ?s ?p ?o }", graph="application/n-triples"),
    )
    kinds = b"".join(kind for kind, _ in found)
    assert kinds.startswith(READY + HEAD + CHUNK + DONE + INVALID + HEAD)
    assert kinds.endswith(TOO_LARGE + HEAD + CHUNK + DONE)
    assert found[-3][1] == b"graph"
    assert found[-2][1].count(b" .\n") == 500
    assert not list(tmp_path.glob("store.readers")), "the folder of the reader was removed"


def test_xml_result_replaces_characters_that_xml_cannot_contain(tmp_path: Path) -> None:
    store = QuadStore(tmp_path / "store")
    store.write([record("http://a.test/", says("x", "back\\bspace, \\u0000, \\uFFFE, tab\\t, \\r\\n, 日本"))])
    store.flush()
    xml = {"results": "application/sparql-results+xml", "graph": "application/rdf+xml"}
    for sparql in ("SELECT ?o { ?s ?p ?o }", "CONSTRUCT WHERE { ?s ?p ?o }"):
        found = frames(tmp_path / "store", WorkerQuery(sparql=sparql, **xml), WorkerQuery(sparql=sparql))
        whole = ElementTree.fromstring(next(content for kind, content in found if kind == CHUNK))
        assert "back\ufffdspace, \ufffd, \ufffd, tab\t, \r\n, 日本" in "".join(whole.itertext())
        assert "back\\bspace" in [content for kind, content in found if kind == CHUNK][1].decode()


def test_worker_without_store_reports_failure(tmp_path: Path) -> None:
    ((kind, message),) = frames(tmp_path / "none")
    assert kind == FAILED
    assert b"none" in message


def test_worker_with_damaged_store_reports_advice(tmp_path: Path) -> None:
    store = QuadStore(tmp_path / "store")
    store.write([record("http://a.test/", *(says(f"x{n}", f"v{n}") for n in range(5_000)))])
    store.flush()
    store.close()
    del store
    spoil_inside(tmp_path / "store")
    opened, *rest = frames(tmp_path / "store", WorkerQuery(sparql="SELECT * { ?s ?p ?o }"))
    assert opened[0] == READY
    assert rest[-1][0] == DAMAGED
    assert b"put back a copy" in rest[-1][1].lower()
    spoil(tmp_path / "store")
    ((kind, told),) = frames(tmp_path / "store", WorkerQuery(sparql="ASK {}"))
    assert kind == DAMAGED
    assert b"put back a copy" in told.lower()

"""Tests of executing queries: on a store and its word index, and in the worker process on the level of frames."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pyoxigraph as ox
import pytest

from motherlode.index.fulltext import SearchableStore, WordIndex
from motherlode.index.quad_store import QuadStore
from motherlode.index.query.diagnostics import QueryError
from motherlode.index.query.query_worker import (
    CHUNK,
    DAMAGED,
    DONE,
    FAILED,
    HEAD,
    INVALID,
    READY,
    TOO_LARGE,
    QueryExecutor,
    QueryRequest,
    isolate_from_network,
)
from motherlode.runtime import pack_frame, read_frame
from tests.index.fakes import record, says, spoil, spoil_inside


def frames(store: Path, *orders: QueryRequest) -> list[tuple[bytes, bytes]]:
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
        QueryRequest(sparql="ASK {}"),
        QueryRequest(sparql="SELECT {"),
        QueryRequest(sparql="SELECT * { ?s ?p ?o }", max_bytes=10_000),
        QueryRequest(sparql="CONSTRUCT WHERE { ?s ?p ?o }", graph="application/n-triples"),
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
        found = frames(tmp_path / "store", QueryRequest(sparql=sparql, **xml), QueryRequest(sparql=sparql))
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
    opened, *rest = frames(tmp_path / "store", QueryRequest(sparql="SELECT * { ?s ?p ?o }"))
    assert opened[0] == READY
    assert rest[-1][0] == DAMAGED
    assert b"put back a copy" in rest[-1][1].lower()
    spoil(tmp_path / "store")
    ((kind, told),) = frames(tmp_path / "store", QueryRequest(sparql="ASK {}"))
    assert kind == DAMAGED
    assert b"put back a copy" in told.lower()


SEARCH = 'SELECT ?o { SERVICE ml:search { ?s ml:matches "tomato" } ?s <http://ex.org/p> ?o } ORDER BY ?o'


@pytest.fixture(scope="module")
def executor(tmp_path_factory: pytest.TempPathFactory) -> QueryExecutor:
    folder = tmp_path_factory.mktemp("answering")
    store = SearchableStore(QuadStore(folder / "store"), WordIndex(folder / "words"))
    store.write(
        [
            record("http://a.test/", says("x", "tomato"), ("_:bn1", "<http://ex.org/p>", '"tomato soup"', "")),
            record("http://b.test/", says("y", "bread")),
        ]
    )
    store.flush()
    return QueryExecutor(folder / "store", folder / "words")


def values(executor: QueryExecutor, request: QueryRequest) -> list[str]:
    found = executor.execute(request)
    assert isinstance(found, ox.QuerySolutions)
    return [str(row[0].value) for row in found]


def test_query_with_word_search_returns_subjects(executor: QueryExecutor) -> None:
    assert values(executor, QueryRequest(sparql=SEARCH)) == ["tomato", "tomato soup"]


def test_query_with_byte_order_mark_is_accepted(executor: QueryExecutor) -> None:
    assert values(executor, QueryRequest(sparql=f"\ufeff{SEARCH}")) == ["tomato", "tomato soup"]


def test_default_graph_is_union_unless_graphs_are_given(executor: QueryExecutor) -> None:
    sparql = "SELECT ?o { ?s <http://ex.org/p> ?o } ORDER BY ?o"
    assert values(executor, QueryRequest(sparql=sparql)) == ["bread", "tomato", "tomato soup"]
    assert values(executor, QueryRequest(sparql=sparql, default_graphs=("http://b.test/",))) == ["bread"]
    assert values(executor, QueryRequest(sparql=sparql, named_graphs=("http://b.test/",))) == []
    inside = "SELECT ?o { GRAPH ?g { ?s <http://ex.org/p> ?o } }"
    assert values(executor, QueryRequest(sparql=inside, named_graphs=("http://b.test/",))) == ["bread"]


def test_error_after_word_search_is_reported_at_users_position(executor: QueryExecutor) -> None:
    sparql = 'SELECT * { SERVICE ml:search { ?s ml:matches "tomato" }\n ?s ?p ?o } ORDER ?s'
    with pytest.raises(QueryError) as caught:
        executor.execute(QueryRequest(sparql=sparql))
    assert (caught.value.problem.line, caught.value.problem.column) == (2, 19)


def test_isolated_process_cannot_connect() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        child = os.fork()
        if child == 0:
            code = 3
            try:
                code = 2 if not isolate_from_network() else 1
                if code == 1:
                    socket.create_connection(server.getsockname(), timeout=2).close()
            except OSError:
                code = 0
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == 2:
        pytest.skip("this system lets no process leave the network")
    assert code == 0

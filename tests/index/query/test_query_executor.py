"""Tests of queries on a store on disk and its word index."""

from __future__ import annotations

import os
import socket

import pyoxigraph as ox
import pytest

from motherlode.index import QuadStore
from motherlode.index.fulltext import SearchableStore, WordIndex
from motherlode.index.query import QueryError, QueryExecutor, QueryRequest, isolate_from_network
from tests.index.fakes import record, says

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

"""Questions to a store on disk with its words."""

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
def answerer(tmp_path_factory: pytest.TempPathFactory) -> QueryExecutor:
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


def values(answerer: QueryExecutor, question: QueryRequest) -> list[str]:
    found = answerer.execute(question)
    assert isinstance(found, ox.QuerySolutions)
    return [str(row[0].value) for row in found]


def test_words_inside_of_a_query(answerer: QueryExecutor) -> None:
    assert values(answerer, QueryRequest(sparql=SEARCH)) == ["tomato", "tomato soup"]


def test_a_mark_of_the_byte_order_is_no_part_of_a_query(answerer: QueryExecutor) -> None:
    assert values(answerer, QueryRequest(sparql=f"\ufeff{SEARCH}")) == ["tomato", "tomato soup"]


def test_the_default_graph_is_the_union_unless_graphs_are_named(answerer: QueryExecutor) -> None:
    sparql = "SELECT ?o { ?s <http://ex.org/p> ?o } ORDER BY ?o"
    assert values(answerer, QueryRequest(sparql=sparql)) == ["bread", "tomato", "tomato soup"]
    assert values(answerer, QueryRequest(sparql=sparql, default_graphs=("http://b.test/",))) == ["bread"]
    assert values(answerer, QueryRequest(sparql=sparql, named_graphs=("http://b.test/",))) == []
    inside = "SELECT ?o { GRAPH ?g { ?s <http://ex.org/p> ?o } }"
    assert values(answerer, QueryRequest(sparql=inside, named_graphs=("http://b.test/",))) == ["bread"]


def test_a_mistake_behind_a_search_is_told_at_its_place(answerer: QueryExecutor) -> None:
    sparql = 'SELECT * { SERVICE ml:search { ?s ml:matches "tomato" }\n ?s ?p ?o } ORDER ?s'
    with pytest.raises(QueryError) as caught:
        answerer.execute(QueryRequest(sparql=sparql))
    assert (caught.value.problem.line, caught.value.problem.column) == (2, 19)


def test_a_process_that_left_the_network_reaches_nobody() -> None:
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

"""Tests of the protocols: updates are run on a real store, graph requests are compared with expected ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlsplit

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.index.page_record import PROVENANCE
from motherlode.index.sinks.endpoint import (
    NTRIPLES_TYPE,
    UPDATE_TYPE,
    EndpointClient,
    build_update,
    send_graphs,
    send_update,
)
from motherlode.index.sinks.nquads_sink import PageChange, change_from
from motherlode.model.terms import literal

from .records import P, record
from .servers import Script, ScriptedServer

A, B = "http://a.example/", "http://b.example/"
X = "<http://x.example/>"


def applied(store: ox.Store, *changes: PageChange, provenance: bool = True) -> ox.Store:
    """Return a store after it has executed all updates in one request."""
    store.update(" ;\n".join(build_update(change, provenance=provenance) for change in changes))
    return store


def graphs(store: ox.Store) -> set[str]:
    return {quad.graph_name.value for quad in store}


def test_update_replaces_all_graphs_of_earlier_versions() -> None:
    store = applied(
        ox.Store(),
        change_from(record(A, (X, P, '"1"', "<http://inner.example/>"), (X, P, '"old"'))),
        change_from(record(B, (X, P, '"stays"', "<http://inner.example/>"))),
        change_from(record(A, (X, P, '"new"'))),
    )
    assert graphs(store) == {A, f"{B}#graph=http://inner.example/", PROVENANCE}
    assert [str(quad.object) for quad in store.quads_for_pattern(None, None, None, ox.NamedNode(A))] == ['"new"']


def test_update_of_page_without_statements_keeps_provenance_if_wanted() -> None:
    said, gone = change_from(record(A, (X, P, '"1"'))), change_from(record(A, status=410))
    assert graphs(applied(ox.Store(), said, gone)) == {PROVENANCE}
    assert graphs(applied(ox.Store(), said, gone, provenance=False)) == set()


def test_update_keeps_blank_node_shared_between_graphs() -> None:
    said = ((X, P, "_:n"), ("_:n", P, '"text"', "<http://inner.example/>"))
    store = applied(ox.Store(), change_from(record(A, *said)))
    (node,) = (quad.object for quad in store if isinstance(quad.object, ox.BlankNode))
    (text,) = store.quads_for_pattern(node, None, None, None)
    assert text.graph_name == ox.NamedNode(f"{A}#graph=http://inner.example/")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([A, B]), st.lists(st.text(max_size=12), max_size=3)), min_size=1, max_size=6))
def test_update_sent_twice_equals_once_and_last_version_remains(pages: list[tuple[str, list[str]]]) -> None:
    changes = [change_from(record(url, *((X, P, literal(text)) for text in texts))) for url, texts in pages]
    store = applied(ox.Store(), *changes)
    once = set(store)
    assert set(applied(store, *changes)) == once
    found = {(quad.graph_name.value, quad.object.value) for quad in once if quad.graph_name.value != PROVENANCE}
    assert found == {(url, text) for url, texts in dict(pages).items() for text in texts}


@pytest.fixture
def serve() -> Iterator[Callable[[Script], tuple[ScriptedServer, Callable[[str], EndpointClient]]]]:
    servers: list[ScriptedServer] = []
    clients: list[EndpointClient] = []

    def started(script: Script) -> tuple[ScriptedServer, Callable[[str], EndpointClient]]:
        server = ScriptedServer(script)
        servers.append(server)

        def client(target: str) -> EndpointClient:
            clients.append(EndpointClient(server.root + target, timeout_seconds=30.0, headers={}))
            return clients[-1]

        return server, client

    yield started
    for client in clients:
        client.close()
    for server in servers:
        server.stop()


Serve = Callable[[Script], tuple[ScriptedServer, Callable[[str], EndpointClient]]]


def test_send_update_sends_pages_in_one_request(serve: Serve) -> None:
    server, client = serve(lambda line, body: (204, {}))
    changes = [change_from(record(A, (X, P, '"é"'))), change_from(record(B, (X, P, '"2"')))]
    assert send_update(client("/update?x=1"), changes, provenance=False).is_success
    ((line, body, headers),) = server.log
    assert (line, headers["Content-Type"]) == ("POST /update?x=1", UPDATE_TYPE)
    store = ox.Store()
    store.update(body.decode("utf-8"))
    assert sorted(quad.object.value for quad in store) == ["2", "é"]


@pytest.mark.parametrize(("target", "joined"), [("/store", "/store?graph="), ("/store?db=1", "/store?db=1&graph=")])
def test_send_graphs_puts_each_graph_under_its_iri(serve: Serve, target: str, joined: str) -> None:
    server, client = serve(lambda line, body: (201, {}))
    page = "http://a.example/ä?b=c&d#e"
    assert send_graphs(client(target), [change_from(record(page, (X, P, '"1"')))], provenance=True).is_success
    assert all(line.startswith(f"PUT {joined}") for line, *_ in server.log)
    names = [parse_qs(urlsplit(line.partition(" ")[2]).query)["graph"][0] for line, *_ in server.log]
    assert names == [page, f"{PROVENANCE}:{page}"]
    assert server.log[0][1] == f'{X} {P} "1" .\n'.encode()
    assert {headers["Content-Type"] for *_, headers in server.log} == {NTRIPLES_TYPE}


@pytest.mark.parametrize(("status", "counts_as"), [(204, 204), (404, 204), (410, 204), (500, 500), (403, 403)])
def test_send_graphs_deletes_empty_graph_and_accepts_not_found(serve: Serve, status: int, counts_as: int) -> None:
    server, client = serve(lambda line, body: (status, {}))
    found = send_graphs(client("/store"), [change_from(record(A, status=410))], provenance=False)
    assert found.status == counts_as
    assert [line.partition(" ")[0] for line, *_ in server.log] == ["DELETE"]


def test_send_graphs_stops_at_first_error(serve: Serve) -> None:
    server, client = serve(lambda line, body: (404 if b'"2"' in body else 204, {}))
    changes = [change_from(record(f"http://h.example/{n}", (X, P, f'"{n}"'))) for n in range(1, 5)]
    found = send_graphs(client("/store"), changes, provenance=False)
    assert (found.status, len(server.log)) == (404, 2), "404 is a success for DELETE only"


def test_send_graphs_without_changes_is_success(serve: Serve) -> None:
    server, client = serve(lambda line, body: (500, {}))
    assert send_graphs(client("/store"), [], provenance=True).is_success
    assert server.log == []

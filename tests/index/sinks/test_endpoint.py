"""Endpoints that take pages while a crawl runs: a real SPARQL server that goes away, and servers that misbehave."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

import pytest

from motherlode.index import PROVENANCE
from motherlode.index.sinks import Sinks, open_sinks, sink_settings, sink_states
from motherlode.index.sinks.endpoint import EndpointSink, SpoolFullError

from .records import P, record
from .servers import OxigraphServer, Script, ScriptedServer

A, B = "http://a.example/", "http://b.example/"


def _open(folder: Path, **table: object) -> tuple[Sinks, EndpointSink]:
    sinks = open_sinks([sink_settings(table)], folder, environment={"TOKEN": "secret"})
    (sink,) = sinks.all
    assert isinstance(sink, EndpointSink)
    return sinks, sink


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[OxigraphServer]:
    made = OxigraphServer(tmp_path / "oxigraph")
    made.start()
    yield made
    made.kill()


@pytest.mark.parametrize(("kind", "path"), [("update", "/update"), ("graphstore", "/store")])
def test_a_page_is_replaced_and_never_doubled(server: OxigraphServer, tmp_path: Path, kind: str, path: str) -> None:
    sinks, _ = _open(tmp_path, kind=kind, url=server.root + path, provenance=False)
    first = record(A, ("<http://x.example/>", P, '"old"'), ("_:b", P, "_:c"), ("_:c", P, '"tief \\"ß\\" \\u0022"@de'))
    (beside,) = sinks.all
    beside.write([first, record(B, ("<http://y.example/>", P, '"stays"'))])
    beside.write([first])
    beside.write([record(A, ("<http://x.example/>", P, '"new"'))])
    sinks.close()
    assert server.quads() == {
        (A, "http://x.example/", "http://p.example/says", "new"),
        (B, "http://y.example/", "http://p.example/says", "stays"),
    }


@pytest.mark.parametrize(("kind", "path"), [("update", "/update"), ("graphstore", "/store")])
def test_blank_nodes_stay_joined_and_text_stays_text(
    server: OxigraphServer, tmp_path: Path, kind: str, path: str
) -> None:
    sinks, sink = _open(tmp_path, kind=kind, url=server.root + path)
    sink.write([record(A, ("<http://x.example/>", P, "_:c"), ("_:c", P, '"a \\"ß\\" \\\\u0022 } \\n"@de'))])
    sinks.close()
    (row,) = server.ask(f"SELECT ?t {{ GRAPH <{A}> {{ <http://x.example/> {P} [ {P} ?t ] }} }}")
    assert row["t"] == 'a "ß" \\u0022 } \n'


def test_graphs_that_a_page_named_before_go_with_it(server: OxigraphServer, tmp_path: Path) -> None:
    sinks, sink = _open(tmp_path, kind="update", url=f"{server.root}/update")
    sink.write([record(A, ("<http://x.example/>", P, '"1"', "<http://inner.example/>"))])
    _until(lambda: not sink.waiting)
    assert any("#graph=" in graph for graph, *_ in server.quads())
    sink.write([record(A, ("<http://x.example/>", P, '"2"'))])
    sinks.close()
    assert {graph for graph, *_ in server.quads()} == {A, PROVENANCE}


def test_a_page_that_is_gone_leaves_only_its_provenance(server: OxigraphServer, tmp_path: Path) -> None:
    sinks, sink = _open(tmp_path, kind="update", url=f"{server.root}/update")
    sink.write([record(A, ("<http://x.example/>", P, '"1"'))])
    sink.write([record(A, status=410)])
    sinks.close()
    assert {graph for graph, *_ in server.quads()} == {PROVENANCE}
    (status,) = server.ask(f"SELECT ?s {{ GRAPH <{PROVENANCE}> {{ <{A}> <urn:motherlode:vocabulary:status> ?s }} }}")
    assert status["s"] == "410"


@pytest.mark.parametrize(("kind", "path"), [("update", "/update"), ("graphstore", "/store")])
def test_an_endpoint_that_goes_away_and_comes_back_misses_nothing(
    server: OxigraphServer, tmp_path: Path, kind: str, path: str
) -> None:
    pages = [record(f"http://h.example/{n}", (f"<http://x.example/{n}>", P, f'"{n}"')) for n in range(60)]
    sinks, sink = _open(tmp_path, kind=kind, url=server.root + path, provenance=False, drain=60)
    for page in pages[:20]:
        sink.write([page])
    _until(lambda: sink.sent > 5)
    server.kill()
    for page in pages[20:40]:
        sink.write([page])
    _until(lambda: bool(sink.last_error))
    server.start()
    for page in pages[40:]:
        sink.write([page])
    sinks.close()
    assert sink.waiting == 0
    assert server.quads() == {
        (f"http://h.example/{n}", f"http://x.example/{n}", "http://p.example/says", str(n)) for n in range(60)
    }


def test_what_waits_outlives_the_crawl_and_is_sent_by_the_next(server: OxigraphServer, tmp_path: Path) -> None:
    table = {"kind": "update", "url": f"{server.root}/update", "provenance": False, "drain": 0}
    server.kill()
    sinks, sink = _open(tmp_path, **table)
    for n in range(3):
        sink.write([record(f"http://h.example/{n}", (f"<http://x.example/{n}>", P, f'"{n}"'))])
    _until(lambda: bool(sink.last_error))
    sinks.close()
    settings = sink_settings(table)
    (state,) = sink_states([settings], tmp_path)
    assert "refused" in state.pop("trouble").lower(), "nobody listens there"
    assert state == {"kind": "update", "to": f"{server.root}/update", "waiting": 3, "refused": 0}
    server.start()
    again, _ = _open(tmp_path, **{**table, "drain": 60})
    again.close()
    (state,) = sink_states([settings], tmp_path)
    assert (state["waiting"], state["trouble"]) == (0, "")
    assert len(server.quads()) == 3


def test_statements_that_are_no_strict_rdf_cost_only_themselves(server: OxigraphServer, tmp_path: Path) -> None:
    sinks, sink = _open(tmp_path, kind="update", url=f"{server.root}/update", provenance=False)
    odd = ("<http://x.example/>", P, "<http://y.example/50%?a[0]=|>")
    sink.write([record(A, odd, ("<http://x.example/>", P, '"kept"')), record(B, ("<http://x.example/>", P, '"too"'))])
    sinks.close()
    assert {(graph, value) for graph, _, _, value in server.quads()} >= {(A, "kept"), (B, "too")}
    assert sink_states([sink_settings({"kind": "update", "url": "http://a/"})], tmp_path)[0]["refused"] == 0


@pytest.fixture
def scripted() -> Iterator[Callable[[Script], ScriptedServer]]:
    made: list[ScriptedServer] = []

    def start(script: Script) -> ScriptedServer:
        made.append(ScriptedServer(script))
        return made[-1]

    yield start
    for server in made:
        server.stop()


def test_trouble_is_waited_for(tmp_path: Path, scripted: Callable[[Script], ScriptedServer]) -> None:
    answers = iter([503, 429, 401, 500])
    server = scripted(lambda line, body: (next(answers, 204), {"Retry-After": "0"}))
    sinks, sink = _open(tmp_path, kind="update", url=f"{server.root}/u?x=1", token_env="TOKEN", drain=60)
    sink.write([record(A, ("<http://x.example/>", P, '"1"'))])
    sinks.close()
    assert [line for line, *_ in server.log] == ["POST /u?x=1"] * 5
    assert len({body for _, body, _ in server.log}) == 1
    assert server.log[0][2]["Authorization"] == "Bearer secret"
    assert sink.waiting == 0


def test_a_graph_store_that_takes_few_requests_at_a_time_gets_on(
    tmp_path: Path, scripted: Callable[[Script], ScriptedServer]
) -> None:
    answers = cycle([201, 201, 429])
    server = scripted(lambda line, body: (next(answers), {"Retry-After": "0"}))
    sinks, sink = _open(tmp_path, kind="graphstore", url=f"{server.root}/store", drain=30)
    sink.write([record(f"http://h.example/{n}", ("<http://x.example/>", P, f'"{n}"')) for n in range(6)])
    sinks.close()
    assert sink.waiting == 0
    assert len(server.log) == 8, "what was taken is not sent again"


def test_what_an_endpoint_says_is_told_while_pages_wait(
    tmp_path: Path, scripted: Callable[[Script], ScriptedServer]
) -> None:
    server = scripted(lambda line, body: (401, {}))
    table = {"kind": "update", "url": f"{server.root}/u", "drain": 0}
    sinks, sink = _open(tmp_path, **table)
    sink.write([record(A, ("<http://x.example/>", P, '"1"'))])
    _until(lambda: bool(sink.last_error))
    sinks.close()
    (state,) = sink_states([sink_settings(table)], tmp_path)
    assert (state["waiting"], state["trouble"]) == (1, "401 said 401")


def test_a_page_that_is_refused_for_good_is_set_aside_and_the_others_go(
    tmp_path: Path, scripted: Callable[[Script], ScriptedServer]
) -> None:
    server = scripted(lambda line, body: (400 if b"poison" in body else 204, {}))
    sinks, sink = _open(tmp_path, kind="update", url=f"{server.root}/u")
    sink.write([record(f"http://h.example/{n}", ("<http://x.example/>", P, f'"{n}"')) for n in range(3)])
    sink.write([record(A, ("<http://x.example/>", P, '"poison"')), record(B, ("<http://x.example/>", P, '"good"'))])
    sink.write([record(B, ("<http://x.example/>", P, '"better"'))])
    sinks.close()
    assert sink.waiting == 0
    taken = [body for _, body, _ in server.log if b"poison" not in body]
    assert [b'"good"' in body or b'"better"' in body for body in taken] == [False, True, True]
    (reason,) = (tmp_path / "sinks" / "1" / "refused").glob("*.txt")
    assert reason.read_text(encoding="utf-8") == f"<{A}>\n400 said 400\n"


def test_a_spool_that_is_full_stops_the_crawl_with_a_reason(tmp_path: Path) -> None:
    sinks, sink = _open(tmp_path, kind="update", url="http://127.0.0.1:9/", spool=3000, drain=0)
    with pytest.raises(SpoolFullError, match="goes on"):
        for n in range(10):
            sink.write([record(f"http://h.example/{n}", ("<http://x.example/>", P, f'"{n}"'))])
    sinks.close()
    assert 0 < sink.waiting < 10

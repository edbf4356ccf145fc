"""Tests of endpoint sinks: the sink, its HTTP client and its spool."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from unittest.mock import Mock

import pytest

from motherlode.index.page_record import PROVENANCE
from motherlode.index.sinks.endpoint import (
    EndpointClient,
    EndpointResponse,
    EndpointSink,
    Spool,
    spool_state,
)
from motherlode.index.sinks.nquads_sink import PageChange, change_from, drop_nonstandard
from motherlode.index.sinks.sink_settings import sink_settings
from motherlode.index.sinks.sink_store import SinkStore, open_sinks, sink_states

from .records import P, record
from .servers import OxigraphServer, Script, ScriptedServer

A, B = "http://a.example/", "http://b.example/"


def _open(folder: Path, **table: object) -> tuple[SinkStore, EndpointSink]:
    sinks = open_sinks(Mock(), [sink_settings(table)], folder, environment={"TOKEN": "secret"})
    (sink,) = sinks.sinks
    assert isinstance(sink, EndpointSink)
    return sinks, sink


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, "the expected event did not occur in time"
        time.sleep(0.02)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[OxigraphServer]:
    made = OxigraphServer(tmp_path / "oxigraph")
    made.start()
    yield made
    made.kill()


@pytest.mark.parametrize(("kind", "path"), [("update", "/update"), ("graphstore", "/store")])
def test_page_sent_again_replaces_old_version(server: OxigraphServer, tmp_path: Path, kind: str, path: str) -> None:
    sinks, _ = _open(tmp_path, kind=kind, url=server.root + path, provenance=False)
    first = record(A, ("<http://x.example/>", P, '"old"'), ("_:b", P, "_:c"), ("_:c", P, '"tief \\"ß\\" \\u0022"@de'))
    (beside,) = sinks.sinks
    beside.write([first, record(B, ("<http://y.example/>", P, '"stays"'))])
    beside.write([first])
    beside.write([record(A, ("<http://x.example/>", P, '"new"'))])
    sinks.close()
    assert server.quads() == {
        (A, "http://x.example/", "http://p.example/says", "new"),
        (B, "http://y.example/", "http://p.example/says", "stays"),
    }


@pytest.mark.parametrize(("kind", "path"), [("update", "/update"), ("graphstore", "/store")])
def test_blank_nodes_and_literals_round_trip(server: OxigraphServer, tmp_path: Path, kind: str, path: str) -> None:
    sinks, sink = _open(tmp_path, kind=kind, url=server.root + path)
    sink.write([record(A, ("<http://x.example/>", P, "_:c"), ("_:c", P, '"a \\"ß\\" \\\\u0022 } \\n"@de'))])
    sinks.close()
    (row,) = server.ask(f"SELECT ?t {{ GRAPH <{A}> {{ <http://x.example/> {P} [ {P} ?t ] }} }}")
    assert row["t"] == 'a "ß" \\u0022 } \n'


def test_graphs_of_earlier_version_are_removed(server: OxigraphServer, tmp_path: Path) -> None:
    sinks, sink = _open(tmp_path, kind="update", url=f"{server.root}/update")
    sink.write([record(A, ("<http://x.example/>", P, '"1"', "<http://inner.example/>"))])
    _until(lambda: not sink.waiting)
    assert any("#graph=" in graph for graph, *_ in server.quads())
    sink.write([record(A, ("<http://x.example/>", P, '"2"'))])
    sinks.close()
    assert {graph for graph, *_ in server.quads()} == {A, PROVENANCE}


def test_deleted_page_keeps_only_provenance(server: OxigraphServer, tmp_path: Path) -> None:
    sinks, sink = _open(tmp_path, kind="update", url=f"{server.root}/update")
    sink.write([record(A, ("<http://x.example/>", P, '"1"'))])
    sink.write([record(A, status=410)])
    sinks.close()
    assert {graph for graph, *_ in server.quads()} == {PROVENANCE}
    (status,) = server.ask(f"SELECT ?s {{ GRAPH <{PROVENANCE}> {{ <{A}> <urn:motherlode:vocabulary:status> ?s }} }}")
    assert status["s"] == "410"


@pytest.mark.parametrize(("kind", "path"), [("update", "/update"), ("graphstore", "/store")])
def test_endpoint_outage_loses_no_page(server: OxigraphServer, tmp_path: Path, kind: str, path: str) -> None:
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


def test_spooled_pages_survive_crawl_and_are_sent_by_next_run(server: OxigraphServer, tmp_path: Path) -> None:
    table = {"kind": "update", "url": f"{server.root}/update", "provenance": False, "drain": 0}
    server.kill()
    sinks, sink = _open(tmp_path, **table)
    for n in range(3):
        sink.write([record(f"http://h.example/{n}", (f"<http://x.example/{n}>", P, f'"{n}"'))])
    _until(lambda: bool(sink.last_error))
    sinks.close()
    settings = sink_settings(table)
    (state,) = sink_states([settings], tmp_path)
    assert "refused" in state.pop("trouble").lower(), "no server listens there"
    assert state == {"kind": "update", "to": f"{server.root}/update", "waiting": 3, "refused": 0}
    server.start()
    again, _ = _open(tmp_path, **{**table, "drain": 60})
    again.close()
    (state,) = sink_states([settings], tmp_path)
    assert (state["waiting"], state["trouble"]) == (0, "")
    assert len(server.quads()) == 3


def test_nonstandard_statements_are_dropped_alone(server: OxigraphServer, tmp_path: Path) -> None:
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


def test_server_errors_are_retried_until_success(tmp_path: Path, scripted: Callable[[Script], ScriptedServer]) -> None:
    answers = iter([503, 429, 401, 500])
    server = scripted(lambda line, body: (next(answers, 204), {"Retry-After": "0"}))
    sinks, sink = _open(tmp_path, kind="update", url=f"{server.root}/u?x=1", token_env="TOKEN", drain=60)
    sink.write([record(A, ("<http://x.example/>", P, '"1"'))])
    sinks.close()
    assert [line for line, *_ in server.log] == ["POST /u?x=1"] * 5
    assert len({body for _, body, _ in server.log}) == 1
    assert server.log[0][2]["Authorization"] == "Bearer secret"
    assert sink.waiting == 0


def test_graph_store_with_rate_limit_makes_progress(
    tmp_path: Path, scripted: Callable[[Script], ScriptedServer]
) -> None:
    answers = cycle([201, 201, 429])
    server = scripted(lambda line, body: (next(answers), {"Retry-After": "0"}))
    sinks, sink = _open(tmp_path, kind="graphstore", url=f"{server.root}/store", drain=30)
    sink.write([record(f"http://h.example/{n}", ("<http://x.example/>", P, f'"{n}"')) for n in range(6)])
    sinks.close()
    assert sink.waiting == 0
    assert len(server.log) == 8, "accepted pages are not sent again"


def test_last_error_is_reported_while_pages_wait(tmp_path: Path, scripted: Callable[[Script], ScriptedServer]) -> None:
    server = scripted(lambda line, body: (401, {}))
    table = {"kind": "update", "url": f"{server.root}/u", "drain": 0}
    sinks, sink = _open(tmp_path, **table)
    sink.write([record(A, ("<http://x.example/>", P, '"1"'))])
    _until(lambda: bool(sink.last_error))
    sinks.close()
    (state,) = sink_states([sink_settings(table)], tmp_path)
    assert (state["waiting"], state["trouble"]) == (1, "401 said 401")


def test_refused_page_is_kept_and_others_are_sent(tmp_path: Path, scripted: Callable[[Script], ScriptedServer]) -> None:
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


def test_full_spool_stops_crawl_with_reason(tmp_path: Path) -> None:
    sinks, sink = _open(tmp_path, kind="update", url="http://127.0.0.1:9/", spool=3000, drain=0)
    with pytest.raises(OSError, match=r"is full.*motherlode resume"):
        for n in range(10):
            sink.write([record(f"http://h.example/{n}", ("<http://x.example/>", P, f'"{n}"'))])
    sinks.close()
    assert 0 < sink.waiting < 10


Start = Callable[..., "RawServer"]


def answer(text: bytes = b"", *, status: int = 200, headers: str = "") -> bytes:
    return f"HTTP/1.1 {status} Said\r\nContent-Length: {len(text)}\r\n{headers}\r\n".encode("latin-1") + text


class RawServer:
    """Sends scripted responses, one per request, on each connection, and then closes the connection."""

    def __init__(self, *connections: list[bytes]) -> None:
        self.requests: list[bytes] = []
        self._connections = connections
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.root = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        for answers in self._connections:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # stopped before all connections were used
            with connection:
                for one in answers:
                    self.requests.append(connection.recv(1 << 16))
                    connection.sendall(one)

    def stop(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(timeout=30)
        self._socket.close()


@pytest.fixture
def start() -> Iterator[Start]:
    made: list[RawServer] = []

    def started(*connections: list[bytes]) -> RawServer:
        made.append(RawServer(*connections))
        return made[-1]

    yield started
    for server in made:
        server.stop()


@pytest.fixture
def client() -> Iterator[Callable[..., EndpointClient]]:
    made: list[EndpointClient] = []

    def opened(url: str, *, timeout_seconds: float = 30.0) -> EndpointClient:
        made.append(EndpointClient(url, timeout_seconds=timeout_seconds, headers={"Authorization": "Bearer x"}))
        return made[-1]

    yield opened
    for one in made:
        one.close()


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://a.example", "/"),
        ("http://a.example/update", "/update"),
        ("https://a.example:8443/u?x=1&y=2#part", "/u?x=1&y=2"),
    ],
)
def test_client_target_is_path_and_query(url: str, target: str) -> None:
    assert EndpointClient(url, timeout_seconds=1.0, headers={}).target == target


def test_client_sends_body_content_type_and_authorization(client: Callable[..., EndpointClient]) -> None:
    server = ScriptedServer(lambda line, body: (204, {}))
    try:
        one = client(server.root)
        assert one.send("POST", "/u", b"body", "text/plain") == EndpointResponse(status=204)
        assert one.send("DELETE", "/g?graph=x").is_success
    finally:
        server.stop()
    (first, body, headers), (second, _, others) = server.log
    assert (first, body, headers["Content-Type"], headers["Authorization"]) == (
        "POST /u",
        b"body",
        "text/plain",
        "Bearer x",
    )
    assert second == "DELETE /g?graph=x"
    assert "Content-Type" not in others


def test_client_reuses_connection_after_long_response(start: Start, client: Callable[..., EndpointClient]) -> None:
    server = start([answer(b"word " * 50_000), answer(b"next")])
    one = client(server.root)
    assert len(one.send("GET", "/").text) <= 4096
    assert one.send("GET", "/").text == "next"


def test_client_reopens_closed_idle_connection_and_repeats_request(
    start: Start, client: Callable[..., EndpointClient]
) -> None:
    server = start([answer(b"first")], [answer(b"second")])
    one = client(server.root)
    assert one.send("GET", "/1").text == "first"
    assert one.send("GET", "/2").text == "second"
    assert [request.split(b" ")[1] for request in server.requests] == [b"/1", b"/2"]


def test_client_new_connection_without_response_raises_without_retry(
    start: Start, client: Callable[..., EndpointClient]
) -> None:
    server = start([b""], [answer(b"too late")])
    one = client(server.root)
    with pytest.raises(OSError, match="RemoteDisconnected"):
        one.send("POST", "/", b"x")
    assert one.send("POST", "/", b"y").text == "too late", "the next request opens a new connection"
    assert len(server.requests) == 2


@pytest.mark.parametrize("said", [b"not http at all\r\n\r\n", b"HTTP/1.1 two hundred\r\n\r\n"])
def test_client_response_that_is_not_http_raises(
    start: Start, client: Callable[..., EndpointClient], said: bytes
) -> None:
    server = start([said])
    with pytest.raises(OSError, match="BadStatusLine"):
        client(server.root).send("GET", "/")


def test_client_connection_refused_raises(client: Callable[..., EndpointClient]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(OSError, match="ConnectionRefused"):
        client(f"http://127.0.0.1:{port}/").send("GET", "/")


def test_client_silent_endpoint_raises_after_timeout(
    client: Callable[..., EndpointClient],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(OSError, match="TimeoutError"):
        client(f"http://127.0.0.1:{silent.getsockname()[1]}/", timeout_seconds=0.05).send("GET", "/")


@pytest.mark.parametrize(
    ("said", "waits"),
    [("120", 120.0), ("0", 0.0), ("Wed, 21 Oct 2026 07:28:00 GMT", None), ("-1", None), ("1.5", None), ("²", None)],
)
def test_client_retry_after_is_whole_seconds_or_none(
    start: Start, client: Callable[..., EndpointClient], said: str, waits: float | None
) -> None:
    server = start([answer(b"busy\n  now", status=503, headers=f"Retry-After: {said}\r\n")])
    found = client(server.root).send("GET", "/")
    assert found == EndpointResponse(status=503, text="busy now", retry_after=waits)


def test_client_redirect_is_returned_and_not_followed(start: Start, client: Callable[..., EndpointClient]) -> None:
    server = start([answer(status=307, headers="Location: http://elsewhere.example/\r\n")])
    found = client(server.root).send("POST", "/", b"quads")
    assert (found.status, found.is_success) == (307, False)
    assert len(server.requests) == 1


@pytest.mark.parametrize(("status", "is_success"), [(199, False), (200, True), (204, True), (299, True), (300, False)])
def test_response_is_success_for_2xx(status: int, *, is_success: bool) -> None:
    assert EndpointResponse(status=status).is_success is is_success


def _change(number: int) -> PageChange:
    return change_from(record(f"http://h.example/{number}", ("<http://x.example/>", P, f'"{number}"')))


def test_spool_batches_are_in_order_and_survive_process(tmp_path: Path) -> None:
    spool = Spool(tmp_path, max_bytes=10**6)
    for number in range(12):
        spool.put([_change(number)])
    spool.sync()
    assert spool.first() == [_change(0)]
    spool.drop_first()
    (tmp_path / "000000000099.new").write_bytes(b"half")  # left by a kill during `put`
    again = Spool(tmp_path, max_bytes=10**6)
    again.put([_change(12)])
    found = []
    while (batch := again.first()) is not None:
        found += batch
        again.drop_first()
    assert found == [_change(number) for number in range(1, 13)]
    assert spool_state(tmp_path) == {"waiting": 0, "refused": 0, "trouble": ""}
    assert not list(tmp_path.glob("*.new"))


def test_spool_keeps_refused_page_with_reason(tmp_path: Path) -> None:
    spool = Spool(tmp_path, max_bytes=10**6)
    spool.put([_change(1), _change(2)])
    spool.keep_refused(_change(1), "400 no")
    again = Spool(tmp_path, max_bytes=10**6)  # after a kill in the middle of the batch, which is sent again
    again.keep_refused(_change(1), "400 no")
    again.keep_refused(_change(2), "400 never")
    again.drop_first()
    assert spool_state(tmp_path)["refused"] == 2
    reasons = (path.read_text(encoding="utf-8").splitlines()[1] for path in (tmp_path / "refused").glob("*.txt"))
    assert sorted(reasons) == ["400 never", "400 no"]
    assert Spool(tmp_path, max_bytes=10**6).first() is None


def test_spool_put_beyond_limit_raises(tmp_path: Path) -> None:
    spool = Spool(tmp_path, max_bytes=2000)
    spool.put([_change(1)])
    with pytest.raises(OSError, match="is full"):
        for number in range(10):
            spool.put([_change(number)])
    while spool.first() is not None:
        spool.drop_first()
    spool.put([_change(1)])


def test_spool_accepts_single_batch_above_limit(tmp_path: Path) -> None:
    spool = Spool(tmp_path, max_bytes=10)
    spool.put([_change(1)])
    with pytest.raises(OSError, match="is full"):
        spool.put([_change(2)])
    assert spool.first() == [_change(1)]


def test_change_from_record_has_each_graph_without_union() -> None:
    made = change_from(
        record(
            "http://h.example/",
            ("<http://x.example/>", P, "<http://h.example/>"),
            ("<http://x.example/>", P, '"in"', "<http://g.example/>"),
        )
    )
    inner = "<http://h.example/#graph=http://g.example/>"
    assert made.graphs == {
        "<http://h.example/>": f"<http://x.example/> {P} <http://h.example/> .\n",
        inner: f'<http://x.example/> {P} "in" .\n',
    }
    assert made.nquads(provenance_graph="").count("\n") == 2
    assert f" {inner} .\n" in made.nquads(provenance_graph="")
    assert "<urn:p> .\n" in made.nquads(provenance_graph="<urn:p>")
    assert drop_nonstandard(made) == made

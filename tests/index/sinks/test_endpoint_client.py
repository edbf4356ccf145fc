"""The plain client, against servers that behave and servers that do not."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from motherlode.index.sinks.endpoint import EndpointClient, EndpointResponse

from .servers import ScriptedServer

Start = Callable[..., "RawServer"]


def answer(text: bytes = b"", *, status: int = 200, headers: str = "") -> bytes:
    return f"HTTP/1.1 {status} Said\r\nContent-Length: {len(text)}\r\n{headers}\r\n".encode("latin-1") + text


class RawServer:
    """Gives each connection its own answers, one a request, and then hangs up without a word."""

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
                return  # stopped before its time
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
def test_the_target_is_path_and_query(url: str, target: str) -> None:
    assert EndpointClient(url, timeout_seconds=1.0, headers={}).target == target


def test_requests_carry_their_body_type_and_the_header_that_lets_us_in(client: Callable[..., EndpointClient]) -> None:
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


def test_one_connection_serves_many_requests_also_after_a_long_answer(
    start: Start, client: Callable[..., EndpointClient]
) -> None:
    server = start([answer(b"word " * 50_000), answer(b"next")])
    one = client(server.root)
    assert len(one.send("GET", "/").text) <= 4096
    assert one.send("GET", "/").text == "next"


def test_an_idle_connection_that_was_closed_is_opened_again_and_the_request_repeated(
    start: Start, client: Callable[..., EndpointClient]
) -> None:
    server = start([answer(b"first")], [answer(b"second")])
    one = client(server.root)
    assert one.send("GET", "/1").text == "first"
    assert one.send("GET", "/2").text == "second"
    assert [request.split(b" ")[1] for request in server.requests] == [b"/1", b"/2"]


def test_a_fresh_connection_without_an_answer_is_trouble_and_not_tried_again(
    start: Start, client: Callable[..., EndpointClient]
) -> None:
    server = start([b""], [answer(b"too late")])
    one = client(server.root)
    with pytest.raises(OSError, match="RemoteDisconnected"):
        one.send("POST", "/", b"x")
    assert one.send("POST", "/", b"y").text == "too late", "the next request has a connection of its own"
    assert len(server.requests) == 2


@pytest.mark.parametrize("said", [b"not http at all\r\n\r\n", b"HTTP/1.1 two hundred\r\n\r\n"])
def test_what_is_no_http_is_trouble(start: Start, client: Callable[..., EndpointClient], said: bytes) -> None:
    server = start([said])
    with pytest.raises(OSError, match="BadStatusLine"):
        client(server.root).send("GET", "/")


def test_nobody_there_is_trouble(client: Callable[..., EndpointClient]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(OSError, match="ConnectionRefused"):
        client(f"http://127.0.0.1:{port}/").send("GET", "/")


def test_an_endpoint_that_says_nothing_is_not_waited_for_longer_than_its_time(
    client: Callable[..., EndpointClient],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(OSError, match="TimeoutError"):
        client(f"http://127.0.0.1:{silent.getsockname()[1]}/", timeout_seconds=0.05).send("GET", "/")


@pytest.mark.parametrize(
    ("said", "waits"),
    [("120", 120.0), ("0", 0.0), ("Wed, 21 Oct 2026 07:28:00 GMT", None), ("-1", None), ("1.5", None), ("²", None)],
)
def test_how_long_to_wait_is_told_in_whole_seconds_or_not_at_all(
    start: Start, client: Callable[..., EndpointClient], said: str, waits: float | None
) -> None:
    server = start([answer(b"busy\n  now", status=503, headers=f"Retry-After: {said}\r\n")])
    found = client(server.root).send("GET", "/")
    assert found == EndpointResponse(status=503, text="busy now", retry_after=waits)


def test_a_redirect_is_an_answer_and_not_followed(start: Start, client: Callable[..., EndpointClient]) -> None:
    server = start([answer(status=307, headers="Location: http://elsewhere.example/\r\n")])
    found = client(server.root).send("POST", "/", b"quads")
    assert (found.status, found.is_success) == (307, False)
    assert len(server.requests) == 1


@pytest.mark.parametrize(("status", "is_success"), [(199, False), (200, True), (204, True), (299, True), (300, False)])
def test_what_counts_as_good(status: int, *, is_success: bool) -> None:
    assert EndpointResponse(status=status).is_success is is_success

"""Whether a Ray is at an address: told within seconds, and before Ray is asked. With a Ray: `test_driver`."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from motherlode.cluster import ray_runtime as addresses
from motherlode.cluster.ray_runtime import check_cluster
from motherlode.crawler import JobError

HTTP_2 = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def address_of(listener: socket.socket) -> str:
    return f"127.0.0.1:{listener.getsockname()[1]}"


def answering(listener: socket.socket, answer: bytes) -> threading.Thread:
    """Somebody who answers the first client with these bytes."""

    def answer_one() -> None:
        client, _ = listener.accept()
        with client:
            client.recv(100)
            client.sendall(answer)

    thread = threading.Thread(target=answer_one, daemon=True)
    thread.start()
    return thread


def test_a_ray_of_our_own_needs_no_address() -> None:
    check_cluster("")


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_an_address_where_nobody_answers_is_told_at_once(listener: socket.socket, scheme: str) -> None:
    address = scheme + address_of(listener)
    listener.close()
    began = time.monotonic()
    with pytest.raises(JobError, match=f"{address} cannot be joined: nobody answers .*ray start --head"):
        check_cluster(address)
    assert time.monotonic() - began < 5


def test_somebody_who_says_nothing_is_not_waited_for(listener: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "SECONDS", 0.2)
    with pytest.raises(JobError, match="no answer within"):
        check_cluster(address_of(listener))


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_somebody_else_is_not_taken_for_ray(listener: socket.socket, answer: bytes) -> None:
    thread = answering(listener, answer)
    with pytest.raises(JobError, match="somebody else"):
        check_cluster(address_of(listener))
    thread.join(5)


def test_who_answers_like_ray_may_be_ray(listener: socket.socket) -> None:
    thread = answering(listener, HTTP_2)
    check_cluster(address_of(listener))
    thread.join(5)


def test_where_ray_speaks_tls_a_connection_has_to_do(listener: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_USE_TLS", "1")
    check_cluster(address_of(listener))


@pytest.mark.parametrize("address", ["nonsense", "10.0.0.1", "ray://10.0.0.1", "a b:1", "127.0.0.1:123456"])
def test_what_is_no_address_is_told(address: str) -> None:
    with pytest.raises(JobError, match="not an address with a port"):
        check_cluster(address)


def test_a_port_that_cannot_be_is_told() -> None:
    with pytest.raises(JobError, match="nobody answers"):
        check_cluster("127.0.0.1:99999")


def test_auto_where_no_ray_runs_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    services = pytest.importorskip("ray._private.services")

    def nowhere(_: str) -> str:
        raise ConnectionError("Please specify the one to connect to by setting the `--address` flag")

    monkeypatch.setattr(services, "canonicalize_bootstrap_address", nowhere)
    with pytest.raises(JobError, match="no Ray runs on this machine") as caught:
        check_cluster("auto")
    assert "ray start --head" in str(caught.value)
    assert "--address" not in str(caught.value), "that is Ray's flag, and not ours"


def test_auto_is_looked_at_where_it_leads(monkeypatch: pytest.MonkeyPatch, listener: socket.socket) -> None:
    services = pytest.importorskip("ray._private.services")
    address = address_of(listener)
    listener.close()
    monkeypatch.setattr(services, "canonicalize_bootstrap_address", lambda _: address)
    with pytest.raises(JobError, match=f"{address} cannot be joined"):
        check_cluster("auto")

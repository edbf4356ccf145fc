"""Checks of Ray's address, installation and checkpoint URL. Tests with a running Ray are in `test_driver`."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from motherlode.cluster import ray_runtime
from motherlode.cluster.ray_runtime import WHAT_TO_INSTALL, check_cluster, check_state, need_ray, running_ray
from motherlode.crawler import JobError

SETTINGS_FRAME = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def address_of(listener: socket.socket) -> str:
    return f"127.0.0.1:{listener.getsockname()[1]}"


def start_server(listener: socket.socket, response: bytes) -> threading.Thread:
    """Start a server that sends these bytes to its first client."""

    def serve_one() -> None:
        client, _ = listener.accept()
        with client:
            client.recv(100)
            client.sendall(response)

    thread = threading.Thread(target=serve_one, daemon=True)
    thread.start()
    return thread


def test_check_cluster_accepts_empty_address_for_local_ray() -> None:
    check_cluster("")


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_check_cluster_without_a_server_raises_with_instructions(listener: socket.socket, scheme: str) -> None:
    address = scheme + address_of(listener)
    listener.close()
    with pytest.raises(JobError, match=f"{address} cannot be joined: connection failed .*ray start --head"):
        check_cluster(address)


def test_check_cluster_with_silent_server_raises_after_timeout(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_runtime, "CONNECT_SECONDS", 0.2)
    with pytest.raises(JobError, match=r"no response within 0\.2 s"):
        check_cluster(address_of(listener))


@pytest.mark.parametrize("response", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"], ids=["empty", "http-1.1"])
def test_check_cluster_with_another_kind_of_server_raises(listener: socket.socket, response: bytes) -> None:
    thread = start_server(listener, response)
    with pytest.raises(JobError, match="the server there is not Ray"):
        check_cluster(address_of(listener))
    thread.join(60)


def test_check_cluster_accepts_server_that_answers_with_http2_settings(listener: socket.socket) -> None:
    thread = start_server(listener, SETTINGS_FRAME)
    check_cluster(address_of(listener))
    thread.join(60)


def test_check_cluster_with_tls_only_connects(listener: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_USE_TLS", "1")
    check_cluster(address_of(listener))


@pytest.mark.parametrize("address", ["nonsense", "10.0.0.1", "ray://10.0.0.1", "a b:1", "127.0.0.1:123456"])
def test_check_cluster_with_malformed_address_raises(address: str) -> None:
    with pytest.raises(JobError, match="not an address with a port"):
        check_cluster(address)


def test_check_cluster_with_port_out_of_range_raises() -> None:
    with pytest.raises(JobError, match="connection failed"):
        check_cluster("127.0.0.1:99999")


def test_check_cluster_auto_without_running_ray_raises_with_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    services = pytest.importorskip("ray._private.services")

    def find_nothing(_: str) -> str:
        raise ConnectionError("Please specify the one to connect to by setting the `--address` flag")

    monkeypatch.setattr(services, "canonicalize_bootstrap_address", find_nothing)
    with pytest.raises(JobError, match="found no running Ray on this machine") as caught:
        check_cluster("auto")
    assert "ray start --head" in str(caught.value)
    assert "--address" not in str(caught.value), "this is an option of Ray, not of Motherlode"


def test_check_cluster_auto_checks_the_address_that_ray_finds(
    monkeypatch: pytest.MonkeyPatch, listener: socket.socket
) -> None:
    services = pytest.importorskip("ray._private.services")
    address = address_of(listener)
    listener.close()
    monkeypatch.setattr(services, "canonicalize_bootstrap_address", lambda _: address)
    with pytest.raises(JobError, match=f"{address} cannot be joined"):
        check_cluster("auto")


def test_need_ray_without_ray_raises_with_installation_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(JobError) as caught:
        need_ray()
    assert str(caught.value) == WHAT_TO_INSTALL
    with pytest.raises(JobError, match="not installed"), running_ray("", shards=2):
        pass


def test_need_ray_with_ray_returns() -> None:
    pytest.importorskip("ray")
    need_ray()


@pytest.mark.parametrize("url", ["", "file:///tmp/x", "memory://x"])
def test_check_state_accepts_known_url_schemes(url: str) -> None:
    check_state(url)


def test_check_state_accepts_a_path_and_does_not_create_it(tmp_path: Path) -> None:
    check_state(str(tmp_path / "state"))
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("url", ["nonsense://x", "no-such-scheme://bucket/x"])
def test_check_state_with_unknown_scheme_raises(url: str) -> None:
    with pytest.raises(JobError, match=f"checkpoints cannot be stored at {url}"):
        check_state(url)


def test_running_ray_without_cluster_at_address_raises_with_resume_command() -> None:
    pytest.importorskip("ray")
    with (
        pytest.raises(JobError, match=r"cannot be joined.*resume DIR.*--ray ADDRESS"),
        running_ray("no such address", shards=2),
    ):
        pass


def test_running_ray_without_write_access_raises_with_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")

    def init(**_: object) -> None:
        raise PermissionError(13, "Permission denied", "/nonexistent")

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(JobError, match=r"Ray cannot be started here: .*'/nonexistent'"), running_ray("", shards=2):
        pass

"""The synthetic web in a process of its own: there while the block runs, and gone with it."""

from __future__ import annotations

import json
import socket
import urllib.request
from ipaddress import ip_address
from pathlib import Path

import pytest

from motherlode.sim.synthetic import SyntheticWeb
from motherlode.sim.synthetic.server_process import ADDRESSES, WebServer, hosts_table


def test_hosts_table_uses_shared_loopback_addresses(web: SyntheticWeb) -> None:
    table = hosts_table(web, 8123)
    assert list(table) == list(web.hosts())
    used = {address for address, _ in table.values()}
    assert used == set(ADDRESSES)
    assert all(ip_address(address).is_loopback and address != "127.0.0.1" for address in used)
    assert {port for _, port in table.values()} == {8123}
    with pytest.raises(KeyError):
        table["nobody.example"]


PAGES, SEED = 200, 7


def get(server: WebServer, url: str) -> bytes:
    host, _, path = url.removeprefix("http://").partition("/")
    address, port = server.hosts[host]
    request = urllib.request.Request(f"http://{address}:{port}/{path}", headers={"Host": host})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return bytes(answer.read())


def listens(server: WebServer) -> bool:
    address, port = next(iter(server.hosts.values()))
    try:
        socket.create_connection((address, port), timeout=30).close()
    except ConnectionRefusedError:
        return False
    return True


def test_web_server_in_context_serves_and_writes_log(tmp_path: Path) -> None:
    with WebServer(pages=PAGES, seed=SEED, log=tmp_path / "log") as server:
        assert server.port > 0
        assert len(server.hosts) > 1
        (url, *_) = server.seeds
        assert get(server, url) == server.web.answer(url, attempt=1).body
        assert listens(server)
    assert not listens(server)
    asked = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert len(asked) == 1


def test_web_server_with_failing_block_ends() -> None:
    server = WebServer(pages=PAGES, seed=SEED)
    with pytest.raises(KeyError), server:
        raise KeyError
    assert not listens(server)


def test_web_server_with_port_in_use_raises_with_reason() -> None:
    with socket.create_server((ADDRESSES[0], 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(OSError, match=r"could not be served: .*in use"),
            WebServer(pages=PAGES, seed=SEED, port=port),
        ):
            pass


def test_hosts_table_on_examples_gives_expected_values() -> None:
    table = hosts_table(SyntheticWeb(pages=1000, seed=1), 8080)
    assert (table["portal-0.example"], "nobody.example" in table) == (("127.0.0.2", 8080), False)

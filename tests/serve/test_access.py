"""Tests of the access control by host and origin."""

from __future__ import annotations

import asyncio
import http.client
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from motherlode.serve import Access
from motherlode.serve.access import _is_loopback, _parse_host, _parse_origin
from motherlode.serve.application import refuse_requests
from tests.serve.site import client_of, served

PATHS = ["/", "/healthz", "/search?q=tomato&format=json", "/sparql?query=ASK%7B%7D", "/style.css", "/nothing"]
APP, OTHER = "https://app.example.org", "https://evil.test"


@pytest.fixture(scope="module")
def open_site(folder: Path) -> Iterator[str]:
    flags = ("--allow-host", "Crawl.Example.ORG", "--allow-host", "bücher.example", "--cors", f"{APP}:443/")
    with served(folder, *flags) as address:
        yield address


def request(
    site: str, path: str, headers: dict[str, str], *, method: str = "GET"
) -> tuple[int, http.client.HTTPMessage, str]:
    connection = http.client.HTTPConnection(urlsplit(site).netloc, timeout=60)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def status_line(site: str, head: str) -> str:
    """Send the head of a request as it is, and return the first line of the response."""
    address = urlsplit(site)
    with socket.create_connection((address.hostname, address.port), timeout=60) as client:
        client.sendall(head.replace("\n", "\r\n").encode())
        return client.makefile("rb").readline().decode().strip()


@pytest.mark.parametrize("path", PATHS)
def test_foreign_host_is_refused_at_every_path(site: str, path: str) -> None:
    status, headers, text = request(site, path, {"Host": "evil.test"})
    assert status == 421
    assert "'evil.test'" in text
    assert "--allow-host" in text
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "host",
    [
        *("evil.test:80", "localhost.evil.test", "127.0.0.1.evil.test", "evillocalhost", "10.0.0.1", "0.0.0.0"),
        *("[::2]", "localhost@evil.test", "localhost:8080:1", "local host", "", "crawl.example.org"),
    ],
)
def test_host_that_is_not_loopback_is_refused(site: str, host: str) -> None:
    assert request(site, "/healthz", {"Host": host})[0] in (400, 421)


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:9000", "localhost.", "crawl.localhost", "127.0.0.1", "127.1.2.3:1", "[::1]:8080"]
)
def test_loopback_names_are_accepted_with_any_port(site: str, host: str) -> None:
    assert request(site, "/healthz", {"Host": host})[0] == 200
    assert request(site, "/sparql?query=ASK%7B%3Ca%3E%3Fp%3Fo%7D", {"Host": host})[0] == 200


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET /healthz HTTP/1.0\n\n", 421),
        ("GET /healthz HTTP/1.1\nHost: localhost\nHost: evil.test\nConnection: close\n\n", 400),
        ("GET http://evil.test/healthz HTTP/1.1\nHost: localhost\nConnection: close\n\n", 421),
        ("GET http://localhost/healthz HTTP/1.1\nHost: localhost\nConnection: close\n\n", 200),
    ],
)
def test_missing_host_header_and_absolute_target_are_checked(site: str, head: str, status: int) -> None:
    found = int(status_line(site, head).split()[1])
    assert found == status or (status != 200 and found in (400, 421))


@pytest.mark.parametrize("host", ["crawl.example.org", "CRAWL.example.org:8443", "xn--bcher-kva.example", "localhost"])
def test_allowed_hosts_are_accepted(open_site: str, host: str) -> None:
    assert request(open_site, "/healthz", {"Host": host})[0] == 200
    assert request(open_site, "/healthz", {"Host": f"not-{host}"})[0] == 421


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_no_origin_may_read_by_default(site: str, path: str, method: str) -> None:
    _, headers, _ = request(site, path, {"Origin": APP}, method=method)
    assert not [name for name in headers if name.lower().startswith("access-control-")]


def test_allowed_origin_may_read_queries_and_searches_only(open_site: str) -> None:
    for path in PATHS:
        _, headers, _ = request(open_site, path, {"Origin": APP})
        is_shared = path.startswith(("/sparql", "/search"))
        assert headers.get("Access-Control-Allow-Origin") == (APP if is_shared else None), path
        assert ("Origin" in headers.get("Vary", "")) is is_shared, path
    for origin in (OTHER, "null", f"{APP}.evil.test", "http://app.example.org", "*"):
        _, headers, _ = request(open_site, "/sparql?query=ASK%7B%7D", {"Origin": origin})
        assert "Access-Control-Allow-Origin" not in headers, origin
        assert headers["Vary"] == "Accept, Origin"


def test_preflight_names_methods_for_allowed_origin(open_site: str) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    status, headers, _ = request(open_site, "/sparql", {"Origin": APP, **asked}, method="OPTIONS")
    assert status == 204
    assert headers["Access-Control-Allow-Origin"] == APP
    assert "POST" in headers["Access-Control-Allow-Methods"]
    assert "Content-Type" in headers["Access-Control-Allow-Headers"]
    _, headers, _ = request(open_site, "/sparql", {"Origin": OTHER, **asked}, method="OPTIONS")
    assert "Access-Control-Allow-Methods" not in headers


@pytest.mark.parametrize("host", ["", "a b", "http://a.test", "a.test:80", "a.test/", "*", "user@a.test"])
def test_malformed_allowed_host_is_error(host: str) -> None:
    with pytest.raises(ValueError, match="is not a host name"):
        Access.from_options(hosts=[host])


@pytest.mark.parametrize("origin", ["", "null", "a.test", "https://a.test/x", "ftp://a.test", "https://u@a.test"])
def test_malformed_origin_is_error(origin: str) -> None:
    with pytest.raises(ValueError, match="is not an origin"):
        Access.from_options(origins=[origin])


def test_wildcard_origin_allows_every_origin(folder: Path) -> None:
    with served(folder, "--cors", "*") as site:
        _, headers, _ = request(site, "/sparql?query=ASK%7B%7D", {"Origin": OTHER})
    assert (headers["Access-Control-Allow-Origin"], headers["Vary"]) == ("*", "Accept")


def test_is_loopback_on_examples_gives_expected_values() -> None:
    assert [
        _is_loopback(name) for name in ("localhost", "a.localhost", "127.0.0.9", "::1", "127.0.0.1.evil.test", "")
    ] == [True, True, True, True, False, False]


def test_parse_host_on_examples_gives_expected_values() -> None:
    assert (_parse_host("Crawl.Example.ORG"), _parse_host("bücher.example")) == (
        "crawl.example.org",
        "xn--bcher-kva.example",
    )


def test_parse_origin_on_examples_gives_expected_values() -> None:
    assert (
        _parse_origin("HTTPS://App.example.org:443/"),
        _parse_origin("http://localhost:3000"),
        _parse_origin("*"),
    ) == ("https://app.example.org", "http://localhost:3000", "*")


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (b"Authorization: Bearer secret", 404),
        (b"Cookie: motherlode_token=secret", 404),
        (b"Authorization: Bearer \xff", 401),  # no UTF-8
        (b"Cookie: motherlode_token=\xff", 401),
    ],
)
async def test_only_the_token_gives_access(header: bytes, status: int) -> None:
    access = Access(token="secret", is_token_required=True)
    async with client_of(web.Application(middlewares=[refuse_requests(access)])) as session:
        url = session._build_url("/")
        reader, writer = await asyncio.open_connection(url.host, url.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + header + b"\r\n\r\n")
        assert (await reader.readline()).split()[1] == b"%d" % status
        writer.close()

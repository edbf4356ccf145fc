"""Intermediate certificates that a server leaves out: where they are fetched from, and what they are never good for."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest

from motherlode.fetch import HttpFetcher, HttpOptions
from motherlode.fetch.http.intermediates import MAX_CERTIFICATE_BYTES, issuer_url
from motherlode.model import Failure, FailureKind, Fetched, Page, Request

from ..certificates import Identity, issued, saved, server_context
from ..conftest import LIMITS
from ..servers import LastingServer, RawServer, answer

HOST = "a.example"
pytestmark = pytest.mark.usefixtures("trusted_root")


async def hello(path: str, before: int, writer: asyncio.StreamWriter) -> None:
    writer.write(answer(b"hello", "Connection: close"))
    await writer.drain()
    writer.close()


async def fetch_twice(
    folder: Path, own: Identity, *, issuers: int, allow: tuple[str, ...] = ("127.0.0.0/8",)
) -> tuple[Fetched, Fetched]:
    """Fetch a page twice from a server that sends only its own certificate. Issuers' hosts are on port `issuers`."""
    async with LastingServer(hello, tls=server_context(saved(folder, own))) as server:
        table = {HOST: ("127.0.0.1", server.port), "ca.example": ("127.0.0.2", issuers)}
        fetcher = HttpFetcher(HttpOptions(user_agent="x", limits=LIMITS, allow=allow, hosts=table))
        found = [await fetcher.fetch(Request(url=f"https://{HOST}/")) for _ in range(2)]
        await fetcher.close()
    return found[0], found[1]


@pytest.mark.parametrize("form", ["der", "pem"])
async def test_missing_intermediate_is_fetched_once_and_the_page_arrives(
    root: Identity, tmp_path: Path, server: RawServer, form: str
) -> None:
    middle = issued(root, is_authority=True)
    server.routes["/ca.crt"] = answer(middle.der if form == "der" else middle.public)
    own = issued(middle, names=[HOST], issuer_url=server.url("/ca.crt"))
    first, second = await fetch_twice(tmp_path, own, issuers=server.port)
    assert isinstance(first, Page) and first.body == b"hello", first
    assert isinstance(second, Page)
    assert len(server.heads) == 1


async def test_two_missing_intermediates_are_both_fetched(root: Identity, tmp_path: Path, server: RawServer) -> None:
    upper = issued(root, is_authority=True)
    lower = issued(upper, is_authority=True, issuer_url=server.url("/upper.crt"))
    server.routes |= {"/upper.crt": answer(upper.der), "/lower.crt": answer(lower.der)}
    own = issued(lower, names=[HOST], issuer_url=server.url("/lower.crt"))
    first, _ = await fetch_twice(tmp_path, own, issuers=server.port)
    assert isinstance(first, Page), first
    assert [head.split()[1] for head in server.heads] == ["/lower.crt", "/upper.crt"]


def untrusted(case: str) -> tuple[Identity, bytes]:
    """Return an authority that the machine does not trust, and the body at the URL of the issuer."""
    evil = issued(is_authority=True)
    if case == "authority unknown":
        middle = issued(evil, is_authority=True)
        return middle, middle.der
    if case == "self-signed, names differ in case and spaces":
        evil = issued(is_authority=True, subject="evil  authority", issuer="Evil Authority")
    if case == "followed by a self-signed one":
        middle = issued(evil, is_authority=True)
        return middle, middle.der + evil.der
    return evil, evil.der


@pytest.mark.parametrize(
    "case",
    [
        "authority unknown",
        "self-signed",
        "self-signed, names differ in case and spaces",
        "followed by a self-signed one",
    ],
)
async def test_fetched_certificate_is_never_a_trust_anchor(tmp_path: Path, server: RawServer, case: str) -> None:
    issuer, body = untrusted(case)
    server.routes["/ca.crt"] = answer(body)
    found = await fetch_twice(tmp_path, issued(issuer, names=[HOST], issuer_url=server.url("/ca.crt")), issuers=1)
    for one in found:
        assert isinstance(one, Failure)
        assert one.kind is FailureKind.CERTIFICATE
    assert server.heads, "the certificate was fetched"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (answer(b"<html>not a certificate"), "does not contain a certificate"),
        (answer(b"", status="404 Not Found"), "answered 404"),
        (answer(b"0" * (MAX_CERTIFICATE_BYTES + 1)), "longer than"),
        (answer(b"", "Location: http://b.example/", status="302 Found"), "302"),
    ],
)
async def test_issuer_that_gives_no_certificate_is_named_in_the_detail(
    root: Identity, tmp_path: Path, server: RawServer, body: bytes, expected: str
) -> None:
    server.routes["/ca.crt"] = body
    own = issued(issued(root, is_authority=True), names=[HOST], issuer_url=server.url("/ca.crt"))
    found, _ = await fetch_twice(tmp_path, own, issuers=server.port)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.CERTIFICATE
    assert expected in found.detail
    assert server.url("/ca.crt") in found.detail


async def test_issuer_at_a_private_address_is_refused_by_the_guard(
    root: Identity, tmp_path: Path, server: RawServer
) -> None:
    middle = issued(root, is_authority=True)
    server.routes["/ca.crt"] = answer(middle.der)
    own = issued(middle, names=[HOST], issuer_url="http://ca.example/ca.crt")
    found, _ = await fetch_twice(tmp_path, own, issuers=server.port, allow=("127.0.0.1/32",))
    assert isinstance(found, Failure)
    assert "127.0.0.2 is not a public address" in found.detail
    assert server.heads == []


def test_issuer_url_only_http_counts() -> None:
    assert issuer_url(issued(issuer_url="http://ca.example/x.crt").der) == "http://ca.example/x.crt"
    long = "http://ca.example/" + "x" * 150
    assert issuer_url(issued(issuer_url=long).der) == long
    assert issuer_url(issued(issuer_url="https://ca.example/x.crt").der) == ""
    assert issuer_url(issued(issuer_url="ldap://ca.example/x").der) == ""
    assert issuer_url(issued().der) == ""


async def test_fetched_certificate_is_no_trust_anchor_where_python_allows_partial_chains(
    tmp_path: Path, server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python sets the flag by default since 3.13. With it, OpenSSL trusts every certificate that it is given."""
    make = ssl.create_default_context

    def with_partial_chains() -> ssl.SSLContext:
        context = make()
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        return context

    monkeypatch.setattr(ssl, "create_default_context", with_partial_chains)
    issuer, body = untrusted("authority unknown")
    server.routes["/ca.crt"] = answer(body)
    own = issued(issuer, names=[HOST], issuer_url=server.url("/ca.crt"))
    for found in await fetch_twice(tmp_path, own, issuers=1):
        assert isinstance(found, Failure)
        assert found.kind is FailureKind.CERTIFICATE

"""Signed requests: the vectors of RFC 9421 and of the Web Bot Auth draft, and an independent verifier."""

from __future__ import annotations

import json
import sys
from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from http_message_signatures import HTTPMessageVerifier, InvalidSignature, MappingKeyResolver, algorithms

from motherlode.fetch.http.client import HttpFetcher, HttpOptions
from motherlode.fetch.http.signatures import (
    Component,
    RequestSigner,
    SigningKey,
    check_agent,
    directory_headers,
    key_directory,
    new_key,
    signature_base,
    signature_parameters,
)
from motherlode.model import Page, Posting, Request, RequestKind
from motherlode.www.urls import split_url

from ..certificates import certificate, server_context
from ..servers import RawServer, answer

PEM = b"""-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----
"""
"""The test key of RFC 9421, B.1.4."""
AGENT = "https://signature-agent.test"


@pytest.fixture(scope="module")
def key() -> SigningKey:
    return SigningKey.from_pem(PEM)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The certificate of the site, with its key."""
    return certificate(tmp_path_factory.mktemp("certificate"))


def test_sign_gives_the_signature_of_rfc_9421_b_2_6(key: SigningKey) -> None:
    components = [
        Component('"date"', "Tue, 20 Apr 2021 02:07:55 GMT"),
        Component('"@method"', "POST"),
        Component('"@path"', "/foo"),
        Component('"@authority"', "example.com"),
        Component('"content-type"', "application/json"),
        Component('"content-length"', "18"),
    ]
    parameters = signature_parameters(components, created=1618884473, keyid="test-key-ed25519")
    assert parameters == (
        '("date" "@method" "@path" "@authority" "content-type" "content-length")'
        ';created=1618884473;keyid="test-key-ed25519"'
    )
    assert signature_base(components, parameters).decode() == (
        '"date": Tue, 20 Apr 2021 02:07:55 GMT\n"@method": POST\n"@path": /foo\n"@authority": example.com\n'
        f'"content-type": application/json\n"content-length": 18\n"@signature-params": {parameters}'
    )
    signature = ":wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:"
    assert key.sign(components, parameters) == signature


def test_sign_gives_the_signature_of_the_web_bot_auth_draft(key: SigningKey) -> None:
    components = [
        Component('"@authority"', "example.com"),
        Component('"signature-agent";key="agent2"', f'"{AGENT}"'),
    ]
    nonce = "n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA=="
    parameters = signature_parameters(
        components,
        created=1735689600,
        keyid=key.identifier,
        alg="ed25519",
        expires=4889289600,
        nonce=nonce,
        tag="web-bot-auth",
    )
    signature = ":RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:"
    assert key.sign(components, parameters) == signature


def test_identifier_is_the_thumbprint_of_the_draft(key: SigningKey) -> None:
    assert key.identifier == "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"
    assert json.loads(key_directory([key]))["keys"] == [
        {
            "kty": "OKP",
            "crv": "Ed25519",
            "kid": "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",
            "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs",
            "use": "sig",
        }
    ]


def test_directory_headers_are_those_of_the_draft(key: SigningKey) -> None:
    headers = directory_headers([key], key_directory([key]), agent=AGENT, created=1735689600, expires=4889289600)
    assert headers == {
        "Content-Digest": "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:",
        "Signature-Input": (
            'binding=("@authority";req "content-digest");created=1735689600;expires=4889289600'
            ';keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";tag="http-message-signatures-directory"'
        ),
        "Signature": (
            "binding=:l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz7gOVBg==:"
        ),
    }


def test_directory_headers_of_two_keys_have_two_labels(key: SigningKey) -> None:
    both = [key, SigningKey.from_pem(new_key())]
    headers = directory_headers(both, key_directory(both), agent=AGENT, created=1, expires=2)
    assert headers["Signature-Input"].count(";tag=") == 2
    assert ", binding1=:" in headers["Signature"]


def verify(sent: SimpleNamespace, directory: bytes) -> Mapping[str, Any]:
    """Verify a request as a site does, with the keys of the directory. Return the parameters of its signature."""
    keys = {
        one["kid"]: Ed25519PublicKey.from_public_bytes(urlsafe_b64decode(one["x"] + "="))
        for one in json.loads(directory)["keys"]
    }
    verifier = HTTPMessageVerifier(
        signature_algorithm=algorithms.ED25519, key_resolver=MappingKeyResolver(public_keys=keys, private_keys={})
    )
    covered = ["@method", "@authority", "@path", "@query", '"signature-agent";key="motherlode"']
    (found,) = verifier.verify(sent, expect_tag="web-bot-auth", require_components=covered)
    return found.parameters


@asynccontextmanager
async def recording_site(folder: Path, received: list[SimpleNamespace]) -> AsyncIterator[str]:
    """Serve pages over TLS on loopback, and keep the requests. Yield the authority of the site."""

    async def respond(request: web.BaseRequest) -> web.Response:
        url = f"https://{request.host}{request.raw_path}"
        received.append(SimpleNamespace(method=request.method, url=url, headers=request.headers))
        return web.Response(text="<p>page", content_type="text/html")

    runner = web.ServerRunner(web.Server(respond))
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=server_context(folder))
        await site.start()
        yield f"127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("path", ["/", "/a%20b/c?x=%C3%A9&y=1", "/?", "/x?q=a?b"])
@pytest.mark.parametrize("kind", [RequestKind.PAGE, RequestKind.PROBE, RequestKind.ROBOTS])
async def test_signed_request_is_accepted_by_an_independent_verifier(
    own: Path, monkeypatch: pytest.MonkeyPatch, path: str, kind: RequestKind
) -> None:
    key, received = SigningKey.from_pem(new_key()), []
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    options = HttpOptions(user_agent="x", allow=("127.0.0.0/8",), signer=RequestSigner(key, AGENT))
    fetcher = HttpFetcher(options)
    async with recording_site(own, received) as authority:
        response = await fetcher.fetch(Request(url=f"https://{authority}{path}", kind=kind))
        await fetcher.close()
    assert isinstance(response, Page)
    (sent,) = received
    parameters = verify(sent, key_directory([key]))
    assert sent.headers["Signature-Agent"] == f'motherlode="{AGENT}"'
    assert parameters["keyid"] == key.identifier
    assert parameters["expires"] - parameters["created"] == 60
    for change in ({"method": "PUT"}, {"url": sent.url.replace("127.0.0.1", "127.0.0.2")}, {"url": sent.url + "0"}):
        with pytest.raises(InvalidSignature):
            verify(SimpleNamespace(**{**vars(sent), **change}), key_directory([key]))


def test_header_lines_of_two_requests_have_different_nonces(key: SigningKey) -> None:
    signer = RequestSigner(key, AGENT)
    assert signer.header_lines("GET", "a.example", "/", now=1) != signer.header_lines("GET", "a.example", "/", now=1)


async def test_requests_over_http_and_posts_are_not_signed(key: SigningKey, server: RawServer) -> None:
    fetcher = HttpFetcher(HttpOptions(user_agent="x", allow=("127.0.0.0/8",), signer=RequestSigner(key, AGENT)))
    server.routes["/"] = answer(b"<p>page")
    await fetcher.fetch(Request(url=server.url("/")))
    await fetcher.close()
    assert "Signature" not in server.heads[0]
    posting = Posting(body=b"x", headers={}, seconds=1.0)
    signed = fetcher._serialize_for_wire(
        Request(url="https://a.example/", posting=posting), *split_url("https://a.example/")
    )
    assert b"Signature" not in signed


def test_serialize_for_archives_has_no_signature(key: SigningKey) -> None:
    fetcher = HttpFetcher(HttpOptions(user_agent="x", signer=RequestSigner(key, AGENT)))
    assert b"Signature" not in fetcher.serialize(Request(url="https://a.example/"))


def test_from_pem_of_another_kind_of_key_raises_value_error() -> None:
    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with pytest.raises(ValueError, match="not an Ed25519 key"):
        SigningKey.from_pem(other)
    with pytest.raises(ValueError, match="not a private key in PEM"):
        SigningKey.from_pem(b"key")


def test_missing_package_raises_value_error_that_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None)
    for use in (new_key, lambda: SigningKey.from_pem(PEM)):
        with pytest.raises(ValueError, match=r"pip install 'motherlode\[signing\]'"):
            use()


@pytest.mark.parametrize(
    "agent",
    ["http://a.example", "https://a.example/", "https://a.example/x", "a.example", "https://", "https://A.example", ""],
)
def test_check_agent_of_anything_but_an_https_origin_returns_a_problem(agent: str) -> None:
    assert "should be an https URL without a path" in check_agent(agent)

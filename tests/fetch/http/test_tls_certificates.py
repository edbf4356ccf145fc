"""Verification of certificates, and TLS versions and ciphers."""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
import struct
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from motherlode.fetch import HttpFetcher, HttpOptions
from motherlode.model import Failure, FailureKind, Page, Request

from ..certificates import Identity, issued, saved, server_context
from ..conftest import LIMITS
from ..odd_tls import OddServer, Talk
from ..servers import LastingServer, answer

pytestmark = pytest.mark.usefixtures("trusted_root")


async def hello(path: str, before: int, writer: asyncio.StreamWriter) -> None:
    writer.write(answer(b"hello"))
    await writer.drain()


@asynccontextmanager
async def fetching(
    port: int, *, hosts: Sequence[str] = (), exempt: Callable[[str], bool] | None = None
) -> AsyncIterator[HttpFetcher]:
    """Return a fetcher that connects to a local port for these hosts."""
    table = dict.fromkeys(hosts, ("127.0.0.1", port))
    options = HttpOptions(user_agent="x", limits=LIMITS, allow=("127.0.0.0/8",), hosts=table, any_certificate=exempt)
    made = HttpFetcher(options)
    yield made
    await made.close()


def shown(root: Identity) -> dict[str, tuple[str, list[Identity], str]]:
    """Hosts, their certificates, and the expected error message (empty if the certificate is good)."""
    inside = issued(root, is_authority=True)
    return {
        "good": ("a.example", [issued(root, names=["a.example"])], ""),
        "address": ("127.0.0.1", [issued(root, addresses=["127.0.0.1"])], ""),
        "wildcard": ("www.a.example", [issued(root, names=["*.a.example"])], ""),
        "international": ("xn--bcher-kva.example", [issued(root, names=["xn--bcher-kva.example"])], ""),
        "odd name": ("a_b.-c.example", [issued(root, names=["a_b.-c.example"])], ""),
        "with its authority": ("a.example", [issued(inside, names=["a.example"]), inside], ""),
        "self-signed": ("a.example", [issued(names=["a.example"])], "self-signed"),
        "expired": ("a.example", [issued(root, names=["a.example"], days=(-9, -1))], "has expired"),
        "too early": ("a.example", [issued(root, names=["a.example"], days=(1, 9))], "not yet valid"),
        "other name": ("a.example", [issued(root, names=["b.example"])], "not valid for 'a.example'"),
        "deep name": ("a.b.a.example", [issued(root, names=["*.a.example"])], "not valid for 'a.b.a.example'"),
        "other address": ("127.0.0.1", [issued(root, addresses=["127.0.0.2"])], "not valid for '127.0.0.1'"),
        "address as a name": ("127.0.0.1", [issued(root, names=["127.0.0.1"])], "not valid for '127.0.0.1'"),
        "unknown authority": ("a.example", [issued(issued(is_authority=True), names=["a.example"])], "unknown"),
        "authority left out": ("a.example", [issued(inside, names=["a.example"])], "leaves out"),
    }


@pytest.mark.parametrize("case", shown(issued(is_authority=True)))
async def test_tls_certificate_must_be_valid(root: Identity, tmp_path: Path, case: str) -> None:
    host, (own, *between), wrong = shown(root)[case]
    async with LastingServer(hello, tls=server_context(saved(tmp_path, own, *between))) as server:
        async with fetching(server.port, hosts=[host]) as fetcher:
            found = await fetcher.fetch(Request(url=f"https://{host}:{server.port}/"))
        if not wrong:
            assert isinstance(found, Page), found
            return
        assert isinstance(found, Failure)
        assert found.kind is FailureKind.CERTIFICATE
        assert wrong in found.detail
        assert "_ssl.c" not in found.detail
        assert server.heads == [], "no request is sent to an unverified server"
        async with fetching(server.port, hosts=[host], exempt=lambda name: name == f"{host}:{server.port}") as fetcher:
            assert isinstance(await fetcher.fetch(Request(url=f"https://{host}:{server.port}/")), Page)


async def test_tls_exemption_applies_to_named_hosts_only(tmp_path: Path) -> None:
    async with (
        LastingServer(hello, tls=server_context(saved(tmp_path, issued()))) as server,
        fetching(server.port, hosts=["a.example", "b.example"], exempt="a.example".__eq__) as fetcher,
    ):
        assert isinstance(await fetcher.fetch(Request(url="https://a.example/")), Page)
        found = await fetcher.fetch(Request(url="https://b.example/"))
        assert isinstance(found, Failure)
        assert found.kind is FailureKind.CERTIFICATE


async def test_tls_shared_certificate_does_not_share_connections(root: Identity, tmp_path: Path) -> None:
    names = ["a.example", "b.example", "c.example"]
    context = server_context(saved(tmp_path, issued(root, names=names)))
    async with LastingServer(hello, tls=context) as server, fetching(server.port, hosts=names) as fetcher:
        for name in (*names, *names):
            assert isinstance(await fetcher.fetch(Request(url=f"https://{name}/")), Page)
        assert server.connections == 3


async def test_tls_client_hello_has_sni_for_names_and_no_http2(root: Identity, tmp_path: Path) -> None:
    told: list[str | None] = []
    spoken: list[str | None] = []

    async def script(talk: Talk) -> None:
        await talk.shake()
        spoken.append(talk.tls.selected_alpn_protocol())
        await talk.head()
        await talk.say(answer(b"hello"))

    own = issued(root, names=["a.example", "xn--bcher-kva.example"], addresses=["127.0.0.1"])
    context = server_context(saved(tmp_path, own))
    context.sni_callback = lambda tls, name, context: told.append(name)
    context.set_alpn_protocols(["h2", "http/1.1"])
    async with (
        OddServer(context, script).running() as server,
        fetching(server.port, hosts=["a.example", "xn--bcher-kva.example"]) as fetcher,
    ):
        for host in ("a.example", "bücher.example", "127.0.0.1", "A.example."):
            assert isinstance(await fetcher.fetch(Request(url=server.url(host=host))), Page)
    assert told[:3] == ["a.example", "xn--bcher-kva.example", None]
    assert spoken == ["http/1.1"] * 4


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write an RSA key and its certificate to a file, as on old servers."""
    if shutil.which("openssl") is None:
        pytest.skip("old ciphers are spoken by openssl")
    path = tmp_path_factory.mktemp("key") / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x"]
    subprocess.run([*command, "-keyout", str(path), "-out", f"{path}.own"], check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + Path(f"{path}.own").read_bytes())
    return path


@contextmanager
def old_server(key: Path, port: int, options: str) -> Iterator[None]:
    """Run the test server of OpenSSL."""
    command = ["openssl", "s_server", "-www", "-accept", f"127.0.0.1:{port}", "-cert", str(key), *options.split()]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet) as process:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        yield
        process.kill()


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ("-tls1_3", None),
        ("-tls1_2", None),
        ("-tls1_2 -cipher AES128-SHA:@SECLEVEL=0", None),
        ("-tls1_2 -cipher AES256-GCM-SHA384", None),
        ("-tls1_2 -cipher ECDHE-RSA-AES256-SHA", None),
        ("-tls1_3 -num_tickets 0", None),
        ("-tls1_2 -verify 1", None),
        ("-tls1 -cipher ALL:@SECLEVEL=0", FailureKind.TLS),
        ("-tls1_2 -cipher DHE-RSA-AES128-GCM-SHA256", FailureKind.TLS),
        ("-tls1_2 -Verify 1", FailureKind.TLS),
        ("-tls1_3 -Verify 1", FailureKind.TLS),
        ("-tls1_2 -cipher aNULL:@SECLEVEL=0", FailureKind.TLS),
    ],
)
async def test_tls_old_and_demanding_servers_are_supported(
    key: Path, unused_tcp_port: int, options: str, kind: FailureKind | None
) -> None:
    with old_server(key, unused_tcp_port, options):
        async with fetching(unused_tcp_port, exempt=lambda host: True) as fetcher:
            found = await fetcher.fetch(Request(url=f"https://127.0.0.1:{unused_tcp_port}/"))
    if kind is None:
        assert isinstance(found, Page), found
    else:
        assert isinstance(found, Failure)
        assert found.kind is kind, found
        assert "_ssl.c" not in found.detail


async def test_tls_server_without_secure_renegotiation_is_supported(tmp_path: Path) -> None:
    """No library can omit the extension, so this server sends a ServerHello only (RFC 5746, 3.4)."""
    said: list[bytes] = []

    async def script(talk: Talk) -> None:
        await talk.reader.read(1 << 16)
        hello = b"\x03\x03" + b"r" * 32 + b"\0" + b"\xc0\x2f" + b"\0"
        message = b"\x02" + struct.pack("!I", len(hello))[1:] + hello
        await talk.send(b"\x16\x03\x03" + struct.pack("!H", len(message)) + message)
        with_alert = asyncio.wait_for(talk.reader.read(1 << 16), 0.3)
        try:
            said.append(await with_alert)
        except TimeoutError:
            said.append(b"")

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    async with OddServer(context, script).running() as server, fetching(server.port) as fetcher:
        assert isinstance(await fetcher.fetch(Request(url=server.url())), Failure)
    assert said == [b""], "no alert: the client waits for the next message"

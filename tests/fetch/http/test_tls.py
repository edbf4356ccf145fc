"""TLS connections that break, never end or are flooded: the expected failure in time, and no open socket."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import time
from collections.abc import Callable, Coroutine
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
import uvloop

from motherlode.fetch import HttpFetcher, HttpLimits, HttpOptions
from motherlode.fetch.http.tls import TlsProtocol, TlsStream
from motherlode.model import Failure, FailureKind, Page, Request

from ..certificates import certificate, server_context
from ..odd_tls import Forger, OddServer, Script, Talk, open_sockets
from ..servers import answer
from ..waiting import GENEROUS_SECONDS, until

LIMITS = HttpLimits(connect=0.4, first_byte=0.3, whole=1.5, body=200_000)
PATIENT = HttpLimits(body=200_000)
UNTIL_CLOSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>body"
PACKED = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"body", mtime=0)
CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n"
HALF = answer(b"half", length=8)
Run = Callable[[Coroutine[Any, Any, None]], None]


@pytest.fixture(params=[asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    return cast(Run, request.param)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(params=[ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["1.2", "1.3"])
def context(own: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    made = server_context(own)
    made.minimum_version = made.maximum_version = request.param
    return made


async def asked(
    context: ssl.SSLContext, script: Script, *, times: int = 1, limits: HttpLimits = LIMITS
) -> Page | Failure:
    """Return the result of the last of some requests. Check their timeouts, and that no socket stays open."""
    fetcher = HttpFetcher(HttpOptions(user_agent="x", limits=limits, allow=("127.0.0.0/8",)))
    before = open_sockets()
    async with OddServer(context, script).running() as server:
        for _ in range(times):
            began = time.monotonic()
            found = await fetcher.fetch(Request(url=server.url()))
            assert time.monotonic() - began < limits.whole + GENEROUS_SECONDS
        await fetcher.close()
    await until(lambda: open_sockets() <= before)
    return found


def answering(data: bytes, end: str) -> Script:
    """Respond to a request, then end the connection in one of several ways."""

    async def script(talk: Talk) -> None:
        await talk.shake()
        await talk.head()
        if data:
            await talk.say(data)
        if end == "goodbye":
            await talk.goodbye()
        if end in ("goodbye", "open"):
            await asyncio.sleep(5)
        if end == "reset":
            await asyncio.sleep(0.05)
            talk.reset()

    return script


@pytest.mark.parametrize(
    ("data", "end", "found"),
    [
        (answer(b"body"), "close", "page"),
        (answer(b"body"), "goodbye", "page"),
        (answer(b"body"), "open", "page"),
        (UNTIL_CLOSE, "goodbye", "page"),
        (UNTIL_CLOSE, "close", "cut"),
        (UNTIL_CLOSE, "reset", "reset"),
        (UNTIL_CLOSE, "open", "timeout"),
        (PACKED, "close", "page"),
        (PACKED, "reset", "page"),
        (PACKED[:-12], "close", "cut"),
        (HALF, "close", "reset"),
        (HALF, "goodbye", "reset"),
        (HALF, "reset", "reset"),
        (HALF, "open", "timeout"),
        (CHUNKS, "close", "reset"),
        (CHUNKS, "goodbye", "reset"),
        (CHUNKS + b"0\r\n\r\n", "close", "page"),
        (b"HTTP/1.1 200", "close", "reset"),
        (b"HTTP/1.1 200", "goodbye", "reset"),
        (b"", "close", "reset"),
        (b"", "goodbye", "reset"),
        (b"", "reset", "reset"),
        (b"", "open", "timeout"),
    ],
)
def test_tls_close_delimited_body_is_complete_only_with_close_notify(
    run: Run, context: ssl.SSLContext, data: bytes, end: str, found: str
) -> None:
    async def test() -> None:
        made = await asked(context, answering(data, end))
        if isinstance(made, Failure):
            assert made.kind.value == found, made
        else:
            assert ("cut" if made.truncated else "page") == found

    run(test())


def breaking_off(after: int, end: str) -> Script:
    """Send the first bytes of the server's handshake, then end in one of several ways."""

    async def script(talk: Talk) -> None:
        flight = await talk.flight()
        await talk.send(flight[:after])
        if end == "open":
            await asyncio.sleep(5)
        if end == "slow":
            for place in range(after, len(flight)):
                await talk.send(flight[place : place + 1])
                await asyncio.sleep(0.1)
        if end == "reset":
            await asyncio.sleep(0.02)
            talk.reset()

    return script


@pytest.mark.parametrize("after", [0, 60, 300])
@pytest.mark.parametrize(
    ("end", "kind"),
    [
        ("close", FailureKind.CONNECT),
        ("reset", FailureKind.CONNECT),
        ("open", FailureKind.TIMEOUT),
        ("slow", FailureKind.TIMEOUT),
    ],
)
def test_tls_broken_or_endless_handshake_is_failure(
    run: Run, context: ssl.SSLContext, after: int, end: str, kind: FailureKind
) -> None:
    async def test() -> None:
        made = await asked(context, breaking_off(after, end))
        assert isinstance(made, Failure)
        assert made.kind is kind
        assert " " in made.detail, "the message is readable"

    run(test())


def saying(raw: bytes, *, again: bytes = b"", first: bool = False, handshake: bool = False) -> Script:
    """Send raw bytes, some without end: at once, after the ClientHello, or after a request."""

    async def script(talk: Talk) -> None:
        if handshake:
            await talk.shake()
            await talk.head()
        elif not first:
            await talk.reader.read(1 << 16)
        await talk.send(raw)
        while again:
            await talk.send(again)
        await asyncio.sleep(5)

    return script


@pytest.mark.parametrize(
    ("script", "detail"),
    [
        (saying(answer(b"body", status="400 Bad Request")), "does not speak TLS"),
        (saying(b"SSH-2.0-OpenSSH_9.6\r\n", first=True), "does not speak TLS"),
        (saying(b"\x15\x03\x03\0\x02\x02\x28"), "alert handshake failure"),
        (saying(b"\x15\x03\x03\0\x02\x02\x70"), "unrecognized name"),
        (saying(b"", again=b"\x15\x03\x03\0\x02\x01\x70" * 50), "warn"),
        (saying(b"", again=b"\x16\x03\x03\0\0" * 50), ""),
        (saying(b"", again=b"\x16\x03\x03\0\x04\0\0\0\0" * 1000), "without end"),
        (saying(b"\x16\x03\x03\x40\0\x02\xff\xff\xff", again=b"x" * 16384), ""),
        (saying(b"garbage in the clear" * 5, handshake=True), "does not speak TLS"),
        (saying(b"\x17\x03\x03\0\x30" + b"x" * 48, handshake=True), "mac"),
    ],
)
def test_tls_non_tls_server_or_endless_messages_are_failures(
    run: Run, context: ssl.SSLContext, script: Script, detail: str
) -> None:
    async def test() -> None:
        made = await asked(context, script, limits=PATIENT)
        assert isinstance(made, Failure)
        assert made.kind is FailureKind.TLS
        assert detail in made.detail
        assert "_ssl.c" not in made.detail

    run(test())


def forging(keys: Path, forged: Callable[[Forger], bytes], *, times: int = 1, then: bytes = b"") -> Script:
    """Respond with records that no library would write."""

    async def script(talk: Talk) -> None:
        await talk.shake()
        await talk.head()
        forger = Forger(keys)
        made = b"".join(forged(forger) for _ in range(times))
        await talk.send(made + (forger.record(Forger.DATA, then) if then else b""))
        await asyncio.sleep(5)

    return script


@pytest.fixture
def keys(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[ssl.SSLContext, Path]:
    """Return the context of a TLS 1.3 server that logs its secrets to a file."""
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    made = server_context(own)
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    made.num_tickets = 0
    made.keylog_filename = str(tmp_path / "keys")
    return made, tmp_path / "keys"


TICKET = b"\x04\0\0\x1e" + b"\0\0\x1c\x20\0\0\0\1\1a\0\x10" + b"t" * 16 + b"\0\0"  # a session ticket (RFC 8446, 4.6.1)


@pytest.mark.parametrize(
    ("forged", "then", "found"),
    [
        (lambda forger: forger.record(Forger.HANDSHAKE, TICKET * 3), answer(b"body"), "page"),
        (lambda forger: forger.new_keys(), answer(b"body"), "page"),
        (lambda forger: forger.record(Forger.ALERT, b"\x01\x5a"), answer(b"body"), "page"),
        (lambda forger: forger.record(Forger.ALERT, b"\x02\x50"), b"", "tls"),
        (lambda forger: forger.record(Forger.DATA, HALF) + forger.record(Forger.ALERT, b"\x02\x50"), b"", "reset"),
        (lambda forger: forger.record(Forger.DATA, answer(b"body")) + forger.record(21, b"\x02\x50"), b"", "page"),
        (lambda forger: forger.record(Forger.HANDSHAKE, b"\x0d\0\0\x03\0\0\0"), b"", "tls"),
    ],
    ids=["tickets", "keys", "warning", "alert", "alert-in-body", "alert-behind", "certificate-wanted"],
)
def test_tls_messages_after_handshake_are_accepted(
    run: Run, keys: tuple[ssl.SSLContext, Path], forged: Callable[[Forger], bytes], then: bytes, found: str
) -> None:
    async def test() -> None:
        made = await asked(keys[0], forging(keys[1], forged, then=then))
        assert (made.kind.value if isinstance(made, Failure) else "page") == found, made

    run(test())


@pytest.mark.parametrize(
    ("forged", "times"),
    [
        (lambda forger: forger.new_keys(), 5000),
        (lambda forger: forger.record(Forger.HANDSHAKE, TICKET * 400), 40),
        (lambda forger: b"".join(forger.record(Forger.DATA, b"") for _ in range(20)) + forger.new_keys(), 400),
    ],
    ids=["keys", "tickets", "empty"],
)
def test_tls_endless_messages_end_connection(
    run: Run, keys: tuple[ssl.SSLContext, Path], forged: Callable[[Forger], bytes], times: int
) -> None:
    """With the TLS of uvloop, a server that sends key updates without pause blocks the process for seconds."""

    async def test() -> None:
        script = forging(keys[1], forged, times=times, then=answer(b"body"))
        made = await asked(keys[0], script, limits=HttpLimits())  # writing all of them takes a while
        assert isinstance(made, Failure)
        assert (made.kind, made.detail) == (FailureKind.TLS, "TLS messages without data, without end")

    run(test())


def test_tls_kept_connection_closed_at_reuse_is_replaced(run: Run, context: ssl.SSLContext) -> None:
    """The server closes with close_notify, with garbage, and without anything: each time the request is repeated."""
    served = 0

    async def script(talk: Talk) -> None:
        nonlocal served
        await talk.shake()
        await talk.head()
        served += 1
        await talk.say(answer(b"body"))
        await talk.head()
        if served == 1:
            await talk.goodbye()
        elif served == 2:
            await talk.send(b"\x17\x03\x03\0\x30" + b"x" * 48)
            await asyncio.sleep(1)

    async def test() -> None:
        assert isinstance(await asked(context, script, times=4), Page)
        assert served == 4

    run(test())


class Slow:
    """A TLS stream that yields one byte of data per call."""

    is_established = True
    is_closed = False
    error = None

    def __init__(self) -> None:
        self.decrypted_bytes = 0

    def continue_handshake(self) -> None: ...

    def take_outgoing(self) -> bytes:
        return b""

    def decrypt(self, data: memoryview) -> bytes:
        self.decrypted_bytes += len(data)
        return b"x"


class Counted(asyncio.Transport):
    """A transport that records whether it is read."""

    reads = True

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True

    def is_closing(self) -> bool:
        return False


async def test_tls_protocol_yields_to_event_loop_if_data_is_scarce() -> None:
    seal, transport = Slow(), Counted()
    secured = TlsProtocol(asyncio.Protocol(), cast(TlsStream, seal))
    secured.connection_made(transport)
    secured.data_received(b"s" * 100_000)
    turns = []
    while seal.decrypted_bytes < 150_000:
        turns.append(seal.decrypted_bytes)
        assert not transport.reads, "reading is paused until then"
        if len(turns) == 2:
            secured.data_received(b"s" * 50_000)  # data that was already in flight
        await asyncio.sleep(0)
    assert max(after - before for before, after in pairwise(turns)) <= 1 << 14
    assert transport.reads


def test_tls_long_body_in_records_of_any_size_is_complete(run: Run, context: ssl.SSLContext) -> None:
    body = bytes(range(256)) * 600

    async def script(talk: Talk) -> None:
        await talk.shake()
        await talk.head()
        sent = answer(body)
        for size in (1, 2, 3, 500, 16_384, 1, 70_000, 1, 1):
            piece, sent = sent[:size], sent[size:]
            await talk.say(piece)
        await talk.say(sent)
        await asyncio.sleep(1)

    async def test() -> None:
        made = await asked(context, script)
        assert isinstance(made, Page)
        assert made.body == body

    run(test())


def test_tls_one_byte_per_record_is_accepted(run: Run, context: ssl.SSLContext) -> None:
    """Some servers do that. The overhead of TLS per byte is not taken for a flood."""

    async def script(talk: Talk) -> None:
        await talk.shake()
        await talk.head()
        for byte in answer(b"x" * 3000):
            talk.tls.write(bytes([byte]))
        await talk.send()
        await asyncio.sleep(1)

    async def test() -> None:
        made = await asked(context, script)
        assert isinstance(made, Page)
        assert len(made.body) == 3000

    run(test())

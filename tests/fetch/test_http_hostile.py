"""The HTTP fetcher with hostile servers: a value is returned in time, and memory stays bounded."""

from __future__ import annotations

import gzip
import time
import tracemalloc
import zlib

import brotli
import msgspec
import pytest
import zstandard

from motherlode.fetch import HttpFetcher
from motherlode.model import Failure, FailureKind, Page, Request

from .conftest import LIMITS
from .servers import RawServer, answer, endless

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
BOMB = 64 << 20


async def fetched(server: RawServer, fetcher: HttpFetcher) -> Page | Failure:
    began = time.monotonic()
    found = await fetcher.fetch(Request(url=server.url("/")))
    assert time.monotonic() - began < LIMITS.whole + 30.0
    return found


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (answer(b"short", length=50), FailureKind.RESET),
        (answer(b"x", "Content-Length: 7"), FailureKind.PROTOCOL),
        (answer(b"x", length=-5), FailureKind.PROTOCOL),
        (CHUNKED + b"zzzz\r\nhello\r\n", FailureKind.PROTOCOL),
        (CHUNKED + b"5\r\nhello\r\n", FailureKind.RESET),
        (CHUNKED + b"FFFFFFFFFFFFFFFFFF\r\nhello\r\n", FailureKind.PROTOCOL),
        (b"SSH-2.0-OpenSSH_9.6\r\n", FailureKind.PROTOCOL),
        (b"<html>no header at all</html>", FailureKind.PROTOCOL),
        (b"", FailureKind.RESET),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n", FailureKind.RESET),
        (b"HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\n", FailureKind.PROTOCOL),
        (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", FailureKind.PROTOCOL),
        (answer(b"not packed", "Content-Encoding: gzip"), FailureKind.PROTOCOL),
        (answer(b"not packed", "Content-Encoding: zstd"), FailureKind.PROTOCOL),
        (answer(b"\xff not packed", "Content-Encoding: br"), FailureKind.PROTOCOL),
        (answer(b"\x07 not packed", "Content-Encoding: deflate"), FailureKind.PROTOCOL),
    ],
    ids=repr,
)
async def test_hostile_response_is_failure_of_known_kind(
    server: RawServer, fetcher: HttpFetcher, sent: bytes, kind: FailureKind
) -> None:
    server.routes["/"] = sent
    found = await fetched(server, fetcher)
    assert isinstance(found, Failure)
    assert found.kind is kind
    assert found.detail


async def test_hostile_body_longer_than_length_ends_at_length(server: RawServer, fetcher: HttpFetcher) -> None:
    server.routes["/"] = answer(b"longer than it says", length=6)
    found = await fetched(server, fetcher)
    assert isinstance(found, Page)
    assert found.body == b"longer"


@pytest.mark.parametrize("status", ["099 Odd", "999 Denied", "600 Beyond"])
async def test_hostile_undefined_status_is_server_error(server: RawServer, fetcher: HttpFetcher, status: str) -> None:
    server.routes["/"] = answer(b"", status=status)
    found = await fetched(server, fetcher)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.SERVER_ERROR


async def test_hostile_header_bytes_are_passed_on(server: RawServer, fetcher: HttpFetcher) -> None:
    server.routes["/"] = answer(b"x", "Content-Type: t\xe9xt/\xff", "X: \xc3\xa9", "Set-Cookie: \xff=\x01;;a")
    found = await fetched(server, fetcher)
    assert isinstance(found, Page)
    assert (found.content_type, found.headers["x"]) == ("téxt/ÿ", "é")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(found.headers)) == found.headers


async def test_hostile_retry_after_is_bounded(server: RawServer, fetcher: HttpFetcher) -> None:
    far = "Retry-After: Thu, 01 Jan 99999999999999 00:00:00 GMT"
    server.routes["/"] = answer(b"", far, status="503 Unavailable")
    found = await fetched(server, fetcher)
    assert isinstance(found, Failure)
    assert (found.kind, found.retry_after) == (FailureKind.UNAVAILABLE, None)


async def test_hostile_long_header_is_accepted(server: RawServer, fetcher: HttpFetcher) -> None:
    server.routes["/"] = answer(b"x", "Content-Security-Policy: " + "a" * 30_000)
    assert isinstance(await fetched(server, fetcher), Page)


@pytest.mark.parametrize("line", [b"X-%d: a\r\n", b"a" * 1000])
async def test_hostile_endless_headers_are_protocol_failure(
    server: RawServer, fetcher: HttpFetcher, line: bytes
) -> None:
    server.routes["/"] = endless(b"HTTP/1.1 200 OK\r\n", line)
    found = await fetched(server, fetcher)
    assert isinstance(found, Failure)
    assert found.kind in (FailureKind.PROTOCOL, FailureKind.TIMEOUT)


async def test_hostile_endless_body_with_length_is_not_read(server: RawServer, fetcher: HttpFetcher) -> None:
    server.routes["/"] = endless(answer(b"", length=1 << 40), b"x" * 10_000)
    found = await fetched(server, fetcher)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.TOO_LARGE


async def test_hostile_endless_body_without_length_is_truncated(server: RawServer, fetcher: HttpFetcher) -> None:
    server.routes["/"] = endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 10_000)
    found = await fetched(server, fetcher)
    assert isinstance(found, Page)
    assert (len(found.body), found.truncated) == (LIMITS.body, True)


async def test_hostile_endless_chunks_are_truncated(server: RawServer, fetcher: HttpFetcher) -> None:
    server.routes["/"] = endless(CHUNKED, (b"40\r\n" + b"x" * 64 + b"\r\n") * 100)
    found = await fetched(server, fetcher)
    assert isinstance(found, Page)
    assert (len(found.body), found.truncated) == (LIMITS.body, True)


@pytest.fixture(scope="module")
def bombs() -> dict[str, bytes]:
    zeros = b"\0" * BOMB
    return {
        "gzip": gzip.compress(zeros, 1),
        "deflate": zlib.compress(zeros, 1),
        "br": brotli.compress(zeros, quality=1),
        "zstd": zstandard.ZstdCompressor(level=1).compress(zeros),
    }


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
async def test_hostile_decompression_bomb_costs_no_more_than_page(
    server: RawServer, fetcher: HttpFetcher, bombs: dict[str, bytes], encoding: str
) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {encoding}\r\n\r\n"
    server.routes["/"] = head.encode() + bombs[encoding]
    tracemalloc.start()
    found = await fetched(server, fetcher)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(found, Page)
    assert (len(found.body), found.truncated) == (LIMITS.body, True)
    assert peak < BOMB / 3


async def test_hostile_useless_bomb_is_not_read(
    server: RawServer, fetcher: HttpFetcher, bombs: dict[str, bytes]
) -> None:
    server.routes["/"] = answer(bombs["gzip"], "Content-Type: image/png", "Content-Encoding: gzip")
    found = await fetched(server, fetcher)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.USELESS


async def test_fetcher_works_after_hostile_responses(server: RawServer, fetcher: HttpFetcher) -> None:
    for sent in (b"", b"garbage", answer(b"short", length=50), CHUNKED + b"zz"):
        server.routes["/"] = sent
        assert isinstance(await fetched(server, fetcher), Failure)
    server.routes["/"] = answer(b"fine")
    assert isinstance(await fetched(server, fetcher), Page)

"""The HTTP fetcher with correct and faulty servers."""

from __future__ import annotations

import asyncio
import gzip
import time
import zlib

import brotli
import pytest
import zstandard

from motherlode.fetch import HttpFetcher, HttpOptions, robots_body
from motherlode.fetch.robots import MAX_ROBOTS_BYTES
from motherlode.model import Failure, FailureKind, Page, Request, RequestKind
from motherlode.www.media_types import ACCEPT

from ..conftest import LIMITS
from ..servers import LastingServer, RawServer, Script, answer, endless, then_reset
from ..waiting import GENEROUS_SECONDS


def in_two(first: bytes, second: bytes, pause: float) -> Script:
    """Return a script that sends two pieces with a pause between them."""

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        await writer.drain()
        await asyncio.sleep(pause)
        writer.write(second)

    return send


async def page(fetcher: HttpFetcher, url: str) -> Page:
    fetched = await fetcher.fetch(Request(url=url))
    assert isinstance(fetched, Page), fetched
    return fetched


async def failure(fetcher: HttpFetcher, url: str) -> Failure:
    fetched = await fetcher.fetch(Request(url=url))
    assert isinstance(fetched, Failure), fetched
    assert fetched.detail
    assert "\n" not in fetched.detail
    return fetched


async def test_fetch_ok_response_returns_page(server: RawServer, fetcher: HttpFetcher) -> None:
    server.routes["/"] = answer(b"<p>hello", "Content-Type: text/html", "Link: <a>", "link: <b>", "ETag: x")
    before = time.time()
    found = await page(fetcher, server.url("/"))
    assert (found.url, found.status, found.body) == (server.url("/"), 200, b"<p>hello")
    assert (found.content_type, found.headers["link"], found.headers["etag"]) == ("text/html", "<a>, <b>", "x")
    assert (found.address, found.wire_bytes, found.truncated) == ("127.0.0.1", 8, False)
    assert before - 1 <= found.fetched_at <= time.time()
    assert 0 < found.elapsed < 10


async def test_fetch_sends_expected_headers(server: RawServer, fetcher: HttpFetcher) -> None:
    server.routes["/x?y=%7B{|}"] = answer(b"")
    request = Request(url=server.url("/x?y=%7B{|}"), etag='"abc"', last_modified="Thu, 01 Jan 2026 00:00:00 GMT")
    assert isinstance(await fetcher.fetch(request), Page)
    (head,) = server.heads
    lines = head.split("\r\n")
    assert lines[0] == "GET /x?y=%7B{|} HTTP/1.1", "the URL is sent as written"
    sent = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
    assert sent["user-agent"] == "Motherlode/test (+http://ex.org/)"
    assert sent["accept"] == ACCEPT
    assert sent["accept-encoding"] == "gzip, deflate, br, zstd"
    assert sent["host"] == f"127.0.0.1:{server.port}"
    assert (sent["if-none-match"], sent["if-modified-since"]) == ('"abc"', "Thu, 01 Jan 2026 00:00:00 GMT")
    assert not {"cookie", "authorization", "referer"} & set(sent)


async def test_fetch_does_not_keep_cookies(server: RawServer, fetcher: HttpFetcher) -> None:
    server.routes["/"] = answer(b"", "Set-Cookie: session=1; Path=/")
    await page(fetcher, server.url("/"))
    await page(fetcher, server.url("/"))
    assert "cookie" not in server.heads[1].lower()


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
async def test_fetch_redirect_is_returned_not_followed(server: RawServer, fetcher: HttpFetcher, status: str) -> None:
    server.routes["/old"] = answer(b"moved", "Location: ../new?x#y", status=status)
    found = await failure(fetcher, server.url("/old"))
    assert (found.kind, found.status) == (FailureKind.REDIRECT, int(status[:3]))
    assert found.location == server.url("/new?x")
    assert found.address == "127.0.0.1"
    assert len(server.heads) == 1


@pytest.mark.parametrize(
    "location", ["Location: file:///etc/passwd", "Location: javascript:x", "Location: http://[", "X: y"]
)
async def test_fetch_redirect_without_target_is_broken(server: RawServer, fetcher: HttpFetcher, location: str) -> None:
    server.routes["/"] = answer(b"", location, status="302 Found")
    assert (await failure(fetcher, server.url("/"))).kind is FailureKind.REDIRECT_BROKEN


@pytest.mark.parametrize(("sent", "meant"), [("/caf\xe9", "/caf%E9"), ("/caf\xc3\xa9", "/caf%C3%A9")])
async def test_fetch_redirect_location_keeps_its_bytes(
    server: RawServer, fetcher: HttpFetcher, sent: str, meant: str
) -> None:
    server.routes["/"] = answer(b"", f"Location: {sent}", status="302 Found")
    assert (await failure(fetcher, server.url("/"))).location == server.url(meant)


async def test_fetch_404_is_not_found(server: RawServer, fetcher: HttpFetcher) -> None:
    found = await failure(fetcher, server.url("/missing"))
    assert (found.kind, found.status, found.address) == (FailureKind.NOT_FOUND, 404, "127.0.0.1")
    assert found.fetched_at > 0


async def test_fetch_429_has_retry_after(server: RawServer, fetcher: HttpFetcher) -> None:
    server.routes["/"] = answer(b"slow down", "Retry-After: 7", status="429 Too Many")
    found = await failure(fetcher, server.url("/"))
    assert (found.kind, found.retry_after) == (FailureKind.TOO_MANY, 7.0)


async def test_fetch_silent_server_times_out(server: RawServer, fetcher: HttpFetcher) -> None:
    async def say_nothing(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    server.routes["/"] = say_nothing
    began = time.monotonic()
    found = await failure(fetcher, server.url("/"))
    assert found.kind is FailureKind.TIMEOUT
    assert LIMITS.first_byte * 0.9 <= time.monotonic() - began < GENEROUS_SECONDS
    assert found.elapsed > LIMITS.first_byte * 0.9


async def test_fetch_dripping_body_is_ended_by_total_timeout(server: RawServer, fetcher: HttpFetcher) -> None:
    server.routes["/"] = endless(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"x", pause=0.05)
    began = time.monotonic()
    assert (await failure(fetcher, server.url("/"))).kind is FailureKind.TIMEOUT
    assert time.monotonic() - began < LIMITS.whole + GENEROUS_SECONDS


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nContent-", answer(b"half", length=100)])
async def test_fetch_reset_in_any_phase_is_failure(server: RawServer, fetcher: HttpFetcher, start: bytes) -> None:
    server.routes["/"] = then_reset(start)
    assert (await failure(fetcher, server.url("/"))).kind is FailureKind.RESET


async def test_fetch_refused_connection_is_connect_failure(fetcher: HttpFetcher) -> None:
    sock = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = sock.sockets[0].getsockname()[1]
    sock.close()
    await sock.wait_closed()
    refused = await failure(fetcher, f"http://127.0.0.1:{port}/")
    assert refused.kind is FailureKind.CONNECT
    assert not refused.silent, "the machine refused"


@pytest.mark.parametrize("host", ["nobody.invalid", "a" * 64 + ".invalid", "a..b.invalid"])
async def test_fetch_unknown_name_is_dns_failure(fetcher: HttpFetcher, host: str) -> None:
    assert (await failure(fetcher, f"http://{host}/")).kind is FailureKind.DNS


async def test_fetch_server_without_tls_is_tls_failure(server: RawServer, fetcher: HttpFetcher) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(plain, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    found = await failure(fetcher, f"https://127.0.0.1:{port}/")
    listener.close()
    await listener.wait_closed()
    assert found.kind is FailureKind.TLS


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "file:///etc/passwd", "javascript:1"])
async def test_fetch_other_scheme_is_refused(fetcher: HttpFetcher, url: str) -> None:
    assert (await failure(fetcher, url)).kind is FailureKind.SCHEME


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("GZIP", gzip.compress),
        ("deflate", zlib.compress),
        ("br", brotli.compress),
        ("zstd", zstd),
        ("identity", bytes),
    ],
)
async def test_fetch_content_encoding_is_decoded(server: RawServer, fetcher: HttpFetcher, encoding: str, pack) -> None:  # type: ignore[no-untyped-def]
    body = b"<p>hello</p>" * 500
    packed = pack(body)
    server.routes["/"] = answer(packed, f"Content-Encoding: {encoding}")
    found = await page(fetcher, server.url("/"))
    assert found.body == body
    assert found.wire_bytes == len(packed)


@pytest.mark.parametrize(
    "headers", [("Content-Encoding: br", "Content-Encoding: gzip"), ("Content-Encoding: br, gzip",)]
)
async def test_fetch_nested_codings_are_decoded(
    server: RawServer, fetcher: HttpFetcher, headers: tuple[str, ...]
) -> None:
    server.routes["/"] = answer(gzip.compress(brotli.compress(b"<p>hello</p>")), *headers)
    assert (await page(fetcher, server.url("/"))).body == b"<p>hello</p>"


async def test_fetch_transfer_coding_is_decoded(server: RawServer, fetcher: HttpFetcher) -> None:
    packed = gzip.compress(b"<p>hello</p>")
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"
    server.routes["/"] = head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    assert (await page(fetcher, server.url("/"))).body == b"<p>hello</p>"


@pytest.mark.parametrize("encoding", ["rot13", "text/html", "aws-chunked", "gzip, rot13"])
async def test_fetch_unknown_coding_is_ignored(server: RawServer, fetcher: HttpFetcher, encoding: str) -> None:
    server.routes["/"] = server.routes["/robots.txt"] = answer(b"Disallow: /", f"Content-Encoding: {encoding}")
    assert (await page(fetcher, server.url("/"))).body == b"Disallow: /"
    rules = await fetcher.fetch(Request(url=server.url("/robots.txt"), kind=RequestKind.ROBOTS))
    assert isinstance(rules, Page)
    assert rules.body == b"Disallow: /"


HELLO = b"<p>hello</p>"
PACKED = {
    "gzip": gzip.compress(HELLO, mtime=0),
    "deflate": zlib.compress(HELLO),
    "br": brotli.compress(HELLO),
    "zstd": zstandard.ZstdCompressor().compress(HELLO),
}


@pytest.mark.parametrize("encoding", PACKED)
@pytest.mark.parametrize("pause", [0.0, 0.02], ids=["at once", "later"])
@pytest.mark.parametrize("rest", [b"\r\n\0\0", b"<!-- cached -->", b"\0" * 5000])
async def test_fetch_bytes_after_encoded_page_are_ignored(
    server: RawServer, fetcher: HttpFetcher, encoding: str, pause: float, rest: bytes
) -> None:
    sent = answer(PACKED[encoding] + rest, f"Content-Encoding: {encoding}")
    server.routes["/"] = in_two(sent[: -len(rest)], sent[-len(rest) :], pause) if pause else sent
    found = await page(fetcher, server.url("/"))
    assert (found.body, found.truncated) == (HELLO, False)


@pytest.mark.parametrize("encoding", PACKED)
@pytest.mark.parametrize("rest", [b"x" * 10_000, b"\0" * 10_000])
async def test_fetch_endless_bytes_after_encoded_page_keep_page(
    server: RawServer, fetcher: HttpFetcher, encoding: str, rest: bytes
) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {encoding}\r\n\r\n".encode()
    server.routes["/"] = endless(head + PACKED[encoding], rest)
    found = await page(fetcher, server.url("/"))
    assert (found.body, found.truncated) == (HELLO, False)
    assert found.wire_bytes < 1_000_000
    assert found.elapsed < LIMITS.whole


async def test_fetch_endless_empty_members_after_page_keep_page(server: RawServer, fetcher: HttpFetcher) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
    server.routes["/"] = endless(head + PACKED["gzip"], gzip.compress(b"") * 1000)
    found = await page(fetcher, server.url("/"))
    assert found.body == HELLO
    assert found.wire_bytes < 1_000_000


@pytest.mark.parametrize("encoding", PACKED)
@pytest.mark.parametrize("how", ["length", "chunks", "reset", "read_timeout", "chunks that are none"])
async def test_fetch_complete_encoded_page_survives_later_errors(
    server: RawServer, fetcher: HttpFetcher, encoding: str, how: str
) -> None:
    packed, coding = PACKED[encoding], f"Content-Encoding: {encoding}"
    long = answer(packed, coding, length=1000)
    chunked = f"HTTP/1.1 200 OK\r\n{coding}\r\nTransfer-Encoding: chunked\r\n\r\n{len(packed):x}\r\n".encode() + packed
    server.routes["/"] = {
        "length": long,
        "chunks": chunked,
        "reset": then_reset(long),
        "read_timeout": in_two(long, b"", LIMITS.whole),
        "chunks that are none": chunked + b"what is this?",
    }[how]
    found = await page(fetcher, server.url("/"))
    assert (found.body, found.truncated, found.wire_bytes) == (HELLO, False, len(packed))


async def test_fetch_incomplete_encoded_page_is_failure(server: RawServer, fetcher: HttpFetcher) -> None:
    half = gzip.compress(HELLO * 100)[:30]
    for start in (half, PACKED["gzip"] + half):
        server.routes["/"] = answer(start, "Content-Encoding: gzip", length=1000)
        found = await failure(fetcher, server.url("/"))
        assert (found.kind, found.wire_bytes) == (FailureKind.RESET, len(start))


@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/1.1  200 OK\r\nContent-Length: 12\r\n\r\n" + HELLO,
        b"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n" + HELLO,
        b"HTTP/1.1 200 OK\r\nContent-Length: unknown\r\n\r\n" + HELLO,
        answer(HELLO, "Transfer-Encoding: identity"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\n" + HELLO + b"\n0\n\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n" + HELLO + b"\r\n0\r\nno header\r\n\r\n",
        answer(gzip.compress(HELLO, mtime=0)[:-8] + b"\0" * 8, "Content-Encoding: gzip"),
    ],
    ids=repr,
)
async def test_fetch_responses_that_browsers_accept_are_accepted(
    server: RawServer, fetcher: HttpFetcher, sent: bytes
) -> None:
    server.routes["/"] = sent
    found = await page(fetcher, server.url("/"))
    assert (found.body, found.truncated) == (HELLO, False)


def in_one_chunk(body: bytes) -> bytes:
    """Return the rest of a response after its other headers, with the body as one chunk."""
    return b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


@pytest.mark.parametrize(
    ("sent", "connections"),
    [
        (answer(HELLO), 1),
        (answer(HELLO, "Transfer-Encoding: identity"), 2),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\n" + HELLO + b"\n0\n\n", 2),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n" + HELLO + b"\r\n0\r\nno header\r\n\r\n", 2),
        (answer(PACKED["br"] + b"trailing", "Content-Encoding: br"), 1),
        (answer(PACKED["gzip"] + b"\0" * 90_000, "Content-Encoding: gzip"), 1),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n" + in_one_chunk(PACKED["gzip"] + b"\0" * 2_000_000), 2),
    ],
    ids=lambda value: repr(value)[-30:],
)
async def test_fetch_after_doubtful_response_end_uses_new_connection(sent: bytes, connections: int) -> None:
    """Bytes after such a response must not be taken for the next response."""

    async def reply(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        smuggled = answer(b"smuggled") if connections > 1 else b""
        writer.write(sent + smuggled if path == "/odd" else answer(b"honest"))

    async with LastingServer(reply) as lasting:
        fetcher = HttpFetcher(HttpOptions(user_agent="x", limits=LIMITS, allow=("127.0.0.0/8",)))
        assert (await page(fetcher, lasting.url("/odd"))).body == HELLO
        assert (await page(fetcher, lasting.url("/next"))).body == b"honest"
        assert lasting.connections == connections
        await fetcher.close()


async def test_fetch_last_chunk_of_encoded_page_is_read_and_connection_kept() -> None:
    packed = PACKED["gzip"]
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"

    async def reply(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        writer.write(head + b"%x\r\n%s\r\n" % (len(packed), packed))
        await writer.drain()
        await asyncio.sleep(0.02)
        writer.write(b"0\r\n\r\n")

    async with LastingServer(reply) as lasting:
        fetcher = HttpFetcher(HttpOptions(user_agent="x", limits=LIMITS, allow=("127.0.0.0/8",)))
        for _ in range(3):
            assert (await page(fetcher, lasting.url("/"))).body == HELLO
        assert lasting.connections == 1
        await fetcher.close()


@pytest.mark.parametrize(
    "start", [answer(b"half", length=100), b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf"]
)
async def test_fetch_failed_response_counts_received_bytes(
    server: RawServer, fetcher: HttpFetcher, start: bytes
) -> None:
    server.routes["/"] = start
    found = await failure(fetcher, server.url("/"))
    assert (found.kind, found.wire_bytes) == (FailureKind.RESET, 4)


async def test_fetch_chunks_are_joined(server: RawServer, fetcher: HttpFetcher) -> None:
    server.routes["/"] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    assert (await page(fetcher, server.url("/"))).body == b"abcde"


@pytest.mark.parametrize("size", [LIMITS.body - 1, LIMITS.body, LIMITS.body + 1, LIMITS.body * 3])
async def test_fetch_long_body_of_unknown_length_is_truncated_at_limit(
    server: RawServer, fetcher: HttpFetcher, size: int
) -> None:
    server.routes["/"] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + b"x" * size
    found = await page(fetcher, server.url("/"))
    assert len(found.body) == min(size, LIMITS.body)
    assert found.truncated == (size > LIMITS.body)


@pytest.mark.parametrize(("size", "is_read"), [(LIMITS.body, True), (LIMITS.body + 1, False)])
async def test_fetch_body_longer_than_limit_by_its_length_is_not_read(
    server: RawServer, fetcher: HttpFetcher, size: int, *, is_read: bool
) -> None:
    server.routes["/"] = answer(b"x" * size)
    found = await fetcher.fetch(Request(url=server.url("/")))
    assert isinstance(found, Page) is is_read
    if isinstance(found, Failure):
        assert (found.kind, found.status) == (FailureKind.TOO_LARGE, 200)
        assert found.headers["content-length"] == str(size)
        assert found.wire_bytes <= LIMITS.body // 2, "the body was read"


async def test_fetch_connection_is_reused(fetcher: HttpFetcher) -> None:
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while await reader.readline():
            while (await reader.readline()).strip():
                pass
            writer.write(answer(b"again"))
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/"
    for _ in range(3):
        assert (await page(fetcher, url)).address == "127.0.0.1"
    assert connections == 1
    await fetcher.close()
    listener.close()
    await listener.wait_closed()


async def test_fetch_loopback_is_refused_unless_allowed(server: RawServer) -> None:
    strict = HttpFetcher(HttpOptions(user_agent="x", limits=LIMITS))
    for host in ("127.0.0.1", "[::ffff:127.0.0.1]", "localhost", "[::1]"):
        found = await failure(strict, f"http://{host}:{server.port}/")
        assert found.kind is FailureKind.GUARD, host
        assert "--allow" in found.detail
    await strict.close()
    assert server.heads == [], "no byte was sent"


async def test_fetch_name_in_host_table_uses_its_address_and_port(server: RawServer) -> None:
    hosts = {"demo.example": ("127.0.0.1", server.port), "inside.example": ("10.0.0.1", 80)}
    fetcher = HttpFetcher(HttpOptions(user_agent="x", limits=LIMITS, allow=("127.0.0.0/8",), hosts=hosts))
    server.routes["/x"] = answer(b"found")
    assert (await page(fetcher, "http://demo.example/x")).body == b"found"
    assert "Host: demo.example\r\n" in server.heads[0]
    assert (await page(fetcher, "http://demo.example:8080/x")).body == b"found"
    assert (await failure(fetcher, "http://inside.example/x")).kind is FailureKind.GUARD
    await fetcher.close()


async def test_fetch_useless_body_is_cut_off(server: RawServer, fetcher: HttpFetcher) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 99999999\r\n\r\n"
    server.routes["/"] = endless(head + b"\x89PNG\r\n\x1a\n", b"\x00" * 1000)
    found = await failure(fetcher, server.url("/"))
    assert (found.kind, found.status, found.address) == (FailureKind.USELESS, 200, "127.0.0.1")
    assert 0 < found.wire_bytes < 1_000_000


async def test_fetch_html_with_image_type_is_read_even_if_slow(server: RawServer, fetcher: HttpFetcher) -> None:
    async def slowly(writer: asyncio.StreamWriter) -> None:
        for piece in (b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n", b"\n", b" ", b"<html>" + b"x" * 200):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.02)

    server.routes["/"] = slowly
    assert (await page(fetcher, server.url("/"))).body.startswith(b"\n <html>")


async def test_fetch_robots_is_read_with_any_content_type(server: RawServer, fetcher: HttpFetcher) -> None:
    body = b"User-agent: *\nDisallow: /" + b"x" * 100
    server.routes["/robots.txt"] = answer(body, "Content-Type: text/css")
    found = await fetcher.fetch(Request(url=server.url("/robots.txt"), kind=RequestKind.ROBOTS))
    assert isinstance(found, Page)
    assert found.body == body
    assert (await failure(fetcher, server.url("/robots.txt"))).kind is FailureKind.USELESS


async def test_fetch_robots_has_own_size_limit(server: RawServer, fetcher: HttpFetcher) -> None:
    long = b"User-agent: *\n" + b"#" * LIMITS.body + b"\nDisallow: /private\n"
    server.routes["/robots.txt"] = answer(long)
    found = await fetcher.fetch(Request(url=server.url("/robots.txt"), kind=RequestKind.ROBOTS))
    assert isinstance(found, Page)
    assert found.body == long, "the limit for pages would truncate the rules"
    server.routes["/robots.txt"] = answer(long + b"Disallow: /x\n" * (MAX_ROBOTS_BYTES // 5))
    found = await fetcher.fetch(Request(url=server.url("/robots.txt"), kind=RequestKind.ROBOTS))
    assert isinstance(found, Page)
    assert MAX_ROBOTS_BYTES < len(found.body) < MAX_ROBOTS_BYTES + 10, "it is not read completely"
    kept = robots_body(found)
    assert kept is not None
    assert kept.endswith(b"Disallow: /x\n"), "half a rule could forbid everything"

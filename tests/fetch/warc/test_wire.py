"""Responses in the archive are the bytes that the server sent, and replay like the live response."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from motherlode.fetch import (
    ArchivedFetcher,
    HttpFetcher,
    HttpOptions,
    JournalledFetcher,
    RecordedWeb,
    ResponseJournal,
    WarcArchive,
)
from motherlode.fetch.http.response import MAX_FAILURE_BODY_BYTES
from motherlode.model import Failure, Fetched, Fetcher, Page, Request, RequestKind

from ..conftest import LIMITS
from ..servers import RawServer, answer

HTML = b"<p>hello</p>" * 200
PACKED = gzip.compress(HTML, mtime=0)


def chunked(data: bytes, *sizes: int, end: bytes = b"0\r\n\r\n") -> bytes:
    """Return data in chunks of the sizes, the rest in a last chunk."""
    parts, at = [], 0
    for size in (*sizes, len(data) - sum(sizes)):
        parts.append(b"%x;ext=1\r\n%s\r\n" % (size, data[at : at + size]))
        at += size
    return b"".join(parts) + end


def head(*lines: str, newline: str = "\r\n") -> bytes:
    return newline.join([*lines, "", ""]).encode("latin-1")


SENT = {
    "cookies": answer(HTML, "SERVER:x", "Set-Cookie: a=1", "Set-Cookie: b=2, c", "content-TYPE:  text/html "),
    "reason": answer(HTML, "Content-Type: text/html", status="200 Alles   gut"),
    "latin": answer(HTML, "Content-Type: text/html", "X-Name: M\xfcller"),
    "gzip": answer(PACKED, "Content-Type: text/html", "Content-Encoding: gzip"),
    "chunked": head("HTTP/1.1 200 OK", "Content-Type: text/html", "Transfer-Encoding: chunked")
    + chunked(HTML, 5, 1000),
    "trailers": head("HTTP/1.1 200 OK", "Content-Type: text/html", "Transfer-Encoding: chunked")
    + chunked(HTML, 7, end=b"0\r\nX-Sum: 1\r\n\r\n"),
    "chunked gzip": head(
        "HTTP/1.1 200 OK", "Content-Type: text/html", "Content-Encoding: gzip", "Transfer-Encoding: chunked"
    )
    + chunked(PACKED, 3),
    "by close": head("HTTP/1.0 200 OK", "Content-Type: text/html") + HTML,
    "bare line feeds": head("HTTP/1.1 200 OK", "Content-Type: text/html", f"Content-Length: {len(HTML)}", newline="\n")
    + HTML,
    "faulty head": head(
        "HTTP/1.1  200 OK", "Server : x", "oops", "Content-Type: text/html", f"Content-Length: {len(HTML)}"
    )
    + HTML,
    "not found": answer(b"<h1>nothing here</h1>", "Content-Type: text/html", status="404 Not Found"),
    "moved": answer(b"<a href=/b>there</a>", "Location: /b", "Set-Cookie: a=1", status="302 Found"),
    "busy": answer(b"later", "Retry-After: 7", status="503 Service Unavailable"),
    "empty": answer(b"", status="204 No Content"),
}


def new_fetcher(**options: bool) -> HttpFetcher:
    return HttpFetcher(HttpOptions(user_agent="x", limits=LIMITS, allow=("127.0.0.0/8",), keep_wire=True, **options))


async def archive(
    folder: Path, urls: list[str], fetcher: Fetcher, kind: RequestKind = RequestKind.PAGE
) -> list[Fetched]:
    """Fetch and archive URLs. Return the live responses."""
    writer = WarcArchive(folder)
    archived = ArchivedFetcher(fetcher, writer)
    found = [await archived.fetch(Request(url=url, kind=kind)) for url in urls]
    await archived.close()
    writer.close()
    return found


def warc_file(folder: Path) -> Path:
    (path,) = folder.glob("*.warc.gz")
    return path


def run_tool(module: str, *arguments: str) -> str:
    """Run a tool of another project and return its output."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def blocks(folder: Path) -> list[tuple[str, bytes]]:
    """Return type and block of all responses, read by warcio without parsing of HTTP."""
    with warc_file(folder).open("rb") as file:
        return [
            (record.rec_type, record.raw_stream.read())
            for record in ArchiveIterator(file, no_record_parse=True)
            if record.rec_type in ("response", "revisit")
        ]


def warcio_check(folder: Path) -> None:
    output = run_tool("warcio.cli", "check", "-v", str(warc_file(folder)))
    assert output.count("digest pass") >= 2
    assert "fail" not in output


async def replay(folder: Path, url: str) -> Fetched:
    web = RecordedWeb(warc_file(folder), limit=LIMITS.body)
    found = await web.fetch(Request(url=url))
    await web.close()
    return found


def essentials(found: Fetched) -> tuple[object, ...]:
    if isinstance(found, Page):
        return found.url, found.status, dict(found.headers), found.body, found.truncated
    return found.url, found.status, dict(found.headers), found.kind, found.location, found.retry_after


@pytest.mark.parametrize("case", SENT)
async def test_archive_has_the_bytes_that_the_server_sent(tmp_path: Path, server: RawServer, case: str) -> None:
    server.routes["/a"] = SENT[case]
    (live,) = await archive(tmp_path, [server.url("/a")], new_fetcher())
    assert blocks(tmp_path) == [("response", SENT[case])]
    warcio_check(tmp_path)
    assert essentials(await replay(tmp_path, server.url("/a"))) == essentials(live)


async def test_archive_leaves_interim_responses_and_surplus_bytes_out(tmp_path: Path, server: RawServer) -> None:
    hints = head("HTTP/1.1 103 Early Hints", "Link: </a.css>; rel=preload")
    final = answer(HTML, "Content-Type: text/html")
    server.routes["/a"] = hints + b"\r\n" + hints + final + b"HTTP/1.1 200 surplus"
    await archive(tmp_path, [server.url("/a")], new_fetcher())
    assert blocks(tmp_path) == [("response", final)]


async def test_archive_of_a_head_request_has_the_length_and_no_body(tmp_path: Path, server: RawServer) -> None:
    sent = head("HTTP/1.1 302 Found", "Location: /b", "Content-Length: 99")
    server.routes["/a"] = sent
    await archive(tmp_path, [server.url("/a")], new_fetcher(), RequestKind.PROBE)
    assert blocks(tmp_path) == [("response", sent)]
    found = await replay(tmp_path, server.url("/a"))
    assert isinstance(found, Failure) and found.location == server.url("/b")


@pytest.mark.parametrize("framing", ["length", "chunks", "close"])
async def test_archive_cuts_long_bodies_of_failures_and_says_so(
    tmp_path: Path, server: RawServer, framing: str
) -> None:
    data = bytes(range(256)) * (MAX_FAILURE_BODY_BYTES // 256 + 300)
    start = {
        "length": head("HTTP/1.1 500 No", f"Content-Length: {len(data)}"),
        "chunks": head("HTTP/1.1 500 No", "Transfer-Encoding: chunked"),
        "close": head("HTTP/1.1 500 No"),
    }[framing]
    body = chunked(data, 1000) if framing == "chunks" else data
    server.routes["/a"] = start + body
    (live,) = await archive(tmp_path, [server.url("/a")], new_fetcher())
    assert live.status == 500
    assert blocks(tmp_path) == [("response", start + body[:MAX_FAILURE_BODY_BYTES])]
    with warc_file(tmp_path).open("rb") as file:
        marks = [one.rec_headers.get("WARC-Truncated") for one in ArchiveIterator(file) if one.rec_type == "response"]
    assert marks == ["length"]


async def test_archive_failure_whose_body_breaks_off_keeps_its_status(tmp_path: Path, server: RawServer) -> None:
    server.routes["/a"] = answer(b"gone", status="410 Gone", length=1000)
    (live,) = await archive(tmp_path, [server.url("/a")], new_fetcher())
    assert isinstance(live, Failure) and live.status == 410
    assert blocks(tmp_path) == [("response", server.routes["/a"])]


async def test_archive_duplicates_are_found_by_the_decoded_body(tmp_path: Path, server: RawServer) -> None:
    other = gzip.compress(HTML, mtime=9)
    assert other != PACKED and len(other) == len(PACKED)
    lines = ("Content-Type: text/html", "Content-Encoding: gzip")
    server.routes |= {
        "/a": answer(PACKED, *lines),
        "/b": answer(other, *lines, "X-B: 1"),
        "/c": answer(HTML, "Content-Type: text/html"),  # its head would not fit to the archived body
    }
    urls = [server.url(path) for path in ("/a", "/b", "/c")]
    live = await archive(tmp_path, urls, new_fetcher())
    heads = server.routes["/b"][: -len(other)]
    assert blocks(tmp_path) == [
        ("response", server.routes["/a"]),
        ("revisit", heads),
        ("response", server.routes["/c"]),
    ]
    warcio_check(tmp_path)
    for url, found in zip(urls, live, strict=True):
        assert essentials(await replay(tmp_path, url)) == essentials(found)


async def test_archive_is_complete_after_a_kill_between_journal_and_archive(tmp_path: Path, server: RawServer) -> None:
    server.routes |= {"/a": SENT["chunked gzip"], "/b": SENT["not found"]}
    urls = [server.url("/a"), server.url("/b")]
    killed = JournalledFetcher(new_fetcher(), ResponseJournal(tmp_path / "journal", state=None))
    for url in urls:
        await killed.fetch(Request(url=url))
    await killed.close()
    resumed = JournalledFetcher(new_fetcher(), ResponseJournal(tmp_path / "journal", state=None))
    found = await archive(tmp_path / "warc", urls, resumed)
    assert [one.recalled for one in found] == [True, True]
    assert blocks(tmp_path / "warc") == [("response", SENT["chunked gzip"]), ("response", SENT["not found"])]


async def test_fetcher_without_archive_keeps_no_bytes_and_reads_no_body_of_a_failure(
    server: RawServer, fetcher: HttpFetcher
) -> None:
    server.routes["/a"] = answer(b"x" * 50_000, status="404 Not Found")
    found = await fetcher.fetch(Request(url=server.url("/a")))
    assert (found.wire, found.wire_bytes) == (b"", 0)


async def test_archive_is_indexed_by_cdxj_indexer(tmp_path: Path, server: RawServer) -> None:
    names = ["gzip", "chunked gzip", "not found", "faulty head"]
    server.routes |= {f"/{number}": SENT[name] for number, name in enumerate(names)}
    await archive(tmp_path, [server.url(f"/{number}") for number in range(4)], new_fetcher())
    lines = run_tool("cdxj_indexer.main", str(warc_file(tmp_path))).splitlines()
    assert len(lines) == 4
    assert [line.count('"status": "404"') for line in lines] == [0, 0, 1, 0]

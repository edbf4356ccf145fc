"""Replay of a recorded web."""

from __future__ import annotations

import gc
import gzip
import io
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import brotli
import pytest
import zstandard
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from motherlode.fetch import RecordedWeb
from motherlode.model import Failure, FailureKind, Page, Request, RequestKind

from ...support import shared

Response = tuple[str, str, list[tuple[str, str]], bytes]
HTML = ("Content-Type", "text/html")


def write(path: Path, *responses: Response, packed: bool = True) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # warcio does not close its buffers
        with path.open("wb") as file:
            _write(WARCWriter(file, gzip=packed), responses)
        gc.collect(0)
    return path


def _write(writer: WARCWriter, responses: Iterable[Response]) -> None:
    writer.write_record(writer.create_warcinfo_record("test", {"software": "test"}))
    for url, status, headers, body in responses:
        http = StatusAndHeaders(status, headers, protocol="HTTP/1.1")
        record = writer.create_warc_record(url, "response", payload=io.BytesIO(body), http_headers=http)
        writer.write_record(record)


def page(web: RecordedWeb, url: str) -> Page:
    found = web.read_response(url)
    assert isinstance(found, Page), found
    return found


def failure(web: RecordedWeb, url: str) -> Failure:
    found = web.read_response(url)
    assert isinstance(found, Failure), found
    return found


SITE: list[Response] = [
    ("http://a.example/", "200 OK", [HTML, ("Link", "<x>"), ("Link", "<y>")], b"<p>home"),
    ("https://a.example/data", "200 OK", [("Content-Type", "text/turtle")], b"<a> <b> <c> ."),
    ("http://a.example/old", "301 Moved", [("Location", "/data")], b""),
    ("http://a.example/gone", "410 Gone", [HTML], b"gone"),
    ("http://a.example/logo.png", "200 OK", [("Content-Type", "image/png")], b"\x89PNG\r\n\x1a\n...."),
    ("http://a.example/Ünï?q=ä b", "200 OK", [HTML], b"unicode"),
]


@pytest.mark.parametrize("packed", [True, False])
async def test_replay_returns_recorded_responses(tmp_path: Path, *, packed: bool) -> None:
    web = RecordedWeb(write(tmp_path / "a.warc", *SITE, packed=packed))
    assert (len(web), web.broken_records) == (6, 0)
    home = await web.fetch(Request(url="http://a.example/"))
    assert isinstance(home, Page)
    assert (home.status, home.body, home.content_type, home.headers["link"]) == (
        200,
        b"<p>home",
        "text/html",
        "<x>, <y>",
    )
    assert (home.wire_bytes, home.truncated, home.address) == (7, False, "")
    assert page(web, "http://a.example/%C3%9Cn%C3%AF?q=%C3%A4%20b").body == b"unicode"
    assert sorted(web.urls())[0] == "http://a.example/"
    await web.close()


async def test_replay_http_and_https_are_equal(tmp_path: Path) -> None:
    web = RecordedWeb(write(tmp_path / "a.warc.gz", *SITE))
    assert page(web, "https://a.example/").body == b"<p>home"
    assert page(web, "http://a.example/data").url == "http://a.example/data"
    assert web.spelling("https://a.example/") == "http://a.example/"
    assert web.spelling("http://a.example/data") == "https://a.example/data"
    assert web.spelling("http://b.example/x") == "https://b.example/x"
    await web.close()


async def test_replay_failures_equal_live_failures(tmp_path: Path) -> None:
    web = RecordedWeb(write(tmp_path / "a.warc.gz", *SITE))
    missing = failure(web, "http://a.example/missing")
    assert (missing.kind, missing.status) == (FailureKind.NOT_FOUND, 404)
    moved = failure(web, "https://a.example/old")
    assert (moved.kind, moved.location) == (FailureKind.REDIRECT, "https://a.example/data")
    assert failure(web, "http://a.example/gone").kind is FailureKind.NOT_FOUND
    assert failure(web, "http://a.example/logo.png").kind is FailureKind.USELESS
    await web.close()


@pytest.mark.parametrize("kind", [RequestKind.PAGE, RequestKind.PROBE])
async def test_replay_useful_media_type_is_a_page(tmp_path: Path, kind: RequestKind) -> None:
    web = RecordedWeb(write(tmp_path / "a.warc.gz", *SITE), useful=("image/*",))
    assert isinstance(await web.fetch(Request(url="http://a.example/logo.png", kind=kind)), Page)
    await web.close()


@pytest.mark.parametrize("redirect_last", [True, False])
async def test_replay_redirect_to_same_url_does_not_hide_page(tmp_path: Path, *, redirect_last: bool) -> None:
    responses: list[Response] = [
        ("http://a.example/", "301 Moved", [("Location", "https://a.example/")], b""),
        ("https://a.example/", "200 OK", [HTML], b"home"),
        ("https://a.example/ü", "301 Moved", [("Location", "https://a.example/%C3%BC")], b""),
        ("https://a.example/%C3%BC", "200 OK", [HTML], b"escaped"),
        ("https://a.example/s", "302 Found", [("Location", "/s;jsessionid=1")], b""),
        ("https://a.example/s;jsessionid=1", "200 OK", [HTML], b"session"),
    ]
    if redirect_last:
        responses.reverse()
    web = RecordedWeb(write(tmp_path / "a.warc.gz", *responses))
    assert page(web, "http://a.example/").body == page(web, "https://a.example/").body == b"home"
    assert page(web, "https://a.example/%C3%BC").body == b"escaped"
    assert page(web, "https://a.example/s").body == b"session"
    await web.close()


async def test_replay_redirect_to_itself_is_broken_or_known(tmp_path: Path) -> None:
    web = RecordedWeb(write(tmp_path / "a.warc.gz", ("http://a.example/x", "301", [("Location", "/x")], b"")))
    assert failure(web, "http://a.example/x").kind is FailureKind.REDIRECT_BROKEN
    await web.close()


async def test_replay_last_record_of_url_counts(tmp_path: Path) -> None:
    versions: list[Response] = [("http://a.example/", "200 OK", [HTML], body) for body in (b"one", b"two", b"three")]
    web = RecordedWeb(write(tmp_path / "a.warc.gz", *versions))
    assert (len(web), page(web, "http://a.example/").body) == (1, b"three")
    await web.close()


async def test_replay_bodies_are_decoded_within_limit(tmp_path: Path) -> None:
    chunked = b"5\r\nhello\r\n0\r\n\r\n"
    path = write(
        tmp_path / "a.warc.gz",
        ("http://a.example/chunks", "200 OK", [HTML, ("Transfer-Encoding", "chunked")], chunked),
        ("http://a.example/gzip", "200 OK", [HTML, ("Content-Encoding", "gzip")], gzip.compress(b"packed")),
        (
            "http://a.example/br",
            "200 OK",
            [HTML, ("Content-Encoding", "br")],
            brotli.compress(b"\0" * 1_000_000, quality=1),
        ),
        ("http://a.example/lie", "200 OK", [HTML, ("Content-Encoding", "gzip")], b"not packed"),
        ("http://a.example/odd", "200 OK", [HTML, ("Content-Encoding", "rot13")], b"x"),
        ("http://a.example/unchunked", "200 OK", [HTML, ("Transfer-Encoding", "chunked")], b"no chunk at all"),
        ("http://a.example/fine", "200 OK", [HTML], b"fine"),
    )
    web = RecordedWeb(path, limit=1000)
    assert page(web, "http://a.example/chunks").body == b"hello"
    assert page(web, "http://a.example/gzip").body == b"packed"
    bomb = page(web, "http://a.example/br")
    assert (len(bomb.body), bomb.truncated) == (1000, True)
    assert page(web, "http://a.example/lie").body == b"not packed"
    assert page(web, "http://a.example/unchunked").body == b"no chunk at all"
    assert page(web, "http://a.example/odd").body == b"x", "as browsers do"
    assert page(web, "http://a.example/fine").body == b"fine"
    await web.close()


async def test_replay_robots_is_read_with_any_content_type(tmp_path: Path) -> None:
    url = "http://a.example/robots.txt"
    web = RecordedWeb(write(tmp_path / "a.warc.gz", (url, "200 OK", [("Content-Type", "text/css")], b"User-agent: *")))
    assert isinstance(await web.fetch(Request(url=url, kind=RequestKind.ROBOTS)), Page)
    assert isinstance(await web.fetch(Request(url=url)), Failure)
    await web.close()


async def test_replay_records_without_valid_url_are_counted(tmp_path: Path) -> None:
    odd: list[Response] = [("urn:x", "200 OK", [HTML], b""), ("http://", "200 OK", [HTML], b""), *SITE]
    web = RecordedWeb(write(tmp_path / "a.warc.gz", *odd))
    assert (len(web), web.broken_records) == (6, 2)
    await web.close()


async def test_replay_response_without_http_is_failure(tmp_path: Path) -> None:
    web = RecordedWeb(write(tmp_path / "a.warc.gz", ("http://a.example/", "nonsense", [], b"x")))
    assert failure(web, "http://a.example/").kind is FailureKind.PROTOCOL
    await web.close()


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
async def test_replay_file_compressed_as_one_stream_is_read(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    plain = write(tmp_path / "a.warc", *SITE, packed=False)
    path = tmp_path / "whole"
    path.write_bytes(pack(plain.read_bytes()))
    whole, single = RecordedWeb(path), RecordedWeb(plain)
    assert all(whole.read_response(url) == single.read_response(url) for url in single.urls())
    assert (len(whole), whole.broken_records) == (6, 0)
    await whole.close()
    await single.close()


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.99])
async def test_replay_truncated_file_gives_complete_records(tmp_path: Path, share: float, *, packed: bool) -> None:
    path = write(tmp_path / "whole", *SITE, packed=packed)
    cut = tmp_path / "cut"
    cut.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    web = RecordedWeb(cut)
    assert 0 < len(web) <= 6
    answers = [web.read_response(url) for url in web.urls()]
    assert sum(isinstance(found, Page) for found in answers) >= 1
    assert page(web, "http://a.example/").body == b"<p>home"
    await web.close()


async def test_replay_garbage_loses_only_what_it_covers(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc.gz", *SITE)
    whole = path.read_bytes()
    undamaged = RecordedWeb(path)
    whole_answers = {url: undamaged.read_response(url) for url in undamaged.urls()}
    await undamaged.close()
    for place in range(0, len(whole), 7):
        data = bytearray(whole)
        data[place : place + 300] = b"\xff" * len(data[place : place + 300])
        path.write_bytes(data)
        web = RecordedWeb(path)
        assert (len(web) >= 4, web.broken_records) == (True, 1), f"garbage at {place}"
        answers = [web.read_response(url) for url in web.urls()]
        assert sum(answer == whole_answers.get(answer.url) for answer in answers) >= 4, f"garbage at {place}"
        await web.close()


async def test_replay_garbage_in_uncompressed_file_loses_only_what_it_covers(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc", *SITE, packed=False)
    data = bytearray(path.read_bytes())
    third = data.index(b"WARC/1.", data.index(b"https://a.example/data"))
    data[third : third + 100] = b"\xff" * 100
    path.write_bytes(data)
    web = RecordedWeb(path)
    assert page(web, "http://a.example/").body == b"<p>home"
    assert isinstance(web.read_response("http://a.example/gone"), Failure)
    assert len(web) >= 4
    await web.close()


@pytest.mark.parametrize(
    "data",
    [b"", b"hello world" * 100, gzip.compress(b"hello" * 1000), b"\x1f\x8b\x08" + b"x" * 100, b"WARC/1.0\r\nfoo"],
    ids=["empty", "text", "packed text", "broken gzip", "half a header"],
)
def test_replay_file_without_responses_raises_value_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"x\.warc\.gz contains no HTTP responses: is it a WARC file\?"):
        RecordedWeb(path)


def test_replay_missing_file_raises_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        RecordedWeb(tmp_path / "nothing.warc.gz")


async def test_replay_recorded_corpus_is_complete() -> None:
    path = shared("corpus", "sites.warc.gz")
    web = RecordedWeb(path)
    assert (len(web), web.broken_records) == (15731, 0)
    seeds = shared("corpus", "seeds.txt").read_text().split()
    found = [web.read_response(seed) for seed in seeds]
    assert sum(isinstance(answer, Page) for answer in found) > 0.9 * len(seeds)
    broken = [
        url
        for url in web.urls()[::40]
        if (a := web.read_response(url)) and getattr(a, "kind", 0) is FailureKind.PROTOCOL
    ]
    assert not broken
    await web.close()

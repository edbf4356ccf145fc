from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from motherlode.model import Page
from motherlode.policies import target_from
from motherlode.sim.trace import recorder as recording
from motherlode.sim.trace.files import TraceError, TracePart
from motherlode.sim.trace.recorder import Responses, record
from motherlode.sim.trace.trace_web import TraceWeb
from tests.sim.fakes import FIND, HTML, recorded_graph
from tests.support import write_warc


def warc_record(number: int, *, kind: str = "response", body: bytes = b"<p>hello" * 100, headers: str = "") -> bytes:
    block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{headers}\r\n".encode() + body
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a.example/{number}\r\n"
        f"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:{number}>\r\n"
        f"Content-Type: application/http; msgtype={kind}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


MEMBERS = [gzip.compress(warc_record(number)) for number in range(5)]


def garbled(data: bytes, at: int) -> bytes:
    return data[:at] + b"\xff" * 30 + data[at + 30 :]


def read(tmp_path: Path, data: bytes) -> tuple[list[int], int]:
    path = tmp_path / "some.warc.gz"
    path.write_bytes(data)
    responses = Responses(path)
    return [int(answer.url.rpartition("/")[2]) for answer in responses], responses.broken


@pytest.mark.parametrize(
    ("data", "found", "broken"),
    [
        (b"".join(MEMBERS), [0, 1, 2, 3, 4], 0),
        (gzip.compress(b"".join(warc_record(n) for n in range(3))), [0, 1, 2], 0),
        (b"".join(warc_record(n) for n in range(3)), [0, 1, 2], 0),
        (b"", [], 0),
        (b"this is no WARC file\n" * 50, [], 1),
        (gzip.compress(b"nor is this" * 50), [], 1),
    ],
    ids=["members", "one member", "not packed", "empty", "text", "packed text"],
)
def test_responses_of_whole_files_are_read(tmp_path: Path, data: bytes, found: list[int], broken: int) -> None:
    assert read(tmp_path, data) == (found, broken)


def test_other_record_types_are_skipped(tmp_path: Path) -> None:
    others = [gzip.compress(warc_record(9, kind=kind)) for kind in ("request", "metadata", "warcinfo")]
    assert read(tmp_path, others[2] + others[0] + MEMBERS[0] + others[1] + MEMBERS[1]) == ([0, 1], 0)


@pytest.mark.parametrize("cut", [40, 150, len(MEMBERS[4]) - 30])
def test_truncated_gzip_file_loses_only_last_record(tmp_path: Path, cut: int) -> None:
    assert read(tmp_path, b"".join(MEMBERS)[:-cut]) == ([0, 1, 2, 3], 1)


def test_truncated_plain_file_loses_only_last_record(tmp_path: Path) -> None:
    assert read(tmp_path, b"".join(warc_record(n) for n in range(3))[:-300]) == ([0, 1], 1)


def test_reading_continues_after_broken_records(tmp_path: Path) -> None:
    data = garbled(b"".join(MEMBERS), 60)
    assert read(tmp_path, data) == ([1, 2, 3, 4], 1)
    data = garbled(data, sum(map(len, MEMBERS[:3])) + 60)
    assert read(tmp_path, data) == ([1, 2, 4], 2)


def test_response_encodings_are_decoded(tmp_path: Path) -> None:
    chunked = warc_record(0, body=b"5\r\nhello\r\n0\r\n\r\n", headers="Transfer-Encoding: chunked\r\n")
    packed = warc_record(1, body=gzip.compress(b"hello"), headers="Content-Encoding: gzip\r\n")
    lied = warc_record(2, body=b"hello", headers="Content-Encoding: gzip\r\n")
    unknown = warc_record(3, body=b"hello", headers="Content-Encoding: morse\r\n")
    path = tmp_path / "encoded.warc"
    path.write_bytes(chunked + packed + lied + unknown)
    pages = list(Responses(path))
    assert [page.body for page in pages if isinstance(page, Page)] == [b"hello"] * 4


def test_record_without_url_counts_as_broken(tmp_path: Path) -> None:
    nameless = gzip.compress(warc_record(7).replace(b"http://a.example/7", b"dns:a.example/abcd"))
    assert read(tmp_path, nameless + MEMBERS[0]) == ([0], 1)


def made(sources: list[Path], folder: Path) -> list[TracePart]:
    return record(sources, folder, workers=1, progress=lambda done, of: None)


def tables(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return recorded_graph(tmp_path / "small.warc.gz", hosts=3, pages=4)[0]


def test_trace_keeps_pages_links_and_labels(tmp_path: Path) -> None:
    body = f'<title>t</title><nav class=top id=menu><a href="/b" rel="next" title="T">onward</a></nav>{FIND}'
    responses = [
        ("https://a.example/", 200, HTML, body.encode()),
        ("https://a.example/b", 301, {"Location": "/c"}, b""),
        ("https://a.example/c", 404, HTML, b"gone"),
        ("https://a.example/d", 200, {"Content-Type": "text/turtle"}, b"<#x> a <http://schema.org/Thing> ."),
    ]
    (part,) = made([write_warc(tmp_path / "a.warc.gz", responses)], tmp_path / "trace")
    assert (part.pages, part.broken) == (4, 0)
    web = TraceWeb(tmp_path / "trace", target_from("any"))
    home = web.page("https://a.example/")
    assert home.relevant
    (link,) = home.links
    assert (link.url, link.anchor, link.rel, link.title) == ("https://a.example/b", "onward", "next", "T")
    assert (link.tag_path, link.element_ids) == ("html body nav.top a", "2#menu")
    assert web.page("https://a.example/b").location == "https://a.example/c"
    assert web.page("https://a.example/c").failure is not None
    assert TraceWeb(tmp_path / "trace", target_from("type:schema:Thing")).page("https://a.example/d").relevant


def test_trace_reads_headers_as_a_crawl_does(tmp_path: Path) -> None:
    data = {"Content-Type": "text/turtle"}
    responses = [
        ("https://a.example/", 200, {**HTML, "Link": '</data>; rel="describedby"'}, b"<p>hello"),
        ("https://a.example/data", 200, data, b"<#a> <#b> <#c> ."),
        ("https://a.example/old", 200, {**HTML, "Refresh": "0; url=/data"}, b"<p>moved"),
        ("https://a.example/shy", 200, {**HTML, "X-Robots-Tag": "noindex"}, FIND.encode()),
    ]
    made([write_warc(tmp_path / "a.warc.gz", responses)], tmp_path / "trace")
    web = TraceWeb(tmp_path / "trace", target_from("any"))
    for url in ("https://a.example/", "https://a.example/old"):
        assert [link.url for link in web.page(url).links] == ["https://a.example/data"]
    assert not web.page("https://a.example/shy").relevant


def test_trace_keeps_the_times_of_a_sitemap(tmp_path: Path) -> None:
    new = "<url><loc>https://a.example/new</loc><lastmod>2026-01-02T03:04:05Z</lastmod></url>"
    entries = f"{new}<url><loc>https://a.example/x</loc></url>"
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    responses = [("https://a.example/sitemap.xml", 200, {"Content-Type": "application/xml"}, sitemap.encode())]
    made([write_warc(tmp_path / "a.warc.gz", responses)], tmp_path / "trace")
    links = TraceWeb(tmp_path / "trace", target_from("any"), dead=1.0).page("https://a.example/sitemap.xml").links
    assert {link.url: link.modified for link in links} == {
        "https://a.example/new": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp(),
        "https://a.example/x": None,
    }


def test_record_skips_unchanged_source(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = made([small], tmp_path / "trace")
    monkeypatch.setattr(recording, "Responses", None)
    assert made([small], tmp_path / "trace") == before


def test_record_replaces_part_of_changed_source(small: Path, tmp_path: Path) -> None:
    (before,) = made([small], tmp_path / "trace")
    write_warc(small, [("https://new.example/", 200, HTML, b"<p>new")])
    (after,) = made([small], tmp_path / "trace")
    assert after.pages == before.pages + 1
    assert len(tables(tmp_path / "trace")) == 4


def test_record_of_two_sources_gives_two_parts(small: Path, tmp_path: Path) -> None:
    other = write_warc(
        tmp_path / "other.warc.gz", [("https://new.example/", 200, HTML, b"<p><a href='https://h0.example/'>x</a>")]
    )
    made([small], tmp_path / "trace")
    assert len(made([small, other], tmp_path / "trace")) == 2
    web = TraceWeb(tmp_path / "trace", target_from("any"))
    assert [link.url for link in web.page("https://new.example/").links] == ["https://h0.example/"]
    assert web.page("https://h0.example/").failure is None or web.page("https://h0.example/").location


def test_record_progress_ends_at_total_size(small: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    record([small], tmp_path / "trace", workers=1, progress=lambda done, of: seen.append((done, of)))
    assert seen[-1] == (small.stat().st_size, small.stat().st_size)
    assert all(0 <= done <= of for done, of in seen)


def test_record_error_leaves_nothing_behind(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(recording, "_add", broken)
    with pytest.raises(OSError, match="no space left"):
        made([small], tmp_path / "trace")
    assert not (tmp_path / "trace").exists()


def test_record_of_empty_file_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "empty.warc.gz").touch()
    with pytest.raises(TraceError, match="no HTTP response could be read"):
        made([tmp_path / "empty.warc.gz"], tmp_path / "new" / "trace")
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    with pytest.raises(TraceError, match="no HTTP response could be read"):
        made([tmp_path / "empty.warc.gz"], tmp_path / "old")
    assert list((tmp_path / "old").iterdir()) == []


def test_record_kill_leaves_trace_usable(tmp_path: Path) -> None:
    first = recorded_graph(tmp_path / "first.warc.gz", hosts=3, pages=4)[0]
    second = recorded_graph(tmp_path / "second.warc.gz", hosts=40, pages=30, seed=1)[0]
    trace = tmp_path / "trace"
    made([first], trace)
    command = [sys.executable, "-m", "motherlode", "record", str(first), str(second), "-o", str(trace)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list(trace.glob("*.part")) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert process.poll() is None, "it was over before it could be killed"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    left = list(trace.glob("*.part"))
    assert left
    assert TraceWeb(trace, target_from("any")).page_count > 0
    assert len(made([first, second], trace)) == 2
    assert not set(left) & set(trace.iterdir())
    assert len(tables(trace)) == 7


@pytest.mark.parametrize("data", [b"", b"no warc at all", b"\x1f\x8b\x08\x00"])
def test_record_source_without_responses_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "bad.warc.gz"
    path.write_bytes(data)
    with pytest.raises(TraceError, match=r"no HTTP response could be read in .*bad\.warc\.gz"):
        made([path], tmp_path / "trace")


def test_record_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"absent\.warc cannot be read"):
        made([tmp_path / "absent.warc"], tmp_path / "trace")

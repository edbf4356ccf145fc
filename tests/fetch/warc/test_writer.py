"""The WARC archive: readable by other tools, replayable, and complete after a kill."""

from __future__ import annotations

import gzip
import resource
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from motherlode.fetch import RecordedWeb
from motherlode.fetch.http.response import ResponseReader
from motherlode.fetch.warc.writer import WarcArchive, WarcFile, WarcResponse
from motherlode.model import Failure, FailureKind, Fetched, Page, Posting, Request

PAGE = Page(
    url="http://ex.org/a?b=ö",
    status=200,
    headers={"content-type": "text/html", "content-encoding": "gzip", "transfer-encoding": "chunked", "x-a": "1"},
    body=b"<p>hello \xff</p>" * 100,
    fetched_at=1_700_000_000.0,
)
MOVED = Failure(
    url="http://ex.org/old",
    kind=FailureKind.REDIRECT,
    status=301,
    location="http://ex.org/new",
    headers={"location": "/new"},
)
TIMED_OUT = Failure(url="http://ex.org/slow", kind=FailureKind.TIMEOUT)


async def _kept(archive: WarcArchive, *answers: Fetched) -> None:
    for fetched in answers:
        await archive.add(Request(url=fetched.url), fetched)
    archive.close()


async def _archive(folder: Path, **options: int) -> list[Path]:
    await _kept(WarcArchive(folder, **options), PAGE, MOVED, TIMED_OUT)
    return sorted(folder.glob("*.warc.gz"))  # noqa: ASYNC240 - nothing else is running


def _types(path: Path) -> list[tuple[str, str]]:
    with path.open("rb") as file:
        return [(record.rec_type, record.rec_headers["WARC-Target-URI"]) for record in ArchiveIterator(file)]


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
async def test_archive_is_readable_by_warcio(tmp_path: Path) -> None:
    (path,) = await _archive(tmp_path)
    with path.open("rb") as file:
        records = [
            (
                record.rec_headers["WARC-Target-URI"],
                record.http_headers.get_statuscode(),
                record.content_stream().read(),
            )
            for record in ArchiveIterator(file, check_digests="raise")
            if record.rec_type == "response"
        ]
    assert records == [(PAGE.url, "200", PAGE.body), (MOVED.url, "301", b"")]


async def test_archive_can_be_replayed(tmp_path: Path) -> None:
    (path,) = await _archive(tmp_path)
    web = RecordedWeb(path)
    page = web.read_response("https://ex.org/a?b=%C3%B6")
    moved = web.read_response("http://ex.org/old")
    await web.close()
    assert isinstance(page, Page)
    assert page.body == PAGE.body
    assert "content-encoding" not in page.headers, "the body is archived decoded"
    assert isinstance(moved, Failure)
    assert moved.location == "http://ex.org/new"


async def test_archive_useless_response_is_useless_in_replay(tmp_path: Path) -> None:
    intake = ResponseReader(Request(url="http://ex.org/logo"), max_body_bytes=1000, useful=())
    assert intake.receive_head(200, {"content-type": "image/png"})
    intake.receive_body(b"\x89PNG" + bytes(100))
    await _kept(WarcArchive(tmp_path), intake.result(began=0.0, elapsed=0.0, address=""))
    web = RecordedWeb(tmp_path / "crawl-00001.warc.gz")
    again = web.read_response("http://ex.org/logo")
    await web.close()
    assert isinstance(again, Failure)
    assert again.kind is FailureKind.USELESS


@pytest.mark.parametrize(("limit", "kind"), [(1000, FailureKind.TOO_LARGE), (2000, None)])
async def test_archive_too_large_response_is_too_large_in_replay(
    tmp_path: Path, limit: int, kind: FailureKind | None
) -> None:
    reader = ResponseReader(Request(url="http://ex.org/dump"), max_body_bytes=1000, useful=())
    assert not reader.receive_head(200, {"content-type": "text/html", "content-length": "1500"})
    await _kept(WarcArchive(tmp_path), reader.result(began=0.0, elapsed=0.0, address=""))
    web = RecordedWeb(tmp_path / "crawl-00001.warc.gz", limit=limit)
    again = web.read_response("http://ex.org/dump")
    await web.close()
    if kind is None:
        assert isinstance(again, Page)
        assert again.truncated, "a larger limit cannot bring back what was not recorded"
    else:
        assert isinstance(again, Failure)
        assert again.kind is kind


async def test_archive_starts_file_per_run_and_after_size_limit(tmp_path: Path) -> None:
    assert len(await _archive(tmp_path)) == 1
    assert len(await _archive(tmp_path)) == 2
    assert len(await _archive(tmp_path, max_file_bytes=10)) == 4


async def test_archive_never_appends_to_file_of_earlier_run(tmp_path: Path) -> None:
    for _ in range(3):
        await _archive(tmp_path)
    (tmp_path / "crawl-00001.warc.gz").unlink()
    (tmp_path / "crawl-00003.warc.gz").write_bytes(b"cut by a kill")
    assert [path.name for path in await _archive(tmp_path)] == [f"crawl-0000{number}.warc.gz" for number in (2, 3, 4)]
    assert (tmp_path / "crawl-00003.warc.gz").read_bytes() == b"cut by a kill"


def test_archive_incomplete_write_raises_os_error(tmp_path: Path) -> None:
    file = WarcFile(tmp_path / "a.warc.gz")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError, match="is the disk full"):
            file.append(WarcResponse(url=PAGE.url, at=1.0, status=200, headers=PAGE.headers, body=PAGE.body))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    file.append(WarcResponse(url=PAGE.url, at=1.0, status=200, headers=PAGE.headers, body=PAGE.body))
    file.close()
    assert _types(tmp_path / "a.warc.gz") == [("response", PAGE.url)], "nothing of the failed write is left"


def test_archive_cut_file_loses_only_last_record(tmp_path: Path) -> None:
    file = WarcFile(tmp_path / "a.warc.gz")
    for number in range(3):
        file.append(WarcResponse(url=f"http://ex.org/{number}", at=0.0, status=200, headers={}, body=b"x" * 1000))
    file.close()
    cut = (tmp_path / "a.warc.gz").read_bytes()[:-50]
    (tmp_path / "a.warc.gz").write_bytes(cut)
    web = RecordedWeb(tmp_path / "a.warc.gz")
    assert isinstance(web.read_response("http://ex.org/0"), Page)
    assert isinstance(web.read_response("http://ex.org/1"), Page)
    web._file.close()


async def test_archive_truncated_page_is_marked_and_stays_truncated(tmp_path: Path) -> None:
    cut = replace(PAGE, url="http://ex.org/cut", truncated=True)
    await _kept(WarcArchive(tmp_path), cut)
    (path,) = tmp_path.glob("*.warc.gz")  # noqa: ASYNC240 - nothing else is running
    assert b"WARC-Truncated: length\r\n" in gzip.decompress(path.read_bytes())
    web = RecordedWeb(path)
    found = web.read_response(cut.url)
    assert isinstance(found, Page)
    assert (found.truncated, found.body) == (True, PAGE.body)
    await web.close()


@pytest.mark.parametrize(
    ("status", "headers", "is_marked"),
    [
        (404, {"content-type": "text/html"}, True),
        (200, {"content-type": "image/png", "content-length": "500"}, True),
        (301, {"location": "/a", "content-length": "0"}, False),
        (304, {}, False),
    ],
)
async def test_archive_unread_body_is_marked_as_truncated(
    tmp_path: Path,
    status: int,
    headers: dict[str, str],
    is_marked: bool,  # noqa: FBT001
) -> None:
    useless = Failure(url="http://ex.org/", kind=FailureKind.USELESS, status=status, headers=headers)
    await _kept(WarcArchive(tmp_path), useless)
    (path,) = tmp_path.glob("*.warc.gz")  # noqa: ASYNC240 - nothing else is running
    assert (b"WARC-Truncated: unspecified\r\n" in gzip.decompress(path.read_bytes())) == is_marked


async def test_archive_stores_request_with_response(tmp_path: Path) -> None:
    archive = WarcArchive(tmp_path, about={"software": "us"}, serialize=lambda request: f"GET {request.url}".encode())
    await _kept(archive, replace(PAGE, address="192.0.2.1"), TIMED_OUT)
    with (tmp_path / "crawl-00001.warc.gz").open("rb") as file:
        info, response, request = [dict(record.rec_headers.headers) for record in ArchiveIterator(file)]
    assert info["WARC-Filename"] == "crawl-00001.warc.gz"
    assert {response["WARC-Warcinfo-ID"], request["WARC-Warcinfo-ID"]} == {info["WARC-Record-ID"]}
    assert (response["WARC-Type"], request["WARC-Type"]) == ("response", "request")
    assert request["WARC-Concurrent-To"] == response["WARC-Record-ID"]
    assert request["WARC-IP-Address"] == response["WARC-IP-Address"] == "192.0.2.1"
    assert request["WARC-Target-URI"] == response["WARC-Target-URI"]


async def test_archive_writes_equal_body_once_per_file(tmp_path: Path) -> None:
    copy = replace(PAGE, url="http://ex.org/copy", headers={"content-type": "text/html", "x-a": "2"})
    await _kept(WarcArchive(tmp_path, max_file_bytes=10), PAGE)
    await _kept(WarcArchive(tmp_path), PAGE, copy)
    assert _types(tmp_path / "crawl-00001.warc.gz")[1:] == [("response", PAGE.url)]
    assert _types(tmp_path / "crawl-00002.warc.gz")[1:] == [("response", PAGE.url), ("revisit", copy.url)]
    web = RecordedWeb(tmp_path / "crawl-00002.warc.gz")
    found = web.read_response(copy.url)
    await web.close()
    assert isinstance(found, Page)
    assert (found.url, found.body, found.headers["x-a"]) == (copy.url, PAGE.body, "2")


@pytest.mark.parametrize("body", [b"short", PAGE.body])
async def test_archive_short_or_truncated_bodies_are_written_each_time(tmp_path: Path, body: bytes) -> None:
    cut = replace(PAGE, body=body, truncated=body is PAGE.body)
    await _kept(WarcArchive(tmp_path), cut, replace(cut, url="http://ex.org/copy"))
    assert [kind for kind, _ in _types(tmp_path / "crawl-00001.warc.gz")[1:]] == ["response", "response"]


async def test_archive_not_modified_is_revisit_and_replays_earlier_page(tmp_path: Path) -> None:
    page = replace(PAGE, url="http://ex.org/a")
    unchanged = Failure(url=page.url, kind=FailureKind.NOT_MODIFIED, status=304, headers={"etag": '"1"'})
    await _kept(WarcArchive(tmp_path), page, unchanged)
    (path,) = tmp_path.glob("*.warc.gz")  # noqa: ASYNC240 - nothing else is running
    assert [kind for kind, _ in _types(path)] == ["warcinfo", "response", "revisit"]
    web = RecordedWeb(path)
    assert isinstance(web.read_response(page.url), Page)
    await web.close()


async def test_archive_recalled_response_is_written_once(tmp_path: Path) -> None:
    await _kept(WarcArchive(tmp_path), PAGE)
    recalled = replace(PAGE, recalled=True)
    lost = replace(recalled, url="http://ex.org/lost")
    await _kept(WarcArchive(tmp_path), recalled, lost)
    assert _types(tmp_path / "crawl-00002.warc.gz")[1:] == [("response", lost.url)]


async def test_archive_skips_responses_to_post(tmp_path: Path) -> None:
    archive = WarcArchive(tmp_path)
    await archive.add(Request(url=PAGE.url, posting=Posting(body=b"x", headers={}, seconds=1.0)), PAGE)
    archive.close()
    assert not list(tmp_path.iterdir())  # noqa: ASYNC240 - nothing else is running


async def test_archive_state_has_the_synced_length_and_repairs_later_records_only(tmp_path: Path) -> None:
    archive = WarcArchive(tmp_path)
    await archive.add(Request(url=PAGE.url), PAGE)
    state = archive.state()
    path = tmp_path / "crawl-00001.warc.gz"
    synced = path.stat().st_size
    await _kept(archive, MOVED, replace(PAGE, url="http://ex.org/later", body=b"later"))
    data = bytearray(path.read_bytes())
    data[synced + 20 : synced + 120] = bytes(100)
    path.write_bytes(data)
    WarcArchive(tmp_path, state=state).close()
    assert path.stat().st_size == synced
    assert archive.state() != state, "a closed archive has synced all its records"


async def test_archive_that_cannot_be_synced_at_its_end_raises_with_the_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(file: int) -> None:
        raise OSError(5, "Input/output error")

    archive = WarcArchive(tmp_path)
    await archive.add(Request(url=PAGE.url), PAGE)
    monkeypatch.setattr("os.fsync", fail)
    archive.close()
    with pytest.raises(OSError, match=r"crawl-00001\.warc\.gz could not be written: Input/output error"):
        archive.state()


async def test_archive_of_a_crawl_without_commit_is_cut_at_its_first_broken_record(tmp_path: Path) -> None:
    await _kept(WarcArchive(tmp_path), PAGE, MOVED)
    path = tmp_path / "crawl-00001.warc.gz"
    data = bytearray(path.read_bytes())
    data[200:300] = bytes(100)
    path.write_bytes(data)
    WarcArchive(tmp_path, is_committed=False).close()
    assert not path.exists()

"""Opening what an earlier run left; `test_trouble` does it to whole crawls, by command."""

from __future__ import annotations

import errno
import shutil
from mmap import PAGESIZE
from pathlib import Path

import lmdb
import msgspec
import pytest

from motherlode.crawler import CrawlFolder
from motherlode.crawler.engine.recovery import open_log, open_storage, requeue_lost
from motherlode.frontier import LmdbStorage, SavedStateError, UrlState
from motherlode.frontier.storage.tables import SAVED_STATE
from motherlode.index.nquads_log import UnindexedQuads
from motherlode.index.page_record import PageRecord
from motherlode.index.quad_store import QuadStore
from motherlode.index.snapshot import DamagedError, is_full_disk
from motherlode.model import FailureKind, Visit
from tests.crawler.small_web import crawled, small_web
from tests.frontier.fakes import entry
from tests.index.fakes import record, says


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (OSError(errno.ENOSPC, "kein Platz"), True),
        (OSError("IO error: No space left on device: While appending to file"), True),
        (RuntimeError("database or disk full"), True),
        (caused(OSError("the writer failed"), OSError("No space left on device")), True),
        (OSError(errno.EACCES, "Permission denied"), False),
        (caused(OSError("the writer failed"), ValueError("bad")), False),
    ],
)
def test_a_full_disk_is_known_by_its_number_or_its_words(error: Exception, *, full: bool) -> None:
    assert is_full_disk(error) is full


@pytest.mark.parametrize("size", [0, PAGESIZE, 2 * PAGESIZE])
def test_frontier_that_was_never_committed_is_created_again(tmp_path: Path, size: int) -> None:
    folder = CrawlFolder(tmp_path)
    folder.frontier.mkdir()
    (folder.frontier / "data.mdb").write_bytes(bytes(size))
    storage = open_storage(folder)
    assert list(storage.entries()) == []
    storage.close()


def test_empty_frontier_beside_quads_is_damaged(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path)
    folder.frontier.mkdir()
    folder.quads.mkdir()
    (folder.frontier / "data.mdb").touch()
    with pytest.raises(DamagedError, match="Put back a copy of the frontier"):
        open_storage(folder)
    assert (folder.frontier / "data.mdb").exists()


@pytest.mark.parametrize("has_log", [True, False])
def test_damaged_store_is_an_error_that_says_what_to_do(tmp_path: Path, *, has_log: bool) -> None:
    folder = CrawlFolder(tmp_path)
    folder.store.mkdir()
    (folder.store / "CURRENT").write_text("no such manifest\n")
    folder.warc.mkdir()
    if has_log:
        folder.quads.mkdir()
        (folder.quads / "indexed").write_text("1 0\n")  # an earlier version removed what was indexed
    storage = open_storage(folder)
    with pytest.raises(DamagedError, match="quad store") as caught:
        open_log(folder, storage)
    assert (f"motherlode resume {tmp_path}" in str(caught.value)) is not has_log
    assert ("--web FILE.warc.gz" in str(caught.value)) is not has_log
    assert (f"motherlode verify {tmp_path} --repair" in str(caught.value)) is has_log
    storage.close()


def test_a_damaged_frontier_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path)
    folder.frontier.mkdir()
    (folder.frontier / "data.mdb").write_bytes(b"no database" * 1_000)
    with pytest.raises(DamagedError, match="frontier") as caught:
        open_storage(folder)
    assert f"motherlode resume {tmp_path}" in str(caught.value)
    assert (folder.frontier / "data.mdb").read_bytes() == b"no database" * 1_000, "it is left for whoever can mend it"


def test_damage_that_only_a_writer_meets_has_the_same_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def put(path: Path) -> LmdbStorage:
        raise lmdb.CorruptedError("mdb_put: MDB_CORRUPTED: Located page was wrong type")

    monkeypatch.setattr("motherlode.crawler.engine.recovery.LmdbStorage", put)
    with pytest.raises(DamagedError, match=r"the frontier in .* is damaged: mdb_put"):
        open_storage(CrawlFolder(tmp_path))


def test_missing_frontier_and_log_are_created(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path)
    storage = open_storage(folder)
    log, lost = open_log(folder, storage)
    assert lost == 0
    assert list(storage.visits()) == []
    storage.close()
    log.close()
    assert QuadStore(folder.store, read_only=True).has("http://a.example/") is False


def test_store_without_log_gets_one_that_counts_as_indexed(tmp_path: Path) -> None:
    """A folder of an earlier version. Its store can be built again from the new log."""
    crawl, folder = Crawl(tmp_path), CrawlFolder(tmp_path)
    crawl.visited("http://a.example/kept", stored=True)
    crawl.visited("http://a.example/moved", stored=True, failure=FailureKind.REDIRECT)
    lost_page = crawl.visited("http://a.example/lost", stored=False)
    crawl.store.flush()
    before = set(crawl.store.quads())
    del crawl.store
    log, lost = open_log(folder, crawl.storage, index_later=True)
    log.close()
    assert lost == 1 and crawl.waits(lost_page)
    assert not UnindexedQuads(folder.quads, folder.store)
    shutil.rmtree(folder.store)
    assert UnindexedQuads(folder.quads, folder.store)
    log, lost = open_log(folder, crawl.storage, words=False)
    log.close()
    assert lost == 0
    assert set(QuadStore(folder.store, read_only=True).quads()) == before
    crawl.storage.close()


def test_pages_of_a_removed_store_without_log_wait_again(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    lost_page = crawl.visited("http://a.example/lost", stored=False)
    del crawl.store
    shutil.rmtree(tmp_path / "store")
    log, lost = open_log(CrawlFolder(tmp_path), crawl.storage, index_later=True)
    log.close()
    assert lost == 1 and crawl.waits(lost_page)
    crawl.storage.close()


class Crawl:
    """A storage and a store that need not agree."""

    def __init__(self, path: Path) -> None:
        self.storage = LmdbStorage(path / "frontier")
        self.store = QuadStore(path / "store")
        self._number = 0

    def visited(self, url: str, *, stored: bool, failure: FailureKind | None = None) -> str:
        self._number += 1
        visit = Visit(number=self._number, url=url, host="a.example", failure=failure)
        self.storage.append_visit(self._number, msgspec.msgpack.encode(visit))
        self.storage.finish(entry(url, sequence=self._number), UrlState.DONE, "")
        if stored and failure is FailureKind.REDIRECT:
            self.store.write([PageRecord(url=url, fetched_at=0.0, status=301, redirects_to="http://a.example/")])
        elif stored:
            self.store.write([record(url, says("x", "1"))])
        return url

    def waits(self, url: str) -> bool:
        found = self.storage.find(url)
        return found is not None and found[1] is UrlState.WAITING


def test_pages_that_the_store_has_lost_wait_again(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    kept = crawl.visited("http://a.example/kept", stored=True)
    moved = crawl.visited("http://a.example/moved", stored=True, failure=FailureKind.REDIRECT)
    lost = crawl.visited("http://a.example/lost?a=|", stored=False)
    lost_too = crawl.visited("http://a.example/lost-redirect", stored=False, failure=FailureKind.REDIRECT)
    failed = crawl.visited("http://a.example/none", stored=False, failure=FailureKind.NOT_FOUND)
    assert requeue_lost(crawl.storage, crawl.store) == 2
    assert [crawl.waits(url) for url in (kept, moved, lost, lost_too, failed)] == [False, False, True, True, False]
    assert requeue_lost(crawl.storage, crawl.store) == 0, "what waits already is not counted again"
    crawl.storage.close()
    crawl.store.close()


def test_the_search_ends_where_enough_newer_pages_are_all_there(tmp_path: Path) -> None:
    """A log is lost from its end: behind two hundred pages that are there nothing is missing."""
    crawl = Crawl(tmp_path)
    crawl.visited("http://a.example/old", stored=False)
    pages = [f"http://a.example/{number}" for number in range(200)]
    crawl.store.write([record(url, says("x", "1")) for url in pages])
    for url in pages[1:]:
        crawl.visited(url, stored=False)
    assert requeue_lost(crawl.storage, crawl.store) == 1, "199 are not enough"
    crawl.visited("http://a.example/old", stored=False)
    crawl.visited(pages[0], stored=False)
    for url in pages[1:]:
        crawl.visited(url, stored=False)
    assert requeue_lost(crawl.storage, crawl.store) == 0
    crawl.storage.close()
    crawl.store.close()


def test_folder_of_a_newer_version_is_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = crawled(tmp_path / "out", small_web(tmp_path / "web.warc.gz", items=1, plain=1))
    newer = msgspec.structs.replace(SAVED_STATE["format"], version=2)
    with monkeypatch.context() as later:
        later.setitem(SAVED_STATE, "format", newer)
        storage = LmdbStorage(folder.frontier)
        storage.put_note("format", b"")
        storage.commit()
        storage.close()
    with pytest.raises(SavedStateError, match=r"newer version of Motherlode \(format 2, this one reads up to 1\)"):
        open_storage(folder)

"""The thread of a crawl: it ends cleanly, unlocks its folder and keeps the error."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from motherlode.api import crawl_thread
from motherlode.api.crawl_thread import CrawlThread
from motherlode.crawler import CrawlFolder, Job, read_stats
from tests.api.webs import HOME, write_shop


def start(path: Path, **job: object) -> tuple[CrawlThread, CrawlFolder]:
    folder = CrawlFolder(path / "out")
    web = write_shop(path / "web.warc.gz", pages=12)
    made = Job(seeds=(HOME,), web=str(web), delay=0.0, workers=1, words=False, **job)  # type: ignore[arg-type]
    folder.create(made)
    thread = CrawlThread(made, folder)
    thread.start()
    return thread, folder


def read_all(thread: CrawlThread) -> list[str]:
    urls = []
    while not thread.visits.is_over:
        if (visit := thread.visits.get(1.0)) is not None:
            urls.append(visit.url)
    return urls


def test_thread_crawls_writes_report_and_unlocks_folder(tmp_path: Path) -> None:
    thread, folder = start(tmp_path, validate=("google",))
    urls = read_all(thread)
    thread.close()
    assert thread.error is None and not thread.is_alive
    assert len(urls) == thread.totals.fetched == read_stats(folder).totals.fetched > 12
    assert folder.report.exists() and not folder.is_in_use
    validation = read_stats(folder).validation
    assert validation is not None and validation["pages"] == 11


def test_close_stops_the_crawl_before_its_end(tmp_path: Path) -> None:
    thread, folder = start(tmp_path, concurrency=1)
    while thread.visits.get(1.0) is None:
        assert thread.is_alive
    thread.close()
    assert not thread.is_alive and not folder.is_in_use
    assert thread.error is None


def test_error_of_the_crawl_is_kept_and_folder_unlocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = threading.Event()

    def fail(*_: object, **__: object) -> None:
        called.set()
        raise OSError("the disk is full")

    monkeypatch.setattr(crawl_thread, "assemble", fail)
    thread, folder = start(tmp_path)
    assert read_all(thread) == []
    thread.close()
    assert called.is_set()
    assert isinstance(thread.error, OSError)
    assert not folder.is_in_use

"""What a folder tells from outside."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from motherlode.crawler import CrawlFolder, Job
from motherlode.serve.views.overview import CrawlView


def test_a_crawl_that_holds_its_folder_is_running(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "out")
    folder.create(Job(seeds=("http://a.test/",), pages=7))
    view = CrawlView(CrawlFolder(tmp_path / "out"))
    assert view.running()
    folder.unlock()
    assert not view.running()
    folder.lock()  # looking must not have kept it from this
    folder.unlock()


def test_a_crawl_that_has_just_begun_has_a_report(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "out")
    folder.create(Job(seeds=("http://a.test/",), pages=7))
    view = CrawlView(folder)
    assert view.report().title == "Crawl of a.test"
    assert view.progress() == (0, 7)
    folder.unlock()


def test_report_from_many_threads_opens_the_frontier_once_at_a_time(folder: Path) -> None:
    def report(view: CrawlView, together: threading.Barrier) -> str:
        together.wait(30)
        return view.report().title

    with ThreadPoolExecutor(8) as threads:
        for _ in range(30):  # a single round meets the race in about every third run
            views = [CrawlView(CrawlFolder(folder)) for _ in range(2)]
            together = threading.Barrier(8)
            running = [threads.submit(report, view, together) for view in views * 4]
            assert {done.result(60) for done in running} == {"Crawl of evil.test"}

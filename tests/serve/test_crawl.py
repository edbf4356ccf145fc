"""What a folder tells from outside."""

from __future__ import annotations

from pathlib import Path

from motherlode.crawl import CrawlFolder, Job
from motherlode.serve.crawl import CrawlView


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

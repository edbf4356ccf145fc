"""Who may write where."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from motherlode.crawl.folder import CrawlFolder
from motherlode.crawl.job import Job, JobError

JOB = Job(seeds=("http://example.org/",), pages=3)


def test_a_new_folder_holds_its_job(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "a" / "b")
    folder.create(JOB)
    assert folder.job() == JOB
    folder.unlock()


def test_a_folder_that_holds_a_crawl_is_not_taken_again(tmp_path: Path) -> None:
    first = CrawlFolder(tmp_path / "a")
    first.create(JOB)
    first.unlock()
    with pytest.raises(JobError, match="holds a crawl already: `motherlode resume"):
        CrawlFolder(tmp_path / "a").create(JOB)


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("important")
    with pytest.raises(JobError, match="not an empty folder"):
        CrawlFolder(tmp_path).create(JOB)
    assert (tmp_path / "thesis.txt").read_text() == "important"


def test_no_crawl_here(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="holds no crawl: make one with"):
        CrawlFolder(tmp_path).job()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "a")
    folder.create(JOB)
    folder.unlock()
    (folder.path / "lock").unlink()
    (folder.path / "lock").mkdir()  # an error that the superuser meets as well
    with pytest.raises(JobError, match="cannot be written"):
        folder.lock()


def test_what_is_asked_for_later_is_kept(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "a")
    folder.create(JOB)
    more = replace(JOB, pages=5)
    folder.keep(more)
    assert folder.job() == more
    folder.unlock()


def test_one_process_at_a_time(tmp_path: Path) -> None:
    first = CrawlFolder(tmp_path / "a")
    first.create(JOB)
    second = CrawlFolder(tmp_path / "a")
    with pytest.raises(JobError, match="another process is crawling"):
        second.lock()
    first.unlock()
    second.lock()
    second.unlock()


def test_the_answers_of_shards_are_answers_of_the_crawl(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "a")
    folder.create(JOB)
    for number in range(2):
        shard = CrawlFolder(folder.path / "shards" / f"{number:04d}")
        shard.create(JOB)
        shard.unlock()
        shard.warc.mkdir()
        (shard.warc / "crawl-00001.warc.gz").touch()
    folder.unlock()
    found = [path.relative_to(folder.path).as_posix() for path in folder.warc_files()]
    assert found == ["shards/0000/warc/crawl-00001.warc.gz", "shards/0001/warc/crawl-00001.warc.gz"]

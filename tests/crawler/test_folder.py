"""Who may write where."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from motherlode.crawler.config.job import Job, JobError
from motherlode.crawler.config.job_file import job_to_toml
from motherlode.crawler.folder import CrawlFolder

JOB = Job(seeds=("http://example.org/",), pages=3)


def test_a_new_folder_holds_its_job(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "a" / "b")
    folder.create(JOB)
    assert folder.read_job() == JOB
    folder.unlock()


def test_a_folder_that_has_crawl_is_not_taken_again(tmp_path: Path) -> None:
    first = CrawlFolder(tmp_path / "a")
    first.create(JOB)
    first.unlock()
    with pytest.raises(JobError, match="has a crawl already: `motherlode resume"):
        CrawlFolder(tmp_path / "a").create(JOB)


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("important")
    with pytest.raises(JobError, match="not an empty folder"):
        CrawlFolder(tmp_path).create(JOB)
    assert (tmp_path / "thesis.txt").read_text() == "important"


def test_no_crawl_here(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="has no crawl: start one with"):
        CrawlFolder(tmp_path).read_job()


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
    folder.save_job(more)
    assert folder.read_job() == more
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
    found = [path.relative_to(folder.path).as_posix() for path in folder.list_warc_files()]
    assert found == ["shards/0000/warc/crawl-00001.warc.gz", "shards/0001/warc/crawl-00001.warc.gz"]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_is_for_its_user_alone(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "a")
    folder.create(JOB)
    folder.unlock()
    assert mode(folder.path) == 0o700
    assert not folder.secrets_file.exists()


def test_a_folder_that_the_user_made_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(mode=0o755)
    folder = CrawlFolder(tmp_path / "a")
    folder.create(JOB)
    folder.unlock()
    assert mode(folder.path) == 0o755


PROXY = "http://ann:s=cret@127.0.0.1:3128"


def test_passwords_are_kept_in_a_file_that_the_user_alone_may_read(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "a")
    job = replace(JOB, proxy=PROXY)
    folder.create(job)
    assert "s=cret" not in folder.job_file.read_text()
    assert mode(folder.secrets_file) == 0o600
    assert folder.read_job() == job
    folder.save_job(replace(job, pages=9))
    assert folder.read_job() == replace(job, pages=9)
    folder.save_job(JOB)
    assert not folder.secrets_file.exists(), "there is nothing left to hide"
    assert folder.read_job() == JOB
    folder.unlock()


def test_passwords_in_seeds_are_not_kept(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "a")
    folder.create(replace(JOB, seeds=("http://ann:s=cret@example.org/x", "http://example.org/a:b@c")))
    assert folder.read_job().seeds == ("http://example.org/x", "http://example.org/a:b@c")
    folder.unlock()


def test_passwords_in_the_job_file_of_an_older_version_are_moved(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "a")
    folder.create(JOB)
    folder.job_file.write_text(job_to_toml(replace(JOB, proxy=PROXY)))
    before = folder.read_job()
    assert before.proxy == PROXY
    folder.move_secrets()
    assert "s=cret" not in folder.job_file.read_text()
    assert folder.read_job() == before
    folder.unlock()


@pytest.mark.parametrize(("text", "says"), [("", "is empty"), ("\n", "is empty"), ("pages = 3\n", "has no seeds")])
def test_a_job_file_that_lost_its_text_is_told_as_such(tmp_path: Path, text: str, says: str) -> None:
    folder = CrawlFolder(tmp_path)
    folder.job_file.write_text(text)
    with pytest.raises(JobError, match=rf"job.toml {says}, so it is not what the crawl wrote"):
        folder.read_job()


def test_whether_a_process_crawls_into_a_folder_is_known(tmp_path: Path) -> None:
    folder, other = CrawlFolder(tmp_path / "a"), CrawlFolder(tmp_path / "a")
    assert not other.is_in_use
    folder.create(JOB)
    assert folder.is_in_use and other.is_in_use
    folder.unlock()
    assert not other.is_in_use
    folder.lock()
    folder.unlock()


def test_renamed_keys_in_the_job_file_of_an_earlier_version_are_read(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path)
    old = "choosy = 0.5\nbarren_after = 40\ndry_after = 100\ndry_below = 0.02\npatience = 2.5\n"
    folder.job_file.write_text(f'seeds = ["http://example.org/"]\n{old}')
    job = folder.read_job()
    assert (job.wait_threshold, job.host_stop_after, job.delay_factor) == (0.5, 40, 2.5)
    assert (job.stop_after, job.stop_below) == (100, 0.02)

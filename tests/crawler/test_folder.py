"""The crawl folder: the saved job, the lock and file modes."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from motherlode.crawler.config.job import Job, JobError
from motherlode.crawler.config.job_file import job_to_toml
from motherlode.crawler.folder import CrawlFolder
from tests.crawler.small_web import crawled, small_web

JOB = Job(seeds=("http://example.org/",), pages=3)


def test_new_folder_has_the_job(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "a" / "b")
    folder.create(JOB)
    assert folder.read_job() == JOB
    folder.unlock()


def test_folder_with_pages_is_refused_for_a_new_crawl(tmp_path: Path) -> None:
    made = crawled(tmp_path / "a", small_web(tmp_path / "web.warc.gz"), pages=2)[0]
    made.unlock()
    with pytest.raises(JobError, match="has a crawl already: `motherlode resume"):
        CrawlFolder(tmp_path / "a").create(JOB)


def test_folder_without_pages_is_used_for_a_new_crawl(tmp_path: Path) -> None:
    first = CrawlFolder(tmp_path / "a")
    first.create(JOB)
    first.unlock()
    second = CrawlFolder(tmp_path / "a")
    second.create(replace(JOB, pages=7))
    assert second.read_job().pages == 7
    second.unlock()


def test_folder_of_a_crawl_whose_job_was_not_saved_is_used_for_a_new_crawl(tmp_path: Path) -> None:
    for name in ("lock", "job.toml.new", "secrets.toml"):
        (tmp_path / name).write_text("unfinished")
    folder = CrawlFolder(tmp_path)
    folder.create(JOB)
    assert folder.read_job() == JOB
    assert not (tmp_path / "job.toml.new").exists()
    assert not (tmp_path / "secrets.toml").exists()
    folder.unlock()


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("important")
    with pytest.raises(JobError, match="not an empty folder"):
        CrawlFolder(tmp_path).create(JOB)
    assert (tmp_path / "thesis.txt").read_text() == "important"


def test_read_job_without_crawl_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="has no crawl: start one with"):
        CrawlFolder(tmp_path).read_job()


def test_crawl_whose_job_is_missing_says_how_to_get_it_back(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    folder.frontier.mkdir(parents=True)
    with pytest.raises(JobError, match=r"job.toml, is missing. Restore a copy"):
        folder.require()


def test_unreadable_job_says_how_to_get_it_back(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path)
    folder.job_file.write_bytes(b"seeds = [")
    with pytest.raises(JobError, match=r"is not TOML: .*Restore a copy"):
        folder.read_job()


def test_lock_of_an_unwritable_folder_is_an_error(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "a")
    folder.create(JOB)
    folder.unlock()
    (folder.path / "lock").unlink()
    (folder.path / "lock").mkdir()  # an error also for the superuser
    with pytest.raises(JobError, match="cannot be written"):
        folder.lock()


def test_saved_job_replaces_the_old_one(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "a")
    folder.create(JOB)
    more = replace(JOB, pages=5)
    folder.save_job(more)
    assert folder.read_job() == more
    folder.unlock()


def test_second_lock_is_refused(tmp_path: Path) -> None:
    first = CrawlFolder(tmp_path / "a")
    first.create(JOB)
    second = CrawlFolder(tmp_path / "a")
    with pytest.raises(JobError, match="another process is crawling"):
        second.lock()
    first.unlock()
    second.lock()
    second.unlock()


def test_warc_files_of_shards_are_listed(tmp_path: Path) -> None:
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


def test_new_folder_is_private(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "a")
    folder.create(JOB)
    folder.unlock()
    assert mode(folder.path) == 0o700
    assert not folder.secrets_file.exists()


def test_existing_folder_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(mode=0o755)
    folder = CrawlFolder(tmp_path / "a")
    folder.create(JOB)
    folder.unlock()
    assert mode(folder.path) == 0o755


PROXY = "http://ann:s=cret@127.0.0.1:3128"


def test_passwords_are_saved_in_a_private_file(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "a")
    job = replace(JOB, proxy=PROXY)
    folder.create(job)
    assert "s=cret" not in folder.job_file.read_text()
    assert mode(folder.secrets_file) == 0o600
    assert folder.read_job() == job
    folder.save_job(replace(job, pages=9))
    assert folder.read_job() == replace(job, pages=9)
    folder.save_job(JOB)
    assert not folder.secrets_file.exists(), "no key has a password any more"
    assert folder.read_job() == JOB
    folder.unlock()


def test_passwords_in_seeds_are_not_saved(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "a")
    folder.create(replace(JOB, seeds=("http://ann:s=cret@example.org/x", "http://example.org/a:b@c")))
    assert folder.read_job().seeds == ("http://example.org/x", "http://example.org/a:b@c")
    folder.unlock()


def test_passwords_in_an_old_job_file_are_moved(tmp_path: Path) -> None:
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
def test_job_file_without_seeds_is_an_error(tmp_path: Path, text: str, says: str) -> None:
    folder = CrawlFolder(tmp_path)
    folder.job_file.write_text(text)
    with pytest.raises(JobError, match=rf"job.toml {says}, so it is not what the crawl wrote"):
        folder.read_job()


def test_is_in_use_is_true_while_locked(tmp_path: Path) -> None:
    folder, other = CrawlFolder(tmp_path / "a"), CrawlFolder(tmp_path / "a")
    assert not other.is_in_use
    folder.create(JOB)
    assert folder.is_in_use and other.is_in_use
    folder.unlock()
    assert not other.is_in_use
    folder.lock()
    folder.unlock()


def test_renamed_keys_in_an_old_job_file_are_read(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path)
    old = "choosy = 0.5\nbarren_after = 40\ndry_after = 100\ndry_below = 0.02\npatience = 2.5\n"
    folder.job_file.write_text(f'seeds = ["http://example.org/"]\n{old}')
    job = folder.read_job()
    assert (job.wait_threshold, job.host_stop_after, job.delay_factor) == (0.5, 40, 2.5)
    assert (job.stop_after, job.stop_below) == (100, 0.02)

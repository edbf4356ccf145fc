"""The saved numbers of the last validation."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.crawler import CrawlFolder, Job, JobError, check
from motherlode.crawler.folder import VALIDATION_FILE
from motherlode.crawler.saved_validation import SavedValidation, read_validation, validate_and_save
from tests.crawler.small_web import crawled, small_web
from tests.crawler.test_validation_summary import page


def test_saved_numbers_are_read_again_and_summed_by_host(tmp_path: Path) -> None:
    saved = SavedValidation(profile="google")
    pages = [page(1, "violation", "info"), page(2), page(3, "warning", host="b.example:8080"), page(4, nodes=0)]
    assert list(saved.watch(pages)) == pages
    saved.save(CrawlFolder(tmp_path))
    found = read_validation(CrawlFolder(tmp_path))
    assert found is not None
    one = found.sum_hosts(["a.example"])
    assert (one.profile, one.pages, one.conforming, one.violations, one.infos) == ("google", 2, 1, 1, 1)
    assert found.sum_hosts(["a.example", "b.example:8080"]).warnings == 1, "hosts have their ports"
    assert one.validated_at > 0


@pytest.mark.parametrize("content", [None, b"{", b'{"hosts": []}'])
def test_missing_or_broken_file_is_no_validation(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / VALIDATION_FILE).write_bytes(content)
    assert read_validation(CrawlFolder(tmp_path)) is None


def test_validate_and_save_counts_pages_of_a_crawl(tmp_path: Path) -> None:
    folder, _ = crawled(tmp_path / "out", small_web(tmp_path / "web.warc.gz", items=2, plain=1))
    validate_and_save(folder, ["google"])
    found = read_validation(folder)
    assert found is not None
    host = found.hosts["a.example"]
    assert (host.pages, host.conforming) == (2, 0), "a recipe needs an image"
    assert host.violations >= 2


def test_job_with_unknown_profile_is_refused() -> None:
    with pytest.raises(JobError, match="nonsense is not a file"):
        check(Job(seeds=("http://a.example/",), validate=("nonsense",)))


def test_job_with_validation_and_later_index_is_refused() -> None:
    with pytest.raises(JobError, match="validate needs the index"):
        Job(seeds=("http://a.example/",), validate=("google",), index="later")

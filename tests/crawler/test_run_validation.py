"""Validation at the end of a run, and its counts by source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from motherlode.crawler import Job, JobError, check, read_stats
from motherlode.crawler.report.crawl_report import build_report, write_report
from motherlode.crawler.run_validation import validate_and_save
from tests.crawler.small_web import HOME, crawled, small_web

SOURCES = ({"name": "Recipes", "seeds": [HOME], "contact": "data@a.example"},)


def test_counts_of_sources_are_in_statistics_and_report(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz", items=2, plain=1)
    folder, _ = crawled(tmp_path / "out", web, sources=SOURCES)
    (before,) = read_stats(folder).sources
    assert before.validation is None
    validate_and_save(folder, ["google"])
    stats = read_stats(folder)
    (source,) = stats.sources
    assert source.validation is not None
    assert (source.validation.shapes, source.validation.pages) == (["google"], 2)
    assert source.validation.conforming_pages == 0, "a recipe needs an image"
    assert source.validation.violations >= 2
    write_report(folder.report, build_report(folder.read_job(), stats))
    report = folder.report.read_text(encoding="utf-8")
    assert "Pages are validated by google." in report
    assert "0 of 2" in report


def test_changed_file_of_counts_is_ignored(tmp_path: Path) -> None:
    folder, _ = crawled(tmp_path / "out", small_web(tmp_path / "web.warc.gz", items=1, plain=1), sources=SOURCES)
    for content in ({"sources": 5}, {"sources": [{"name": "Recipes", "pages": "many"}]}, {"sources": [[]]}):
        folder.validation.write_text(json.dumps(content), encoding="utf-8")
        assert read_stats(folder).sources[0].validation is None


def test_job_with_unknown_profile_is_refused() -> None:
    with pytest.raises(JobError, match="nonsense is not a file"):
        check(Job(seeds=("http://a.example/",), validate=("nonsense",)))


def test_job_with_validation_and_later_index_is_refused() -> None:
    with pytest.raises(JobError, match="validate needs the index"):
        Job(seeds=("http://a.example/",), validate=("google",), index="later")

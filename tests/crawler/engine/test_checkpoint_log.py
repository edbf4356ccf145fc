"""The log file of a crawl: one line per URL, and none that a server could forge."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from motherlode.crawler import Job, JobError
from motherlode.crawler.engine import checkpoint
from motherlode.crawler.engine.checkpoint import LogFile
from tests.crawler.small_web import crawled, small_web

LOGGER = logging.getLogger("motherlode.crawler")


def test_crawl_logs_one_line_per_url(tmp_path: Path) -> None:
    folder, totals = crawled(tmp_path / "out", small_web(tmp_path / "web.warc.gz"))
    lines = folder.log.read_text().splitlines()
    assert len(lines) == totals.fetched
    assert any(" 200 " in line and line.endswith(" relevant") for line in lines)
    assert any(" not-found " in line for line in lines)
    assert not logging.getLogger("motherlode").handlers


def test_log_level_of_the_job_sets_the_lowest_level(tmp_path: Path) -> None:
    folder, _ = crawled(tmp_path / "out", small_web(tmp_path / "web.warc.gz"), log_level="warning")
    assert not folder.log.exists()
    with pytest.raises(JobError, match=r"log_level must be .*; got 'loud'"):
        Job(seeds=("http://a.example/",), log_level="loud")


def test_control_characters_of_a_server_make_no_line(tmp_path: Path) -> None:
    file = LogFile(tmp_path / "crawl.log")
    LOGGER.info("%s", "http://a.example/ 404 \r\n2026-01-01 INFO forged\x1b[31m\u2028x")
    file.close()
    assert len((tmp_path / "crawl.log").read_text().splitlines()) == 1


def test_traceback_is_indented_below_its_line(tmp_path: Path) -> None:
    file = LogFile(tmp_path / "crawl.log")
    try:
        raise KeyError("x\ny")
    except KeyError as error:
        LOGGER.error("internal error at %s", "http://a.example/", exc_info=error)
    first, *others = (tmp_path / "crawl.log").read_text().splitlines()
    file.close()
    assert first.endswith("ERROR internal error at http://a.example/")
    assert others and all(line.startswith("    ") for line in others)
    assert "KeyError" in others[-1]


def test_lines_below_the_level_are_not_written(tmp_path: Path) -> None:
    file = LogFile(tmp_path / "crawl.log", "warning")
    LOGGER.info("not this")
    LOGGER.warning("but this")
    file.close()
    assert "but this" in (tmp_path / "crawl.log").read_text()
    assert "not this" not in (tmp_path / "crawl.log").read_text()


def test_full_file_is_renamed_and_the_oldest_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "MAX_LOG_BYTES", 10)
    file = LogFile(tmp_path / "crawl.log")
    for number in range(8):
        LOGGER.info("line %d", number)
        file.flush()
    file.close()
    kept = {path.name: path.read_text().split()[-1] for path in tmp_path.iterdir()}
    assert kept == {"crawl.log": "7", **{f"crawl.log.{number}": str(7 - number) for number in range(1, 5)}}

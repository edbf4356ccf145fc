"""The command `record`. The contents of traces are tested in tests/sim/trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from motherlode.cli import application, progress
from motherlode.crawler import CrawlFolder, Job
from motherlode.sim.trace.files import read_parts
from tests.crawler.small_web import HOME, small_web


def motherlode(*arguments: str | Path) -> Result:
    app = application(["record", "stats"])  # with one command alone, its name would not be expected
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def text_of(result: Result) -> str:
    """Return the messages without line breaks, which depend on the terminal."""
    return " ".join(result.stderr.split())


def test_record_again_reads_only_new_files(tmp_path: Path) -> None:
    first, second = (small_web(tmp_path / f"{name}.warc.gz", items=2, plain=1) for name in ("first", "second"))
    for files, responses in (((first,), 7), ((first, second), 14), ((first, second), 14)):
        done = motherlode("record", *files, "-o", tmp_path / "trace")
        assert done.exit_code == 0, done.output
        assert f"{responses} responses" in text_of(done)
    assert len(read_parts(tmp_path / "trace")) == 2


def test_record_shows_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_LOG_SECONDS", 0.0)
    done = motherlode("record", small_web(tmp_path / "w.warc.gz"), "-o", tmp_path / "trace")
    assert done.stderr.startswith("reading w.warc.gz · ")
    assert " kB of " in done.stderr


def test_record_into_the_folder_of_a_crawl_is_refused(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "out")
    folder.create(Job(seeds=(HOME,)))
    folder.unlock()
    refused = motherlode("record", small_web(tmp_path / "w.warc.gz"), "-o", folder.path)
    assert refused.exit_code == 2
    assert "has a crawl: a trace needs a folder of its own" in text_of(refused)


def test_record_of_a_missing_file_is_wrong_usage(tmp_path: Path) -> None:
    refused = motherlode("record", tmp_path / "none.warc.gz", "-o", tmp_path / "trace")
    assert refused.exit_code == 2
    assert "none.warc.gz" in text_of(refused)


def test_record_into_a_file_is_wrong_usage(tmp_path: Path) -> None:
    occupied = tmp_path / "occupied"
    occupied.write_text("not a folder")
    refused = motherlode("record", small_web(tmp_path / "w.warc.gz"), "-o", occupied)
    assert refused.exit_code == 2
    assert "occupied" in text_of(refused)

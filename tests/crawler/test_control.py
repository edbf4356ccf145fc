"""Tests of the control file."""

from __future__ import annotations

from pathlib import Path

from motherlode.crawler.control import Control, read_control, write_control
from motherlode.crawler.engine.limits import ControlFile
from motherlode.crawler.folder import CrawlFolder


def test_control_file_reports_a_change_once(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path)
    file = ControlFile(folder)
    assert not file.has_changed(0.0)
    write_control(folder, Control(is_paused=True, pages=7))
    assert not file.has_changed(0.5), "it was looked at half a second ago"
    assert file.has_changed(1.5)
    assert file.control == read_control(folder) == Control(is_paused=True, pages=7)
    assert not file.has_changed(3.0)


def test_control_file_with_invalid_content_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "control.json").write_text('{"is_paused": "perhaps"}')
    file = ControlFile(CrawlFolder(tmp_path))
    assert not file.has_changed(0.0)
    assert file.control == read_control(CrawlFolder(tmp_path)) == Control()


def test_clear_removes_wishes_for_earlier_run(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path)
    write_control(folder, Control(is_stopped=True))
    ControlFile(folder).clear()
    assert read_control(folder) == Control()


def test_write_control_reaches_all_shards(tmp_path: Path) -> None:
    shard = tmp_path / "shards" / "0001"
    shard.mkdir(parents=True)
    (shard / "job.toml").write_text("seeds = []")
    folder = CrawlFolder(tmp_path)
    write_control(folder, Control(is_paused=True))
    assert [read_control(part).is_paused for part in (folder, *folder.shard_folders())] == [True, True]

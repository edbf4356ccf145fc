"""A Ray to run on: what is said where there is none, and where checkpoints cannot be kept. With Ray: `test_driver`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from motherlode.cluster.ray_runtime import WHAT_TO_INSTALL, check_state, need_ray, running_ray
from motherlode.crawler import JobError


def test_without_ray_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(JobError) as caught:
        need_ray()
    assert str(caught.value) == WHAT_TO_INSTALL
    with pytest.raises(JobError, match="not installed"), running_ray("", shards=2):
        pass


def test_with_ray_there_is_nothing_to_say() -> None:
    pytest.importorskip("ray")
    need_ray()


@pytest.mark.parametrize("place", ["", "file:///tmp/x", "memory://x"])
def test_places_where_checkpoints_can_be_kept(place: str) -> None:
    check_state(place)


def test_a_folder_is_such_a_place_and_is_not_made(tmp_path: Path) -> None:
    check_state(str(tmp_path / "state"))
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("place", ["nonsense://x", "no-such-scheme://bucket/x"])
def test_a_place_that_nobody_knows_is_told_before_the_crawl_begins(place: str) -> None:
    with pytest.raises(JobError, match=f"checkpoints cannot be kept at {place}"):
        check_state(place)


def test_a_cluster_that_is_not_there_is_told() -> None:
    pytest.importorskip("ray")
    with (
        pytest.raises(JobError, match=r"cannot be joined.*resume DIR.*--ray ADDRESS"),
        running_ray("no such address", shards=2),
    ):
        pass


def test_a_home_where_ray_cannot_keep_its_token_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")

    def init(**_: object) -> None:
        raise PermissionError(13, "Permission denied", "/nonexistent")

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(JobError, match=r"Ray cannot be started here: .*'/nonexistent'"), running_ray("", shards=2):
        pass

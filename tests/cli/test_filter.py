"""The command `filter`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from motherlode.cli import application
from motherlode.crawler import CrawlFolder, Job

RUN = CliRunner()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = CrawlFolder(tmp_path / "out")
    made.create(Job(seeds=("http://a.example/",)))
    made.unlock()
    return made.path


def _run(*arguments: str) -> tuple[int, str]:
    # with a second command, because Typer drops the name of a single command
    result = RUN.invoke(application(["filter", "stats"]), ["filter", *arguments])
    return result.exit_code, result.output


def test_filters_are_added_listed_and_removed(folder: Path) -> None:
    assert _run(str(folder), "add", "/login/")[0] == 0
    assert _run(str(folder), "add", "--allow", "^https:")[0] == 0
    code, text = _run(str(folder), "list", "--json")
    assert code == 0
    assert json.loads(text) == [
        {"number": 1, "kind": "deny", "pattern": "/login/"},
        {"number": 2, "kind": "allow", "pattern": "^https:"},
    ]
    assert _run(str(folder), "remove", "1")[0] == 0
    assert "/login/" not in _run(str(folder))[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add", "("], "cannot be used as a regular expression"),
        (["add"], "give a regular expression"),
        (["remove"], "number of a filter"),
        (["remove", "x"], "not the number"),
        (["remove", "7"], "no filter 7"),
    ],
)
def test_wrong_usage_gives_advice(folder: Path, arguments: list[str], message: str) -> None:
    code, text = _run(str(folder), *arguments)
    assert code == 2
    assert message in " ".join(text.split())


def test_filter_without_crawl_is_wrong_usage(tmp_path: Path) -> None:
    code, text = _run(str(tmp_path), "add", "x")
    assert code == 2
    assert "has no crawl" in " ".join(text.split())


def test_filter_message_names_the_folder(folder: Path) -> None:
    assert f"motherlode filter {folder} add REGEX" in _run(str(folder))[1]
    assert f"motherlode filter {folder} list" in _run(str(folder), "remove", "7")[1]

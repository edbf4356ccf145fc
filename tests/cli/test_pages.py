"""The command `pages`: what was requested, as text and in every format."""

import json
import sqlite3
from pathlib import Path

import msgspec
import pytest
import typer
from typer.testing import CliRunner

from motherlode.cli.pages import pages
from motherlode.crawler import CrawlFolder, Job
from motherlode.frontier import LmdbStorage
from motherlode.frontier.storage.tables import visit_key, visit_labels
from motherlode.model import FailureKind, Problem, Syntax, Visit

app = typer.Typer()
app.command()(pages)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = CrawlFolder(tmp_path_factory.mktemp("crawl") / "out")
    folder.create(Job(seeds=("http://a.example/",)))
    folder.unlock()
    storage = LmdbStorage(folder.frontier)
    broken = Problem(syntax=Syntax.JSON_LD, message="trailing comma", line=7, column=3, repaired=True)
    home = Visit(
        number=1, url="http://a.example/", host="a.example", status=200, quads=4, relevant=True, problems=(broken,)
    )
    lost = Visit(
        number=2, url="http://a.example/\x1b[2J", host="a.example", failure=FailureKind.NOT_FOUND, status=404,
        detail="the server answered 404", parent_url="http://a.example/",
    )  # fmt: skip
    for visit in (home, lost):
        storage.append_visit(visit.number, msgspec.msgpack.encode(visit), visit_key(visit), visit_labels(visit))
    storage.commit()
    storage.close()
    return folder.path


def run(*arguments: object, expect: int = 0) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == expect, done.output
    return done.output


def test_failed_url_is_printed_with_reason_and_referrer_and_without_control_characters(folder: Path) -> None:
    lines = run(folder, "--failed").splitlines()
    assert lines[0].startswith("not-found    http://a.example/")
    assert "\x1b" not in lines[0]
    assert [line.strip() for line in lines[1:]] == ["the server answered 404", "linked from http://a.example/"]


def test_problem_is_printed_with_line_and_column(folder: Path) -> None:
    assert "line 7, column 3: jsonld: trailing comma (repaired)" in run(folder, "--problems")


def test_json_has_one_object_per_url(folder: Path) -> None:
    home, lost = map(json.loads, run(folder, "--format", "json").splitlines())
    assert home["problems"] == [
        {"syntax": "jsonld", "message": "trailing comma", "line": 7, "column": 3, "repaired": True}
    ]
    assert (lost["failure"], lost["referrer"], lost["status"]) == ("not-found", "http://a.example/", 404)
    assert len(run(folder, "--format", "json", "--limit", 1).splitlines()) == 1


def test_format_follows_from_the_name_of_the_file(folder: Path, tmp_path: Path) -> None:
    run(folder, "-o", tmp_path / "pages.csv")
    assert (tmp_path / "pages.csv").read_text().startswith("url,host,status,")
    run(folder, "-o", tmp_path / "pages.txt")
    assert (tmp_path / "pages.txt").read_text().startswith("200          http://a.example/")


def test_sqlite_file_has_all_rows(folder: Path, tmp_path: Path) -> None:
    assert "2 rows in" in run(folder, "--format", "sqlite", "-o", tmp_path / "pages.db")
    connection = sqlite3.connect(tmp_path / "pages.db")
    assert connection.execute("SELECT url FROM pages WHERE failure IS NULL").fetchall() == [("http://a.example/",)]
    connection.close()


def test_sqlite_without_a_file_is_refused(folder: Path) -> None:
    assert "sqlite needs a file: -o FILE" in run(folder, "--format", "sqlite", expect=2)


def test_empty_selection_is_reported(folder: Path) -> None:
    assert "no such URL was requested" in run(folder, "--host", "b.example")

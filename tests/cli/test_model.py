"""The command `model`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from motherlode.cli import application
from tests.crawler.small_web import crawled, small_web

RUN = CliRunner()


@pytest.fixture(scope="module")
def outs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two crawls with the default policy and one with another."""
    place = tmp_path_factory.mktemp("model")
    web = small_web(place / "web.warc.gz")
    jobs = ({"pages": 12}, {"pages": 20}, {"pages": 8, "policy": "bfs"})
    return [str(crawled(place / f"out{number}", web, **job)[0].path) for number, job in enumerate(jobs)]


def _run(*arguments: str) -> tuple[int, str]:
    result = RUN.invoke(application(["model", "stats"]), ["model", *arguments])
    return result.exit_code, " ".join(result.output.split())


def test_models_are_shown_saved_and_merged(outs: list[str], tmp_path: Path) -> None:
    files = [str(tmp_path / f"{number}.model") for number in range(2)]
    for out, file in zip(outs, files, strict=False):
        assert _run("save", out, "-o", file)[0] == 0
    both = str(tmp_path / "both.model")
    assert _run("merge", *files, outs[0], "-o", both)[0] == 0
    code, text = _run("show", both, "--json")
    assert code == 0
    label = json.loads(text)
    assert (label["format"], label["policy"], label["crawls"], label["requests"]) == (1, "motherlode", 3, 44)
    learned = {row["what"]: row["how many"] for row in label["learned"][0]["rows"]}
    assert learned["tries"] == 44
    text = _run("show", outs[0], "--limit", "3")[1]
    assert "strongest features" in text
    assert "best arms" in text
    assert "is relevant" in " ".join(text.split())
    assert "find" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["save", "{0}"], "needs -o FILE"),
        (["save", "{0}", "{1}", "-o", "x"], "takes one crawl"),
        (["merge", "{0}", "-o", "x"], "at least two"),
        (["merge", "{0}", "{2}", "-o", "x"], "only equals are merged"),
        (["show", "{0}", "{1}"], "takes one"),
        (["show", "/nowhere.model"], "cannot be read"),
    ],
)
def test_wrong_usage_gives_advice(
    outs: list[str], arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, text = _run(*(argument.format(*outs) for argument in arguments))
    assert code == 2
    assert message in text
    assert not (tmp_path / "x").exists()


def test_show_of_a_policy_without_summary_says_so(outs: list[str]) -> None:
    code, text = _run("show", outs[2])
    assert code == 0
    assert "no summary" in text


def test_save_to_a_folder_is_wrong_usage(outs: list[str], tmp_path: Path) -> None:
    assert _run("save", outs[0], "-o", str(tmp_path)) == (2, f"error: {tmp_path} is a folder: name a file with -o")


def test_show_with_output_file_is_wrong_usage(outs: list[str], tmp_path: Path) -> None:
    code, said = _run("show", outs[0], "-o", str(tmp_path / "x.model"))
    assert (code, "use `motherlode model save`" in said) == (2, True)

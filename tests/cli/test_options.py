"""Help, usage and usage errors of commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from motherlode.cli import COMMANDS, application
from motherlode.model import Syntax

ROOT = Path(__file__).parents[2]
LONGEST_SUMMARY = 62
"""Columns for a summary beside the command names on a terminal of 80 columns."""


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(application(COMMANDS), list(arguments))
    return done.exit_code, " ".join(done.output.split())


def helped(command: str) -> str:
    code, text = run(command, "--help")
    assert code == 0
    return text


def test_list_of_commands_has_one_line_per_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(application(COMMANDS), ["--help"]).output
    lines = {line.split()[0]: line for line in shown.partition("Commands:")[2].splitlines() if line.strip()}
    assert list(lines) == list(COMMANDS), "a summary takes one line"
    for name, line in lines.items():
        assert "..." not in line, name
        assert len(line.split(maxsplit=1)[1]) <= LONGEST_SUMMARY


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_no_python_types(command: str) -> None:
    text = helped(command)
    for raw in ("list[", "<str>", "<path>", "<Path>", "<int>", "<float>", "]...", "}..."):
        assert raw not in text


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("crawl", "crawl [OPTIONS] [SEED...] "),
        ("record", "record [OPTIONS] FILE.warc.gz... "),
        ("model", "model [OPTIONS] show|save|merge DIR|FILE... "),
        ("filter", "filter [OPTIONS] DIR [add|list|remove] [REGEX|N] "),
    ],
)
def test_usage_shows_arguments_as_typed(command: str, usage: str) -> None:
    assert helped(command).partition(" ")[2].partition(" ")[2].startswith(usage)


def test_help_has_each_default_once_and_names_the_docs() -> None:
    crawl, simulate = helped("crawl"), helped("simulate")
    for default in ("any", "motherlode", "web", "target"):
        assert f"[default: {default}]" in crawl
    assert "docs/crawl.md" in crawl
    bandwidth = simulate.partition("--bandwidth")[2].partition("--failures")[0]
    assert bandwidth.count("default") == 1
    assert "no limit" in bandwidth
    for text in (crawl, simulate):
        assert "bandit:FUNCTION" in text
        assert "oracle" in text
        assert "docs/policies.md" in text


def test_help_of_filter_explains_removal_and_delay() -> None:
    text = helped("filter")
    assert "To remove: the number of a filter" in text
    assert "one to five seconds" in text


def test_help_and_docs_of_extract_list_every_syntax() -> None:
    page = (ROOT / "docs" / "extract.md").read_text(encoding="utf-8")
    listed = page.partition("`turtle trig")[2].partition("`")[0].split()
    text = helped("extract")
    assert {"turtle", "trig", *listed} == {syntax.value for syntax in Syntax}
    assert all(syntax.value in text for syntax in Syntax)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("crawl", "-o", "x", "--pages", "many"), "'--pages': 'many' is not a whole number"),
        (("crawl", "-o", "x", "--pages", "1.5"), "'--pages': '1.5' is not a whole number"),
        (("crawl", "-o", "x", "--delay", "long"), "'--delay': 'long' is not a number"),
        (("serve", "x", "--port", "99999"), "'--port': it must be at most 65535; got 99999"),
        (("simulate", "synthetic:500", "--repeat", "0"), "'--repeat': it must be at least 1; got 0"),
        (("extract", "x", "--format", "xml"), "'--format': 'xml' is not one of 'nquads', 'trig', 'turtle', 'jsonld'"),
        (("filter", "x", "drop"), "'drop' is not one of 'add', 'list', 'remove'"),
        (("search", "x", "-python", "git"), "exclude after --, as in motherlode search DIR -- -python"),
        (("search", "x", "--limt", "3"), "error: no such option: --limt"),
        (("crawl", "-x"), "error: no such option: -x"),
    ],
)
def test_wrong_value_gives_a_plain_message(arguments: tuple[str, ...], said: str) -> None:
    code, text = run(*arguments)
    assert code == 2
    assert said in text
    for leak in ("Input should", "unable to parse", "Value error"):
        assert leak not in text


def test_excluded_word_after_two_dashes_is_read(tmp_path: Path) -> None:
    code, text = run("search", str(tmp_path), "--", "-python", "git")
    assert (code, "has no crawl" in text) == (2, True), "the argument is read as a word"


@pytest.mark.parametrize(
    ("flags", "key", "said"),
    [
        (("--stop-after", "0"), "stop_after = 0", "must be greater than 0; got 0"),
        (("--stop-after", "9", "--stop-below", "5"), "stop_below = 5", "must be a share above 0 and up to 1; got 5"),
        (("--delay", "-1"), "delay = -1", "must be a finite number from 0 on; got -1"),
    ],
)
def test_error_names_the_typed_flag_or_the_key_in_the_file(
    tmp_path: Path, flags: tuple[str, ...], key: str, said: str
) -> None:
    begin = ("crawl", "http://a.example/", "-o", str(tmp_path / "out"))
    assert f"error: {flags[-2]} {said}" in run(*begin, *flags)[1]
    job = tmp_path / "job.toml"
    job.write_text(f"{key}\n")
    assert f"error: {key.split()[0]} {said}" in run(*begin, "--config", str(job))[1]


@pytest.mark.parametrize(("flag", "value"), [("--time", "5x"), ("--bytes", "much")])
def test_wrong_amount_is_reported_with_its_flag(tmp_path: Path, flag: str, value: str) -> None:
    text = run("crawl", "http://a.example/", "-o", str(tmp_path / "out"), flag, value)[1]
    assert f"error: {flag} '{value}' should look like" in text


def test_oracle_policy_is_refused_for_crawls(tmp_path: Path) -> None:
    code, text = run("crawl", "http://a.example/", "-o", str(tmp_path / "out"), "--policy", "oracle")
    assert (code, "the policy oracle is for simulations only" in text) == (2, True)

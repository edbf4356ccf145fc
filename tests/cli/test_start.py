"""What the program does before a command runs: help, version, completion, usage errors."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from motherlode.cli import COMMANDS

MODULES = """
import runpy, sys
sys.argv = ['motherlode', {!r}]
try:
    runpy.run_module('motherlode', run_name='__main__')
except SystemExit:
    print(*sys.modules, file=sys.stderr)
"""
"""A program that prints the modules that are loaded when the command line has ended."""


def motherlode(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "motherlode", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **variables}
    )


@pytest.mark.parametrize("arguments", [("-h",), ("crawl", "-h")])
def test_short_help_flag_shows_the_help(arguments: tuple[str, ...]) -> None:
    short, long = motherlode(*arguments), motherlode(*arguments[:-1], "--help")
    assert (short.returncode, short.stdout) == (0, long.stdout)
    assert "-h, --help" in short.stdout


def test_list_of_commands_is_the_same_as_with_all_modules() -> None:
    listed = motherlode("--help").stdout.partition("Commands:")[2]
    assert [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "] == [*COMMANDS]


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_version_and_help_import_no_command(flag: str) -> None:
    code = MODULES.format(flag)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    loaded = set(done.stderr.split())
    assert "motherlode.cli" in loaded
    heavy = {"motherlode.crawler", "motherlode.cli.crawl", "numpy", "pyarrow", "pyoxigraph", "lxml", "rich"}
    assert not loaded & heavy


@pytest.mark.parametrize(
    ("words", "completed"),
    [("motherlode cr", "crawl"), ("motherlode crawl --sco", "--scope"), ("motherlode sta", "stats")],
)
def test_shell_completes_commands_and_flags(words: str, completed: str) -> None:
    bash = {"_MOTHERLODE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    code = "import sys; sys.argv = ['motherlode']; from motherlode.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, env=os.environ | bash
    )
    assert done.stdout.split() == [completed]


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (("crwl",), ["error: no such command 'crwl'. Did you mean 'crawl'?", "see `motherlode --help`"]),
        (
            ("stats",),
            [
                "error: missing argument 'DIR': The folder of a crawl, running or finished",
                "see `motherlode stats --help`",
            ],
        ),
        (
            ("crawl", "http://a.example/"),
            ["error: missing option '-o' / '--output': A new folder for the crawl", "see `motherlode crawl --help`"],
        ),
        (("model",), ["error: missing argument 'show|save|merge': What to do", "see `motherlode model --help`"]),
        (("stats", "/none"), ["error: /none has no crawl: start one with `motherlode crawl SEED... -o /none`"]),
    ],
)
def test_errors_have_one_style(arguments: tuple[str, ...], lines: list[str]) -> None:
    done = motherlode(*arguments)
    assert done.returncode == 2
    assert [line.replace("python -m motherlode", "motherlode") for line in done.stderr.splitlines()] == lines


@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("crawl", "--help"), ()])
def test_closed_stdout_of_help_and_version_leaves_no_traceback(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "motherlode", *arguments]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False, text=True)
    os.close(writing)
    assert (done.stderr, done.returncode in (0, 1, 2)) == ("", True)

"""The process in which a scorer function runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """
print("loading")

def f(page):
    print("noise")
    if page.url == "raise":
        raise KeyError("no such thing")
    return 0.5
"""


def run(folder: Path, scorer: str, lines: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "motherlode.crawler.function_scorer", scorer]
    return subprocess.run(command, input=lines, cwd=folder, capture_output=True, timeout=120, check=False)


def test_function_scorer_answers_each_line_and_keeps_stdout_clean(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MODULE)
    done = run(tmp_path, "python:mine:f", b'{"url": "a"}\n{"url": "raise"}\n{"url": "b"}\n')
    assert done.returncode == 0
    assert done.stdout.splitlines() == [b"0.5", b'{"error":"KeyError: \'no such thing\'"}', b"0.5"]
    assert b"loading" in done.stderr


@pytest.mark.parametrize(
    ("scorer", "message"), [("python:absent_module:f", b"cannot be imported"), ("any", b"is no function")]
)
def test_function_scorer_without_a_function_ends_with_status_2(tmp_path: Path, scorer: str, message: bytes) -> None:
    done = run(tmp_path, scorer, b"")
    assert done.returncode == 2
    assert message in done.stderr

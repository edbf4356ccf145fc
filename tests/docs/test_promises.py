"""The page of promises names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "promises.md"
_NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
NAMED = _NAMED.findall(PAGE.read_text(encoding="utf-8"))


def functions_of(path: Path) -> set[str]:
    found = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.name for node in found if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_test_of_promise_exists(file: str, name: str) -> None:
    path = ROOT / "tests" / file
    assert path.exists(), f"docs/promises.md names tests/{file}, which does not exist"
    assert name in functions_of(path), f"tests/{file} has no {name}: name the test that holds the promise now"


def test_every_promise_names_a_test() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    promises = [row for row in rows if not row.startswith("| promise")]
    assert len(promises) > 30
    assert [row for row in promises if len(_NAMED.findall(row)) != 1] == []

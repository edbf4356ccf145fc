"""Test that the documentation lists all prefixes of queries."""

from __future__ import annotations

from pathlib import Path

from motherlode.model.terms import PREFIXES


def test_documented_prefixes_equal_known_prefixes() -> None:
    text = (Path(__file__).parents[3] / "docs" / "query.md").read_text()
    listed = text.partition("Known without a declaration: `")[2].partition("`")[0].split()
    assert sorted(listed) == sorted(PREFIXES)

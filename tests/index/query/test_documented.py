"""What the documentation of queries promises is there."""

from __future__ import annotations

from pathlib import Path

from motherlode.model.terms import PREFIXES


def test_every_known_prefix_is_documented_and_no_other() -> None:
    text = (Path(__file__).parents[3] / "docs" / "query.md").read_text()
    listed = text.partition("Known without a declaration: `")[2].partition("`")[0].split()
    assert sorted(listed) == sorted(PREFIXES)

"""Addresses of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import motherlode
from motherlode.project import ADDRESS, docs_url, make_links_absolute

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "See docs/crawl.md and docs/reference/metrics.md.",
            f"See {ADDRESS}/docs/crawl.md and {ADDRESS}/docs/reference/metrics.md.",
        ),
        (f"See {ADDRESS}/docs/crawl.md.", f"See {ADDRESS}/docs/crawl.md."),
        ("mydocs/crawl.md, docs/crawl.mdx, docs/crawl", "mydocs/crawl.md, docs/crawl.mdx, docs/crawl"),
    ],
)
def test_make_links_absolute_changes_only_relative_links_to_pages(text: str, expected: str) -> None:
    assert make_links_absolute(text) == expected
    assert make_links_absolute(expected) == expected


def test_docs_url_of_every_call_is_an_existing_page() -> None:
    calls = re.compile(r'docs_url\("([^"]+)"\)')
    source = Path(motherlode.__file__).parent
    pages = {page for path in source.rglob("*.py") for page in calls.findall(path.read_text(encoding="utf-8"))}
    assert "policies.md" in pages
    assert [page for page in pages if not (ROOT / docs_url(page).removeprefix(f"{ADDRESS}/")).is_file()] == []

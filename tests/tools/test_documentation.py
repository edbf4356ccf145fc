"""The documentation: links and paths exist, and the home page lists every page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *ROOT.glob("*.md"), *(ROOT / "bench").rglob("*.md")])
_CODE_BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
GENERATED = {DOCS / "reference" / "cli.md", DOCS / "reference" / "job.md"}
"""Pages that `tools/docs_hooks.py` makes. The build of the site checks their links."""
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_PATH = re.compile(r"`([a-z_]+/[\w./-]+\.(?:py|md|txt|json))`")


def read_prose(page: Path) -> str:
    """Return the text of a page without its code blocks."""
    return _CODE_BLOCK.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub generates for the headings of a page."""
    headings = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in _HEADING.findall(read_prose(page)))
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_page_lead_to_existing_files_and_headings(page: Path) -> None:
    for link in _LINK.findall(read_prose(page)):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if target in GENERATED:
            continue
        assert target.exists(), f"{link} does not exist"
        assert not anchor or target.suffix != ".md" or anchor in anchors(target), f"{link} has no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_in_page_exist(page: Path) -> None:
    for path in _PATH.findall(read_prose(page)):
        places = (ROOT, ROOT / "src" / "motherlode", page.parent)
        assert any((place / path).exists() for place in places), f"{path} does not exist"


def test_home_page_lists_every_page() -> None:
    listed = set(_LINK.findall(read_prose(DOCS / "index.md")))
    assert {page.name for page in DOCS.glob("*.md")} - listed == {"index.md"}


def test_anchors_follow_the_rules_of_github(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Probing: HEAD before GET\n\n```\n# no heading\n```\n\n## `@role` and [a link](x.md)\n")
    assert anchors(page) == {"probing-head-before-get", "role-and-a-link"}

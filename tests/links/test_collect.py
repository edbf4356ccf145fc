"""All links of a page."""

from __future__ import annotations

from motherlode.links.collect import collect_links
from motherlode.links.href import LinkOptions
from motherlode.model import ContentKind, Extraction, LinkSource, Syntax, TransformResult
from tests.www.pages import URL, document

FACTS = TransformResult(
    extractions=(
        Extraction(
            syntax=Syntax.RDFA,
            statements=(
                (f"<{URL}>", "<http://schema.org/about>", "<http://example.org/x>", ""),
                (f"<{URL}>", "<http://schema.org/about>", "<http://example.org/z>", ""),
            ),
        ),
    )
)


def test_collect_links_merges_html_and_statements() -> None:
    found = collect_links(document("<a href=/x>X</a><a href=/y>Y</a><a href=page>self</a>"), FACTS)
    assert [(link.url[-1], link.source, link.predicate != "") for link in found] == [
        ("x", LinkSource.ANCHOR, True),
        ("y", LinkSource.ANCHOR, False),
        ("z", LinkSource.TRIPLE, True),
    ]


def test_collect_links_of_other_kinds_are_statements_only() -> None:
    found = collect_links(document("<a href=/y>Y</a>", kind=ContentKind.TURTLE), FACTS)
    assert [link.url[-1] for link in found] == ["x", "z"]


def test_collect_links_of_empty_page_is_empty() -> None:
    assert collect_links(document(""), TransformResult()) == []


def test_collect_links_beyond_limit_are_reported_once() -> None:
    page = document("<a href=/a>A</a><a href=/b>B</a><a href=/c>C</a>")
    assert len(collect_links(page, FACTS, LinkOptions(page_links=4))) == 4
    assert [problem.message for problem in page.problems] == ["a page gives 4 links at most: the rest was left out"]
    page = document("<a href=/a>A</a><a href=/b>B</a><a href=/c>C</a>")
    assert len(collect_links(page, FACTS, LinkOptions(page_links=2))) == 2
    assert len(page.problems) == 1
    page = document("<a href=/a>A</a>")
    assert len(collect_links(page, FACTS, LinkOptions(page_links=3))) == 3
    assert page.problems == []

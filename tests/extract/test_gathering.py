"""All links of a page."""

from __future__ import annotations

from motherlode.extract import links
from motherlode.model import ContentKind, Extraction, Facts, LinkSource, Syntax
from tests.www.pages import URL, document

FACTS = Facts(
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


def test_html_and_facts_are_brought_together() -> None:
    found = links(document("<a href=/x>X</a><a href=/y>Y</a><a href=page>self</a>"), FACTS)
    assert [(link.url[-1], link.source, link.predicate != "") for link in found] == [
        ("x", LinkSource.ANCHOR, True),
        ("y", LinkSource.ANCHOR, False),
        ("z", LinkSource.TRIPLE, True),
    ]


def test_other_kinds_have_only_facts() -> None:
    found = links(document("<a href=/y>Y</a>", kind=ContentKind.TURTLE), FACTS)
    assert [link.url[-1] for link in found] == ["x", "z"]


def test_no_facts_no_markup_no_links() -> None:
    assert links(document(""), Facts()) == []

"""Several mentions of one URL."""

from __future__ import annotations

from motherlode.links.collect import merge_links
from motherlode.links.html import join_mentions
from motherlode.model import Link, LinkSource

HTML = Link(url="http://example.org/x", source=LinkSource.ANCHOR, anchor="X", nofollow=True)
FACT = Link(url="http://example.org/x", source=LinkSource.TRIPLE, predicate="http://schema.org/url")


def test_merge_links_adds_predicate_to_anchor() -> None:
    (link,) = merge_links([HTML], [FACT], page_url="http://example.org/", limit=10)
    assert (link.anchor, link.predicate, link.source, link.nofollow) == (
        *("X", "http://schema.org/url", LinkSource.ANCHOR),
        False,
    )


def test_merge_links_skips_page_itself_and_links_beyond_limit() -> None:
    many = [Link(url=f"http://example.org/{i}", source=LinkSource.ANCHOR) for i in range(10)]
    assert [link.url[-1] for link in merge_links(many[:2], many, page_url="http://example.org/0", limit=3)] == [
        "1",
        "2",
        "3",
    ]


def test_join_mentions_of_equal_information_keeps_first() -> None:
    other = Link(url=HTML.url, source=LinkSource.FRAME, anchor="Y", nofollow=True)
    assert join_mentions(HTML, other) is HTML

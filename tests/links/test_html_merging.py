"""Several mentions of one address."""

from __future__ import annotations

from motherlode.links.html import joined, merged
from motherlode.model import Link, LinkSource

HTML = Link(url="http://example.org/x", source=LinkSource.ANCHOR, anchor="X", nofollow=True)
FACT = Link(url="http://example.org/x", source=LinkSource.TRIPLE, predicate="http://schema.org/url")


def test_a_statement_adds_its_predicate_to_an_anchor() -> None:
    (link,) = merged([HTML], [FACT], page_url="http://example.org/", limit=10)
    assert (link.anchor, link.predicate, link.source, link.nofollow) == (
        *("X", "http://schema.org/url", LinkSource.ANCHOR),
        False,
    )


def test_the_page_itself_and_what_is_too_much_are_left_out() -> None:
    many = [Link(url=f"http://example.org/{i}", source=LinkSource.ANCHOR) for i in range(10)]
    assert [link.url[-1] for link in merged(many[:2], many, page_url="http://example.org/0", limit=3)] == [
        "1",
        "2",
        "3",
    ]


def test_equals_keep_the_first() -> None:
    other = Link(url=HTML.url, source=LinkSource.FRAME, anchor="Y", nofollow=True)
    assert joined(HTML, other) is HTML

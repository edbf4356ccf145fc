"""Links of feeds."""

from __future__ import annotations

from motherlode.links.feeds import feed_links
from motherlode.links.href import LinkOptions
from motherlode.model import ContentKind, LinkSource
from tests.www.pages import document


def test_feed_links_of_rss() -> None:
    body = """<?xml version="1.0"?><rss version="2.0"><channel><title>Blog</title><link>http://example.org/</link>
      <item><title> One  post </title><link>
        http://example.org/1 </link><guid isPermaLink="false">tag:1</guid></item>
      <item><guid>http://example.org/2</guid><enclosure url="http://example.org/2.mp3"/></item>
      <item><link>http://example.org/3</link><guid>post-3</guid></item></channel></rss>"""
    found = feed_links(document(body, kind=ContentKind.RSS), LinkOptions())
    assert [(link.url, link.anchor) for link in found] == [
        ("http://example.org/", "Blog"),
        ("http://example.org/1", "One post"),
        ("http://example.org/2", ""),
        ("http://example.org/3", ""),
    ], "a guid that is not a URL is not resolved"
    assert {link.source for link in found} == {LinkSource.FEED}


def test_feed_links_of_atom_with_bases_and_relations() -> None:
    body = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://example.com/blog/">
      <link rel="self" href="feed.atom"/><link href="."/>
      <entry xml:base="2026/"><title>One</title><link href="one" rel="alternate" type="text/HTML"/>
      <link rel="edit" href="one?edit"/></entry></feed>"""
    found = feed_links(document(body, kind=ContentKind.ATOM), LinkOptions())
    assert [(link.url, link.rel, link.type) for link in found] == [
        ("http://example.com/blog/", "", ""),
        ("http://example.com/blog/2026/one", "alternate", "text/html"),
    ]


def test_feed_links_of_broken_feed_are_kept() -> None:
    body = "<rss><channel><item><link>http://example.org/1</link></item><item><link>http://example.org/2"
    assert len(feed_links(document(body, kind=ContentKind.RSS), LinkOptions())) == 2
    assert feed_links(document("no feed", kind=ContentKind.RSS), LinkOptions()) == []


def test_feed_links_after_undeclared_entity_keep_their_ampersands() -> None:
    body = "<rss><channel><title>A&nbsp;B</title><link>http://example.org/?a=1&amp;b=2&c=3</link></channel></rss>"
    found = feed_links(document(body, kind=ContentKind.RSS), LinkOptions())
    assert [(link.url, link.anchor) for link in found] == [("http://example.org/?a=1&b=2&c=3", "A B")]


def test_feed_links_beyond_limit_are_reported() -> None:
    items = "".join(f"<item><link>http://example.org/{number}</link></item>" for number in range(4))
    feed = document(f"<rss><channel>{items}</channel></rss>", kind=ContentKind.RSS)
    assert len(feed_links(feed, LinkOptions(page_links=4))) == 4
    assert feed.problems == []
    assert len(feed_links(feed, LinkOptions(page_links=3))) == 3
    assert [problem.message.partition(":")[0] for problem in feed.problems] == ["a feed gives 3 links at most"]

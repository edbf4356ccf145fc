"""Properties and siblings of links: definitions 6 and 7, over the links of a page."""

from __future__ import annotations

from motherlode.model import Link, LinkSource
from motherlode.policies.ldcoc.ldcoc_features import ContextGraph, property_of


def anchor(url: str, path: str = "html body ul li a", **said: str) -> Link:
    return Link(url=url, source=LinkSource.ANCHOR, tag_path=path, **said)


def test_property_of_link_is_predicate_or_rel_or_tag_path() -> None:
    assert property_of(anchor("u", predicate="http://schema.org/url", rel="next")) == "http://schema.org/url"
    assert property_of(anchor("u", rel="next")) == "html:rel=next"
    assert property_of(anchor("u", rel="nofollow")) == "html:path=html body ul li a"
    assert property_of(Link(url="u", source=LinkSource.SITEMAP)) == "html:sitemap"


def test_siblings_are_links_with_the_same_property() -> None:
    one, two, other = anchor("1"), anchor("2"), anchor("3", "html body p a")
    context = ContextGraph([one, two, other], most=8, before_others=lambda url: False)
    assert context.siblings(one) == [two]
    assert context.siblings(two) == [one]
    assert context.siblings(other) == []


def test_siblings_are_limited_and_preferred_ones_come_first() -> None:
    links = [anchor(str(number)) for number in range(500)]
    context = ContextGraph(links, most=3, before_others={"400", "7"}.__contains__)
    assert [sibling.url for sibling in context.siblings(links[0])] == ["7", "400", "1"]
    assert [sibling.url for sibling in context.siblings(links[7])] == ["400", "0", "1"]

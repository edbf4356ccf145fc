"""Properties and siblings of links: definitions 6 and 7, over the links of a page."""

from __future__ import annotations

from motherlode.model import Link, LinkSource
from motherlode.policies.ldcoc.ldcoc_features import ContextGraph, properties_of


def anchor(url: str, path: str = "html body ul li a", **said: str) -> Link:
    return Link(url=url, source=LinkSource.ANCHOR, tag_path=path, **said)


def test_properties_of_link_is_predicate_or_rel_or_tag_path() -> None:
    assert properties_of(anchor("u", predicate="http://schema.org/url", rel="next")) == ("http://schema.org/url",)
    assert properties_of(anchor("u", rel="next")) == ("html:rel=next",)
    assert properties_of(anchor("u", rel="nofollow")) == ("html:path=html body ul li a",)
    assert properties_of(Link(url="u", source=LinkSource.SITEMAP)) == ("html:sitemap",)


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


def test_siblings_of_links_in_statements_share_a_group_and_not_only_a_predicate() -> None:
    def member(url: str, *groups: int) -> Link:
        return Link(url=url, source=LinkSource.TRIPLE, predicate="p", properties=("p", "q"), sibling_groups=groups)

    one, two, three, alone = member("1", 7), member("2", 7, 8), member("3", 8), member("4")
    context = ContextGraph([one, two, three, alone], most=8, before_others=lambda url: False)
    assert context.siblings(one) == [two]
    assert context.siblings(two) == [one, three]
    assert context.siblings(alone) == []
    assert properties_of(one) == ("p", "q")

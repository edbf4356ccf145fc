"""Direct properties and siblings: definitions 6 and 7, over statements and over the links of a page."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from motherlode.model import Link, LinkSource, Statement
from motherlode.policies.ldcoc.context_graph import ContextGraph, direct_properties, property_of, sibling_set

NODE = st.sampled_from(["<a>", "<b>", "<c>", "<d>", '"literal"'])
GRAPH = st.lists(st.tuples(st.sampled_from(["<a>", "<b>", "<c>"]), st.sampled_from(["<p>", "<q>"]), NODE, st.just("")))


@given(GRAPH)
def test_sibling_set_equals_definition_6(graph: list[Statement]) -> None:
    """Definition 6, by trying all combinations."""
    expected = set()
    facts = {(s, p, o) for s, p, o, _ in graph}
    for s, p, o in facts:
        if ("<a>", p, o) in facts:
            expected.add(s)
        if (s, p, "<a>") in facts:
            expected.add(o)
    expected = {term for term in expected if term.startswith("<")} - {"<a>"}
    assert sibling_set("<a>", graph) == expected


@given(GRAPH)
def test_direct_properties_equal_definition_7(graph: list[Statement]) -> None:
    assert direct_properties("<a>", graph) == {p for s, p, o, _ in graph if s == "<a>"} | {
        p for s, p, o, _ in graph if o == "<a>"
    }


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

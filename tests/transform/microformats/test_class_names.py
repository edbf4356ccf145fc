"""Class attributes and the tables of classic microformats."""

from __future__ import annotations

import pytest

from motherlode.transform.microformats.class_names import (
    CLASSIC_ROOTS,
    NO_NAMES,
    classic_types,
    combine_formats,
    parse_class,
)

from .pages import item, properties


@pytest.mark.parametrize("root", CLASSIC_ROOTS)
def test_classic_root_starts_an_item_of_its_type(root: str) -> None:
    assert item(f'<p class="{root}">x</p>') == {"type": [CLASSIC_ROOTS[root].type], "properties": {}}


@pytest.mark.parametrize(
    ("root", "name"), [(root, name) for root, classic in CLASSIC_ROOTS.items() for name in classic.properties]
)
def test_classic_property_is_read_with_its_prefix(root: str, name: str) -> None:
    prefix, prop = CLASSIC_ROOTS[root].properties[name]
    found = properties(f'<div class="{root}"><i class="{name}">2020-01-01</i></div>')
    assert list(found) == [prop]
    (value,) = found[prop]
    if isinstance(value, dict) and "type" in value:  # adr, geo and item are items of their own
        value = value["value"]
    expected = {
        "p": "2020-01-01",
        "dt": "2020-01-01",
        "u": "http://example.org/2020-01-01",
        "e": {"value": "2020-01-01", "html": "2020-01-01"},
    }
    assert value == expected[prefix]


def test_classic_roots_on_one_element_combine_their_properties() -> None:
    assert classic_types(("vevent", "vcard")) == ("h-card", "h-event")
    assert {"fn", "dtstart"} <= combine_formats(("vevent", "vcard")).properties.keys()


def test_properties_of_the_other_generation_are_ignored() -> None:
    assert properties('<p class="vcard"><b class="p-name">a</b><i class="fn">b</i></p>') == {"name": ["b"]}
    assert properties('<p class="h-card"><b class="p-name">a</b><i class="fn">b</i></p>') == {"name": ["a"]}


def test_microformats2_root_overrides_classic_root_on_one_element() -> None:
    assert properties('<p class="h-card vcard"><b class="p-nickname">a</b><i class="fn">b</i></p>') == {
        "nickname": ["a"]
    }


def test_rel_tag_link_is_a_category_unless_it_has_the_class() -> None:
    html = """<div class="hentry"><a rel="tag" href="/tags/web+of%20data/">x</a>
        <a rel="tag" class="category" href="/tags/y">Y!</a></div>"""
    assert properties(html) == {"category": ["web of data", "Y!"]}


def test_reviewed_item_is_a_nested_item_with_or_without_inner_elements() -> None:
    inside = '<div class="hreview"><p class="item"><a class="fn url" href="/a">A</a></p></div>'
    itself = '<div class="hreview"><a class="item fn url" href="/a">A</a></div>'
    expected = {"type": ["h-item"], "properties": {"name": ["A"], "url": ["http://example.org/a"]}, "value": "A"}
    assert properties(inside) == properties(itself) == {"item": [expected]}


def test_item_properties_directly_in_a_review_belong_to_the_item() -> None:
    for root in ("hreview", "hreview-aggregate"):
        found = properties(f"<div class={root}><a class='fn url' href=c>Cafe</a> <b class=rating>5</b></div>")
        assert found["rating"] == ["5"]
        (thing,) = found["item"]
        assert thing["type"] == ["h-item"]
        assert thing["properties"] == {"name": ["Cafe"], "url": ["http://example.org/c"]}
        assert "name" not in found


def test_hfeed_reads_site_title_and_description() -> None:
    page = "<body class=hfeed><h1 class=site-title>T</h1><p class=site-description>D</p>"
    assert properties(page) == {"name": ["T"], "summary": ["D"]}


def test_hentry_reads_geo() -> None:
    found = properties("<p class=hentry><b class=geo>51.5;-0.1</b></p>")
    assert [place["type"] for place in found["geo"]] == [["h-geo"]]


def test_hfeed_reads_author_url_and_photo_beside_its_entries() -> None:
    found = item(
        """<div class="hfeed"><span class="author vcard"><a class="fn url" href="/ann">Ann</a></span>
        <a class="url" href="blog">blog</a><img class="photo" src="p.png"><p class="summary">On ore</p>
        <p class="hentry"><b class="entry-title">Gold</b> <i class="author">Bob</i></p></div>"""
    )
    author = {"type": ["h-card"], "properties": {"name": ["Ann"], "url": ["http://example.org/ann"]}, "value": "Ann"}
    assert found["properties"] == {
        "author": [author],
        "url": ["http://example.org/blog"],
        "photo": ["http://example.org/p.png"],
        "summary": ["On ore"],
    }
    assert found["children"] == [{"type": ["h-entry"], "properties": {"name": ["Gold"], "author": ["Bob"]}}]


@pytest.mark.parametrize("name", ["h-t", "h-test-three", "h-6-test", "h-8t8-test", "h-t11t-test-t"])
def test_name_of_the_grammar_is_a_root(name: str) -> None:
    assert parse_class(f"a {name}").roots == (name,)


@pytest.mark.parametrize(
    "name",
    ["h", "h-", "h-19", "H-test", "h-TEST", "h-t_t", "h-24-24", "h-test-26", "h-test-", "h-a--b", "h-x!", "h-x\x0b"],
)
def test_other_name_is_ignored(name: str) -> None:
    assert parse_class(f"a {name}") is NO_NAMES


def test_names_are_separated_by_ascii_white_space_only() -> None:
    assert parse_class("p-a\tp-b\np-c\fp-d\rp-e").properties == tuple(("p", name) for name in "abcde")
    assert parse_class("p-a\xa0p-b\u2003p-c") is NO_NAMES


def test_roots_are_sorted_and_unique_and_properties_keep_order_and_duplicates() -> None:
    names = parse_class("p-b h-z p-a h-a p-b h-z")
    assert names.roots == ("h-a", "h-z")
    assert names.properties == (("p", "b"), ("p", "a"), ("p", "b"))


def test_classic_names_and_value_pattern_are_recognized() -> None:
    names = parse_class("vcard fn value value-title include nothing")
    assert (names.classic_roots, names.classic) == (("vcard",), ("fn",))
    assert names.is_value and names.is_value_title and names.is_include


def test_very_long_name_is_ignored() -> None:
    assert parse_class("p-" + "a" * 1_000_000) is NO_NAMES

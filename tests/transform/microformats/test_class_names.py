from __future__ import annotations

import pytest

from motherlode.transform.microformats.class_names import CLASSIC_ROOTS, classic_of, classic_types

from .pages import item, properties


@pytest.mark.parametrize("root", CLASSIC_ROOTS)
def test_every_root_opens_an_item_of_its_type(root: str) -> None:
    assert item(f'<p class="{root}">x</p>') == {"type": [CLASSIC_ROOTS[root].type], "properties": {}}


@pytest.mark.parametrize(
    ("root", "name"), [(root, name) for root, classic in CLASSIC_ROOTS.items() for name in classic.properties]
)
def test_every_property_is_read(root: str, name: str) -> None:
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


def test_roots_on_one_element_join_their_properties() -> None:
    assert classic_types(("vevent", "vcard")) == ("h-card", "h-event")
    assert {"fn", "dtstart"} <= classic_of(("vevent", "vcard")).properties.keys()


def test_microformats2_properties_do_not_count_in_a_classic_root_nor_the_other_way_round() -> None:
    assert properties('<p class="vcard"><b class="p-name">a</b><i class="fn">b</i></p>') == {"name": ["b"]}
    assert properties('<p class="h-card"><b class="p-name">a</b><i class="fn">b</i></p>') == {"name": ["a"]}


def test_a_microformats2_root_wins_on_one_element() -> None:
    assert properties('<p class="h-card vcard"><b class="p-nickname">a</b><i class="fn">b</i></p>') == {
        "nickname": ["a"]
    }


def test_a_tag_link_is_a_category_unless_it_has_the_class_itself() -> None:
    html = """<div class="hentry"><a rel="tag" href="/tags/web+of%20data/">x</a>
        <a rel="tag" class="category" href="/tags/y">Y!</a></div>"""
    assert properties(html) == {"category": ["web of data", "Y!"]}


def test_the_thing_reviewed_is_an_item_with_or_without_elements_inside() -> None:
    inside = '<div class="hreview"><p class="item"><a class="fn url" href="/a">A</a></p></div>'
    itself = '<div class="hreview"><a class="item fn url" href="/a">A</a></div>'
    expected = {"type": ["h-item"], "properties": {"name": ["A"], "url": ["http://example.org/a"]}, "value": "A"}
    assert properties(inside) == properties(itself) == {"item": [expected]}


def test_what_stands_in_a_review_but_in_no_item_is_said_of_the_item() -> None:
    for root in ("hreview", "hreview-aggregate"):
        found = properties(f"<div class={root}><a class='fn url' href=c>Cafe</a> <b class=rating>5</b></div>")
        assert found["rating"] == ["5"]
        (thing,) = found["item"]
        assert thing["type"] == ["h-item"]
        assert thing["properties"] == {"name": ["Cafe"], "url": ["http://example.org/c"]}
        assert "name" not in found


def test_a_feed_has_the_title_and_description_of_its_site() -> None:
    page = "<body class=hfeed><h1 class=site-title>T</h1><p class=site-description>D</p>"
    assert properties(page) == {"name": ["T"], "summary": ["D"]}


def test_an_entry_has_a_place() -> None:
    found = properties("<p class=hentry><b class=geo>51.5;-0.1</b></p>")
    assert [place["type"] for place in found["geo"]] == [["h-geo"]]


def test_hfeed_has_author_url_and_photo_beside_its_entries() -> None:
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

"""Order and nesting of values, includes, and limits for hostile pages."""

from __future__ import annotations

import time

import pytest

from motherlode.transform.microformats.class_names import parse_class
from motherlode.transform.microformats.value_parsing import Item, PropertyElement
from motherlode.transform.microformats.walker import MAX_DEPTH, ItemContext, add_slots

from .pages import document, extracted, item, properties


def test_add_slots_reserves_the_position_of_each_value() -> None:
    item = Item(key=1, types=("h-x",), is_classic=False)
    (root,) = document('<p class="p-a u-a">').html.css("p")
    element = PropertyElement(node=root, tag="p", attributes=root.attributes, base="", language="")
    slots = add_slots(ItemContext(item=item, classic=None, depth=0), element, parse_class("p-a u-a"))
    assert [slot.position for slot in slots] == [0, 1]
    assert item.properties == {"a": [None, None]}
    assert item.prefixes == {"p", "u"}


def test_values_of_nested_elements_are_in_document_order() -> None:
    assert properties('<p class="h-x"><i class="p-a">1<b class="p-a">2</b></i><b class="p-a">3</b></p>') == {
        "a": ["12", "2", "3"]
    }


def test_plain_value_of_nested_item_is_its_name_or_url() -> None:
    html = '<div class="h-entry"><p class="p-a u-b h-cite"><a class="p-name u-url" href="/x">X</a> more</p></div>'
    found = properties(html)
    assert (found["a"][0]["value"], found["b"][0]["value"]) == ("X", "http://example.org/x")


def test_include_adds_properties_but_no_text() -> None:
    html = """<div class="vcard"><p class="note">n <a class="include" href="#o">see</a></p></div>
        <p id="o"><b class="org">O</b></p>"""
    assert properties(html) == {"note": ["n see"], "org": ["O"]}


@pytest.mark.parametrize("reference", ["#a", "#b", "#missing", "", "http://example.org/x#b"])
def test_include_of_missing_or_cyclic_target_is_ignored(reference: str) -> None:
    html = f"""<div class="vcard" id="a"><b class="fn">A</b><a class="include" href="{reference}"></a></div>
        <div id="b"><i class="note">N</i><a class="include" href="#b"></a></div>"""
    assert item(html)["properties"]["name"][0] == "A"


HOSTILE = {
    "nested roots": '<span class="h-card">' * 100_000,
    "nested properties": "<p class=h-card>" + '<span class="p-name">ab' * 30_000,
    "nested markup": "<p class=h-entry>" + '<span class="e-content">ab<a href=x>c</a>' * 10_000,
    "nested value elements": "<p class=h-entry>" + "<span class=p-name><b class=value>" * 30_000,
    "nested languages": "<p class=h-entry><b class=p-name>" + "<span lang=en><b class=value>" * 20_000,
    "many properties of one long text": "<p class=h-x><b class='"
    + " ".join(f"p-{a}{b}{c}" for a in "abcdefghij" for b in "abcdefghij" for c in "abcdefghijklmnopqrstuvwxyz")
    + "'>"
    + "t" * 1_000_000,
    "a long class attribute": '<p class=h-entry><b class="' + "p-a " * 250_000 + '">x</b>',
    "many includes": "<div class=vcard>"
    + "<a class=include href='#x'></a>" * 20_000
    + "</div><div id=x><b class=fn>"
    + "<i>a</i>" * 1000,
    "includes in a ring": "".join(
        f"<div class=vcard id=n{n}><a class=include href='#n{(n + 1) % 1000}'></a></div>" for n in range(1000)
    ),
    "many times without a date": "<div class=h-event>"
    + "<i class=dt-a>12:00</i>" * 30_000
    + "<i class=dt-b>2020-01-01</i>",
    "a very long line": "<p class=h-card>" + "a " * 25_000_000,
    "a very long address": "<p class=h-card><img class=u-photo src='data:," + "a" * 1_000_000 + "'>",
}


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_page_is_read_within_limits(html: str) -> None:
    page = document(html)
    assert page.html is not None  # parse before the measurement
    started = time.process_time()
    found = extracted(html)
    assert time.process_time() - started < 10
    assert sum(len(term) for statement in found.statements for term in statement) < 100_000_000


@pytest.mark.parametrize(
    "name",
    [
        "nested roots",
        "nested properties",
        "nested markup",
        "many includes",
        "a long class attribute",
    ],
)
def test_reached_limit_is_a_problem(name: str) -> None:
    assert extracted(HOSTILE[name]).problems


def test_items_are_read_down_to_the_maximum_depth() -> None:
    found = item('<span class="h-x"><b class="p-a">1</b>' * (MAX_DEPTH + 10))
    depth = 1
    while "children" in found:
        (found,) = found["children"]
        depth += 1
    assert depth == MAX_DEPTH
    assert len(found["properties"]["a"]) == 11


@pytest.mark.parametrize(
    ("nested", "expected"),
    [
        ('<a class="u-x h-cite" href="/a"><b class="u-uid">b</b></a>', "http://example.org/a"),
        ('<img class="u-x h-cite" src="i.png">', "http://example.org/i.png"),
        ('<p class="u-x h-cite">a</p>', "http://example.org/a"),
        ('<p class="u-x h-cite"><b class="u-url">c</b></p>', "http://example.org/c"),
        ('<p class="u-x h-cite">a<b class="p-url">c</b></p>', "ac"),
        ('<a class="u-x h-cite" href="/a"><b class="p-url">c</b></a>', "http://example.org/a"),
    ],
)
def test_plain_value_of_item_in_a_u_property_is_an_absolute_url(nested: str, expected: str) -> None:
    (found,) = properties(f'<div class="h-entry">{nested}</div>')["x"]
    assert found["value"] == expected

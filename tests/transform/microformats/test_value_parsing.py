"""Property values: text, URLs, dates, markup and implied properties."""

from __future__ import annotations

import pytest

from motherlode.transform.microformats.value_parsing import (
    Image,
    ImageText,
    Item,
    Piece,
    Value,
    collapse,
    join_pieces,
    plain_value,
    read_tag,
    resolve,
)

from .pages import item, properties

PIECES: list[Piece] = [" a", Image("b", "http://e.org/c"), Image(None, "http://e.org/d"), Image("", None), " "]


def test_image_adds_alt_or_src_to_text() -> None:
    assert join_pieces(PIECES, ImageText.NOTHING) == "a"
    assert join_pieces(PIECES, ImageText.ALT) == "ab"
    assert join_pieces(PIECES, ImageText.ALT_OR_SRC) == "ab http://e.org/d"


def test_collapse_replaces_runs_of_white_space() -> None:
    assert collapse("\n a\xa0 b\t") == "a b"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("", "http://e.org/a/b"),
        (" c ", "http://e.org/a/c"),
        ("http://x.org", "http://x.org"),
        ("mailto:a@b", "mailto:a@b"),
        ("geo:1,2", "geo:1,2"),
        ("//x.org/y", "http://x.org/y"),
        ("//[", "http://["),
        ("?q", "http://e.org/a/b?q"),
    ],
)
def test_resolve_makes_a_reference_absolute(reference: str, expected: str) -> None:
    assert resolve("http://e.org/a/b", reference) == expected


def test_read_tag_returns_the_last_path_segment() -> None:
    assert read_tag("http://e.org/tag/a+b%C3%A9/") == "a bé"
    assert read_tag("http://e.org/") == ""


def in_entry(html: str) -> dict[str, object]:
    return properties(f'<div class="h-entry">{html}</div>')


def test_text_omits_scripts_and_replaces_images() -> None:
    html = '<p class="p-a"> x<script>1</script><style>2</style><img alt="y" src="z"><img src="z"> </p>'
    assert in_entry(html) == {"a": ["xy http://example.org/z"]}


def test_text_of_u_property_omits_images() -> None:
    assert in_entry('<p class="u-a">http://e.org/<img alt="y"></p>')["a"] == ["http://e.org/"]


def test_markup_has_absolute_references_except_fragments_and_the_tree_is_unchanged() -> None:
    html = '<div class="e-a p-b"><a href="x">1</a><a href="#y">2</a><img src="/z" alt="3"></div>'
    found = in_entry(html)
    markup = '<a href="http://example.org/x">1</a><a href="#y">2</a><img src="http://example.org/z" alt="3">'
    assert found["a"] == [{"value": "123", "html": markup}]
    assert in_entry(f"{html}{html}")["a"] == found["a"] * 2


def test_value_element_belongs_to_the_directly_enclosing_property() -> None:
    html = """<p class="p-tel"><i class="type">home</i> <b class="value">+44</b> (0) <b class="value">1223</b>
        <i class="p-note"><b class="value">inner</b> outer</i></p>"""
    assert in_entry(html) == {"tel": ["+441223"], "note": ["inner"]}


def test_value_title_gives_the_value() -> None:
    assert in_entry('<p class="p-a">x<i class="value-title" title="y"> </i></p>') == {"a": ["y"]}


@pytest.mark.parametrize("name", ["h-recipe", "hrecipe"])
@pytest.mark.parametrize(
    ("html", "value"),
    [
        ('<span class="value-title" title="PT10M"></span>10 m', "PT10M"),
        ('<span class="value-title" title=" P2W "> </span>two weeks', "P2W"),
        ('<b class="value">PT1H</b> and <time class="value" datetime="10M">ten</time>', "PT1H10M"),
        ('<data class="value" value="PT10M">10</data> m', "PT10M"),
        ('<span class="value">10</span> m', "10 m"),
        ('<span class="value-title" title=""></span>10 m', "10 m"),
    ],
)
def test_duration_in_value_elements_is_read(name: str, html: str, value: str) -> None:
    page = f'<div class="{name}"><p class="duration dt-duration">{html}</p></div>'
    assert properties(page)["duration"] == [value]


def test_datetime_attribute_is_used_if_value_elements_have_no_date() -> None:
    html = '<time class="dt-a" datetime="PT5M"><b class="value">5</b> m</time>'
    assert in_entry(html)["a"] == ["PT5M"]
    assert in_entry(html.replace(">5<", ">PT6M<"))["a"] == ["PT6M"]


def test_template_is_ignored() -> None:
    assert in_entry('<p class="p-a">x<template class="value">y</template></p><template class="p-b">z</template>') == {
        "a": ["x"]
    }


def test_attribute_without_value_is_empty_and_not_missing() -> None:
    assert in_entry("<a class=u-a href>x</a><abbr class=p-b title>y</abbr>") == {
        "a": ["http://example.org/page"],
        "b": [""],
    }


def test_value_title_without_title_is_ignored() -> None:
    assert properties("<p class=h-x><b class=p-a>text<i class=value-title></i></b></p>")["a"] == ["text"]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<p class="h-card"> A <b>B</b> </p>', {"name": ["A B"]}),
        ('<p class="h-card"><img src="x"> A</p>', {"name": ["A"], "photo": ["http://example.org/x"]}),
        ('<p class="h-card"><b><abbr title="A"> a</abbr></b></p>', {"name": ["A"]}),
        ('<p class="h-card"><b><a href="/a">A</a></b></p>', {"name": ["A"], "url": ["http://example.org/a"]}),
        ('<p class="h-card"><b><a href="/a">A</a></b><i></i></p>', {"name": ["A"]}),
        ('<p class="h-card"><a href="/a">A</a><a>B</a></p>', {"name": ["AB"]}),
        ('<p class="h-card"><i class="p-note">n</i></p>', {"note": ["n"]}),
        ('<p class="h-card"><i class="e-note">n</i></p>', {"note": [{"value": "n", "html": "n"}]}),
        ('<p class="h-card"><a class="u-x" href="/a">A</a></p>', {"x": ["http://example.org/a"], "name": ["A"]}),
        ('<p class="h-card"><i class="dt-bday">1999</i></p>', {"bday": ["1999"], "name": ["1999"]}),
    ],
)
def test_implied_properties_are_added(html: str, expected: dict[str, object]) -> None:
    assert item(html)["properties"] == expected


def test_item_with_nested_item_has_no_implied_properties() -> None:
    assert item('<p class="h-entry">x <i class="h-card">y</i></p>') == {
        "type": ["h-entry"],
        "properties": {},
        "children": [{"type": ["h-card"], "properties": {"name": ["y"]}}],
    }


def test_implied_photo_keeps_its_alternative_text() -> None:
    assert item('<p class="h-card"><img src="x" alt=" a "></p>')["properties"]["photo"] == [
        {"value": "http://example.org/x", "alt": " a "}
    ]


def test_values_omit_unfilled_positions() -> None:
    item = Item(key=1, types=("h-x",), is_classic=False)
    item.properties["a"] = [None, Value(prefix="p", text="1"), Value(prefix="u", text="2")]
    assert [value.text for value in item.values("a")] == ["1", "2"]
    found = item.first("a", "u")
    assert found is not None and found.text == "2"
    assert item.first("b", "p") is None


def test_plain_value_of_text_image_and_item() -> None:
    item = Item(key=1, types=("h-x",), is_classic=False)
    image = Value(prefix="u", text="http://e.org/", alt="x")
    assert plain_value(Value(prefix="p", text="a")) == "a"
    assert plain_value(image) is image
    assert plain_value(Value(prefix="p", text="a", item=item, item_value="b")) == "b"

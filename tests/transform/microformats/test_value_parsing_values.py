from __future__ import annotations

import pytest

from .pages import properties


def in_entry(html: str) -> dict[str, object]:
    return properties(f'<div class="h-entry">{html}</div>')


def test_text_drops_scripts_and_replaces_images() -> None:
    html = '<p class="p-a"> x<script>1</script><style>2</style><img alt="y" src="z"><img src="z"> </p>'
    assert in_entry(html) == {"a": ["xy http://example.org/z"]}


def test_url_text_has_no_images() -> None:
    assert in_entry('<p class="u-a">http://e.org/<img alt="y"></p>')["a"] == ["http://e.org/"]


def test_markup_is_made_absolute_but_for_fragments_and_the_tree_stays_as_it_was() -> None:
    html = '<div class="e-a p-b"><a href="x">1</a><a href="#y">2</a><img src="/z" alt="3"></div>'
    found = in_entry(html)
    markup = '<a href="http://example.org/x">1</a><a href="#y">2</a><img src="http://example.org/z" alt="3">'
    assert found["a"] == [{"value": "123", "html": markup}]
    assert in_entry(f"{html}{html}")["a"] == found["a"] * 2


def test_value_elements_belong_to_the_property_right_around_them() -> None:
    html = """<p class="p-tel"><i class="type">home</i> <b class="value">+44</b> (0) <b class="value">1223</b>
        <i class="p-note"><b class="value">inner</b> outer</i></p>"""
    assert in_entry(html) == {"tel": ["+441223"], "note": ["inner"]}


def test_value_title() -> None:
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
def test_durations_in_value_elements(name: str, html: str, value: str) -> None:
    page = f'<div class="{name}"><p class="duration dt-duration">{html}</p></div>'
    assert properties(page)["duration"] == [value]


def test_the_value_of_a_time_element_goes_before_value_elements_that_say_nothing() -> None:
    html = '<time class="dt-a" datetime="PT5M"><b class="value">5</b> m</time>'
    assert in_entry(html)["a"] == ["PT5M"]
    assert in_entry(html.replace(">5<", ">PT6M<"))["a"] == ["PT6M"]


def test_templates_are_not_read() -> None:
    assert in_entry('<p class="p-a">x<template class="value">y</template></p><template class="p-b">z</template>') == {
        "a": ["x"]
    }


def test_valueless_attributes_are_empty_not_missing() -> None:
    assert in_entry("<a class=u-a href>x</a><abbr class=p-b title>y</abbr>") == {
        "a": ["http://example.org/page"],
        "b": [""],
    }


def test_a_value_title_without_a_title_is_no_part() -> None:
    assert properties("<p class=h-x><b class=p-a>text<i class=value-title></i></b></p>")["a"] == ["text"]

"""Microdata items as dicts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from motherlode.model import ContentKind, Detected, DetectionEvidence
from motherlode.transform.microdata.item_json import MAX_NESTED_ITEMS, read_item_dicts
from motherlode.www.document import Document


def read(markup: str, url: str = "http://e.example/d/p") -> list[dict[str, Any]]:
    detected = Detected(kind=ContentKind.HTML, evidence=DetectionEvidence.CONTENT, charset="utf-8")
    return read_item_dicts(Document(url=url, body=markup.encode(), detected=detected))


def test_read_item_dicts_nested_item_is_a_value() -> None:
    found = read('<p itemscope itemtype="A B" itemid=" x "><i itemprop="p" itemscope><b itemprop="q">1</b></i></p>')
    assert found == [{"type": ["A", "B"], "id": "x", "properties": {"p": {"properties": {"q": "1"}}}}]


@pytest.mark.parametrize(
    ("element", "value"),
    [
        ('<meta itemprop="p" content="c">', "c"),
        ('<a itemprop="p" href=" x ">t</a>', "http://e.example/d/x"),
        ('<a itemprop="p">t</a>', "t"),
        ('<img itemprop="p" src="/i.png">', "http://e.example/i.png"),
        ('<time itemprop="p" datetime="2020">t</time>', "2020"),
        ('<time itemprop="p">2021</time>', "2021"),
        ('<data itemprop="p" value="7">t</data>', "7"),
        ('<span itemprop="p" content="c">t</span>', "c"),
        ('<span itemprop="p" content="">t</span>', "t"),
        ('<input itemprop="p-input" name="n" required>', {"valueRequired": True, "valueName": "n"}),
    ],
)
def test_read_item_dicts_value_depends_on_the_element(element: str, value: object) -> None:
    (item,) = read(f"<div itemscope>{element}</div>")
    assert [*item["properties"].values()] == [value]


def test_read_item_dicts_base_element_is_the_base_of_references() -> None:
    (item,) = read('<base href="http://b.example/"><p itemscope><a itemprop="p" href="x">t</a></p>')
    assert item["properties"] == {"p": "http://b.example/x"}


def test_read_item_dicts_item_without_properties_has_its_text_as_value() -> None:
    assert read("<p itemscope>text</p>") == [{"value": "text"}]


def test_read_item_dicts_itemprop_outside_of_items_is_still_an_item() -> None:
    found = read('<p itemprop="x" itemscope><b itemprop="a">1</b></p><p itemscope><b itemprop="a">2</b></p>')
    assert [item["properties"]["a"] for item in found] == ["1", "2"]


def test_read_item_dicts_itemref_adds_properties_in_tree_order() -> None:
    found = read('<i id="x"><b itemprop="a">1</b></i><p itemscope itemref="x"><b itemprop="a">2</b></p>')
    assert found == [{"properties": {"a": ["1", "2"]}}]


def test_read_item_dicts_item_in_two_itemrefs_is_repeated() -> None:
    shared = '<i id="x" itemprop="p" itemscope><b itemprop="a">1</b></i>'
    found = read(f'<p itemscope itemref="x"></p><p itemscope itemref="x"></p>{shared}')
    assert found == [{"properties": {"p": {"properties": {"a": "1"}}}}] * 2


def test_read_item_dicts_cyclic_itemref_ends_with_none() -> None:
    cycle = '<i id="x" itemprop="p" itemscope itemref="y"></i><i id="y" itemprop="q" itemscope itemref="x"></i>'
    found = read(f'<p itemscope itemref="x"></p>{cycle}')
    assert found == [{"properties": {"p": {"properties": {"q": {"properties": {"p": None}}}}}}]


def test_read_item_dicts_items_below_the_depth_limit_are_text() -> None:
    found = read('<i itemscope itemprop="p">' * 400 + "text")
    assert json.dumps(found)
    item, depth = found[0], 0
    while isinstance(item, dict):
        item, depth = item["properties"]["p"], depth + 1
    assert (item, depth) == ("text", MAX_NESTED_ITEMS + 1)
    assert len(found) > 1, "the items below are listed by themselves"

"""Nearest marked ancestors, compared with a plain walk up the tree."""

from __future__ import annotations

import random

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from motherlode.model import ContentKind
from motherlode.www.html_ancestors import Ancestry, date_datatype, languages
from tests.www.pages import document


def slowly(node: LexborNode | None) -> str:
    while node is not None:
        mark = node.attributes.get("data-mark") if node.is_element_node else None
        if mark is not None:
            return mark
        node = node.parent
    return ""


def test_ancestry_agrees_with_plain_walk_in_any_order() -> None:
    rng = random.Random(3)
    tags = [f"<div data-mark=m{i}>" if rng.random() < 0.3 else "<div>" for i in range(300)]
    markup = "".join(tag + ("</div>" if rng.random() < 0.6 else "") for tag in tags)
    tree = LexborHTMLParser(markup)
    marked = {node.mem_id: node.attributes["data-mark"] or "" for node in tree.css("[data-mark]")}
    ancestry = Ancestry(marked, default="")
    nodes = tree.css("div")
    rng.shuffle(nodes)
    for node in nodes:
        assert ancestry.at(node) == slowly(node)
        assert ancestry.above(node) == slowly(node.parent)


def language(markup: str, selector: str = "p", kind: ContentKind = ContentKind.HTML) -> str:
    page = document(markup, kind=kind)
    node = page.html.css_first(selector)
    assert node is not None
    return languages(page, default="de")(node)


def test_languages_nearest_lang_counts() -> None:
    assert language("<html lang=en><p>x") == "en"
    assert language("<html lang=' en '><p>x<p lang=fr><i>y", "i") == "fr"
    assert language("<section lang=fr><p>x") == "fr"


def test_languages_empty_lang_removes_language() -> None:
    assert language("<html lang=en><div lang=''><p>x") == ""
    assert language("<html lang=en><div lang><p>x") == ""
    assert language('<html class="a"lang=en><div class="b"LANG><p>x') == ""


def test_languages_default_without_lang() -> None:
    assert language("<p>x") == "de"
    assert language("<svg xml:lang=en><p>x") == "de"


@pytest.mark.parametrize(
    ("markup", "in_xml", "in_html"),
    [
        ("<html xml:lang='en'><p>x</p></html>", "en", "de"),
        ("<html lang='en' xml:lang='fr'><p>x</p></html>", "fr", "en"),
        ("<html lang='en'><div xml:lang='fr'><p>x</p></div></html>", "fr", "en"),
        ("<html xml:lang='fr'><div lang='en'><p>x</p></div></html>", "en", "en"),
        ("<html xml:lang='en'><p xml:lang=''>x</p></html>", "", "de"),
        ("<html lang='en'><p>x</p></html>", "en", "en"),
    ],
)
def test_languages_xml_lang_counts_only_in_xhtml(markup: str, in_xml: str, in_html: str) -> None:
    assert language(markup, kind=ContentKind.XHTML) == in_xml
    assert language(markup) == in_html


def test_date_datatype_on_examples_gives_expected_values() -> None:
    assert [
        str(date_datatype(t)).rpartition("#")[2] for t in ("2011-06-28", "2011-06-28T00:00:00Z", "12:00:00", "PT4M")
    ] == ["date", "dateTime", "time", "duration"]

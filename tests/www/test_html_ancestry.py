"""Nearest marked ancestors, against a walk that remembers nothing."""

from __future__ import annotations

import random

from selectolax.lexbor import LexborHTMLParser, LexborNode

from motherlode.www.html_ancestry import Ancestry, languages


def slowly(node: LexborNode | None) -> str:
    while node is not None:
        mark = node.attributes.get("data-mark") if node.is_element_node else None
        if mark is not None:
            return mark
        node = node.parent
    return ""


def test_it_agrees_with_a_plain_walk_in_any_order() -> None:
    rng = random.Random(3)
    tags = [f"<div data-mark=m{i}>" if rng.random() < 0.3 else "<div>" for i in range(300)]
    markup = "".join(tag + ("</div>" if rng.random() < 0.6 else "") for tag in tags)
    tree = LexborHTMLParser(markup)
    marked = [(node, node.attributes["data-mark"] or "") for node in tree.css("[data-mark]")]
    ancestry = Ancestry(marked, default="")
    nodes = tree.css("div")
    rng.shuffle(nodes)
    for node in nodes:
        assert ancestry.at(node) == slowly(node)
        assert ancestry.above(node) == slowly(node.parent)


def test_an_empty_lang_takes_the_language_away() -> None:
    tree = LexborHTMLParser("<html lang=en><div lang=''><p>x")
    node = tree.css_first("p")
    assert node is not None
    assert languages(default="de").at(node) == ""


def test_without_lang_the_default_holds() -> None:
    node = LexborHTMLParser("<p>x").css_first("p")
    assert node is not None
    assert languages(default="de").at(node) == "de"

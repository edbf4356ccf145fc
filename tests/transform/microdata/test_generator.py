"""The sparse tree."""

from __future__ import annotations

from motherlode.transform.microdata.generator import ItemTree, words
from tests.transform.microdata.pages import facts
from tests.www.pages import document


def names(markup: str) -> list[str]:
    tree = ItemTree(document(markup))
    return [element.names[0] for element in tree.properties(tree.top_items[0])]


def test_properties_come_in_tree_order_and_not_from_inner_items() -> None:
    assert names(
        "<div itemscope><p><b itemprop=a><i itemprop=b></i></b></p><div itemprop=c itemscope><b itemprop=no></b></div>"
        "<u><b itemprop=d></b></u></div><b itemprop=outside></b>"
    ) == ["a", "b", "c", "d"]


def test_itemref_reaches_elsewhere_and_each_element_once() -> None:
    markup = (
        "<div itemscope itemref='x missing x y'><b itemprop=a id=y></b></div>"
        "<div id=x><b itemprop=b></b><div itemscope><b itemprop=no></b></div></div>"
        "<div id=x><b itemprop=second></b></div>"
    )
    assert sorted(names(markup)) == ["a", "b"]


def test_an_element_with_two_attributes_is_found_once() -> None:
    tree = ItemTree(document("<div itemscope><b itemprop=a itemscope></b></div>"))
    assert len(tree.top_items[0].children) == 1


def test_words() -> None:
    assert words("") == () and words(" a\tb\na ") == ("a", "b")


def test_an_item_that_is_turned_round_in_no_item_stands_at_the_top() -> None:
    inner = "<b itemscope itemtype=http://schema.org/B itemprop-reverse=r><i itemprop=name>x</i></b>"
    assert ("name", '"x"') in facts(f"<p itemprop=stray>{inner}</p>")
    assert ("r", "_") in facts(f"<div itemscope itemtype=http://schema.org/A><p id=x>{inner}</p></div>")
    referred = f"<p id=x>{inner}</p><div itemscope itemtype=http://schema.org/A itemref=x></div>"
    assert {("name", '"x"'), ("r", "_")} <= facts(referred)

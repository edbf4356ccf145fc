"""The sparse tree, items, subjects and statements."""

from __future__ import annotations

import pytest

from motherlode.model.terms import RDF_TYPE
from motherlode.transform.microdata.generator import ItemTree, split_words
from tests.transform.microdata.pages import SCHEMA, microdata, pairs
from tests.www.pages import document


def names(markup: str) -> list[str]:
    tree = ItemTree(document(markup))
    return [element.names[0] for element in tree.iter_properties(tree.top_items[0])]


def test_properties_come_in_tree_order_without_those_of_nested_items() -> None:
    assert names(
        "<div itemscope><p><b itemprop=a><i itemprop=b></i></b></p><div itemprop=c itemscope><b itemprop=no></b></div>"
        "<u><b itemprop=d></b></u></div><b itemprop=outside></b>"
    ) == ["a", "b", "c", "d"]


def test_itemref_adds_properties_of_its_targets_once() -> None:
    markup = (
        "<div itemscope itemref='x missing x y'><b itemprop=a id=y></b></div>"
        "<div id=x><b itemprop=b></b><div itemscope><b itemprop=no></b></div></div>"
        "<div id=x><b itemprop=second></b></div>"
    )
    assert sorted(names(markup)) == ["a", "b"]


def test_element_with_two_attributes_is_found_once() -> None:
    tree = ItemTree(document("<div itemscope><b itemprop=a itemscope></b></div>"))
    assert len(tree.top_items[0].children) == 1


def test_split_words_removes_duplicates() -> None:
    assert split_words("") == () and split_words(" a\tb\na ") == ("a", "b")


def test_reverse_item_outside_an_item_is_a_top_level_item() -> None:
    inner = "<b itemscope itemtype=http://schema.org/B itemprop-reverse=r><i itemprop=name>x</i></b>"
    assert ("name", '"x"') in pairs(f"<p itemprop=stray>{inner}</p>")
    assert ("r", "_") in pairs(f"<div itemscope itemtype=http://schema.org/A><p id=x>{inner}</p></div>")
    referred = f"<p id=x>{inner}</p><div itemscope itemtype=http://schema.org/A itemref=x></div>"
    assert {("name", '"x"'), ("r", "_")} <= pairs(referred)


def test_itemid_is_the_subject() -> None:
    found = microdata(f"<div itemscope itemid='#me' itemtype={SCHEMA}Person></div>").statements
    assert [subject for subject, *_ in found] == ["<http://example.org/folder/page#me>"]


def test_item_without_type_inherits_the_vocabulary() -> None:
    assert pairs(
        f"<div itemscope itemtype={SCHEMA}Person><p itemprop=knows itemscope><b itemprop=name>x</b></p></div>"
    ) == {("knows", "_"), ("name", '"x"')}


def test_reverse_property_swaps_subject_and_object_except_for_text() -> None:
    found = microdata(
        f"<div itemscope itemid=a itemtype={SCHEMA}A><a itemprop-reverse=partOf href=b>b</a>"
        "<b itemprop-reverse=name>text</b></div>"
    ).statements
    assert [s for s in found if not s[1].endswith("#type>")] == [
        ("<http://example.org/folder/b>", "<http://schema.org/partOf>", "<http://example.org/folder/a>", "")
    ]


def test_item_shared_by_itemref_is_described_once() -> None:
    found = microdata(
        "<div itemscope itemref=x></div><div itemscope itemref=x></div>"
        "<div id=x itemprop=p itemscope><b itemprop=name>n</b></div>"
    ).statements
    assert sum(1 for s in found if s[2] == '"n"') == 1
    assert len({s[2] for s in found if s[1].endswith("#p>")}) == 1


def test_invalid_iri_removes_only_its_statements() -> None:
    found = microdata(
        f"<div itemscope itemid='http://[i' itemtype='http://[t {SCHEMA}A'><a itemprop=a href='http://[bad'>x</a>"
        "<b itemprop='http://[p c'>y</b></div>"
    )
    assert [statement[1:3] for statement in found.statements] == [(RDF_TYPE, f"<{SCHEMA}A>"), (f"<{SCHEMA}c>", '"y"')]
    assert {problem.message for problem in found.problems} == {
        f"not a valid IRI: <http://[{name}>" for name in ("i", "t", "bad", "p")
    }


@pytest.mark.parametrize("written", ["//schema.org/Product", "schema.org/Product", "//www.Schema.org/Product"])
def test_type_without_scheme_of_a_registered_vocabulary_is_repaired(written: str) -> None:
    found = microdata(f"<p>\n<div itemscope itemtype='{written}'><b itemprop=name>x</b></div>")
    assert [statement[1:3] for statement in found.statements] == [
        (RDF_TYPE, f"<{SCHEMA}Product>"),
        (f"<{SCHEMA}name>", '"x"'),
    ]
    (problem,) = found.problems
    assert problem.message == f"type without a scheme, read as {SCHEMA}Product"
    assert (problem.line, problem.repaired) == (2, True)


@pytest.mark.parametrize("written", ["//example.org/Product", "Product", "/Product", "schema.org", "//schema.org/"])
def test_other_relative_type_is_invalid_and_reported(written: str) -> None:
    found = microdata(f"<div itemscope itemtype='{written}'><b itemprop=name>x</b></div>")
    assert [statement[1] for statement in found.statements] == ["<http://example.org/folder/page#name>"]
    assert [problem.message for problem in found.problems] == [f"not a valid IRI: <{written}>"]

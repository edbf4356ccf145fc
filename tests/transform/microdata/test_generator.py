"""The sparse tree, predicates, values, items, subjects and statements."""

from __future__ import annotations

import pytest

from motherlode.model import ContentKind
from motherlode.model.terms import RDF_TYPE
from motherlode.transform.microdata.generator import DEFAULT_REGISTRY, ItemTree, Vocabularies, split_words
from motherlode.www.iri import Iri
from tests.transform.microdata.pages import SCHEMA, microdata, pairs, value
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


@pytest.mark.parametrize(
    "written",
    [
        *("//schema.org/Product", "schema.org/Product", "//www.Schema.org/Product"),
        *("http:/schema.org/Product", "https:schema.org/Product", "https//schema.org/Product"),
    ],
)
def test_type_without_complete_scheme_of_a_registered_vocabulary_is_repaired(written: str) -> None:
    found = microdata(f"<p>\n<div itemscope itemtype='{written}'><b itemprop=name>x</b></div>")
    assert [statement[1:3] for statement in found.statements] == [
        (RDF_TYPE, f"<{SCHEMA}Product>"),
        (f"<{SCHEMA}name>", '"x"'),
    ]
    (problem,) = found.problems
    assert problem.message == f"type without a complete scheme, read as {SCHEMA}Product"
    assert (problem.line, problem.repaired) == (2, True)


@pytest.mark.parametrize("written", ["//example.org/Product", "Product", "/Product", "schema.org", "//schema.org/"])
def test_other_relative_type_is_invalid_and_reported(written: str) -> None:
    found = microdata(f"<div itemscope itemtype='{written}'><b itemprop=name>x</b></div>")
    assert [statement[1] for statement in found.statements] == ["<http://example.org/folder/page#name>"]
    assert [problem.message for problem in found.problems] == [f"not a valid IRI: <{written}>"]


# Values

XSD = "http://www.w3.org/2001/XMLSchema#"


@pytest.mark.parametrize(
    ("tag", "attributes", "expected"),
    [
        ("a", "href='../x y'", "<http://example.org/x%20y>"),
        ("img", "src=i.png", "<http://example.org/folder/i.png>"),
        ("object", "data=d", "<http://example.org/folder/d>"),
        ("link", "href=mailto:a@example.org", "<mailto:a@example.org>"),
        ("a", "href", "<http://example.org/folder/page>"),
        ("object", "data", "<http://example.org/folder/page>"),
        ("a", "", '"text"'),
        ("time", "datetime", '""'),
        ("data", "value", '""'),
        ("span", "content", '""'),
        ("meta", "content='c'", '"c"'),
        ("meta", "", '""'),
        ("span", "content='c'", '"c"'),
        ("time", "datetime=2026-01-02", f'"2026-01-02"^^<{XSD}date>'),
        ("time", "datetime='no time'", '"no time"'),
        ("data", "value=12", f'"12"^^<{XSD}integer>'),
        ("data", "value=1.5e3", f'"1.5e3"^^<{XSD}double>'),
        ("meter", "value=x", '"x"'),
        ("data", "value='-7 '", f'"-7"^^<{XSD}integer>'),
        ("time", "datetime=2020-07-31T23:44:00+08:00 content=2020-07-31", f'"2020-07-31"^^<{XSD}date>'),
        ("time", "content='2020-07-31T23:44:00Z'", f'"2020-07-31T23:44:00Z"^^<{XSD}dateTime>'),
        ("time", "datetime=2020-07-31 content='last July'", '"last July"'),
        ("time", "datetime=2020-07-31 content=''", f'"2020-07-31"^^<{XSD}date>'),
        ("data", "value=x content=12", f'"12"^^<{XSD}integer>'),
        ("meter", "value=1 content=' 1.5'", f'"1.5"^^<{XSD}double>'),
        ("a", "href=y content=x", "<http://example.org/folder/x>"),
        ("a", "content=http://example.com/x", "<http://example.com/x>"),
        ("img", "src=i.png content=/j.png", "<http://example.org/j.png>"),
        ("img", "src=i.png content", "<http://example.org/folder/i.png>"),
        ("link", "href=http://schema.org/InStock content=''", "<http://schema.org/InStock>"),
        ("object", "data=d content=e", "<http://example.org/folder/e>"),
        ("span", "content=2020-07-31", '"2020-07-31"'),
        ("span", "content=''", '""'),
        ("meta", "content=12", '"12"'),
    ],
)
def test_value_depends_on_element_and_attributes(tag: str, attributes: str, expected: str) -> None:
    void = tag in ("img", "link", "meta")
    assert value(attributes, tag, "" if void else "text") == expected


def test_time_and_data_without_attribute_have_their_text_as_value() -> None:
    assert value("", "time", "2026") == f'"2026"^^<{XSD}gYear>'
    assert value("", "data", "7") == f'"7"^^<{XSD}integer>'


def test_text_value_includes_all_descendants() -> None:
    assert value("", "div", " a<b>b</b>\n<!-- c -->d ") == '" ab\\nd "'


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<html lang=en><p itemscope><b itemprop=a>x</b>", '"x"@en'),
        ("<html lang=en><p itemscope lang=de><b itemprop=a>x</b>", '"x"@de'),
        ("<html lang=en><p itemscope><b itemprop=a lang=''>x</b>", '"x"'),
        ("<html lang=en><p itemscope><meta itemprop=a content=x>", '"x"@en'),
        ("<meta http-equiv=Content-Language content=fr><p itemscope><b itemprop=a>x</b>", '"x"@fr'),
        ("<meta http-equiv=Content-Language content='fr, en'><p itemscope><b itemprop=a>x</b>", '"x"'),
        ("<html lang=en><p itemscope><data itemprop=a value=5>x</data>", f'"5"^^<{XSD}integer>'),
    ],
)
def test_text_has_the_language_of_the_nearest_element(markup: str, expected: str) -> None:
    assert {found for _, found in pairs(markup)} == {expected}


def test_reference_is_resolved_against_the_base_element() -> None:
    assert ("p", "<http://example.com/x>") in {
        (name.rpartition("#")[2], found)
        for name, found in pairs("<base href='http://example.com/'><div itemscope><a itemprop=p href=x>y</a></div>")
    }


def test_xml_lang_counts_only_in_xhtml() -> None:
    markup = (
        "<html xmlns='http://www.w3.org/1999/xhtml' xml:lang='de'><body><div itemscope='' itemtype='http://schema.org/Thing'>"
        "<b itemprop='a'>x</b><b itemprop='b' xml:lang='fr' lang='en'>x</b></div></body></html>"
    )
    assert pairs(markup, kind=ContentKind.XHTML) == {("a", '"x"@de'), ("b", '"x"@fr')}
    assert pairs(markup) == {("a", '"x"'), ("b", '"x"@en')}


# Predicates

VOCABULARIES = Vocabularies(
    {**DEFAULT_REGISTRY, "http://example.org/v/": {"a": ("http://example.org/x", "http://example.org/y")}}
)
BASE = "http://example.org/page#frag"


def predicates(vocabulary: str, name: str) -> tuple[str, ...]:
    def term_of(iri: Iri) -> str | None:
        return iri.term if iri.is_valid else None

    return VOCABULARIES.resolve_predicates(vocabulary, name, base=BASE, term_of=term_of)


@pytest.mark.parametrize(
    ("item_type", "name", "expected"),
    [
        ("", "name", "http://example.org/page#name"),
        ("", "http://example.org/p", "http://example.org/p"),
        ("http://schema.org/Person", "name", "http://schema.org/name"),
        ("http://schema.org/deep/Person", "name", "http://schema.org/name"),
        ("http://microformats.org/profile/hcard", "fn", "http://microformats.org/profile/hcard#fn"),
        ("http://example.com/a/b/C", "name", "http://example.com/a/b/name"),
        ("http://example.com/a#C", "name", "http://example.com/a#name"),
        ("urn:x", "name", "urn:x#name"),
        ("http://example.com/C", "a<b>", "http://example.com/a%3Cb%3E"),
    ],
)
def test_property_name_resolves_to_predicate_of_the_vocabulary(item_type: str, name: str, expected: str) -> None:
    assert predicates(VOCABULARIES.find(item_type), name)[0] == f"<{expected}>"


def test_property_of_the_registry_adds_implied_predicates() -> None:
    assert predicates("http://example.org/v/", "a") == (
        "<http://example.org/v/a>",
        "<http://example.org/x>",
        "<http://example.org/y>",
    )
    (_, implied) = predicates("https://schema.org/", "additionalType")
    assert implied.endswith("#type>")


def test_add_scheme_on_examples_gives_expected_values() -> None:
    assert Vocabularies(DEFAULT_REGISTRY).add_scheme("Schema.org/Product") == "http://schema.org/Product"

"""Predicates and values of Microdata properties."""

from __future__ import annotations

import pytest

from motherlode.model import ContentKind
from motherlode.transform.microdata.item_properties import DEFAULT_REGISTRY, Vocabularies
from motherlode.www.iri import Iri
from tests.transform.microdata.pages import pairs, value

XSD = "http://www.w3.org/2001/XMLSchema#"


@pytest.mark.parametrize(
    ("tag", "attributes", "expected"),
    [
        ("a", "href='../x y'", "<http://example.org/x%20y>"),
        ("img", "src=i.png", "<http://example.org/folder/i.png>"),
        ("object", "data=d", "<http://example.org/folder/d>"),
        ("link", "href=mailto:a@example.org", "<mailto:a@example.org>"),
        ("a", "", '"text"'),
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

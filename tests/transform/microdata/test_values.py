"""Values of properties."""

from __future__ import annotations

import pytest

from tests.transform.microdata.pages import facts, value

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
    ],
)
def test_by_element(tag: str, attributes: str, expected: str) -> None:
    void = tag in ("img", "link", "meta")
    assert value(attributes, tag, "" if void else "text") == expected


def test_time_and_data_without_their_attribute_speak_by_their_text() -> None:
    assert value("", "time", "2026") == f'"2026"^^<{XSD}gYear>'
    assert value("", "data", "7") == f'"7"^^<{XSD}integer>'


def test_text_is_that_of_all_descendants() -> None:
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
def test_languages(markup: str, expected: str) -> None:
    assert {found for _, found in facts(markup)} == {expected}


def test_the_base_element_counts() -> None:
    assert ("p", "<http://example.com/x>") in {
        (name.rpartition("#")[2], found)
        for name, found in facts("<base href='http://example.com/'><div itemscope><a itemprop=p href=x>y</a></div>")
    }

"""A document's text, trees and base."""

from __future__ import annotations

import pytest

from motherlode.model import ContentKind
from motherlode.www.document import _may_differ_in_xml
from tests.www.pages import URL, document


def test_document_html_is_parsed_once() -> None:
    page = document("<p>x")
    assert page.html is page.html


@pytest.mark.parametrize("charset", ["utf-8", "windows-1251", "utf-16-le", "iso-8859-5"])
def test_document_text_is_equal_in_every_charset(charset: str) -> None:
    page = document("<p title='Привет'>Привет", charset=charset)
    element = page.html.css_first("p")
    assert element is not None
    assert (element.text(), element.attributes["title"]) == ("Привет", "Привет")


@pytest.mark.parametrize("broken", [b"\xff\xfe", b"\xc3(", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80"])
def test_document_invalid_utf8_becomes_replacement_characters(broken: bytes) -> None:
    page = document(b"<p title='a" + broken + b"b'>c" + broken + b"d</p>")
    element = page.html.css_first("p")
    assert element is not None
    assert element.text().startswith("c�") and element.text().endswith("d")
    assert (element.attributes["title"] or "").startswith("a�")


def test_document_byte_order_mark_is_not_text() -> None:
    body = document(b"\xef\xbb\xbf<p>x").html.body
    assert body is not None
    assert body.text() == "x"


@pytest.mark.parametrize(
    ("markup", "base"),
    [
        ("<p>none", URL),
        ("<base href='/other/'>", "http://example.org/other/"),
        ("<BASE HREF='https://example.com/x#y'>", "https://example.com/x"),
        ("<base target=_top><base href=first><base href=second>", "http://example.org/folder/first"),
        ("<head><div></div><base href='/late/'>", "http://example.org/late/"),
        ("<base href='data:text/html,x'>", URL),
    ],
)
def test_document_first_base_element_with_href_counts(markup: str, base: str) -> None:
    assert document(markup).base == base


def test_document_removed_markup_is_reported() -> None:
    page = document("<div>" * 9_000)
    assert page.html.root is not None
    (problem,) = page.problems
    assert problem.repaired and "512" in problem.message


def test_document_xhtml_may_use_html_entities() -> None:
    page = document("<html>a&nbsp;&eacute;&amp;&unknown;b</html>", kind=ContentKind.XHTML)
    assert page.xml.root.text == "a\xa0é&b"  # type: ignore[union-attr]


def test_may_differ_in_xml_on_examples_gives_expected_values() -> None:
    assert (
        _may_differ_in_xml("a &amp; b"),
        _may_differ_in_xml("//<![CDATA[ a & b //]]>"),
        _may_differ_in_xml("<![CDATA["),
    ) == (True, False, True)

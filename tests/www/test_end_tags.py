"""Empty elements and CDATA sections of XHTML."""

from __future__ import annotations

import time

import pytest

from motherlode.model import ContentKind
from motherlode.www.document import with_end_tags, with_text_of_sections
from tests.www.pages import document


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (b"<script src='x' />", b"<script src='x' ></script>"),
        (b"<BR/><Hr />", b"<BR/><Hr />"),
        (b"<a href=/x/y/>", b"<a href=/x/y></a>"),
        (b"<svg:g a='/>'/>", b"<svg:g a='/>'></svg:g>"),
        (b"<p>a / b > c</p>", b"<p>a / b > c</p>"),
        (b"<p a='unclosed/>", b"<p a='unclosed/>"),
    ],
)
def test_with_end_tags_closes_elements(markup: bytes, expected: bytes) -> None:
    assert with_end_tags(markup) == expected


def test_document_empty_script_does_not_swallow_xhtml_page() -> None:
    markup = "<html><head><script src='x'/><title>t</title></head><body><div/><p>after</p></body></html>"
    page = document(markup, kind=ContentKind.XHTML)
    title, paragraph = page.html.css_first("title"), page.html.css_first("body > p")
    assert title is not None and title.text() == "t"
    assert paragraph is not None


@pytest.mark.parametrize("trap", [b"<a '", b"<a \"'", b"<a/", b"<a b='/>", b"<"])
def test_with_end_tags_hostile_markup_is_fast(trap: bytes) -> None:
    started = time.process_time()
    with_end_tags(trap * 200_000 + b"/>")
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (b"<p><![CDATA[a<b> & c]]></p>", b"<p>a&lt;b&gt; &amp; c</p>"),
        (b"<p><![CDATA[a]]b]]><![CDATA[]]></p>", b"<p>a]]b</p>"),
        (b"<script><![CDATA[a]]></script><![CDATA[b]]>", b"<script><![CDATA[a]]></script>b"),
        (b"<STYLE><![CDATA[a</script>]]></STYLE >", b"<STYLE><![CDATA[a</script>]]></STYLE >"),
        (b"<!-- <![CDATA[a]]> --><![CDATA[<!--]]>", b"<!-- <![CDATA[a]]> -->&lt;!--"),
        (b"<script src='a'/><![CDATA[b]]>", b"<script src='a'/>b"),
        (b"<p><![CDATA[open", b"<p><![CDATA[open"),
    ],
)
def test_with_text_of_sections_escapes_sections_outside_scripts(markup: bytes, expected: bytes) -> None:
    assert with_text_of_sections(markup) == expected


def test_document_section_of_xhtml_is_text_and_of_html_is_none() -> None:
    markup = '<html xmlns="http://www.w3.org/1999/xhtml"><body><p><![CDATA[a<b/>]]></p></body></html>'
    for kind, text in ((ContentKind.XHTML, "a<b/>"), (ContentKind.HTML, "]]>")):
        paragraph = document(markup, kind=kind).html.css_first("p")
        assert paragraph is not None and paragraph.text() == text


@pytest.mark.parametrize(
    "trap", [b"<script>", b"<script", b"<!--", b"<style></script>", b"<![CDATA[]", b"</script><script "]
)
def test_with_text_of_sections_hostile_markup_is_fast(trap: bytes) -> None:
    started = time.process_time()
    with_text_of_sections(b"<![CDATA[]]>" + trap * 100_000)
    assert time.process_time() - started < 5

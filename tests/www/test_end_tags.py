"""Empty elements of XHTML."""

from __future__ import annotations

import time

import pytest

from motherlode.model import ContentKind
from motherlode.www.document import with_end_tags
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

"""The text of elements as laid out."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from motherlode.transform.microdata.layout_text import read_layout_text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("  one\n two ", "one two"),
        ("", ""),
        ("<b>a</b><i>b</i>", "a b"),
        ("<b>a</b>, <i>b</i>.", "a, b."),
        ("(<b>a</b>)", "(a)"),
        ("a<br>b", "a\nb"),
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("a<div>b</div>c", "a\nb\nc"),
        ("<ul><li>a<li>b</ul>", "a\nb"),
        ("a<!-- x -->b", "ab"),
        ("a<script>x</script>b<style>y</style>c", "abc"),
        ("a <b> </b>b", "a b"),
    ],
)
def test_read_layout_text_collapses_space_and_breaks_lines(markup: str, text: str) -> None:
    node = LexborHTMLParser(f"<section>{markup}</section>").css("section")[0]
    assert read_layout_text(node) == text


@pytest.mark.parametrize(
    "markup",
    ["<h2>T</h2><p>a<b>b</b> c!</p><table><tr><td>1<td>2</table>", "x<span> (</span><em>y</em>) <pre>  z\n z</pre>"],
)
def test_read_layout_text_is_that_of_html_text(markup: str) -> None:
    html_text = pytest.importorskip("html_text")
    page = f"<section>{markup}</section>"
    assert read_layout_text(LexborHTMLParser(page).css("section")[0]) == html_text.extract_text(page)

"""Markup that would cost the parser too much, and honest markup that looks similar."""

from __future__ import annotations

import time

import pytest
from selectolax.lexbor import LexborHTMLParser

from motherlode.www.html_limits import MAX_ATTRIBUTES, MAX_DEPTH, MAX_MARKUP, guarded

TRAPS = {
    "deep": b"<div>" * 100_000,
    "deep and closed": b"<div>" * 100_000 + b"x" + b"</div>" * 100_000,
    "deep with ends in comments": b"<div><!--</div>-->" * 50_000,
    "deep with ends in attributes": b'<div a="</div>">' * 50_000,
    "deep lists": b"<ul><li>" * 50_000,
    "deep, mixed case": b"<DIV><Section>" * 50_000,
    "formatting in paragraphs": b"".join(b"<p><font a%d>" % i for i in range(20_000)),
    "formatting before paragraphs": b"".join(b"<b a%d>" % i for i in range(3_000)) + b"<p>x</p>" * 20_000,
    "attributes": b"<a " + b" ".join(b"a%d=1" % i for i in range(200_000)) + b">",
    "attributes with brackets": b"<a " + b" ".join(b'a%d=">"' % i for i in range(100_000)) + b">",
    "attributes after a long one": b'<a b="'
    + b"x" * 20_000
    + b'" '
    + b" ".join(b"a%d=1" % i for i in range(200_000))
    + b">",
    "attributes around quotes": b"<a '" + b" ".join(b"a%d" % i for i in range(200_000)) + b"'>",
    "roots": b"".join(b"<html b%d=1>" % i for i in range(50_000)),
    "bodies": b"<body>" + b"".join(b"<body b%d=1>" % i for i in range(50_000)),
    "open quotes": b"<a b='" * 100_000,
    "open scripts": b"<script>" * 100_000,
    "open comments": b"<!--" * 100_000,
    "brackets": b"<" * 2_000_000,
}


@pytest.mark.parametrize("name", TRAPS)
def test_guarded_hostile_markup_is_parsed_fast(name: str) -> None:
    started = time.process_time()
    markup, _ = guarded(TRAPS[name])
    tree = LexborHTMLParser(markup)
    assert tree.root is not None
    assert time.process_time() - started < 10


@pytest.mark.parametrize("name", [name for name in TRAPS if name.startswith(("deep", "format", "attributes", "roots"))])
def test_guarded_reports_removed_markup(name: str) -> None:
    _, said = guarded(TRAPS[name])
    assert said


def test_guarded_keeps_text_and_outer_elements() -> None:
    markup, said = guarded(
        b"<main>" + b"<div>" * 20_000 + b"kept" + b"</div>" * 20_000 + b"<p id=after>after</p></main>"
    )
    tree = LexborHTMLParser(markup)
    assert said == (f"elements nested deeper than {MAX_DEPTH} levels were left out",)
    assert "kept" in tree.text()
    after = tree.css_first("#after")
    assert after is not None and after.parent is not None and after.parent.tag == "main"
    assert len(tree.css("div")) == MAX_DEPTH - 1


def test_guarded_keeps_attributes_up_to_limit() -> None:
    markup, said = guarded(b"<a href=x " + b" ".join(b"a%d='%d > %d'" % (i, i, i) for i in range(5_000)) + b">text</a>")
    node = LexborHTMLParser(markup).css_first("a")
    assert said and node is not None
    assert len(node.attributes) == MAX_ATTRIBUTES
    assert (node.attributes["href"], node.attributes["a7"], node.text()) == ("x", "7 > 7", "text")


HARMLESS = {
    "a long list without end tags": b"<ul>" + b"<li>item" * 20_000 + b"</ul>",
    "a long table without end tags": b"<table>" + b"<tr><td>cell<td>cell" * 10_000 + b"</table>",
    "many paragraphs": b"<p>one <b>two</b> <i>three</i>" * 10_000,
    "many icons": b"<svg><path d=''/><path d=''/></svg>" * 10_000,
    "a long script": b"<script>" + b"if (a < b && c > d) {}" * 5_000 + b"</script><p>x",
    "a long address": b"<img src='data:" + b"x" * 100_000 + b"'>",
    "a long address in quotes with brackets": b'<img alt="a > b" src="data:' + b"x" * 100_000 + b'">',
    "a stray quote": b'<span content="a b="http://x/" lang="en">text</span>' + b"word " * 10_000,
    "items that leave elements open": b"<ul>" + b"<li><span><div>x" * 6_000 + b"</ul>",
    "paragraphs that leave elements open": b"<p><span>x" * 9_000,
    "cells that leave formatting open": b"<table>" + b"<tr><td><font color=red><b>x" * 3_000 + b"</table>",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_guarded_large_honest_pages_are_unchanged(name: str) -> None:
    assert guarded(HARMLESS[name]) == (HARMLESS[name], ())


def test_guarded_huge_page_is_cut() -> None:
    markup, said = guarded(b"<p>" + b"x" * 50_000_000)
    assert len(markup) == MAX_MARKUP and len(said) == 1

"""Microdata extraction as a whole. The W3C test suite is in tests/conformance."""

from __future__ import annotations

import time

import pytest

from motherlode.www.html_prefilter import Mark, marks_in
from tests.transform.microdata.pages import SCHEMA, microdata, pairs


def test_mark_is_found_only_in_bodies_with_microdata() -> None:
    assert Mark.MICRODATA in marks_in(b"<p itemscope>") and not marks_in(b"<p class=item>")


def test_blank_nodes_are_the_same_in_every_run() -> None:
    markup = "<p itemscope><b itemprop=a itemscope></b></p>"
    assert microdata(markup) == microdata(markup)


def test_duplicate_statements_are_removed() -> None:
    markup = f"<p itemscope itemid=x itemtype={SCHEMA}Thing><b itemprop=name>a</b><b itemprop=name>a</b>"
    assert len(microdata(markup).statements) == 2


def test_item_with_several_types_uses_the_vocabulary_of_the_first() -> None:
    found = pairs(f"<p itemscope itemtype='{SCHEMA}A http://other.example/B C'><b itemprop=name>x</b>")
    assert found == {("name", '"x"')}


def test_item_with_itemprop_outside_an_item_makes_no_statements() -> None:
    assert microdata("<p itemscope itemprop=x><b itemprop=y>z</b></p>").statements == ()


ITEM = f"<div itemscope itemtype={SCHEMA}Thing itemref=shared></div>"
HOSTILE_PAGES = {
    "nested items": "<div itemscope itemprop=a>" * 20_000 + "x",
    "nested properties": f"<div itemscope itemtype={SCHEMA}Thing>" + "<div itemprop=a>" * 400 + "text " * 100_000,
    "many items refer to much": ITEM * 2_000 + "<div id=shared>" + "<b itemprop=name>x</b>" * 2_000 + "</div>",
    "an item refers to very much": "<div itemscope itemref='"
    + " ".join(f"i{n}" for n in range(50_000))
    + "'></div>"
    + "".join(f"<b id=i{n} itemprop=n>x</b>" for n in range(50_000)),
    "all items refer to all items": "".join(
        f"<div itemscope id=i{n} itemprop=p itemref='{' '.join(f'i{m}' for m in range(300))}'></div>"
        for n in range(300)
    )
    + "<div itemscope itemref=i0></div>",
    "a loop": "<div itemscope itemref=a><div id=a itemprop=b itemscope itemref=a></div></div>",
    "an item in itself": "<div itemscope id=a itemref=a><b itemprop=c>x</b></div>",
    "many names": "<div itemscope><b itemprop='"
    + " ".join(f"n{i}" for i in range(50_000))
    + "'>"
    + "x" * 100_000
    + "</b></div>",
    "many types": "<div itemscope itemtype='" + " ".join(f"http://example.org/{i}" for i in range(50_000)) + "'></div>",
    "a megabyte of attribute": "<div itemscope itemtype='http://" + "x" * 1_000_000 + "'><b itemprop=a>x</b></div>",
    "50 MB": "<div itemscope><b itemprop=a>" + "x" * 50_000_000,
    "nulls": "<div itemscope itemid='\0'><b itemprop='a\0b'>\0</b></div>",
}
CUT = ("nested properties", "many items refer to much", "many names")


@pytest.mark.parametrize("name", HOSTILE_PAGES)
def test_hostile_page_is_read_within_limits(name: str) -> None:
    started = time.process_time()
    found = microdata(HOSTILE_PAGES[name])
    assert time.process_time() - started < 15
    assert sum(len(statement[2]) for statement in found.statements) < 500_000_000
    if name in CUT:
        assert found.problems and found.statements

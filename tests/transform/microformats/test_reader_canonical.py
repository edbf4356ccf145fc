"""What the conformance suite does not reach; the rest is in tests/conformance."""

from __future__ import annotations

from motherlode.transform.microformats import parse

from .pages import document


def test_rels_are_collected_once_for_each_address() -> None:
    html = """<base href="/d/"><link rel="alternate" href="f" type="application/atom+xml" title="F" hreflang="en">
        <a rel="me nofollow" href="x">1</a><area rel="me" href="x"><a rel="" href="y"></a><a rel="me">z</a>"""
    found = parse(document(html))
    assert found["rels"] == {
        "alternate": ["http://example.org/d/f"],
        "me": ["http://example.org/d/x"],
        "nofollow": ["http://example.org/d/x"],
    }
    assert found["rel-urls"] == {
        "http://example.org/d/f": {
            "rels": ["alternate"],
            "type": "application/atom+xml",
            "title": "F",
            "hreflang": "en",
        },
        "http://example.org/d/x": {"rels": ["me", "nofollow"], "text": "1"},
    }


def test_a_page_without_any() -> None:
    assert parse(document("")) == {"items": [], "rels": {}, "rel-urls": {}}

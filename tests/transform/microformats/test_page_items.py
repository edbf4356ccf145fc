"""Items of a page and canonical JSON. The test suite of microformats2 is in tests/conformance."""

from __future__ import annotations

from motherlode.model import ContentKind
from motherlode.transform.microformats import parse
from motherlode.transform.microformats.class_names import LAYOUT_NAMES
from motherlode.transform.microformats.page_items import read_items

from .pages import document, statements


def test_ignored_layout_class_does_not_start_an_item() -> None:
    page = document('<div class="h-full"><p class="h-entry"><i class="h-full"><b class="p-name">x</b></i></p></div>')
    assert [item.types for item in read_items(page)[0]] == [("h-full",)]
    ((entry,), _) = read_items(page, ignored=LAYOUT_NAMES)
    assert (entry.types, [value.text for value in entry.values("name")]) == (("h-entry",), ["x"])


def test_value_has_the_language_of_the_nearest_element() -> None:
    html = """<html lang="en"><body lang="de"><p class="h-card"><b class="p-a">a</b><b class="p-b" lang="fr">b</b></p>
        <p class="h-card" lang="nl"><b class="p-c">c</b></p>"""
    literals = {o for _, _, o in statements(html) if o.startswith('"')}
    assert literals == {'"a"@de', '"b"@fr', '"c"@nl'}


def test_language_of_an_svg_element_does_not_apply_to_html() -> None:
    assert ("_:1", "<mf:name>", '"x"') in statements('<svg xml:lang="en"></svg><p class="h-card">x</p>')


def test_value_has_the_language_of_the_page() -> None:
    assert ("_:1", "<mf:name>", '"x"@pt-br') in statements('<html lang="pt-BR"><p class="h-card">x</p>')


def test_xml_lang_counts_only_in_xhtml() -> None:
    html = """<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="de"><body><p class="h-card"><b class="p-a">a</b>
        <b class="p-b" xml:lang="fr" lang="en">b</b></p></body></html>"""
    found = {(p, o) for _, p, o in statements(html, kind=ContentKind.XHTML)}
    assert {("<mf:a>", '"a"@de'), ("<mf:b>", '"b"@fr')} <= found
    assert {("<mf:a>", '"a"'), ("<mf:b>", '"b"@en')} <= {(p, o) for _, p, o in statements(html)}


def test_empty_lang_resets_the_language() -> None:
    html = '<html lang="en"><p class="h-card"><b class="p-a" lang="">a</b></p>'
    assert ("_:1", "<mf:a>", '"a"') in statements(html)


def test_rels_are_collected_once_per_url() -> None:
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


def test_parse_of_empty_page_is_empty() -> None:
    assert parse(document("")) == {"items": [], "rels": {}, "rel-urls": {}}

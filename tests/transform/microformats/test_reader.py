from __future__ import annotations

from motherlode.model import ContentKind
from motherlode.transform.microformats.class_names import LAYOUT_NAMES
from motherlode.transform.microformats.reader import read_items

from .pages import document, facts


def test_layout_classes_open_no_item_where_they_are_ignored() -> None:
    page = document('<div class="h-full"><p class="h-entry"><i class="h-full"><b class="p-name">x</b></i></p></div>')
    assert [item.types for item in read_items(page).items] == [("h-full",)]
    (entry,) = read_items(page, ignored=LAYOUT_NAMES).items
    assert (entry.types, [value.text for value in entry.values("name")]) == (("h-entry",), ["x"])


def test_language_is_that_of_the_nearest_element_that_has_one() -> None:
    html = """<html lang="en"><body lang="de"><p class="h-card"><b class="p-a">a</b><b class="p-b" lang="fr">b</b></p>
        <p class="h-card" lang="nl"><b class="p-c">c</b></p>"""
    literals = {o for _, _, o in facts(html) if o.startswith('"')}
    assert literals == {'"a"@de', '"b"@fr', '"c"@nl'}


def test_the_language_of_a_drawing_is_not_taken_for_that_of_html() -> None:
    assert ("_:1", "<mf:name>", '"x"') in facts('<svg xml:lang="en"></svg><p class="h-card">x</p>')


def test_language_of_the_page_holds_everywhere() -> None:
    assert ("_:1", "<mf:name>", '"x"@pt-br') in facts('<html lang="pt-BR"><p class="h-card">x</p>')


def test_xml_lang_is_the_language_of_xhtml() -> None:
    html = """<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="de"><body><p class="h-card"><b class="p-a">a</b>
        <b class="p-b" xml:lang="fr" lang="en">b</b></p></body></html>"""
    found = {(p, o) for _, p, o in facts(html, kind=ContentKind.XHTML)}
    assert {("<mf:a>", '"a"@de'), ("<mf:b>", '"b"@fr')} <= found
    assert {("<mf:a>", '"a"'), ("<mf:b>", '"b"@en')} <= {(p, o) for _, p, o in facts(html)}


def test_an_empty_lang_takes_the_language_away() -> None:
    html = '<html lang="en"><p class="h-card"><b class="p-a" lang="">a</b></p>'
    assert ("_:1", "<mf:a>", '"a"') in facts(html)

"""Marks: no present feature is ruled out, and most absent ones are."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from motherlode.transform.embedded_rdf import SCRIPT_SYNTAXES
from motherlode.transform.microformats.class_names import CLASSIC_ROOTS
from motherlode.www.html_prefilter import Mark, marks_in
from motherlode.www.media_types import MEDIA

SCRIPT_TYPES = [name for row in MEDIA.values() if row.syntax in SCRIPT_SYNTAXES for name in row.media_types]


@pytest.mark.parametrize("root", [*CLASSIC_ROOTS, "h-card", "h-x-app-thing", "h-2d-a"])
@pytest.mark.parametrize("markup", ['<p class="a {} b">', "<P CLASS = '{}'>", "<p class={}>", '<p class="\n{}\t">'])
def test_marks_in_finds_every_microformats_root(root: str, markup: str) -> None:
    assert Mark.MICROFORMATS in marks_in(markup.format(root).encode())


@pytest.mark.parametrize("media_type", SCRIPT_TYPES)
@pytest.mark.parametrize("markup", ["<script type={}>", "<SCRIPT\ndata-a='>' type=' {}'>", "<script/type='{};x=y'>"])
def test_marks_in_finds_every_script_with_rdf(media_type: str, markup: str) -> None:
    assert Mark.RDF_SCRIPTS in marks_in(markup.format(media_type).encode())


@pytest.mark.parametrize(
    ("markup", "mark"),
    [
        ("<script type=application/ld+json>", Mark.JSON_LD),
        ("<script type='application&#47;ld+json'>", Mark.JSON_LD),
        ("<script type='application&sol;ld+json'>", Mark.JSON_LD),
        ("<script\nid=x TYPE = ' application&#x2f;ld&plus;json'>", Mark.JSON_LD),
        ("<script type=&#97;pplication/ld+json>", Mark.JSON_LD),
        ("<SCRIPT id=x type='Text/Turtle'>", Mark.RDF_SCRIPTS),
        ("<script id='x'type='text&sol;turtle'>", Mark.RDF_SCRIPTS),
        ("<script type=application/n-triples>", Mark.RDF_SCRIPTS),
        ("<div ITEMSCOPE>", Mark.MICRODATA),
        ("<div ItemProp-Reverse=x>", Mark.REVERSE_PROPERTIES),
        ("<p lang=en>\n</p><p\tLANG>", Mark.LANGUAGES),
        ("<meta property=og:title>", Mark.PROPERTIES),
        ("""<head rel="' http://example.org/">""", Mark.RELATIONS),
        ("<p typeof = 'foaf:Person'>", Mark.TYPES),
        ("<body vocab='http://schema.org/'>", Mark.VOCABULARIES),
        ("<a rel='next License'>", Mark.RELATIONS),
        ("<a rev=foaf:knows>", Mark.REVERSE_RELATIONS),
        ("<link rel=describedby>", Mark.RELATIONS),
        ("<link rel='dc&#58;title'>", Mark.RELATIONS),
        ("<link rev='dc&colon;title'>", Mark.REVERSE_RELATIONS),
        ('<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML+RDFa 1.0//EN">', Mark.XHTML_RDFA),
        ("<html version='XHTML+RDFa 1.1'>", Mark.XHTML_RDFA),
        ("<BASE href=x>", Mark.BASE),
        ("<meta name=robots\ncontent='all, NoIndex'>", Mark.CRAWLER_RULES),
        ("<meta content=none name=robots>", Mark.CRAWLER_RULES),
        ("<html profile='http://www.w3.org/2003/g/data-view'>", Mark.DATA_VIEW),
    ],
)
def test_marks_in_finds_present_features(markup: str, mark: Mark) -> None:
    assert mark in marks_in(f"<html><p>text {markup} text".encode())


def test_marks_in_skips_absent_features() -> None:
    body = b"""<link rel="stylesheet"> <script></script><link type="text/turtle">
        <p class="geology vcards h- app-h-card"> vcards, geodesy
        <script>if (typeof x == "function") y.rel = none</script><meta charset=utf-8><p>noindex, unavailable_after
        <script src="/x?type=a&b=c&#38;d"></script><script type=module>f("?type=a&amp;b&rel=c&d")</script>
        <a lang=en hreflang=de>"""
    assert marks_in(body) == frozenset()


def test_marks_in_is_thread_safe() -> None:
    body = b"<p>" * 1_000_000 + b"<div itemscope>"
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(marks_in, [body] * 16)) == {frozenset({Mark.MICRODATA})}


def test_marks_in_hostile_body_is_fast() -> None:
    assert marks_in(b"<p class='x" * 200_000 + b'<meta content="no' * 200_000) == frozenset()


def test_marks_in_on_examples_gives_expected_values() -> None:
    assert sorted(mark.value for mark in marks_in(b"<Base href=/><p itemScope class='a h-card' property=name>")) == [
        "base",
        "microdata",
        "microformats",
        "properties",
    ]

"""RDFa extraction as a whole. The RDFa test suite is in tests/conformance."""

from __future__ import annotations

import time

import pytest

from motherlode.model import ContentKind, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdfa import MARKS, processor_graph
from motherlode.www.html_prefilter import marks_in
from tests.transform.rdfa.pages import rdfa, triples
from tests.www.pages import URL, document

OG = "http://ogp.me/ns#"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'<meta property="og:title">', True),
        (b"<p typeof=x>", True),
        (b"<p typeof = 'x'>", True),
        (b"<html vocab='http://schema.org/'>", True),
        (b"<a rel='license' href=x>", True),
        (b"<a rel='me nofollow dc:source' href=x>", True),
        (b"<a rev=dc:source href=x>", True),
        (b"<link rel=stylesheet href=x><a rel='nofollow noopener' href='http://x/'>", False),
        (b"if (typeof x === 'y')", False),
        (b"", False),
    ],
)
def test_marks_are_found_only_in_bodies_with_rdfa(body: bytes, expected: bool) -> None:  # noqa: FBT001 - given by the parameters
    assert MARKS.isdisjoint(marks_in(body)) is not expected


def test_opengraph_prefix_needs_no_declaration() -> None:
    assert triples(
        "<html lang=en><meta property=og:title content=Hello><meta property=og:image content='http://i/'>"
    ) == [
        ("<>", f"<{OG}title>", '"Hello"@en'),
        ("<>", f"<{OG}image>", '"http://i/"@en'),
    ]


def test_html_keywords_in_rel_make_no_statements() -> None:
    assert triples("<link rel=stylesheet href=a><link rel='shortcut icon' href=b><a rel=nofollow href=c>d</a>") == []


def test_malformed_xhtml_is_read_as_html_with_the_line_of_the_error() -> None:
    found = rdfa(
        "<html xmlns='http://www.w3.org/1999/xhtml'>\n<p property=dc:title>x<br></p></html>", kind=ContentKind.XHTML
    )
    assert len(found.statements) == 1
    (problem,) = found.problems
    assert problem.line == 2 and problem.repaired


def test_malformed_xml_is_read_up_to_the_error() -> None:
    found = rdfa('<root><p property="dc:title">x</p><q></root>', kind=ContentKind.XML)
    assert len(found.statements) == 1 and found.problems


def test_empty_document_has_no_statements() -> None:
    for kind in (ContentKind.HTML, ContentKind.XHTML, ContentKind.XML, ContentKind.SVG):
        assert rdfa("", kind=kind).statements == ()


def test_processor_graph_has_a_message_per_ignored_value() -> None:
    page = document("<body prefix='og: http://other/'><p property='nonsense' about='[none:x]'>y</p>")
    found = {o.rpartition("#")[2] for _, p, o, _ in processor_graph(page, BlankNames(URL, Syntax.RDFA)) if "type" in p}
    assert found == {"UnresolvedTerm>", "UnresolvedCURIE>", "PrefixRedefinition>", "Warning>"}


HOSTILE_PAGES = {
    "nested": "<div property=dc:title>" * 100_000 + "x",
    "nested subjects": "<div about=#a rel=dc:relation typeof=dc:Agent>" * 50_000,
    "nested text": "<div property=dc:title>" * 400 + "text " * 100_000,
    "many predicates": "<p property='" + " ".join(f"dc:p{i}" for i in range(50_000)) + "'>" + "x" * 100_000,
    "waiting relations": "<div rel='" + " ".join(f"dc:p{i}" for i in range(5_000)) + "'>" + "<a href=x></a>" * 5_000,
    "nested waiting relations": ("<div rel='" + " ".join(f"dc:p{i}" for i in range(100)) + "'>") * 400 + "<a href=x>",
    "many prefixes": "<div prefix='" + " ".join(f"p{i}: http://p/{i}" for i in range(100_000)) + "' property=p5:x>y",
    "nested prefixes": "".join(f"<div prefix='p{i}: http://p/{i}'>" for i in range(400))
    + "<p prefix='q: r' property=p:q>" * 9_000,
    "markup in markup": "<div property=dc:title datatype=rdf:XMLLiteral>" * 400 + "<i>x</i>" * 20_000,
    "html in html": "<div property=dc:title datatype=rdf:HTML>" * 400 + "<i>x</i>" * 20_000,
    "lists": "<p inlist property=dc:title>x" * 30_000,
    "copies": "<div vocab='http://www.w3.org/ns/rdfa#'>"
    + "".join(
        f"<p resource=#{i} typeof=Pattern><a property=copy href=#{(i * 7) % 500}></a><b property=v{i}>x</b></p>"
        for i in range(500)
    ),
    "a megabyte of attribute": "<p property='dc:" + "x" * 1_000_000 + "' about='" + "y" * 1_000_000 + "'>z",
    "50 MB": "<p property=dc:title>" + "x" * 50_000_000,
    "nulls": "<p property='dc:\0' about='\0' typeof='\0' prefix='\0: \0'>\0</p>",
}
CUT = ("nested text", "many predicates", "waiting relations", "markup in markup", "html in html")


@pytest.mark.parametrize("name", HOSTILE_PAGES)
def test_hostile_html_is_read_within_limits(name: str) -> None:
    started = time.process_time()
    page = document(HOSTILE_PAGES[name])
    found = rdfa(HOSTILE_PAGES[name])
    assert time.process_time() - started < 20
    assert len(found.statements) <= 510_000
    assert sum(len(statement[2]) for statement in found.statements) < 600_000_000
    if name in CUT:
        assert found.problems and found.statements
    assert page.body


@pytest.mark.parametrize("kind", [ContentKind.XHTML, ContentKind.XML, ContentKind.SVG])
def test_hostile_xml_is_read_within_limits(kind: ContentKind) -> None:
    entities = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    for markup in (
        "<p property='dc:title'>" * 100_000,
        "<r>" + "<p property='dc:title'>" * 200 + "x" * 1_000_000,
        f'<!DOCTYPE r [<!ENTITY a0 "ha">{entities}]><r property="dc:title" content="&a11;">&a11;</r>',
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r property="dc:title">&x;</r>',
    ):
        started = time.process_time()
        found = rdfa(markup, kind=kind)
        assert time.process_time() - started < 10
        assert all("root:" not in statement[2] for statement in found.statements)

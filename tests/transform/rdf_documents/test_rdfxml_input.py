"""Splitting, limits and XML literals of RDF/XML."""

from __future__ import annotations

import io

import pytest

from motherlode.model import Syntax
from motherlode.model.terms import RDF, literal
from motherlode.transform.rdf_documents import rdfxml_input
from motherlode.transform.rdf_documents.rdfxml_input import DocumentSplitter, LimitedFeed, canonicalize_literal
from motherlode.transform.rdf_documents.source import Source
from motherlode.www.xml import read_head

ROOT = b"<r>"
NODE = b"<a><b>1</b></a>\n"


def _cut(text: bytes, *, size: int = 20, depth: int = 0) -> int | None:
    """Return the offset at which a document is split that a parser reads in pieces of `size` bytes."""
    cutter = DocumentSplitter(Source(io.BytesIO(text), syntax=Syntax.RDF_XML), 0, depth=depth)
    for position in range(0, len(text), size):
        end = cutter.find_end(position, size)
        if end is not None:
            return end
    return None


@pytest.mark.parametrize("size", [1, 7, 20, 1000])
def test_splitter_splits_after_a_node(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdfxml_input, "PART_BYTES", 100)
    text = ROOT + NODE * 200
    end = _cut(text, size=size)
    assert end is not None
    assert text[:end].endswith(b"</a>")
    assert 100 <= end <= 100 + len(NODE) + 2 * size


@pytest.mark.parametrize(
    "between", [b"", b"<!-- <x> -->", b"<?x <y>?>", b"<![CDATA[</a>]]>", b"<c d='>/>'/>", b"<c>/></c>", b"<c> > </c>"]
)
def test_splitter_ignores_tags_in_comments_and_values(between: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdfxml_input, "PART_BYTES", 100)
    node = b"<a><b>" + between + b"</b></a>"
    text = ROOT + node * 200
    end = _cut(text)
    assert end is not None
    assert (end - len(ROOT)) % len(node) == 0


def test_splitter_finds_no_split_inside_a_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdfxml_input, "PART_BYTES", 100)
    assert _cut(ROOT + b"<a>" + NODE * 100) is None
    assert _cut(ROOT + b"<a>" + NODE * 100 + b"</a>") is not None


def test_splitter_does_not_split_short_documents() -> None:
    assert _cut(ROOT + NODE * 1000) is None


def test_splitter_unclosed_comment_stops_splitting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdfxml_input, "PART_BYTES", 100)
    monkeypatch.setattr(rdfxml_input, "_COUNT_BYTES", 1000)
    assert _cut(ROOT + b"<!--" + NODE * 1000) is None


# Limits


def _feed(text: bytes) -> tuple[Source, LimitedFeed]:
    source = Source(io.BytesIO(text), syntax=Syntax.RDF_XML)
    return source, LimitedFeed(source, read_head(text))


def test_limited_feed_replaces_document_type() -> None:
    _, feed = _feed(b'<!DOCTYPE a SYSTEM "x" [<!ENTITY b "c">]><a>&b;</a>')
    assert feed.read(1000) + feed.read(1000) == b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'


def test_limited_feed_entity_declaration_in_content_ends_document() -> None:
    source, feed = _feed(b"<a><!ENTITY b 'c'></a>")
    assert feed.read(1000) == b"<a>"
    assert feed.read(1000) == b""
    assert feed.is_stopped
    assert len(source.problems) == 1


# XML literals


def _canonical(value: str) -> str:
    return canonicalize_literal(literal(value, datatype=f"{RDF}XMLLiteral"))


@pytest.mark.parametrize(
    ("value", "canonical"),
    [
        ("text", "text"),
        ("<br/>", "<br></br>"),
        ('<b xmlns:x="urn:x"/>', "<b></b>"),
        ('<x:b xmlns:x="urn:x" xmlns:y="urn:y"/>', '<x:b xmlns:x="urn:x"></x:b>'),
        ("<b z='1' a=\"2\">\n\t\\ é</b>", '<b a="2" z="1">\n\t\\ é</b>'),
        ('<a xmlns="urn:a"/>x<a/>', '<a xmlns="urn:a"></a>x<a></a>'),
    ],
)
def test_canonicalize_literal_gives_exclusive_canonical_form(value: str, canonical: str) -> None:
    assert _canonical(value) == literal(canonical, datatype=f"{RDF}XMLLiteral")
    assert canonicalize_literal(_canonical(value)) == _canonical(value)


@pytest.mark.parametrize("value", ["<open>", "&undeclared;", "<a>" * 100_000 + "</a>" * 100_000, "\0<a/>"])
def test_canonicalize_literal_malformed_literal_is_unchanged(value: str) -> None:
    assert _canonical(value) == literal(value, datatype=f"{RDF}XMLLiteral")

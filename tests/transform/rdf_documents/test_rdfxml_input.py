from __future__ import annotations

import io

import pytest

from motherlode.model import Syntax
from motherlode.model.terms import RDF, literal
from motherlode.transform.rdf_documents import rdfxml_input as cutting
from motherlode.transform.rdf_documents.rdfxml_input import DocumentSplitter, LimitedFeed, canonicalize_literal
from motherlode.transform.rdf_documents.source import Source
from motherlode.www.xml import read_head

ROOT = b"<r>"
NODE = b"<a><b>1</b></a>\n"


def _cut(text: bytes, *, size: int = 20, depth: int = 0) -> int | None:
    """Where a document is cut that a parser takes by so many bytes."""
    cutter = DocumentSplitter(Source(io.BytesIO(text), syntax=Syntax.RDF_XML), 0, depth=depth)
    for position in range(0, len(text), size):
        end = cutter.find_end(position, size)
        if end is not None:
            return end
    return None


@pytest.mark.parametrize("size", [1, 7, 20, 1000])
def test_a_document_is_cut_behind_a_node(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "PART_BYTES", 100)
    text = ROOT + NODE * 200
    end = _cut(text, size=size)
    assert end is not None
    assert text[:end].endswith(b"</a>")
    assert 100 <= end <= 100 + len(NODE) + 2 * size


@pytest.mark.parametrize(
    "between", [b"", b"<!-- <x> -->", b"<?x <y>?>", b"<![CDATA[</a>]]>", b"<c d='>/>'/>", b"<c>/></c>", b"<c> > </c>"]
)
def test_what_looks_like_a_tag_and_is_none_is_not_counted(between: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "PART_BYTES", 100)
    node = b"<a><b>" + between + b"</b></a>"
    text = ROOT + node * 200
    end = _cut(text)
    assert end is not None
    assert (end - len(ROOT)) % len(node) == 0


def test_there_is_nowhere_to_cut_inside_of_a_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "PART_BYTES", 100)
    assert _cut(ROOT + b"<a>" + NODE * 100) is None
    assert _cut(ROOT + b"<a>" + NODE * 100 + b"</a>") is not None


def test_short_documents_are_not_cut() -> None:
    assert _cut(ROOT + NODE * 1000) is None


def test_a_comment_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "PART_BYTES", 100)
    monkeypatch.setattr(cutting, "_COUNT_BYTES", 1000)
    assert _cut(ROOT + b"<!--" + NODE * 1000) is None


# SECTION


def _feed(text: bytes) -> tuple[Source, LimitedFeed]:
    source = Source(io.BytesIO(text), syntax=Syntax.RDF_XML)
    return source, LimitedFeed(source, read_head(text))


def test_the_document_type_is_our_own() -> None:
    _, feed = _feed(b'<!DOCTYPE a SYSTEM "x" [<!ENTITY b "c">]><a>&b;</a>')
    assert feed.read(1000) + feed.read(1000) == b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'


def test_a_declaration_in_the_middle_ends_the_document() -> None:
    source, feed = _feed(b"<a><!ENTITY b 'c'></a>")
    assert feed.read(1000) == b"<a>"
    assert feed.read(1000) == b""
    assert feed.is_stopped
    assert len(source.problems) == 1


# SECTION


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
def test_exclusive_canonical_form(value: str, canonical: str) -> None:
    assert _canonical(value) == literal(canonical, datatype=f"{RDF}XMLLiteral")
    assert canonicalize_literal(_canonical(value)) == _canonical(value)


@pytest.mark.parametrize("value", ["<open>", "&undeclared;", "<a>" * 100_000 + "</a>" * 100_000, "\0<a/>"])
def test_what_is_not_well_formed_stays_as_it_is(value: str) -> None:
    assert _canonical(value) == literal(value, datatype=f"{RDF}XMLLiteral")

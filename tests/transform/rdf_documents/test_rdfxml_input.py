from __future__ import annotations

import io

import pytest

from motherlode.model import Statement, Syntax
from motherlode.model.terms import RDF, literal
from motherlode.transform.rdf_documents import rdfxml_input
from motherlode.transform.rdf_documents.rdfxml_input import (
    EMPTY_LANGUAGE,
    UNDECLARED_ENTITY,
    UNDECLARED_NAMESPACE,
    AttributeRepairer,
    DocumentSplitter,
    LimitedFeed,
    canonicalize_literal,
    document_type,
    encode_identifier,
    restore_statement,
)
from motherlode.transform.rdf_documents.source import Source
from motherlode.transform.rdf_documents.xml_scanner import OpenElements, parse_start_tag
from motherlode.www.media_types import RDF_NAMESPACE
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


RDF_ROOT = f'<r:RDF xmlns:r="{RDF_NAMESPACE}" xmlns:e="urn:e:" xml:base="http://b.example/c/">'.encode()


def _repair(markup: bytes, *, root: bytes = RDF_ROOT) -> tuple[list[tuple[bytes, bytes]], list[tuple[str, bool]]]:
    """Return the repaired attributes of a tag inside the root, and the messages with whether they are repairs."""
    elements, reported = OpenElements({}, "http://a.example/"), []

    def report(message: str, *, repaired: bool = False, once: bool = False) -> None:
        reported.append((message, repaired))

    tag = None
    for one in (root, markup):
        tag = parse_start_tag(one)
        assert tag is not None
        elements.open(tag)
    assert tag is not None
    return AttributeRepairer(elements, report).repair_attributes(tag), reported


def test_repair_attributes_valid_tag_is_unchanged() -> None:
    tag = b'<e:A r:about="x y" e:p="1" xml:lang="de-CH" xmlns:f="urn:f:" f:q="2" r:parseType="Resource">'
    found = parse_start_tag(tag)
    assert found is not None
    assert _repair(tag) == (list(found.attributes), [])


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (b'about="x"', (b"r:about", b"x")),
        (b'r:ID="1x"', (b"r:ID", b"x-repaired-3178")),
        (b'xml:lang="de_CH"', (b"xml:lang", b"de-CH")),
    ],
)
def test_repair_attributes_unambiguous_fault_is_repaired_and_reported(given: bytes, made: tuple[bytes, bytes]) -> None:
    attributes, reported = _repair(b"<e:A " + given + b">")
    assert attributes == [made]
    assert [repaired for _, repaired in reported] == [True]


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (b'xml:lang=""', (b"xml:lang", EMPTY_LANGUAGE.encode())),
        (b'xml:base="../d"', (b"xml:base", b"http://b.example/d")),
        (b'xml:base="http://d.example/"', (b"xml:base", b"http://d.example/")),
        (b'r:parseType="daml:collection"', (b"r:parseType", b"Literal")),
    ],
)
def test_repair_attributes_valid_value_unknown_to_parser_is_replaced_silently(
    given: bytes, made: tuple[bytes, bytes]
) -> None:
    assert _repair(b"<e:A " + given + b">") == ([made], [])


def test_repair_attributes_meaningless_attribute_is_reported_and_dropped() -> None:
    attributes, reported = _repair(b'<e:A foo="1" g:p="2">')
    namespace = f"{UNDECLARED_NAMESPACE}{b'g'.hex()}:".encode()
    assert attributes == [(b"g:p", b"2"), (b"xmlns:g", namespace)]
    assert [repaired for _, repaired in reported] == [False] * 2


def test_repair_attributes_white_space_before_reference_is_removed() -> None:
    attributes, reported = _repair(b'<e:A r:about=" urn:a" e:p=" 1">')
    assert attributes == [(b"r:about", b"urn:a"), (b"e:p", b" 1")]
    assert [repaired for _, repaired in reported] == [True]


def test_repair_attributes_missing_rdf_prefix_is_declared() -> None:
    root = f'<RDF xmlns="{RDF_NAMESPACE}">'.encode()
    attributes, _ = _repair(b'<Description about="x">', root=root)
    assert attributes == [(b"xmlns:x-repaired-rdf", RDF_NAMESPACE.encode()), (b"x-repaired-rdf:about", b"x")]


def test_repair_attributes_empty_language_of_root_is_removed() -> None:
    elements = OpenElements({})
    tag = parse_start_tag(RDF_ROOT[:-1] + b' xml:lang="">')
    assert tag is not None
    elements.open(tag)
    made = AttributeRepairer(elements, lambda message, *, repaired=False, once=False: None).repair_attributes(tag)
    assert b"xml:lang" not in dict(made)


# Markers in statements


def test_restore_statement_decodes_identifiers() -> None:
    name = encode_identifier("1é".encode()).decode()
    assert name.isascii()
    assert name[0].isalpha()
    given = (f"<http://e.org/#{name}>", "<urn:p>", f"<http://e.org/#{name}>", "")
    assert restore_statement(given) == ("<http://e.org/#1é>", "<urn:p>", "<http://e.org/#1é>", "")
    assert restore_statement(("<urn:a>", "<urn:p>", f'"{name}"', "")) == ("<urn:a>", "<urn:p>", f'"{name}"', "")


@pytest.mark.parametrize(
    "statement",
    [
        (f"<urn:{UNDECLARED_ENTITY}>", "<urn:p>", '"1"', ""),
        ("<urn:a>", f"<urn:{UNDECLARED_ENTITY}p>", '"1"', ""),
        ("<urn:a>", "<urn:p>", f'"1{UNDECLARED_ENTITY}"@en', ""),
        ("<urn:a>", f"<{UNDECLARED_NAMESPACE}67:p>", '"1"', ""),
        ("<urn:a>", "<urn:p>", f'"1"^^<{UNDECLARED_NAMESPACE}>', ""),
    ],
)
def test_restore_statement_meaningless_statement_is_dropped(statement: Statement) -> None:
    assert restore_statement(statement) is None


def test_restore_statement_empty_language_is_removed() -> None:
    assert restore_statement(("<urn:a>", "<urn:p>", f'"1"@{EMPTY_LANGUAGE}', "")) == ("<urn:a>", "<urn:p>", '"1"', "")


def test_restore_statement_markers_in_text_are_kept() -> None:
    statement = ("<urn:a>", "<urn:p>", f'"{UNDECLARED_NAMESPACE}"', "")
    assert restore_statement(statement) == statement


def test_document_type_gives_expected_results_for_short_texts() -> None:
    assert (document_type("a", {"x": "1 & 2"}), document_type("a", {})) == (
        b'<!DOCTYPE a [<!ENTITY x "1 &amp; 2">]>',
        b"",
    )


def test_restore_statement_gives_expected_results_for_short_texts() -> None:
    assert (restore_statement(("<http://example.org/#x-repaired-3162>", "<urn:p>", "<urn:o>", ""))) == (
        "<http://example.org/#1b>",
        "<urn:p>",
        "<urn:o>",
        "",
    )


def test_canonicalize_literal_gives_expected_results_for_short_texts() -> None:
    assert (
        canonicalize_literal(f'"<b xmlns=\\"urn:b\\" xmlns:c=\\"urn:c\\"/>"^^<{RDF}XMLLiteral>')
    ) == '"<b xmlns=\\"urn:b\\"></b>"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral>'

"""Repair of attributes, and the markers in statements."""

from __future__ import annotations

import pytest

from motherlode.model import Statement
from motherlode.transform.rdf_documents.rdfxml_attributes import (
    EMPTY_LANGUAGE,
    UNDECLARED_ENTITY,
    UNDECLARED_NAMESPACE,
    AttributeRepairer,
    encode_identifier,
    restore_statement,
)
from motherlode.transform.rdf_documents.xml_scanner import OpenElements, parse_start_tag
from motherlode.www.media_types import RDF_NAMESPACE

ROOT = f'<r:RDF xmlns:r="{RDF_NAMESPACE}" xmlns:e="urn:e:" xml:base="http://b.example/c/">'.encode()


def _repair(markup: bytes, *, root: bytes = ROOT) -> tuple[list[tuple[bytes, bytes]], list[tuple[str, bool]]]:
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
    tag = parse_start_tag(ROOT[:-1] + b' xml:lang="">')
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

"""Input for the RDF/XML parser: splitting of long documents, limits on entities and attributes, and XML literals.

Long documents are split between nodes, so that each part is still in the window of the source when its parser stops. To
find the end of a node, tags are counted. A byte search does this in most text, a hundred times faster than the parser;
the rest is scanned tag by tag.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from lxml import etree

from motherlode.model import Problem, Syntax
from motherlode.model.terms import RDF, literal
from motherlode.transform.rdf_documents.source import WINDOW_BYTES, Feed, Source
from motherlode.transform.rdf_documents.xml_scanner import count_depth, find_last_boundary
from motherlode.www.xml import XmlHead

PART_BYTES = WINDOW_BYTES // 4
"""Bytes after which a document is split."""
_COUNT_BYTES = 1 << 20
"""Bytes whose tags are counted at once."""


class DocumentSplitter:
    """Finds split positions in a document that is read from `start`, where `depth` elements are open."""

    def __init__(self, source: Source, start: int, *, depth: int) -> None:
        self._source = source
        self._split_after = start + PART_BYTES
        self._counted = start
        self._depth = depth
        self._is_stopped = False
        """Whether counting stopped because a comment or text was too long."""

    def find_end(self, position: int, size: int) -> int | None:
        """Return the end of a child of the root within the next `size` bytes, if a split is due; else None."""
        if position >= self._split_after or position - self._counted >= _COUNT_BYTES:
            self._count(position)
        if position < self._split_after or self._is_stopped:
            return None
        text = self._source.get(self._counted, position + size - self._counted)
        end = self._counted + find_last_boundary(text, depth=self._depth)
        return end if end > max(position, self._counted) else None

    def _count(self, position: int) -> None:
        if not self._is_stopped:
            text = self._source.get(self._counted, position - self._counted)
            self._depth, passed = count_depth(text, depth=self._depth)
            self._counted += passed
            self._is_stopped = position - self._counted >= _COUNT_BYTES


# Limits

_MAX_ATTRIBUTES = 20_000
"""Maximum per element. The parser's time grows with the square of the number."""
_MAX_EXPANSION_RATIO = 20
_FREE_EXPANSION_BYTES = 1 << 24
"""Expanded entities may be this many times as long as the document, plus the free bytes."""

_ENTITY_DECLARATION = b"<!ENTITY"
_REFERENCE = re.compile(rb"&([^\s;&#]{1,64});")


class LimitedFeed(Feed):
    """Ends the document before it harms the parser, which has no limits on attributes and entities of its own."""

    def __init__(self, source: Source, head: XmlHead | None) -> None:
        entities = head.entities if head else {}
        start, name = (head.root_offset, head.name) if head else (0, "RDF")
        super().__init__(source, start=start, header=document_type(name, entities))
        self.is_stopped = False
        self._entities = {name.encode(): len(value) for name, value in entities.items()}
        self._expanded = 0
        self._open_attributes = 0
        self._tail = b""

    def read(self, size: int) -> bytes:
        """Return the next bytes for the parser, or b"" if a limit ends the document."""
        if self._header:
            return super().read(size)
        given = b"" if self.is_stopped else self._read_piece(size)
        last = given.rfind(b">") + 1
        self._open_attributes = given.count(b"=", last) + (0 if last else self._open_attributes)
        if self._entities and b"&" in given:
            self._expanded += sum(self._entities.get(name, 0) for name in _REFERENCE.findall(given))
        declared = (self._tail + given).find(_ENTITY_DECLARATION)
        if declared != -1:  # the parser accepts declarations anywhere and expands them without limit
            before = given[: max(declared - len(self._tail), 0)]
            return self._stop("an entity is declared outside the document type; the rest was left out", before)
        self._tail = (self._tail + given)[1 - len(_ENTITY_DECLARATION) :]
        if self._open_attributes > _MAX_ATTRIBUTES:
            return self._stop("an element with too many attributes; the rest was left out")
        if self._is_too_long():
            return self._stop("entities that make the document too long; the rest was left out")
        return given

    def _read_piece(self, size: int) -> bytes:
        """Return the next bytes for the parser and advance `position`."""
        given = self._source.get(self.position, size)
        self.position += len(given)
        return given

    def _is_too_long(self) -> bool:
        return self._expanded > _FREE_EXPANSION_BYTES + _MAX_EXPANSION_RATIO * self.position

    def _stop(self, message: str, before: bytes = b"") -> bytes:
        self.is_stopped = True
        self._open_attributes = self._expanded = 0
        self._tail = b""
        line, column = self._source.position_of(self.position)
        self._source.problems.append(Problem(syntax=Syntax.RDF_XML, message=message, line=line, column=column))
        return before


def document_type(name: str, entities: Mapping[str, str]) -> bytes:
    """Return a document type declaration for entities whose text is already expanded.

    >>> document_type("a", {"x": "1 & 2"}), document_type("a", {})
    (b'<!DOCTYPE a [<!ENTITY x "1 &amp; 2">]>', b'')
    """
    declared = "".join(f'<!ENTITY {entity} "{escape_xml(value)}">' for entity, value in entities.items())
    return f"<!DOCTYPE {name} [{declared}]>".encode() if declared else b""


def escape_xml(value: str) -> str:
    """Escape text for use anywhere in XML."""
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


# XML literals in exclusive canonical form (Exclusive XML Canonicalization 1.0)

_ESCAPE = re.compile(r'\\(["\\nr])')
_UNESCAPED = {"n": "\n", "r": "\r", '"': '"', "\\": "\\"}
_SUFFIX = f'"^^<{RDF}XMLLiteral>'
_CHARACTER_REFERENCE = re.compile(r"&([^\s;&#<>]{1,64});")
_START_TAG = re.compile(r'<[^\s<>/!?]++(?:\s++[^\s=<>"]++="[^"]*+")++\s*+/?>')
_ATTRIBUTE = re.compile(r'\s++([^\s=<>"]++)="[^"]*+"')
_NO_ENTITIES: Mapping[str, str] = MappingProxyType({})


def canonicalize_literal(term: str, entities: Mapping[str, str] = _NO_ENTITIES) -> str:
    """Return the literal with only the namespaces that it uses; unchanged if it is not well-formed.

    The parser leaves entities unexpanded in attributes, and in the namespaces that it adds to each literal.

    >>> canonicalize_literal(f'"<b xmlns=\\\\"urn:b\\\\" xmlns:c=\\\\"urn:c\\\\"/>"^^<{RDF}XMLLiteral>')
    '"<b xmlns=\\\\"urn:b\\\\"></b>"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral>'
    """
    value = _ESCAPE.sub(lambda match: _UNESCAPED[match[1]], term[1 : -len(_SUFFIX)])
    if entities and "&" in value:
        value = _CHARACTER_REFERENCE.sub(lambda match: _expand_reference(match, entities), value)
    root = _parse_literal(value)
    if root is None:
        root = _parse_literal(_START_TAG.sub(_remove_repeated_attributes, value))
    if root is None:
        return term
    canonical = etree.tostring(root, method="c14n", exclusive=True, with_comments=True).decode()
    return literal(canonical.removeprefix("<x>").removesuffix("</x>"), datatype=f"{RDF}XMLLiteral")


def _parse_literal(value: str) -> Any:
    """Parse the text of a literal inside a wrapper element. Return None if it is not well-formed."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return etree.fromstring(f"<x>{value}</x>".encode(), parser)
    except etree.XMLSyntaxError:
        return None


def _remove_repeated_attributes(tag: re.Match[str]) -> str:
    """Return a start tag without repeated attributes. The parser adds namespaces that are already declared."""
    seen: set[str] = set()

    def first(attribute: re.Match[str]) -> str:
        name = attribute[1]
        if name in seen:
            return ""
        seen.add(name)
        return attribute[0]

    return _ATTRIBUTE.sub(first, tag[0])


def _expand_reference(reference: re.Match[str], entities: Mapping[str, str]) -> str:
    text = entities.get(reference[1])
    return reference[0] if text is None else escape_xml(text)

"""XML literals in exclusive canonical form (Exclusive XML Canonicalization 1.0)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from lxml import etree

from motherlode.model.terms import RDF, literal
from motherlode.transform.documents.guarded import escaped

_ESCAPE = re.compile(r'\\(["\\nr])')
_ESCAPED = {"n": "\n", "r": "\r", '"': '"', "\\": "\\"}
_SUFFIX = f'"^^<{RDF}XMLLiteral>'
_REFERENCE = re.compile(r"&([^\s;&#<>]{1,64});")
_START_TAG = re.compile(r'<[^\s<>/!?]++(?:\s++[^\s=<>"]++="[^"]*+")++\s*+/?>')
_ATTRIBUTE = re.compile(r'\s++([^\s=<>"]++)="[^"]*+"')
_NONE: Mapping[str, str] = MappingProxyType({})


def canonical_literal(term: str, entities: Mapping[str, str] = _NONE) -> str:
    """The literal with the namespaces that it uses and no others; as it was, where it is not well-formed.

    The parser leaves entities as they are in attributes, and in the namespaces that it writes into each literal.

    >>> canonical_literal(f'"<b xmlns=\\\\"urn:b\\\\" xmlns:c=\\\\"urn:c\\\\"/>"^^<{RDF}XMLLiteral>')
    '"<b xmlns=\\\\"urn:b\\\\"></b>"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral>'
    """
    value = _ESCAPE.sub(lambda match: _ESCAPED[match[1]], term[1 : -len(_SUFFIX)])
    if entities and "&" in value:
        value = _REFERENCE.sub(lambda match: _expansion(match, entities), value)
    root = _root(value)
    if root is None:
        root = _root(_START_TAG.sub(_attributes_once, value))
    if root is None:
        return term
    canonical = etree.tostring(root, method="c14n", exclusive=True, with_comments=True).decode()
    return literal(canonical.removeprefix("<x>").removesuffix("</x>"), datatype=f"{RDF}XMLLiteral")


def _root(value: str) -> Any:
    """An element around the text of a literal, or None where that is not well-formed."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return etree.fromstring(f"<x>{value}</x>".encode(), parser)
    except etree.XMLSyntaxError:
        return None


def _attributes_once(tag: re.Match[str]) -> str:
    """A start tag without the namespaces that the parser writes into it although they are there."""
    seen: set[str] = set()

    def first(attribute: re.Match[str]) -> str:
        name = attribute[1]
        if name in seen:
            return ""
        seen.add(name)
        return attribute[0]

    return _ATTRIBUTE.sub(first, tag[0])


def _expansion(reference: re.Match[str], entities: Mapping[str, str]) -> str:
    text = entities.get(reference[1])
    return reference[0] if text is None else escaped(text)

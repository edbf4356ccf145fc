"""XML literals in exclusive canonical form (Exclusive XML Canonicalization 1.0)."""

from __future__ import annotations

import re

from lxml import etree

from motherlode.model.terms import RDF, literal

_ESCAPE = re.compile(r'\\(["\\nr])')
_ESCAPED = {"n": "\n", "r": "\r", '"': '"', "\\": "\\"}
_SUFFIX = f'"^^<{RDF}XMLLiteral>'


def canonical_literal(term: str) -> str:
    """The literal with the namespaces that it uses and no others; as it was, where it is not well-formed.

    >>> canonical_literal(f'"<b xmlns=\\\\"urn:b\\\\" xmlns:c=\\\\"urn:c\\\\"/>"^^<{RDF}XMLLiteral>')
    '"<b xmlns=\\\\"urn:b\\\\"></b>"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral>'
    """
    value = _ESCAPE.sub(lambda match: _ESCAPED[match[1]], term[1 : -len(_SUFFIX)])
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(f"<x>{value}</x>".encode(), parser)
    except etree.XMLSyntaxError:
        return term
    canonical = etree.tostring(root, method="c14n", exclusive=True, with_comments=True).decode()
    return literal(canonical.removeprefix("<x>").removesuffix("</x>"), datatype=f"{RDF}XMLLiteral")

"""Repair the attributes of RDF/XML start tags.

Values that the parser would reject are replaced by markers. `restore_statement` converts the markers in the resulting
statements back, or drops the statement if a part of it has no meaning.
"""

from __future__ import annotations

import re
from typing import Protocol

from motherlode.model import Statement
from motherlode.transform.rdf_documents.rdfxml_input import escape_xml
from motherlode.transform.rdf_documents.xml_scanner import OpenElements, StartTag
from motherlode.www.iri import check
from motherlode.www.media_types import RDF_NAMESPACE
from motherlode.www.xml import is_ncname

UNDECLARED_NAMESPACE = "urn:x-undeclared-prefix:"
"""Namespace for names with an undeclared prefix. Statements with such a name are dropped."""
UNDECLARED_ENTITY = "\U000efffe"
"""Replaces an undeclared entity. XML allows this character everywhere, even in names, and no real text contains it,
because it is not assigned. Statements with it are dropped."""
EMPTY_LANGUAGE = "x-repaired-none"
"""Replaces an empty language tag, which cancels the language of the ancestors."""
_EMPTY_LANGUAGE_SUFFIX = f"@{EMPTY_LANGUAGE}"
_ENCODED_PREFIX = "x-repaired-"
_ENCODED_IRI = re.compile(rf"#{_ENCODED_PREFIX}([0-9a-f]*)>")


def encode_identifier(identifier: bytes) -> bytes:
    """Return an XML name that encodes an identifier which is not an XML name."""
    return (_ENCODED_PREFIX + identifier.hex()).encode()


def restore_statement(statement: Statement) -> Statement | None:
    """Replace the markers in a statement by the original values; None if the statement must be dropped.

    >>> restore_statement(("<http://example.org/#x-repaired-3162>", "<urn:p>", "<urn:o>", ""))
    ('<http://example.org/#1b>', '<urn:p>', '<urn:o>', '')
    """
    subject, predicate, obj, graph = statement
    if UNDECLARED_ENTITY in subject or UNDECLARED_ENTITY in predicate or UNDECLARED_ENTITY in obj:
        return None
    if UNDECLARED_NAMESPACE in predicate or (obj[-1] == ">" and UNDECLARED_NAMESPACE in obj):
        return None
    if obj.endswith(_EMPTY_LANGUAGE_SUFFIX):
        obj = obj.removesuffix(_EMPTY_LANGUAGE_SUFFIX)
    if _ENCODED_PREFIX in subject or _ENCODED_PREFIX in obj:
        subject, obj = _decode_identifier(subject), _decode_identifier(obj)
    return subject, predicate, obj, graph


def _decode_identifier(term: str) -> str:
    if term[0] != "<":
        return term
    decoded = _ENCODED_IRI.sub(lambda match: f"#{bytes.fromhex(match[1]).decode(errors='replace')}>", term)
    return check(decoded[1:-1]).term


# Repair of attributes

_MAX_UNDECLARED_PREFIXES = 100
"""Undeclared prefixes that are repaired per document."""
_UNQUALIFIED = frozenset({b"ID", b"about", b"parseType", b"resource", b"type"})
"""RDF attributes that may be written without a namespace (RDF 1.1 XML Syntax, section 6.1.4)."""
LITERAL = b"Literal"
PARSE_TYPES = frozenset({LITERAL, b"Resource", b"Collection", b"Triple"})
"""Parse types that the parser knows. All others mean a literal (section 7.2.20), but the parser ignores them. Triple is
new in RDF 1.2."""
_RDF_PREFIX = b"x-repaired-rdf"
_FRAGMENT = re.compile(r'[^\x00-\x20<>"{}|^`\\#%&\ufffd]+')
"""Valid fragments of an IRI. Such an identifier can be kept; others are left to the parser."""
_REFERENCES = (b"about", b"resource", b"datatype")
_LOCALE = re.compile(rb"[A-Za-z]{1,8}(?:_[A-Za-z0-9]{1,8})+")
"""A locale such as de_CH: a language tag with underscores instead of hyphens."""

Attribute = tuple[bytes, bytes]


class ReportProblem(Protocol):
    """Records a problem. With `once`, equal messages are recorded only once per document."""

    def __call__(self, message: str, *, repaired: bool = False, once: bool = False) -> None: ...


class AttributeRepairer:
    """Repairs the attributes of start tags. The element of the tag must be the innermost open element."""

    def __init__(self, elements: OpenElements, report: ReportProblem) -> None:
        self._open = elements
        self._report = report
        self._undeclared: set[bytes] = set()

    def repair_attributes(self, tag: StartTag) -> list[Attribute]:
        """Return the repaired attributes of a tag outside XML literals."""
        found = [one for name, value in tag.attributes for one in self._repair_attribute(tag, name, value)]
        for prefix in self._find_undeclared_prefixes(tag):
            shown = (
                f"the prefix {prefix.decode(errors='replace')}:" if prefix else "the namespace of names without prefix"
            )
            self._report(f"{shown} is not declared; statements that use it were left out")
            namespace = f"{UNDECLARED_NAMESPACE}{prefix.hex()}:"
            self._undeclared.add(prefix)
            self._open.declare(prefix, namespace)
            found.append((b"xmlns:" + prefix if prefix else b"xmlns", namespace.encode()))
        return found

    def _repair_attribute(self, tag: StartTag, name: bytes, value: bytes) -> list[Attribute]:
        added = []
        if b":" not in name and name != b"xmlns":
            shown = name.decode(errors="replace")
            prefix = self._open.rdf_prefix()
            if name not in _UNQUALIFIED or tag.value(prefix + b":" + name) is not None:
                self._report(f"the attribute {shown} has no namespace; it was left out")
                return []
            if not prefix:
                prefix = _RDF_PREFIX
                self._open.declare(prefix, RDF_NAMESPACE)
                added.append((b"xmlns:" + prefix, RDF_NAMESPACE.encode()))
            self._report(f"the attribute {shown} was read as rdf:{shown}", repaired=True, once=True)
            name = prefix + b":" + name
        if name == b"xml:lang" and not value and len(self._open) == 1:
            return []  # no ancestor has a language that it could cancel
        return [*added, (name, self._repair_value(name, value))]

    def _repair_value(self, name: bytes, value: bytes) -> bytes:
        if name == b"xml:lang":
            return self._repair_language(value)
        if name == b"xml:base":
            return escape_xml(self._open.base).encode()  # the attribute may be relative to the outer base
        if self._open.is_rdf(name, b"ID") or self._open.is_rdf(name, b"nodeID"):
            return self._repair_identifier(name, value)
        if value[:1].isspace() and any(self._open.is_rdf(name, one) for one in _REFERENCES):
            self._report("white space before an IRI was left out", repaired=True, once=True)
            return value.lstrip()
        if self._open.is_rdf(name, b"parseType") and value not in PARSE_TYPES:
            return LITERAL
        return value

    def _repair_language(self, value: bytes) -> bytes:
        if not value:
            return EMPTY_LANGUAGE.encode()
        if not _LOCALE.fullmatch(value):
            return value
        self._report(f"xml:lang={value.decode()!r} should have hyphens", repaired=True, once=True)
        return value.replace(b"_", b"-")

    def _repair_identifier(self, name: bytes, value: bytes) -> bytes:
        text = value.decode(errors="replace")
        if is_ncname(text) or not _FRAGMENT.fullmatch(text):
            return value
        self._report(f"{name.decode(errors='replace')}={text[:100]!r} is not an XML name", repaired=True)
        return encode_identifier(value)

    def _find_undeclared_prefixes(self, tag: StartTag) -> list[bytes]:
        """Return the undeclared prefixes of a tag; none once the limit is reached, because then repair is pointless."""
        prefixes = dict.fromkeys(name.rpartition(b":")[0] for name, _ in tag.attributes if b":" in name)
        prefixes[tag.name.rpartition(b":")[0]] = None
        missing = [one for one in prefixes if one != b"xmlns" and not self._open.namespace(one)]
        return missing if len(self._undeclared) < _MAX_UNDECLARED_PREFIXES else []

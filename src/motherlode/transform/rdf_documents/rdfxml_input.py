"""Input for the RDF/XML parser: splitting of documents, limits, repair of attributes, and XML literals.

Long documents are split between nodes, so that each part is still in the window of the source when its parser stops.
Attribute values that the parser would reject are replaced by markers, which `restore_statement` converts back.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from lxml import etree

from motherlode.model import Problem, Statement, Syntax
from motherlode.model.terms import RDF, literal
from motherlode.transform.rdf_documents.source import WINDOW_BYTES, Feed, Source
from motherlode.transform.rdf_documents.xml_scanner import OpenElements, StartTag, count_depth, find_last_boundary
from motherlode.www.iri import check
from motherlode.www.media_types import RDF_NAMESPACE
from motherlode.www.xml import XmlHead, is_ncname

PART_BYTES = WINDOW_BYTES // 4
"""Bytes after which a document is split."""
_COUNT_BYTES = 1 << 20


class DocumentSplitter:
    """Finds split positions in a document that is read from `start`, where `depth` elements are open."""

    def __init__(self, source: Source, start: int, *, depth: int) -> None:
        self._source = source
        self._split_after = start + PART_BYTES
        self._counted = start
        self._depth = depth
        self._is_stopped = False
        """Whether no further split position is searched, because a comment or text was too long."""

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
"""Maximum number of attributes per element. The parser's time grows with the square of the number."""
_MAX_EXPANSION_RATIO = 20
_FREE_EXPANSION_BYTES = 1 << 24
"""Limit on the total length of expanded entities: this many times the length of the document, plus the free bytes."""

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
    """Return a document type declaration for entities whose text is already expanded."""
    declared = "".join(f'<!ENTITY {entity} "{escape_xml(value)}">' for entity, value in entities.items())
    return f"<!DOCTYPE {name} [{declared}]>".encode() if declared else b""


def escape_xml(value: str) -> str:
    """Escape text for use anywhere in XML."""
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


# Repair of attributes

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
    """Replace the markers in a statement by the original values; None if the statement must be dropped."""
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


_MAX_UNDECLARED_PREFIXES = 100
"""Maximum number of undeclared prefixes that are repaired per document."""
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


class AttributeRepairer:
    """Repairs the attributes of start tags. The element of the tag must be the innermost open element."""

    def __init__(self, elements: OpenElements, report: Callable[..., None]) -> None:
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


# XML literals in exclusive canonical form (Exclusive XML Canonicalization 1.0)

_ESCAPE = re.compile(r'\\(["\\nr])')
_UNESCAPED = {"n": "\n", "r": "\r", '"': '"', "\\": "\\"}
_SUFFIX = f'"^^<{RDF}XMLLiteral>'
_CHARACTER_REFERENCE = re.compile(r"&([^\s;&#<>]{1,64});")
_START_TAG = re.compile(r'<[^\s<>/!?]++(?:\s++[^\s=<>"]++="[^"]*+")++\s*+/?>')
_ATTRIBUTE = re.compile(r'\s++([^\s=<>"]++)="[^"]*+"')
_NO_ENTITIES: Mapping[str, str] = MappingProxyType({})


_XML_LITERAL = re.compile(rf'"(?:[^"\\]|\\.)*<(?:[^"\\]|\\.)*"\^\^<{re.escape(RDF)}XMLLiteral>')


def canonicalize_literals(term: str, entities: Mapping[str, str] = _NO_ENTITIES) -> str:
    """Return a term with its XML literals, of which a triple term may have several, in canonical form."""
    return _XML_LITERAL.sub(lambda found: canonicalize_literal(found[0], entities), term)


def canonicalize_literal(term: str, entities: Mapping[str, str] = _NO_ENTITIES) -> str:
    """Return the literal with expanded entities and only the namespaces it uses; unchanged if not well-formed."""
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

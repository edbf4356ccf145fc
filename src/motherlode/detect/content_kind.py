"""Sniffing: the content kind of a body by its bytes. Header and extension decide between kinds that look alike."""

import re
from typing import NamedTuple

from motherlode.model import ContentKind
from motherlode.www.media_types import MEDIA, RDF_NAMESPACE, XHTML_NAMESPACE, by_root
from motherlode.www.xml import XmlHead, read_head

_MAX_PROLOG_BYTES = 1 << 16
"""Bytes that are searched for the XML root element or for RDF after long comments and document types."""
_MAX_JSON_BYTES = 1 << 20
"""Maximum number of bytes of JSON that are searched for keywords of JSON-LD."""
_MAX_CHECKED_LINES = 8

_PLAIN_HTML = re.compile(rb"\s*+(?:<!doctype html>\s*+)?<html[\s>]", re.IGNORECASE)
_OWL_XML = ("http://www.w3.org/2002/07/owl#", "Ontology")
_HTML_MARKERS = tuple(marker.encode() for marker in MEDIA[ContentKind.HTML].markers)
_TAG_END = b" \t\r\n\f/>"

_JSON = re.compile(rb'\{\s*(?:"|\}\s*\Z)|\[\s*(?:[{"\[\-\d]|\]\s*\Z|true|false|null)')
_JSON_LD_ONLY = re.compile(rb'"@(?:context|graph|value)"\s*:')
_JSON_LD_NODE = re.compile(rb'"@id"\s*:')
_JSON_LD_TYPE = re.compile(rb'"@type"\s*:|"[a-z]+://[^"\s]*"\s*:')


class KindHints(NamedTuple):
    """The kinds that the Content-Type header and the extension of the URL announce; None if they announce none."""

    declared: ContentKind | None = None
    extension: ContentKind | None = None


def is_plain_html(body: bytes) -> bool:
    """Whether a body declared as HTML begins with `<html>`, as five pages in six do. Sniffing is not needed then."""
    return _PLAIN_HTML.match(body) is not None


def sniff(head: bytes, body: bytes, hints: KindHints) -> ContentKind | None:
    """Return the kind that the content proves, or None. `head` begins at the first byte that is not white space."""
    if _JSON.match(head):
        return _sniff_json(body, hints)
    rdf = sniff_rdf_text(head, hints)
    if len(head) < len(body) and _needs_more_text(rdf, head, body):
        rdf = sniff_rdf_text(body[:_MAX_PROLOG_BYTES].lstrip(), hints)
    if rdf is None and head.startswith(b"<"):
        return _sniff_markup(head, body, hints)
    return rdf


def _sniff_json(body: bytes, hints: KindHints) -> ContentKind:
    if ContentKind.JSON_LD in hints:
        return ContentKind.JSON_LD
    text = body[:_MAX_JSON_BYTES]
    if b'"@' in text and (_JSON_LD_ONLY.search(text) or (_JSON_LD_NODE.search(text) and _JSON_LD_TYPE.search(text))):
        return ContentKind.JSON_LD
    return ContentKind.JSON


# Turtle, TriG, N3, N-Triples and N-Quads

_TURTLE_KINDS = frozenset({ContentKind.TURTLE, ContentKind.TRIG, ContentKind.N3})
_LINE_KINDS = frozenset({ContentKind.N_TRIPLES, ContentKind.N_QUADS})

_IRI = rb'<[^\s<>"{}|^`\\]*+>'
_ABSOLUTE = rb'<[A-Za-z][A-Za-z0-9+.\-]*+:[^\s<>"{}|^`]*+>'
_LIKELY_IRI = rb'(?:<>|<(?=[^\s<>":#/]*+[:#/])[^\s<>"]*+>)'
_BLANK = rb"_:[\w.\-]+"
_STRING = rb'"(?:[^"\\\n]|\\.)*+"(?:@[A-Za-z0-9\-]+|\^\^' + _ABSOLUTE + rb")?"

_COMMENTS = re.compile(rb"(?:\s++|#[^\n]*+)*+")
_PREFIX = rb"[\w.\-\x80-\xff]*:"
_DIRECTIVE = re.compile(
    rb"(?:@?prefix\s+%s\s*%s|@?base\s+%s|@?version\s+[\"'][^\"']*[\"'])\s*\.?" % (_PREFIX, _IRI, _IRI), re.IGNORECASE
)
_VERSION_LINES = re.compile(rb'(?:VERSION[ \t]+"[^"\\\n]*"[ \t]*(?:#[^\n]*)?\r?\n(?:\s++|#[^\n]*+)*+)++')
"""Version directives in the form that N-Triples and N-Quads of RDF 1.2 have too."""
_SPARQL = re.compile(rb"(?:select|construct|ask|describe|insert|delete|load|clear|drop|with)\b", re.IGNORECASE)
_N3_DIRECTIVE = re.compile(rb"@(?:keywords|forall|forsome)\b", re.IGNORECASE)
_LINE = re.compile(
    rb"(?:%(iri)s|%(blank)s)[ \t]*%(iri)s[ \t]*(?:%(iri)s|%(blank)s|%(string)s|<<\(.*\)>>)[ \t]*"
    rb"(?P<graph>%(iri)s|%(blank)s)?[ \t]*\.[ \t]*(?:#.*)?\r?$"
    % {b"iri": _ABSOLUTE, b"blank": _BLANK, b"string": _STRING}
)
_TRIPLE = re.compile(
    rb"(?:%(iri)s|%(blank)s|\[\s*\])\s+(?:a|%(iri)s)\s+(?:%(iri)s\s*[.;,]|\"|'|_:|\[|\(|[+\-\d]|true|false)"
    % {b"iri": _LIKELY_IRI, b"blank": _BLANK}
)
_TURTLE_ONLY = re.compile(
    rb"@?(?:prefix|base)\b|[A-Za-z][\w\-]*:[^/\s]|.*[;,{\[(][ \t]*\Z"
    rb"|(?:%(iri)s|%(blank)s|\[\s*\])\s+(?:a\s|%(iri)s\s+(?:\"\"\"|'|\[|\(|[+\-\d]|true|false))"
    % {b"iri": _LIKELY_IRI, b"blank": _BLANK},
    re.IGNORECASE,
)
"""A line that is possible in Turtle but not in N-Triples."""
_GRAPH = re.compile(
    rb"(?:graph\s+)?(?:%s|%s)\s*\{|\{\s*(?:%s|%s)\s" % (_ABSOLUTE, _BLANK, _ABSOLUTE, _BLANK), re.IGNORECASE
)
_OPENS_GRAPH = re.compile(rb"\{(?!\|)")
"""A brace that does not begin an annotation of RDF 1.2, which Turtle has too."""
_ENCLOSED = re.compile(
    rb"\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|<[^<>\n]*>|#[^\n]*", re.DOTALL
)


def sniff_rdf_text(head: bytes, hints: KindHints) -> ContentKind | None:
    """Return which of Turtle, TriG, N3, N-Triples and N-Quads a text is, or None.

    >>> sniff_rdf_text(b"# hello\\nPREFIX ex: <http://example.org/>\\nex:a a ex:B .", KindHints(ContentKind.TEXT))
    <ContentKind.TURTLE: 'turtle'>
    >>> sniff_rdf_text(b"PREFIX ex: <http://example.org/> SELECT ?a { ?a a ex:B }", KindHints(ContentKind.TEXT)) is None
    True
    """
    text = head[_end_of(_COMMENTS, head, 0) :]
    lines = text[_end_of(_VERSION_LINES, text, 0) :]
    if len(lines) < len(text) and _LINE.match(lines.partition(b"\n")[0]):
        text = lines
    if _DIRECTIVE.match(text):
        return None if _SPARQL.match(text, _after_directives(text)) else _sniff_turtle(text, hints)
    expected = next((kind for kind in hints if kind in _TURTLE_KINDS or kind in _LINE_KINDS), None)
    if _LINE.match(text.partition(b"\n")[0]) or (expected in _LINE_KINDS and _has_lines(text)):
        return _sniff_lines(text, expected, hints)
    if _TRIPLE.match(text) or _N3_DIRECTIVE.match(text) or _GRAPH.match(text):
        is_bad_line = expected in _LINE_KINDS and not any(_TURTLE_ONLY.match(line) for line in _first_lines(text))
        return expected if is_bad_line else _sniff_turtle(text, hints)
    return None


def _needs_more_text(found: ContentKind | None, head: bytes, body: bytes) -> bool:
    """Whether RDF may begin after the head, behind long comments, or Turtle may have a graph there, as in TriG."""
    if found is ContentKind.TURTLE:
        return body.find(b"{", len(head), _MAX_PROLOG_BYTES) != -1
    return found is None and head.startswith(b"#") and _end_of(_COMMENTS, head, 0) > len(head) // 2


def _after_directives(text: bytes) -> int:
    """Return the offset after the prefix and base directives with which a text begins."""
    offset = 0
    while directive := _DIRECTIVE.match(text, offset):
        offset = _end_of(_COMMENTS, text, directive.end())
    return offset


def _end_of(pattern: re.Pattern[bytes], text: bytes, offset: int) -> int:
    found = pattern.match(text, offset)
    return found.end() if found else offset


def _first_lines(text: bytes) -> list[bytes]:
    """Return the first complete lines of a text without comments and empty lines."""
    lines = [line.strip() for line in text.split(b"\n")[: _MAX_CHECKED_LINES + 1]]
    return [line for line in (lines[:-1] or lines) if line and not line.startswith((b"#", b"VERSION"))]


def _has_lines(text: bytes) -> bool:
    return any(_LINE.match(line) for line in _first_lines(text))


def _sniff_lines(text: bytes, expected: ContentKind | None, hints: KindHints) -> ContentKind:
    """Return N-Triples or N-Quads for a text with such lines.

    If one of them is declared, an invalid line does not make the text Turtle.
    """
    found = {line: _LINE.match(line) for line in _first_lines(text)}
    if any(line["graph"] for line in found.values() if line):
        return ContentKind.N_QUADS
    bad = [line for line, match in found.items() if not match]
    if bad and (expected not in _LINE_KINDS or any(_TURTLE_ONLY.match(line) for line in bad)):
        return _sniff_turtle(text, hints)
    return expected or ContentKind.N_TRIPLES


def _sniff_turtle(text: bytes, hints: KindHints) -> ContentKind:
    """Return which of Turtle, TriG and N3 a text is."""
    bare = _ENCLOSED.sub(b" ", text).partition(b'"')[0]  # a remaining quote opens a string that the head cuts off
    if b"=>" in bare or _N3_DIRECTIVE.search(bare):
        return ContentKind.N3
    expected = next((kind for kind in hints if kind in _TURTLE_KINDS), None)
    if expected is not ContentKind.N3 and _OPENS_GRAPH.search(bare):
        return ContentKind.TRIG
    return expected or ContentKind.TURTLE


# XML and HTML


def _sniff_markup(head: bytes, body: bytes, hints: KindHints) -> ContentKind | None:
    """Return the kind of a body that begins with a tag, a declaration or a comment, or None without evidence."""
    xml = read_head(head)
    if xml is None and len(body) > len(head) and head.startswith((b"<!", b"<?")):
        head = body[:_MAX_PROLOG_BYTES].lstrip()
        xml = read_head(head)
    if xml is None:
        is_comment = head.startswith(b"<!--") and _may_be_fragment(hints)
        return ContentKind.HTML if is_comment or _opens_html(head) else None
    known = by_root(xml.namespace, xml.name)
    if known is ContentKind.XHTML or xml.name.lower() == "html" or (known is None and xml.doctype.lower() == "html"):
        return _choose_html_or_xhtml(xml, hints)
    if known is not None and not (
        known is ContentKind.SVG and not xml.namespace and hints.declared is ContentKind.HTML
    ):
        return known
    return _sniff_other_xml(xml, head, hints)


def _sniff_other_xml(xml: XmlHead, head: bytes, hints: KindHints) -> ContentKind | None:
    """Return the kind of XML whose root element is not in the table of media types, or None."""
    if _may_be_rdf_node(xml, hints):
        is_owl_xml = (xml.namespace, xml.name) == _OWL_XML and b"rdf:about" not in head
        return ContentKind.XML if is_owl_xml else ContentKind.RDF_XML
    is_xml = hints.declared is not None and MEDIA[hints.declared].is_xml
    if hints.declared is ContentKind.HTML or (not is_xml and _opens_html(head[xml.root_offset :])):
        return ContentKind.XML if xml.has_declaration and xml.namespaces else ContentKind.HTML
    if _is_fragment(xml) and _may_be_fragment(hints):
        return ContentKind.HTML
    return ContentKind.XML if is_xml or xml.has_declaration or xml.namespaces else None


def _may_be_rdf_node(xml: XmlHead, hints: KindHints) -> bool:
    """Whether the root may be a node element of RDF/XML (section 2.6). The RDF namespace is optional there."""
    if RDF_NAMESPACE in xml.namespaces.values():
        return ContentKind.RDF_XML in hints
    return bool(xml.namespace) and (hints.declared or hints.extension) is ContentKind.RDF_XML


def _is_fragment(xml: XmlHead) -> bool:
    is_html = xml.name.lower() in MEDIA[ContentKind.HTML].fragments and xml.namespace in ("", XHTML_NAMESPACE)
    return is_html and not xml.has_declaration


def _may_be_fragment(hints: KindHints) -> bool:
    """Whether header and extension allow an HTML fragment. Plain text and other XML use the same element names."""
    return hints.declared is None and (hints.extension is None or MEDIA[hints.extension].is_html)


def _choose_html_or_xhtml(xml: XmlHead, hints: KindHints) -> ContentKind:
    """Return XHTML if the media type says so, or without one the extension or an XML declaration; else HTML."""
    if hints.declared in (ContentKind.XHTML, ContentKind.XML):
        return ContentKind.XHTML
    is_xml = hints.extension is ContentKind.XHTML or xml.has_declaration
    return (
        ContentKind.XHTML if is_xml and xml.namespace and hints.declared is not ContentKind.HTML else ContentKind.HTML
    )


def _opens_html(head: bytes) -> bool:
    start = head[:16].lower()
    return any(
        start.startswith(marker) and start[len(marker) : len(marker) + 1] in _TAG_END for marker in _HTML_MARKERS
    )

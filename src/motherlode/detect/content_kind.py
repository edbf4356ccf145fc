"""What the first bytes of a body say about its kind."""

from __future__ import annotations

import re

from motherlode.model import ContentKind
from motherlode.www.media_types import MEDIA, RDF_NAMESPACE, XHTML_NAMESPACE, by_root
from motherlode.www.xml import XmlHead, read_head

_DEEP_HEAD = 1 << 16
"""Bytes in which an XML root element is looked for, behind long comments and document types."""
_JSON_LD_SEARCH = 1 << 20
"""Bytes of JSON that are searched for a context."""
_SOME_LINES = 8

_PLAIN_HTML = re.compile(rb"\s*+(?:<!doctype html>\s*+)?<html[\s>]", re.IGNORECASE)
_OWL_XML = ("http://www.w3.org/2002/07/owl#", "Ontology")
_TAG_END = b" \t\r\n\f/>"

_JSON = re.compile(rb'\{\s*(?:"|\}\s*\Z)|\[\s*(?:[{"\[\-\d]|\]\s*\Z|true|false|null)')
_JSON_LD_ONLY = re.compile(rb'"@(?:context|graph|value)"\s*:')
_JSON_LD_NODE = re.compile(rb'"@id"\s*:')
_JSON_LD_TYPE = re.compile(rb'"@type"\s*:|"[a-z]+://[^"\s]*"\s*:')


def is_plain_html(body: bytes) -> bool:
    """Whether a body that is said to be HTML begins as five pages in six do; then nothing more need be asked."""
    return _PLAIN_HTML.match(body) is not None


def sniff(head: bytes, body: bytes, declared: ContentKind | None, extension: ContentKind | None) -> ContentKind | None:
    """The kind that the content itself tells, or None; what is said of it only decides between kinds that look alike.

    `head` is the beginning of `body`, without what white space comes before it.
    """
    if _JSON.match(head):
        return _json(body, declared, extension)
    rdf = sniff_rdf_text(head, declared, extension)
    if rdf is None and head.startswith(b"<"):
        return _markup(head, body, declared, extension)
    return rdf


def _json(body: bytes, declared: ContentKind | None, extension: ContentKind | None) -> ContentKind:
    if ContentKind.JSON_LD in (declared, extension):
        return ContentKind.JSON_LD
    text = body[:_JSON_LD_SEARCH]
    if b'"@' in text and (_JSON_LD_ONLY.search(text) or (_JSON_LD_NODE.search(text) and _JSON_LD_TYPE.search(text))):
        return ContentKind.JSON_LD
    return ContentKind.JSON


# Turtle and its relatives --------------------------------------------------------------------------------------------

_FAMILY = frozenset({ContentKind.TURTLE, ContentKind.TRIG, ContentKind.N3})
_LINES = frozenset({ContentKind.N_TRIPLES, ContentKind.N_QUADS})

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
"""A line that Turtle may have, and N-Triples may not."""
_GRAPH = re.compile(
    rb"(?:graph\s+)?(?:%s|%s)\s*\{|\{\s*(?:%s|%s)\s" % (_ABSOLUTE, _BLANK, _ABSOLUTE, _BLANK), re.IGNORECASE
)
_OPENS_GRAPH = re.compile(rb"\{(?!\|)")
"""Not an annotation of RDF 1.2, which Turtle has, too."""
_ENCLOSED = re.compile(
    rb"\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|<[^<>\n]*>|#[^\n]*", re.DOTALL
)


def sniff_rdf_text(head: bytes, declared: ContentKind | None, extension: ContentKind | None) -> ContentKind | None:
    """Which of Turtle, TriG, N3, N-Triples and N-Quads a text is, if any.

    >>> sniff_rdf_text(b"# hello\\nPREFIX ex: <http://example.org/>\\nex:a a ex:B .", ContentKind.TEXT, None)
    <ContentKind.TURTLE: 'turtle'>
    >>> sniff_rdf_text(b"PREFIX ex: <http://example.org/> SELECT ?a { ?a a ex:B }", ContentKind.TEXT, None) is None
    True
    """
    text = head[_end_of(_COMMENTS, head, 0) :]
    if _DIRECTIVE.match(text):
        return None if _SPARQL.match(text, _after_directives(text)) else _family(text, declared, extension)
    said = next((kind for kind in (declared, extension) if kind in _FAMILY or kind in _LINES), None)
    if _LINE.match(text.partition(b"\n")[0]) or (said in _LINES and _has_lines(text)):
        return _lines(text, said, declared, extension)
    if _TRIPLE.match(text) or _N3_DIRECTIVE.match(text) or _GRAPH.match(text):
        is_bad_line = said in _LINES and not any(_TURTLE_ONLY.match(line) for line in _first_lines(text))
        return said if is_bad_line else _family(text, declared, extension)
    return None


def _after_directives(text: bytes) -> int:
    position = 0
    while directive := _DIRECTIVE.match(text, position):
        position = _end_of(_COMMENTS, text, directive.end())
    return position


def _end_of(pattern: re.Pattern[bytes], text: bytes, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


def _first_lines(text: bytes) -> list[bytes]:
    lines = [line.strip() for line in text.split(b"\n")[: _SOME_LINES + 1]]
    return [line for line in (lines[:-1] or lines) if line and not line.startswith(b"#")]


def _has_lines(text: bytes) -> bool:
    return any(_LINE.match(line) for line in _first_lines(text))


def _lines(
    text: bytes, said: ContentKind | None, declared: ContentKind | None, extension: ContentKind | None
) -> ContentKind:
    """A bad line among good ones is a bad line, where lines were promised, unless it is good Turtle."""
    found = {line: _LINE.match(line) for line in _first_lines(text)}
    if any(line["graph"] for line in found.values() if line):
        return ContentKind.N_QUADS
    bad = [line for line, match in found.items() if not match]
    if bad and (said not in _LINES or any(_TURTLE_ONLY.match(line) for line in bad)):
        return _family(text, declared, extension)
    return said or ContentKind.N_TRIPLES


def _family(text: bytes, declared: ContentKind | None, extension: ContentKind | None) -> ContentKind:
    bare = _ENCLOSED.sub(b" ", text).partition(b'"')[0]  # what follows a quote that is left is the inside of a string
    if b"=>" in bare or _N3_DIRECTIVE.search(bare):
        return ContentKind.N3
    said = next((kind for kind in (declared, extension) if kind in _FAMILY), None)
    if said is not ContentKind.N3 and _OPENS_GRAPH.search(bare):
        return ContentKind.TRIG
    return said or ContentKind.TURTLE


# XML and HTML --------------------------------------------------------------------------------------------------------


def _markup(
    head: bytes, body: bytes, declared: ContentKind | None, extension: ContentKind | None
) -> ContentKind | None:
    """The kind of a body that begins with a tag, a declaration or a comment; None where that is no evidence."""
    xml = read_head(head)
    if xml is None and len(body) > len(head) and head.startswith((b"<!", b"<?")):
        head = body[:_DEEP_HEAD].lstrip()
        xml = read_head(head)
    if xml is None:
        is_open = head.startswith(b"<!--") and _may_be_fragment(declared, extension)
        return ContentKind.HTML if is_open or _opens_html(head) else None
    known = by_root(xml.namespace, xml.name)
    if known is ContentKind.XHTML or xml.name.lower() == "html" or (known is None and xml.doctype.lower() == "html"):
        return _html_or_xhtml(xml, declared, extension)
    if known is not None and not (known is ContentKind.SVG and not xml.namespace and declared is ContentKind.HTML):
        return known
    return _other_xml(xml, head, declared, extension)


def _other_xml(
    xml: XmlHead, head: bytes, declared: ContentKind | None, extension: ContentKind | None
) -> ContentKind | None:
    if _may_be_node(xml, declared, extension):
        is_owl_xml = (xml.namespace, xml.name) == _OWL_XML and b"rdf:about" not in head
        return ContentKind.XML if is_owl_xml else ContentKind.RDF_XML
    is_xml = declared is not None and MEDIA[declared].is_xml
    if declared is ContentKind.HTML or (not is_xml and _opens_html(head[xml.root_offset :])):
        return ContentKind.XML if xml.has_declaration and xml.namespaces else ContentKind.HTML
    if _is_fragment(xml) and _may_be_fragment(declared, extension):
        return ContentKind.HTML
    return ContentKind.XML if is_xml or xml.has_declaration or xml.namespaces else None


def _may_be_node(xml: XmlHead, declared: ContentKind | None, extension: ContentKind | None) -> bool:
    """Whether the root may be a node of RDF/XML (section 2.6), which need not name the namespace of RDF at all."""
    if RDF_NAMESPACE in xml.namespaces.values():
        return ContentKind.RDF_XML in (declared, extension)
    return bool(xml.namespace) and (declared or extension) is ContentKind.RDF_XML


def _is_fragment(xml: XmlHead) -> bool:
    is_html = xml.name.lower() in MEDIA[ContentKind.HTML].fragments and xml.namespace in ("", XHTML_NAMESPACE)
    return is_html and not xml.has_declaration


def _may_be_fragment(declared: ContentKind | None, extension: ContentKind | None) -> bool:
    """Whether nothing says that it is no HTML: examples in text and plain XML use the same names."""
    return declared is None and (extension is None or MEDIA[extension].is_html)


def _html_or_xhtml(xml: XmlHead, declared: ContentKind | None, extension: ContentKind | None) -> ContentKind:
    """An HTML parser reads both, so it is XML only where the sender means it: by the media type, or for want of one."""
    if declared in (ContentKind.XHTML, ContentKind.XML):
        return ContentKind.XHTML
    is_xml = extension is ContentKind.XHTML or xml.has_declaration
    return ContentKind.XHTML if is_xml and xml.namespace and declared is not ContentKind.HTML else ContentKind.HTML


def _opens_html(head: bytes) -> bool:
    start = head[:16].lower()
    return any(
        start.startswith(marker) and start[len(marker) : len(marker) + 1] in _TAG_END
        for marker in MEDIA[ContentKind.HTML].markers
    )

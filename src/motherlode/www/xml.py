"""Bare ampersands, the commonest fault of XML on the web: half of a query in an address, or "this & that".

An XML parser that goes on after one leaves out the name behind it, and `?a=1&b=2` becomes `?a=1=2`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html.entities import html5
from typing import Any

from lxml import etree

_PIECES = re.compile(
    rb"(<!\[CDATA\[(?:.*?\]\]>|.*)|<!--(?:.*?-->|.*)|<\?(?:.*?\?>|.*))"
    rb"|&(?!\#[0-9]+;|\#[xX][0-9A-Fa-f]+;|[A-Za-z_:\x80-\xff][\w.:\x80-\xff-]*;)",
    re.DOTALL,
)
_HEAD = 256


def escaped_ampersands(body: bytes) -> bytes:
    """An XML document with its bare ampersands escaped; in comments and CDATA sections they are right as they are.

    >>> escaped_ampersands(b"<a b='?c=1&d=2'>1 & 2 &amp; <![CDATA[3 & 4]]></a>")
    b"<a b='?c=1&amp;d=2'>1 &amp; 2 &amp; <![CDATA[3 & 4]]></a>"
    """
    if b"&" not in body or b"\x00" in body[:_HEAD]:  # the latter in UTF-16, of which we would break the characters
        return body
    return _PIECES.sub(lambda piece: piece[1] or b"&amp;", body)


# ── The head of an XML document, read without an XML parser: its root element, and the entities that it declares.

LONGEST_ENTITY = 1 << 12
"""Bytes of an expanded entity. Documents of our time use them to shorten namespaces."""
MOST_ENTITIES = 1000
_DEEPEST_ENTITY = 32

_SPACE_AND_COMMENTS = re.compile(rb"(?:\s++|<!--.*?-->|<\?.*?\?>)*+", re.DOTALL)
_DECLARATION = re.compile(rb"<\?xml\s[^>]*?\?>")
_ENCODING = re.compile(rb"""encoding\s*=\s*["']([A-Za-z0-9._:\-]+)["']""")
_DOCTYPE = re.compile(rb"""<!DOCTYPE\s++([^\s\[>]++)(?:[^\["'>]++|"[^"]*+"|'[^']*+')*+""", re.IGNORECASE)
_SUBSET = re.compile(rb"""\[((?:[^\]"'<]++|"[^"]*+"|'[^']*+'|<!--.*?-->|<\?.*?\?>|<(?!!--|\?))*+)\]\s*+""", re.DOTALL)
_ENTITY = re.compile(rb"""<!--(?:.*?-->|.*)|<!ENTITY\s++([\w:.\-\x80-\xff]++)\s++("[^"]*+"|'[^']*+')\s*+>""", re.DOTALL)
_START_TAG = re.compile(rb"<(?:([^\s<>/:!?&=\"']++):)?([^\s<>/:!?&=\"']++)(?=[\s/>]|\Z)")
_ATTRIBUTE = re.compile(rb"""\s++([^\s=<>/"']++)\s*+=\s*+(?:"([^"<]*+)"|'([^'<]*+)')""")
_REFERENCE = re.compile(rb"&(?:#(\d{1,7})|#x([0-9A-Fa-f]{1,6})|([^\s;&#]{1,64}));")
_PREDEFINED = {b"lt": b"<", b"gt": b">", b"amp": b"&", b"quot": b'"', b"apos": b"'"}


@dataclass(frozen=True, slots=True, kw_only=True)
class XmlHead:
    """What stands before and in the first tag."""

    name: str
    """Local name of the root element."""
    namespace: str
    root_offset: int
    """Where the root element starts."""
    encoding: str = ""
    """As the XML declaration has it."""
    doctype: str = ""
    namespaces: Mapping[str, str] = field(default_factory=dict)
    """Those that the root element declares, by prefix."""
    entities: Mapping[str, str] = field(default_factory=dict)
    """Internal general entities, expanded; those past the limits are left out."""
    has_declaration: bool = False
    refused_entities: int = 0


def read_head(text: bytes) -> XmlHead | None:
    r"""The head of a document in UTF-8, or what agrees with it on ASCII; None where no root element is found.

    >>> head = read_head(b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "urn:x:">]><p:a xmlns:p="&x;y"/>')
    >>> head.name, head.namespace, head.entities
    ('a', 'urn:x:y', {'x': 'urn:x:'})
    """
    declaration = _DECLARATION.match(text)
    encoding = _ENCODING.search(declaration[0]) if declaration else None
    position = _skip(text, declaration.end() if declaration else 0)
    doctype = _DOCTYPE.match(text, position)
    raw: dict[bytes, bytes] = {}
    if doctype:
        position = doctype.end()
        subset = _SUBSET.match(text, position)
        if subset:
            raw = _declared(subset[1])
            position = subset.end()
        if text[position : position + 1] != b">":
            return None
        position = _skip(text, position + 1)
    root = _START_TAG.match(text, position)
    if root is None:
        return None
    entities = _Expander(raw).all()
    namespaces = _namespaces(text, root.end(), entities)
    prefix = _text(root[1] or b"")
    return XmlHead(
        name=_text(root[2]),
        namespace=namespaces.get(prefix, ""),
        root_offset=root.start(),
        encoding=_text(encoding[1]) if encoding else "",
        doctype=_text(doctype[1]) if doctype else "",
        namespaces=namespaces,
        entities={_text(name): _text(value) for name, value in entities.items()},
        has_declaration=declaration is not None,
        refused_entities=len(raw) - len(entities),
    )


def _skip(text: bytes, position: int) -> int:
    found = _SPACE_AND_COMMENTS.match(text, position)
    return found.end() if found else position


def _declared(subset: bytes) -> dict[bytes, bytes]:
    """The first declaration of an entity binds (XML 1.0, section 4.2)."""
    found: dict[bytes, bytes] = {}
    for entity in _ENTITY.finditer(subset):
        if entity[1] and entity[1] not in _PREDEFINED and len(found) < MOST_ENTITIES:
            found.setdefault(entity[1], entity[2][1:-1])
    return found


def _namespaces(text: bytes, position: int, entities: Mapping[bytes, bytes]) -> dict[str, str]:
    found: dict[str, str] = {}
    while attribute := _ATTRIBUTE.match(text, position):
        position = attribute.end()
        name, _, prefix = attribute[1].partition(b":")
        if name == b"xmlns":
            value = attribute[2] if attribute[2] is not None else attribute[3]
            found[_text(prefix)] = _text(_Expander(entities).expanded(value) or b"" if b"&" in value else value)
    return found


class _Expander:
    """Replaces references, each entity's own only once; so that no web of references takes long."""

    def __init__(self, entities: Mapping[bytes, bytes]) -> None:
        self._entities = entities
        self._known: dict[bytes, bytes | None] = {}
        self._depth = 0

    def all(self) -> dict[bytes, bytes]:
        return {name: value for name in self._entities if (value := self._entity(name)) is not None}

    def expanded(self, value: bytes) -> bytes | None:
        """None where the value is too long, too deep, or refers to what is not there."""
        parts: list[bytes] = []
        size = position = 0
        for reference in _REFERENCE.finditer(value):
            replaced = self._replacement(reference)
            if replaced is None or size > LONGEST_ENTITY:
                return None
            parts += (value[position : reference.start()], replaced)
            size += len(replaced)
            position = reference.end()
        whole = b"".join([*parts, value[position:]])
        return whole if len(whole) <= LONGEST_ENTITY else None

    def _entity(self, name: bytes) -> bytes | None:
        if name not in self._known:
            self._known[name] = None  # while it is being expanded, so that it cannot contain itself
            self._depth += 1
            if self._depth <= _DEEPEST_ENTITY and name in self._entities:
                self._known[name] = self.expanded(self._entities[name])
            self._depth -= 1
        return self._known[name]

    def _replacement(self, reference: re.Match[bytes]) -> bytes | None:
        decimal, hexadecimal, name = reference.groups()
        if name is not None:
            return _PREDEFINED[name] if name in _PREDEFINED else self._entity(name)
        code = int(decimal) if decimal else int(hexadecimal, 16)
        return chr(code).encode() if code < 0xD800 or 0xE000 <= code <= 0x10FFFF else None


def _text(value: bytes) -> str:
    return value.decode(errors="replace")


# ── XML read without trust: no entity is expanded, nothing is loaded, depth and sizes have limits.

Element = Any
"""An lxml element; lxml has no types of its own."""

_NAMED = re.compile(rb"&([A-Za-z][A-Za-z0-9]*);|<!\[CDATA\[.*?(?:\]\]>|\Z)", re.DOTALL)
"""A named entity, or a CDATA section, in which there are none."""
_OF_XML = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})


@dataclass(frozen=True, slots=True, kw_only=True)
class XmlTree:
    """What could be read of an XML document, and what was wrong with it."""

    root: Element | None
    public_id: str = ""
    """Of the document type."""
    error: str = ""
    """Why the document is not well-formed; "" where it is."""
    line: int | None = None
    column: int | None = None


def parse_xml(body: bytes, *, charset: str, html_entities: bool = False) -> XmlTree:
    """The tree of a document, mended where it is not well-formed: a bare ampersand stands for itself.

    >>> parse_xml(b"<a><b/></a>", charset="utf-8").error
    ''
    >>> broken = parse_xml(b"<a><b></a>", charset="utf-8")
    >>> broken.root.tag, broken.line, bool(broken.error)
    ('a', 1, True)
    """
    if html_entities and b"&" in body:
        body = _NAMED.sub(_numeric, body)
    tree = _parsed(body, charset)
    if not tree.error:
        return tree
    repaired = escaped_ampersands(body)
    if repaired == body:
        return tree
    root = _parsed(repaired, charset).root
    return tree if root is None else replace(tree, root=root)


def _parsed(body: bytes, charset: str) -> XmlTree:
    """The tree as far as the parser can go on by itself, and the first of its complaints."""
    parser = _parser(charset)
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        return XmlTree(root=None, error=str(error) or "no XML")
    if root is None:
        return XmlTree(root=None, error="no element")
    public_id = root.getroottree().docinfo.public_id or ""
    faults = [entry for entry in parser.error_log if entry.level >= etree.ErrorLevels.ERROR and _matters(entry)]
    if not faults:
        return XmlTree(root=root, public_id=public_id)
    first = faults[0]
    return XmlTree(root=root, public_id=public_id, error=first.message, line=first.line, column=first.column)


def _parser(charset: str) -> Any:
    options = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False, "recover": True}
    try:
        return etree.XMLParser(encoding=charset.replace("utf-16-", "utf-16"), **options)  # as libxml2 spells it
    except LookupError:  # a charset that Python knows and libxml2 does not
        return etree.XMLParser(**options)


def _matters(entry: Any) -> bool:
    """A namespace that is a relative reference is no error of the document's form."""
    return not entry.type_name.startswith("NS_")


def _numeric(match: re.Match[bytes]) -> bytes:
    """Entities of HTML, which XHTML pages use and only their DTD would define, as character references."""
    if match[1] is None or match[1] in _OF_XML:
        return match[0]
    text = html5.get(match[1].decode() + ";")
    return match[0] if text is None else "".join(f"&#{ord(c)};" for c in text).encode()


def local_name(element: Element) -> str:
    """The element's name without its namespace; "" for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""

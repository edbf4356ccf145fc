"""XML from untrusted sources: its head, its tree, the repair of ampersands, and names without a colon.

`read_head` finds the root element and the declared entities without an XML parser. `parse_xml` builds the tree: it
expands no external entity, loads nothing, and bounds depth and sizes. Bare ampersands are the most frequent fault of
XML on the web. An XML parser that recovers from one drops the name after it: `?a=1&b=2` becomes `?a=1=2`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from html.entities import html5
from typing import Any

from lxml import etree

_PIECES = re.compile(
    rb"(<!\[CDATA\[(?:.*?\]\]>|.*)|<!--(?:.*?-->|.*)|<\?(?:.*?\?>|.*))"
    rb"|&(?!\#[0-9]+;|\#[xX][0-9A-Fa-f]+;|[A-Za-z_:\x80-\xff][\w.:\x80-\xff-]*;)",
    re.DOTALL,
)
_SNIFF_BYTES = 256


def escape_ampersands(body: bytes) -> bytes:
    """Return an XML document with its bare ampersands escaped, except in comments and CDATA sections."""
    if b"&" not in body or b"\x00" in body[:_SNIFF_BYTES]:  # zero bytes: UTF-16, which would be corrupted
        return body
    return _PIECES.sub(lambda piece: piece[1] or b"&amp;", body)


def repair_ampersands(body: bytes) -> bytes:
    """Return an XML document with bare ampersands escaped, and undeclared entities replaced (HTML) or removed.

    After an undeclared entity, a parser that recovers drops all ampersands: `?a=1&amp;b=2` becomes `?a=1b=2`.
    """
    if b"&" not in body:
        return body
    declared = {found[1] for found in _ENTITY.finditer(body)} if b"<!ENTITY" in body else set()

    def replacement(match: re.Match[bytes]) -> bytes:
        if match[1] is None or match[1] in _PREDEFINED or match[1] in declared:
            return match[0]
        found = _replace_html_entity(match)
        return b"" if found == match[0] else found

    return _NAMED_ENTITY.sub(replacement, escape_ampersands(body))


# The head of a document ----------------------------------------------------------------------------------------------

MAX_ENTITY_BYTES = 1 << 12
"""Maximum size in bytes of an expanded entity. Today's documents use entities to shorten namespaces."""
MAX_ENTITIES = 1000
_MAX_ENTITY_DEPTH = 32

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
    """The first tag of a document and what precedes it."""

    name: str
    """Local name of the root element."""
    namespace: str
    root_offset: int
    encoding: str = ""
    doctype: str = ""
    namespaces: Mapping[str, str] = field(default_factory=dict)
    """Prefix → namespace, as declared by the root element."""
    entities: Mapping[str, str] = field(default_factory=dict)
    """Internal general entities, expanded. Those beyond the limits are left out."""
    has_declaration: bool = False
    refused_entities: int = 0


def read_head(text: bytes) -> XmlHead | None:
    """Return the head of a document in UTF-8 or another superset of ASCII. None if there is no root element."""
    declaration = _DECLARATION.match(text)
    encoding = _ENCODING.search(declaration[0]) if declaration else None
    position = _skip(text, declaration.end() if declaration else 0)
    doctype = _DOCTYPE.match(text, position)
    raw: dict[bytes, bytes] = {}
    if doctype:
        position = doctype.end()
        subset = _SUBSET.match(text, position)
        if subset:
            raw = _read_entities(subset[1])
            position = subset.end()
        if text[position : position + 1] != b">":
            return None
        position = _skip(text, position + 1)
    root = _START_TAG.match(text, position)
    if root is None:
        return None
    entities = _Expander(raw).expand_all()
    namespaces = _read_namespaces(text, root.end(), entities)
    prefix = _decode(root[1] or b"")
    return XmlHead(
        name=_decode(root[2]),
        namespace=namespaces.get(prefix, ""),
        root_offset=root.start(),
        encoding=_decode(encoding[1]) if encoding else "",
        doctype=_decode(doctype[1]) if doctype else "",
        namespaces=namespaces,
        entities={_decode(name): _decode(value) for name, value in entities.items()},
        has_declaration=declaration is not None,
        refused_entities=len(raw) - len(entities),
    )


def _skip(text: bytes, position: int) -> int:
    found = _SPACE_AND_COMMENTS.match(text, position)
    return found.end() if found else position


def _read_entities(subset: bytes) -> dict[bytes, bytes]:
    """Return the declared entities. The first declaration of a name counts (XML 1.0, section 4.2)."""
    found: dict[bytes, bytes] = {}
    for entity in _ENTITY.finditer(subset):
        if entity[1] and entity[1] not in _PREDEFINED and len(found) < MAX_ENTITIES:
            found.setdefault(entity[1], entity[2][1:-1])
    return found


def _read_namespaces(text: bytes, position: int, entities: Mapping[bytes, bytes]) -> dict[str, str]:
    found: dict[str, str] = {}
    while attribute := _ATTRIBUTE.match(text, position):
        position = attribute.end()
        name, _, prefix = attribute[1].partition(b":")
        if name == b"xmlns":
            value = attribute[2] if attribute[2] is not None else attribute[3]
            found[_decode(prefix)] = _decode(_Expander(entities).expand(value) or b"" if b"&" in value else value)
    return found


class _Expander:
    """Expands references. Each entity is expanded once, so that nested references take linear time."""

    def __init__(self, entities: Mapping[bytes, bytes]) -> None:
        self._entities = entities
        self._known: dict[bytes, bytes | None] = {}
        self._depth = 0

    def expand_all(self) -> dict[bytes, bytes]:
        return {name: value for name in self._entities if (value := self._entity(name)) is not None}

    def expand(self, value: bytes) -> bytes | None:
        """Expand a value. Return None if it is too long or too deep, or if a reference is undefined."""
        parts: list[bytes] = []
        size = position = 0
        for reference in _REFERENCE.finditer(value):
            replaced = self._replacement(reference)
            if replaced is None or size > MAX_ENTITY_BYTES:
                return None
            parts += (value[position : reference.start()], replaced)
            size += len(replaced)
            position = reference.end()
        whole = b"".join([*parts, value[position:]])
        return whole if len(whole) <= MAX_ENTITY_BYTES else None

    def _entity(self, name: bytes) -> bytes | None:
        if name not in self._known:
            self._known[name] = None  # during its expansion, so that it cannot contain itself
            self._depth += 1
            if self._depth <= _MAX_ENTITY_DEPTH and name in self._entities:
                self._known[name] = self.expand(self._entities[name])
            self._depth -= 1
        return self._known[name]

    def _replacement(self, reference: re.Match[bytes]) -> bytes | None:
        decimal, hexadecimal, name = reference.groups()
        if name is not None:
            return _PREDEFINED[name] if name in _PREDEFINED else self._entity(name)
        code = int(decimal) if decimal else int(hexadecimal, 16)
        return chr(code).encode() if code < 0xD800 or 0xE000 <= code <= 0x10FFFF else None


def _decode(value: bytes) -> str:
    return value.decode(errors="replace")


# The tree ------------------------------------------------------------------------------------------------------------

Element = Any
"""An lxml element. lxml has no type annotations."""

_NAMED_ENTITY = re.compile(rb"&([A-Za-z_:\x80-\xff][\w.:\x80-\xff-]*);|<!\[CDATA\[.*?(?:\]\]>|\Z)", re.DOTALL)
"""A named entity, or a CDATA section, which contains none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class XmlTree:
    """The tree of an XML document, as far as it could be parsed, and its first error."""

    root: Element | None
    public_id: str = ""
    error: str = ""
    """Why the document is not well-formed. Empty if it is."""
    line: int | None = None
    column: int | None = None


def parse_xml(body: bytes, *, charset: str, html_entities: bool = False) -> XmlTree:
    """Return the tree of a document. If it is not well-formed, its ampersands are repaired."""
    if html_entities and b"&" in body:
        body = _NAMED_ENTITY.sub(_replace_html_entity, body)
    tree = _parse(body, charset)
    if not tree.error:
        return tree
    repaired = repair_ampersands(body)
    if repaired == body:
        return tree
    root = _parse(repaired, charset).root
    return tree if root is None else replace(tree, root=root)


def _parse(body: bytes, charset: str) -> XmlTree:
    """Return the tree as far as the parser can recover, and its first error."""
    parser = _new_parser(charset)
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        return XmlTree(root=None, error=str(error) or "no XML")
    if root is None:
        return XmlTree(root=None, error="no element")
    public_id = root.getroottree().docinfo.public_id or ""
    serious = (entry for entry in parser.error_log if entry.level >= etree.ErrorLevels.ERROR)
    # errors of namespaces do not concern well-formedness: a relative namespace name, for example
    first = next((entry for entry in serious if not entry.type_name.startswith("NS_")), None)
    if first is None:
        return XmlTree(root=root, public_id=public_id)
    return XmlTree(root=root, public_id=public_id, error=first.message, line=first.line, column=first.column)


def _new_parser(charset: str) -> Any:
    options = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False, "recover": True}
    try:
        return etree.XMLParser(encoding=charset.replace("utf-16-", "utf-16"), **options)  # libxml2's spelling
    except LookupError:  # a charset that libxml2 does not know
        return etree.XMLParser(**options)


def _replace_html_entity(match: re.Match[bytes]) -> bytes:
    """Replace an HTML entity by character references, because only the DTD of XHTML would define it."""
    if match[1] is None or match[1] in _PREDEFINED:
        return match[0]
    text = html5.get(match[1].decode() + ";")
    return match[0] if text is None else "".join(f"&#{ord(c)};" for c in text).encode()


def local_name(element: Element) -> str:
    """Return the name of an element without its namespace. Empty for comments and processing instructions."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


# Names without a colon (NCName; Namespaces in XML 1.0, section 3) -----------------------------------------------------

_NAME_START = (
    "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
"""Characters with which a name may begin, as the inside of a character class."""
_NAME_REST = rf"{_NAME_START}\-.0-9\u00b7\u0300-\u036f\u203f-\u2040"
_ASCII_NCNAME = re.compile(r"[A-Za-z_][A-Za-z0-9._\-]*")


@cache
def _ncname() -> re.Pattern[str]:
    """Return the pattern of a name. It takes 4 ms to compile, and names outside ASCII are rare."""
    return re.compile(f"[{_NAME_START}][{_NAME_REST}]*")


@cache
def _not_in_ncname() -> re.Pattern[str]:
    return re.compile(f"^[^{_NAME_START}]|[^{_NAME_REST}]")


def is_ncname(text: str) -> bool:
    """Return whether a string can be a namespace prefix or a local name."""
    pattern = _ASCII_NCNAME if text.isascii() else _ncname()
    return pattern.fullmatch(text) is not None


def coerce_ncname(text: str) -> str:
    """Return the name that XML uses for a name of HTML (HTML, "Coercing an HTML DOM into an infoset").

    >>> coerce_ncname("a<b"), coerce_ncname("o:p"), coerce_ncname("1")
    ('aU00003Cb', 'oU00003Ap', 'U000031')
    """
    return _not_in_ncname().sub(lambda character: f"U{ord(character[0]):06X}", text)

"""The head of an XML document, read without an XML parser: its root element, and the entities that it declares.

Bounded and harmless: it looks at what it is given and no further, expands entities only up to a limit, and follows no
reference to another file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

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

"""XML read without trust: no entity is expanded, nothing is loaded, depth and sizes have limits."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html.entities import html5
from typing import Any

from lxml import etree

from motherlode.www.ampersands import escaped_ampersands

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
    mended = escaped_ampersands(body)
    if mended == body:
        return tree
    root = _parsed(mended, charset).root
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

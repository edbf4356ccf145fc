"""The sparse tree that the processing rules walk: elements with RDFa attributes, and those around them that matter."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, Protocol

import msgspec
from lxml import etree

from motherlode.model import ContentKind
from motherlode.transform.rdfa.evaluation_context import XHTML1, XHTML5, XML, HostLanguage
from motherlode.www.document import Document
from motherlode.www.iri import resolve_and_check, without_fragment
from motherlode.www.xml import local_name

ACTIVE = frozenset({"property", "rel", "rev", "typeof", "about", "resource", "href", "src", "inlist"})
"""Attributes by which an element takes part in statements."""
SCOPING = frozenset({"vocab", "prefix", "lang", "xml:lang", "xml:base"})
"""Attributes that change the evaluation context for everything inside."""
RELEVANT = ACTIVE | SCOPING | {"role"}


class TreeReader(Protocol):
    """Reads what is inside an element of the document that a tree was made of."""

    def text(self, node: Any) -> str: ...

    def markup(self, node: Any, namespaces: Mapping[str, str]) -> str:
        """As a fragment of XML, with the namespaces declared on its outermost elements."""
        ...

    def html(self, node: Any) -> str: ...


class RdfaElement(msgspec.Struct):
    """An element of the sparse tree."""

    tag: str
    attributes: Mapping[str, str]
    namespaces: Mapping[str, str]
    """Those that the element itself declares, by prefix; "" is the default one."""
    node: Any
    """The element itself, for the tree's reader."""
    parent: int
    """The place of the nearest element above, in the list of all; -1 for the root."""


class RdfaTree(msgspec.Struct, frozen=True, kw_only=True):
    """A document as the processing rules see it. Parents stand before their children, siblings in document order."""

    host: HostLanguage
    reader: TreeReader
    url: str
    """The document's own address: relative namespaces of prefixes are resolved against it, whatever the base is."""
    base: str
    elements: list[RdfaElement]
    """The first is the root."""


# ── The sparse tree of an XML document: XHTML, SVG, or any other.

_XML_ATTRIBUTES = {
    "{http://www.w3.org/XML/1998/namespace}lang": "xml:lang",
    "{http://www.w3.org/XML/1998/namespace}base": "xml:base",
}
_XHTML = "{http://www.w3.org/1999/xhtml}"


def xml_tree(document: Document, root: Any, *, public_id: str) -> RdfaTree:
    """The sparse tree of a document with this root and document type."""
    host = _host(document.kind, root, public_id)
    base = document.iri
    if host.is_html:
        given = root.find(f"{_XHTML}head/{_XHTML}base[@href]")
        base = resolve_and_check(base, given.get("href")).value if given is not None else base
    url = without_fragment(document.iri)
    return RdfaTree(host=host, reader=_READER, url=url, base=without_fragment(base), elements=_elements(root))


def _host(kind: ContentKind, root: Any, public_id: str) -> HostLanguage:
    """HTML+RDFa 1.1, section 3.1, rule 5."""
    if kind is not ContentKind.XHTML:
        return XML
    is_first = "XHTML+RDFa 1." in public_id or (root.get("version") or "").startswith("XHTML+RDFa 1.")
    return XHTML1 if is_first else XHTML5


def _elements(root: Any) -> list[RdfaElement]:
    found: list[RdfaElement] = []
    places = [-1]
    declared: dict[str, str] = {}
    for event, item in etree.iterwalk(root, events=("start-ns", "start", "end")):
        if event == "start-ns":
            declared[item[0] or ""] = item[1] or ""
        elif event == "end":
            places.pop()
        elif declared or not found or not RELEVANT.isdisjoint(attributes := _attributes(item)):
            if declared or not found:
                attributes = _attributes(item)
            found.append(RdfaElement(local_name(item), attributes, declared, item, places[-1]))
            declared = {}
            places.append(len(found) - 1)
        else:
            places.append(places[-1])
    return found


def _attributes(item: Any) -> Mapping[str, str]:
    if not isinstance(item.tag, str):  # an entity that was not resolved
        return {}
    return {_XML_ATTRIBUTES.get(name, name): value for name, value in item.attrib.items()}


class _XmlReader:
    """Reads elements of an XML tree."""

    def text(self, node: Any) -> str:
        """In document order, without comments, instructions and entities that were not resolved."""
        parts = []
        for event, item in etree.iterwalk(node, events=("start", "end", "comment", "pi")):
            if event == "start":
                parts.append(item.text if isinstance(item.tag, str) else "")
            elif item is not node:
                parts.append(item.tail)
        return "".join(filter(None, parts))

    def html(self, node: Any) -> str:
        return self.markup(node, {})

    def markup(self, node: Any, namespaces: Mapping[str, str]) -> str:
        """RDFa Core 1.1, section 7.5, step 11: an XML literal keeps the namespaces that are in scope."""
        parts = [escape(node.text or "", quote=False)]
        for child in node:
            if child.tag is not etree.Entity:  # one that was not resolved
                parts.extend(_serialized(child, namespaces))
            parts.append(escape(child.tail or "", quote=False))
        return "".join(parts)


_READER = _XmlReader()


def _serialized(top: Any, namespaces: Mapping[str, str]) -> list[str]:
    parts: list[str] = []
    declared = dict(namespaces)
    for event, item in etree.iterwalk(top, events=("start-ns", "start", "end", "comment", "pi")):
        if event == "start-ns":
            declared[item[0] or ""] = item[1] or ""
            continue
        if event == "comment":
            parts.append(f"<!--{item.text or ''}-->")
        elif event == "pi":
            parts.append(f"<?{item.target} {item.text or ''}?>")
        elif not isinstance(item.tag, str):  # an entity that was not resolved
            if event == "start":
                continue
        elif event == "start":
            closed = ">" if len(item) or item.text else "/>"
            parts.append(f"<{_name(item)}{_spelt(item)}{_declarations(declared)}{closed}")
            parts.append(escape(item.text or "", quote=False))
            declared = {}
            continue
        elif len(item) or item.text:
            parts.append(f"</{_name(item)}>")
        if item is not top:
            parts.append(escape(item.tail or "", quote=False))
    return parts


def _name(item: Any) -> str:
    return f"{item.prefix}:{local_name(item)}" if item.prefix else local_name(item)


def _spelt(item: Any) -> str:
    """The attributes of an element, in their order."""
    prefixes = {iri: prefix for prefix, iri in item.nsmap.items() if prefix} if item.attrib else {}
    parts = []
    for name, value in item.attrib.items():
        namespace, _, local = name[1:].rpartition("}") if name[0] == "{" else ("", "", name)
        prefix = _XML_ATTRIBUTES[name].partition(":")[0] if name in _XML_ATTRIBUTES else prefixes.get(namespace, "")
        parts.append(f' {prefix}{":" if prefix else ""}{local}="{escape(value)}"')
    return "".join(parts)


def _declarations(declared: Mapping[str, str]) -> str:
    return "".join(f' xmlns{":" if prefix else ""}{prefix}="{escape(iri)}"' for prefix, iri in sorted(declared.items()))

"""The sparse tree that the processing rules visit, and how it is built from XML (XHTML, SVG and others).

It has the elements with RDFa attributes and their ancestors that change the evaluation context.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import msgspec
from lxml import etree

from motherlode.model import ContentKind
from motherlode.transform.rdfa.evaluation_context import XHTML1, XHTML5, XML, HostLanguage
from motherlode.www.document import Document
from motherlode.www.iri import resolve_and_check, without_fragment
from motherlode.www.media_types import XHTML_NAMESPACE
from motherlode.www.xml import local_name

ACTIVE = frozenset({"property", "rel", "rev", "typeof", "about", "resource", "href", "src", "inlist"})
"""Attributes that make an element part of statements."""
SCOPING = frozenset({"vocab", "prefix", "lang", "xml:lang", "xml:base"})
"""Attributes that change the evaluation context of an element and its descendants."""
RELEVANT = ACTIVE | SCOPING | {"role"}


class TreeReader(msgspec.Struct, frozen=True, kw_only=True):
    """Functions that return the content of an element of the original document."""

    read_text: Callable[[Any], str]
    read_html: Callable[[Any], str]
    read_markup: Callable[[Any, Mapping[str, str]], str]
    """Returns an XML fragment with the given namespaces declared on its outermost elements."""


class RdfaElement(msgspec.Struct):
    """An element of the sparse tree."""

    tag: str
    attributes: Mapping[str, str]
    namespaces: Mapping[str, str]
    """The namespaces that the element itself declares, by prefix; "" is the default namespace."""
    node: Any
    """The element of the original document, for the tree's reader."""
    parent: int
    """The position of the nearest ancestor in the list of elements; -1 for the root."""


class RdfaTree(msgspec.Struct, frozen=True, kw_only=True):
    """A document as the processing rules read it."""

    host: HostLanguage
    reader: TreeReader
    url: str
    """The document's URL. Relative namespaces of prefixes are resolved against it and not against the base."""
    base: str
    elements: list[RdfaElement]
    """The root first, parents before their children, siblings in document order."""


# XML documents

_XML_ATTRIBUTES = {
    "{http://www.w3.org/XML/1998/namespace}lang": "xml:lang",
    "{http://www.w3.org/XML/1998/namespace}base": "xml:base",
}
_XHTML = f"{{{XHTML_NAMESPACE}}}"


def build_xml_tree(document: Document, root: Any, *, public_id: str) -> RdfaTree:
    """Return the sparse tree of a document with this root and public identifier."""
    host = _choose_host(document.kind, root, public_id)
    base = document.iri
    if host.is_html:
        given = root.find(f"{_XHTML}head/{_XHTML}base[@href]")
        base = resolve_and_check(base, given.get("href")).value if given is not None else base
    url = without_fragment(document.iri)
    return RdfaTree(host=host, reader=_READER, url=url, base=without_fragment(base), elements=_find_elements(root))


def _choose_host(kind: ContentKind, root: Any, public_id: str) -> HostLanguage:
    """Return the host language (HTML+RDFa 1.1, section 3.1, rule 5)."""
    if kind is not ContentKind.XHTML:
        return XML
    is_xhtml1 = "XHTML+RDFa 1." in public_id or (root.get("version") or "").startswith("XHTML+RDFa 1.")
    return XHTML1 if is_xhtml1 else XHTML5


def _find_elements(root: Any) -> list[RdfaElement]:
    found: list[RdfaElement] = []
    ancestors = [-1]
    declared: dict[str, str] = {}
    for event, item in etree.iterwalk(root, events=("start-ns", "start", "end")):
        if event == "start-ns":
            declared[item[0] or ""] = item[1] or ""
        elif event == "end":
            ancestors.pop()
        else:
            attributes = _read_attributes(item)
            if not declared and found and RELEVANT.isdisjoint(attributes):
                ancestors.append(ancestors[-1])
                continue
            found.append(RdfaElement(local_name(item), attributes, declared, item, ancestors[-1]))
            declared = {}
            ancestors.append(len(found) - 1)
    return found


def _read_attributes(item: Any) -> Mapping[str, str]:
    if not isinstance(item.tag, str):  # an unresolved entity
        return {}
    return {_XML_ATTRIBUTES.get(name, name): value for name, value in item.attrib.items()}


def _read_text(node: Any) -> str:
    """Return the text content without comments, processing instructions and unresolved entities."""
    parts = []
    for event, item in etree.iterwalk(node, events=("start", "end", "comment", "pi")):
        if event == "start":
            parts.append(item.text if isinstance(item.tag, str) else "")
        elif item is not node:
            parts.append(item.tail)
    return "".join(filter(None, parts))


def _read_markup(node: Any, namespaces: Mapping[str, str]) -> str:
    """Return an XML literal, which keeps the namespaces in scope (RDFa Core 1.1, section 7.5, step 11)."""
    parts = [escape(node.text or "", quote=False)]
    for child in node:
        if child.tag is not etree.Entity:  # an unresolved entity
            parts.extend(_serialize(child, namespaces))
        parts.append(escape(child.tail or "", quote=False))
    return "".join(parts)


_READER = TreeReader(read_text=_read_text, read_html=lambda node: _read_markup(node, {}), read_markup=_read_markup)


def _serialize(top: Any, namespaces: Mapping[str, str]) -> list[str]:
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
        elif not isinstance(item.tag, str):  # an unresolved entity
            if event == "start":
                continue
        elif event == "start":
            end = ">" if len(item) or item.text else "/>"
            parts.append(f"<{_name(item)}{_serialize_attributes(item)}{_serialize_declarations(declared)}{end}")
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


def _serialize_attributes(item: Any) -> str:
    """Return the attributes of an element in document order."""
    prefixes = {iri: prefix for prefix, iri in item.nsmap.items() if prefix} if item.attrib else {}
    parts = []
    for name, value in item.attrib.items():
        namespace, _, local = name[1:].rpartition("}") if name[0] == "{" else ("", "", name)
        prefix = _XML_ATTRIBUTES[name].partition(":")[0] if name in _XML_ATTRIBUTES else prefixes.get(namespace, "")
        parts.append(f' {prefix}{":" if prefix else ""}{local}="{escape(value)}"')
    return "".join(parts)


def _serialize_declarations(declared: Mapping[str, str]) -> str:
    return "".join(f' xmlns{":" if prefix else ""}{prefix}="{escape(iri)}"' for prefix, iri in sorted(declared.items()))

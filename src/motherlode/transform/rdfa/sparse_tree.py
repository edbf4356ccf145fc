"""The sparse tree that the processing rules visit, and how it is built from HTML and XML (XHTML, SVG and others).

It has the elements that can start a statement, their ancestors that change the evaluation context, and below a relation
without an object all elements with IRI attributes.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from lxml import etree
from selectolax.lexbor import LexborNode

from motherlode.model import ContentKind
from motherlode.transform.rdfa import xml_fragments
from motherlode.transform.rdfa.evaluation_context import HTML, XHTML1, XHTML5, XML, HostLanguage
from motherlode.www.document import Document
from motherlode.www.html_prefilter import Mark
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
    """The elements of a document that RDFa may give a meaning to, and the URLs for resolving references."""

    host: HostLanguage
    reader: TreeReader
    url: str
    """The document's URL. Relative namespaces of prefixes are resolved against it and not against the base."""
    base: str
    elements: list[RdfaElement]
    """The root first, parents before their children, siblings in document order."""


# HTML documents

# A plain list of selectors is faster than `:is()`. It returns an element once per selector that matches.
_SELECTORS = {
    Mark.PROPERTIES: "[property]",
    Mark.TYPES: "[typeof]",
    Mark.VOCABULARIES: "[vocab]",
    Mark.RELATIONS: '[rel]:is([rel*=":"], [rel*="license" i], [rel*="describedby" i], [rel~="role" i])',
    Mark.REVERSE_RELATIONS: "[rev]",
}
"""Mark of a page → CSS selector that it requires. Each selector takes a tenth of the time to parse the page.

Most values of `rel` are keywords of HTML such as `stylesheet`, which make no statement without a vocabulary.
"""
MARKS = frozenset((*_SELECTORS, Mark.XHTML_RDFA))
"""A page without any of these marks has no RDFa. In XHTML+RDFa, keywords such as `next` in `rel` are relations."""
_ANY_RELATION = "[property], [typeof], [rev], [vocab], [rel]"
_ANY_RESOURCE = f"{_ANY_RELATION}, [role], [about], [resource], [href], [src]"
_NO_NAMESPACES: Mapping[str, str] = {}
_HTML_READER = TreeReader(
    read_text=LexborNode.text,
    read_html=lambda node: node.inner_html or "",
    read_markup=xml_fragments.serialize_fragment,
)


def build_html_tree(document: Document, *, roles: bool) -> RdfaTree | None:
    """Return the sparse tree, or None for a document without a root."""
    root = document.html.root
    if root is None:
        return None
    builder = _TreeBuilder(root)
    for node in _find_starts(document, roles=roles):
        builder.add(node)
    return RdfaTree(
        host=HTML,
        reader=_HTML_READER,
        url=without_fragment(document.iri),
        base=without_fragment(document.iri_base),
        elements=builder.elements,
    )


def _find_starts(document: Document, *, roles: bool) -> list[LexborNode]:
    """Return the elements that may start a statement. With a vocabulary, every value of `rel` may."""
    selector = _selector(document.marks)
    if "[vocab]" in selector and document.html.css_first("[vocab]") is not None:
        selector = _ANY_RELATION
    if roles:
        selector = f"{selector}, [role]" if selector else "[role]"
    return document.html.css(selector) if selector else []


@lru_cache(maxsize=256)
def _selector(marks: frozenset[Mark]) -> str:
    return ", ".join(selector for mark, selector in _SELECTORS.items() if mark in marks)


def _is_incomplete(attributes: Mapping[str, str | None]) -> bool:
    """Whether an element has a relation without an object. A safe CURIE counts, because it may be unresolvable."""
    if "rel" not in attributes and "rev" not in attributes:
        return False
    if "href" in attributes or "src" in attributes:
        return False
    return "resource" not in attributes or (attributes["resource"] or "").lstrip().startswith("[")


class _TreeBuilder:
    """Builds the list of elements that RDFa needs, each after its ancestors. Each ancestor is visited once."""

    def __init__(self, root: LexborNode) -> None:
        self.elements: list[RdfaElement] = []
        self._positions: dict[int, int] = {}
        """For each visited element, its position in the list, or that of its nearest ancestor in the list."""
        self._append(root, root.mem_id, root.attributes, -1)
        if _is_incomplete(root.attributes):
            self._add_descendants(root)

    def add(self, node: LexborNode) -> None:
        """Add an element whose attributes may start a statement.

        If it has a `rel` or `rev` without a resource of its own (an incomplete triple of RDFa Core), also add the
        descendants that may be the missing resource.
        """
        key = node.mem_id
        if key in self._positions:
            return
        attributes = node.attributes
        self._append(node, key, attributes, self._add_ancestors(node))
        if _is_incomplete(attributes):
            self._add_descendants(node)

    def _add_descendants(self, incomplete: LexborNode) -> None:
        for node in incomplete.css(_ANY_RESOURCE):
            key = node.mem_id
            if key not in self._positions:
                self._append(node, key, node.attributes, self._add_ancestors(node))

    def _add_ancestors(self, node: LexborNode) -> int:
        """Add the relevant ancestors that are not in the list yet; return the position of the nearest one."""
        parent = node.parent
        position = self._positions.get(parent.mem_id) if parent is not None else 0
        if position is not None:  # usually a sibling was added before
            return position
        unvisited: list[tuple[LexborNode, int]] = []
        while parent is not None and position is None:
            unvisited.append((parent, parent.mem_id))
            parent = parent.parent
            position = self._positions.get(parent.mem_id) if parent is not None else 0
        position = position or 0
        for ancestor, key in reversed(unvisited):
            attributes = ancestor.attributes
            for name in attributes:
                if name in RELEVANT or (name[0] == "x" and name.startswith("xmlns:")):
                    position = self._append(ancestor, key, attributes, position)
                    break
            else:
                self._positions[key] = position
        return position

    def _append(self, node: LexborNode, key: int, attributes: dict[str, Any], parent: int) -> int:
        position = len(self.elements)
        self._positions[key] = position
        namespaces = _NO_NAMESPACES
        for name, value in attributes.items():
            if name[0] == "x" and (name == "xmlns" or name.startswith("xmlns:")):
                namespaces = {**namespaces, name.partition(":")[2].lower(): value or ""}
        if None in attributes.values():  # an attribute without a value has the value ""
            attributes = {name: value or "" for name, value in attributes.items()}
        self.elements.append(RdfaElement(node.tag or "", attributes, namespaces, node, parent))
        return position


# XML documents

_XHTML = f"{{{XHTML_NAMESPACE}}}"
_XML_READER = TreeReader(
    read_text=xml_fragments.read_xml_text,
    read_html=lambda node: xml_fragments.serialize_xml_content(node, {}),
    read_markup=xml_fragments.serialize_xml_content,
)


def build_xml_tree(document: Document, root: Any, *, public_id: str) -> RdfaTree:
    """Return the sparse tree of a document with this root and public identifier."""
    host = _choose_host(document.kind, root, public_id)
    base = document.iri
    if host.is_html:
        given = root.find(f"{_XHTML}head/{_XHTML}base[@href]")
        base = resolve_and_check(base, given.get("href")).value if given is not None else base
    url = without_fragment(document.iri)
    return RdfaTree(host=host, reader=_XML_READER, url=url, base=without_fragment(base), elements=_find_elements(root))


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
    return {xml_fragments.XML_ATTRIBUTES.get(name, name): value for name, value in item.attrib.items()}

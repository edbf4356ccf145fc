"""The sparse tree of an HTML document.

One selector finds the elements with an attribute that can start a statement. Other elements matter in two cases: as
ancestors of these, so the ancestors of each are visited once, and as descendants of a relation without an object, so
only there all elements with IRI attributes are added.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from selectolax.lexbor import LexborNode

from motherlode.transform.rdfa.evaluation_context import HTML
from motherlode.transform.rdfa.sparse_tree import RELEVANT, RdfaElement, RdfaTree, TreeReader
from motherlode.transform.rdfa.xml_fragments import serialize_fragment
from motherlode.www.document import Document
from motherlode.www.html_prefilter import Mark
from motherlode.www.iri import without_fragment

# A plain list of selectors is faster than `:is()`. It returns an element once per selector that matches.
_SELECTORS = {
    Mark.PROPERTIES: "[property]",
    Mark.TYPES: "[typeof]",
    Mark.VOCABULARIES: "[vocab]",
    Mark.RELATIONS: '[rel]:is([rel*=":"], [rel*="license" i], [rel*="describedby" i], [rel~="role" i])',
    Mark.REVERSE_RELATIONS: "[rev]",
}
"""The selector for pages with a mark. Each additional attribute costs a tenth of the time to parse the page.

Most values of `rel` are keywords of HTML such as `stylesheet`, which make no statement without a vocabulary.
"""
MARKS = frozenset((*_SELECTORS, Mark.XHTML_RDFA))
"""A page without any of these marks has no RDFa. In XHTML+RDFa, keywords such as `next` in `rel` are relations."""
_ANY_RELATION = "[property], [typeof], [rev], [vocab], [rel]"
_ANY_RESOURCE = f"{_ANY_RELATION}, [role], [about], [resource], [href], [src]"
_NO_NAMESPACES: Mapping[str, str] = {}


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
        reader=_READER,
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
    """Whether an element has a relation without an object, which a descendant may supply.

    A relation with a safe CURIE counts, because the CURIE may be unresolvable.
    """
    if "rel" not in attributes and "rev" not in attributes:
        return False
    if "href" in attributes or "src" in attributes:
        return False
    return "resource" not in attributes or (attributes["resource"] or "").lstrip().startswith("[")


class _TreeBuilder:
    """Builds the list of elements, each after its ancestors. Each ancestor is visited once."""

    def __init__(self, root: LexborNode) -> None:
        self.elements: list[RdfaElement] = []
        self._positions: dict[int, int] = {}
        """For each visited element, its position in the list, or that of its nearest ancestor in the list."""
        self._append(root, root.mem_id, root.attributes, -1)
        if _is_incomplete(root.attributes):
            self._add_descendants(root)

    def add(self, node: LexborNode) -> None:
        """Add an element that may start a statement, and the descendants that may complete its relation."""
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


_READER = TreeReader(
    read_text=LexborNode.text, read_html=lambda node: node.inner_html or "", read_markup=serialize_fragment
)

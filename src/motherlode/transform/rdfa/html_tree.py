"""The sparse tree of an HTML document.

Only a few attributes can start a statement: one selector finds the elements that have them. All others can matter in
two ways alone. As ancestors of such elements, so the way up is walked once from each; or as descendants of a relation
that waits for its object, and only there are all candidates looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from selectolax.lexbor import LexborNode

from motherlode.transform.rdfa.evaluation_context import HTML
from motherlode.transform.rdfa.sparse_tree import RELEVANT, RdfaElement, RdfaTree
from motherlode.transform.rdfa.xml_fragments import fragment
from motherlode.www.document import Document
from motherlode.www.html_prefilter import Mark
from motherlode.www.iri import without_fragment

# A plain list is faster than `:is()`, and finds an element once for each member that it fits.
_STARTING = {
    Mark.PROPERTIES: "[property]",
    Mark.TYPES: "[typeof]",
    Mark.VOCABULARIES: "[vocab]",
    Mark.RELATIONS: '[rel]:is([rel*=":"], [rel*="license" i], [rel*="describedby" i], [rel~="role" i])',
    Mark.REVERSE_RELATIONS: "[rev]",
}
"""What a page is searched for that bears the mark; every attribute more costs a tenth of the parse.

Most relations are words of HTML such as `stylesheet`, which say nothing where no vocabulary is set."""
MARKS = frozenset((*_STARTING, Mark.XHTML_RDFA))
"""A page without any of these has no RDFa. In XHTML+RDFa every word of HTML is a relation: `<link rel="next">`."""
_ANY_RELATION = "[property], [typeof], [rev], [vocab], [rel]"
_WITH_ADDRESSES = f"{_ANY_RELATION}, [role], [about], [resource], [href], [src]"
_NO_NAMESPACES: Mapping[str, str] = {}


def html_tree(document: Document, *, roles: bool) -> RdfaTree | None:
    """The sparse tree; None for a document without a root."""
    root = document.html.root
    if root is None:
        return None
    builder = _Builder(root)
    for node in _starting(document, roles=roles):
        builder.add(node)
    return RdfaTree(
        host=HTML,
        reader=_READER,
        url=without_fragment(document.iri),
        base=without_fragment(document.iri_base),
        elements=builder.elements,
    )


def _starting(document: Document, *, roles: bool) -> list[LexborNode]:
    """The elements that may start a statement. Where a vocabulary is set, every word of a relation says something."""
    selector = _selector(document.marks)
    if "[vocab]" in selector and document.html.css_first("[vocab]") is not None:
        selector = _ANY_RELATION
    if roles:
        selector = f"{selector}, [role]" if selector else "[role]"
    return document.html.css(selector) if selector else []


@lru_cache(maxsize=256)
def _selector(marks: frozenset[Mark]) -> str:
    return ", ".join(selector for mark, selector in _STARTING.items() if mark in marks)


def _is_hanging(attributes: Mapping[str, str | None]) -> bool:
    """A relation without an object: what is inside may give it one. A safe CURIE may turn out to name none."""
    if "rel" not in attributes and "rev" not in attributes:
        return False
    if "href" in attributes or "src" in attributes:
        return False
    return "resource" not in attributes or (attributes["resource"] or "").lstrip().startswith("[")


class _Builder:
    """Puts elements into the list, each after its ancestors. What was passed on the way up is not looked at again."""

    def __init__(self, root: LexborNode) -> None:
        self.elements: list[RdfaElement] = []
        self._places: dict[int, int] = {}
        """For every element that was met: the place in the list of it, or of the nearest that is in the list."""
        self._append(root, root.mem_id, root.attributes, -1)
        if _is_hanging(root.attributes):
            self._add_all_inside(root)

    def add(self, node: LexborNode) -> None:
        """An element that may start a statement, and if it starts a relation that waits, all that may end it."""
        key = node.mem_id
        if key in self._places:
            return
        attributes = node.attributes
        self._append(node, key, attributes, self._above(node))
        if _is_hanging(attributes):
            self._add_all_inside(node)

    def _add_all_inside(self, hanging: LexborNode) -> None:
        for node in hanging.css(_WITH_ADDRESSES):
            key = node.mem_id
            if key not in self._places:
                self._append(node, key, node.attributes, self._above(node))

    def _above(self, node: LexborNode) -> int:
        """The place of the nearest relevant ancestor; those not yet in the list are put into it, from the top down."""
        parent = node.parent
        place = self._places.get(parent.mem_id) if parent is not None else 0
        if place is not None:  # most stand beside one that was met
            return place
        waiting: list[tuple[LexborNode, int]] = []
        while parent is not None and place is None:
            waiting.append((parent, parent.mem_id))
            parent = parent.parent
            place = self._places.get(parent.mem_id) if parent is not None else 0
        place = place or 0
        for ancestor, key in reversed(waiting):
            attributes = ancestor.attributes
            for name in attributes:
                if name in RELEVANT or (name[0] == "x" and name.startswith("xmlns:")):
                    place = self._append(ancestor, key, attributes, place)
                    break
            else:
                self._places[key] = place
        return place

    def _append(self, node: LexborNode, key: int, attributes: dict[str, Any], parent: int) -> int:
        place = len(self.elements)
        self._places[key] = place
        namespaces = _NO_NAMESPACES
        for name in attributes:
            if name[0] == "x" and name.startswith("xmlns"):
                namespaces = _declared(attributes)
                break
        if None in attributes.values():  # attributes without a value have an empty one
            attributes = {name: value or "" for name, value in attributes.items()}
        self.elements.append(RdfaElement(node.tag or "", attributes, namespaces, node, parent))
        return place


def _declared(attributes: Mapping[str, str | None]) -> Mapping[str, str]:
    return {
        name.partition(":")[2].lower(): value or ""
        for name, value in attributes.items()
        if name == "xmlns" or name.startswith("xmlns:")
    }


class _HtmlReader:
    """Reads elements of an HTML tree."""

    def text(self, node: LexborNode) -> str:
        return node.text()

    def html(self, node: LexborNode) -> str:
        return node.inner_html or ""

    def markup(self, node: LexborNode, namespaces: Mapping[str, str]) -> str:
        return fragment(node, namespaces)


_READER = _HtmlReader()

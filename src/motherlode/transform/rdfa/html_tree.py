"""The sparse tree of an HTML document.

Only a few attributes can start a statement: one selector finds the elements that have them. All others can matter in
two ways alone. As ancestors of such elements, so the way up is walked once from each; or as descendants of a relation
that waits for its object, and only where there is one are all candidates looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import cast

from selectolax.lexbor import LexborNode

from motherlode.transform.rdfa.hosts import HTML
from motherlode.transform.rdfa.tree import RELEVANT, Element, Tree
from motherlode.www.document import Document
from motherlode.www.html_references import without_fragment
from motherlode.www.marks import Mark

_STARTING = frozenset({"property", "typeof", "rel", "rev", "vocab", "role"})
# A plain list is faster than `:is()`, and finds an element once for each member that it fits.
_ANY_RELATION = "[property], [typeof], [rev], [vocab], [rel]"
_WITH_ADDRESSES = f"{_ANY_RELATION}, [role], [about], [resource], [href], [src]"
_TELLING = (
    "[property], [typeof], [rev], [vocab], "
    '[rel]:is([rel*=":"], [rel*="license" i], [rel*="describedby" i], [rel~="role" i])'
)
"""Most relations are words of HTML such as `stylesheet`, which say nothing where no vocabulary is set."""
_NAMESPACES = {"svg": "http://www.w3.org/2000/svg", "math": "http://www.w3.org/1998/Math/MathML"}
_XHTML = "http://www.w3.org/1999/xhtml"
_NO_NAMESPACES: Mapping[str, str] = {}


def html_tree(document: Document, *, roles: bool) -> Tree | None:
    """The sparse tree; None for a document without a root."""
    root = document.html.root
    if root is None:
        return None
    found = _starting(document, roles=roles)
    builder = _Builder(root)
    if any(_is_hanging(attributes) for _, attributes in found):
        for node in document.html.css(_WITH_ADDRESSES):
            builder.add_if_it_matters(node, node.attributes)
    else:
        for node, attributes in found:
            builder.add(node, attributes)
    return Tree(host=HTML, reader=_READER, base=without_fragment(document.base), elements=builder.elements)


def _starting(document: Document, *, roles: bool) -> list[tuple[LexborNode, dict[str, str | None]]]:
    """The elements that may start a statement. Where a vocabulary is set, every word of a relation says something."""
    tree = document.html
    role = ", [role]" if roles else ""
    if Mark.RELATIONS not in document.marks:  # two pages in three: OpenGraph alone
        return [(node, node.attributes) for node in tree.css(f"[property]{role}")]
    found = [(node, node.attributes) for node in tree.css(_TELLING + role)]
    if any("vocab" in attributes for _, attributes in found):
        found = [(node, node.attributes) for node in tree.css(_ANY_RELATION + role)]
    return found


def _is_hanging(attributes: Mapping[str, str | None]) -> bool:
    """A relation without an object: what is inside may give it one."""
    if "rel" not in attributes and "rev" not in attributes:
        return False
    return "href" not in attributes and "src" not in attributes and "resource" not in attributes


class _Builder:
    """Puts elements into the list, each after its ancestors. What was passed on the way up is not looked at again."""

    def __init__(self, root: LexborNode) -> None:
        self.elements: list[Element] = []
        self._in_hanging: list[bool] = []
        """For every element in the list: whether it is, or is inside, a relation that waits for its object."""
        self._places: dict[int, int] = {}
        """For every element that was met: the place in the list of it, or of the nearest that is in the list."""
        self._append(root, root.attributes, -1)

    def add(self, node: LexborNode, attributes: dict[str, str | None]) -> None:
        if node.mem_id not in self._places:
            self._append(node, attributes, self._above(node))

    def add_if_it_matters(self, node: LexborNode, attributes: dict[str, str | None]) -> None:
        """An address that stands outside of waiting relations matters only to what is inside it, which will find it."""
        if node.mem_id in self._places:
            return
        place = self._above(node)
        if self._in_hanging[place] or not _STARTING.isdisjoint(attributes):
            self._append(node, attributes, place)

    def _above(self, node: LexborNode) -> int:
        """The place of the nearest relevant ancestor; those not yet in the list are put into it, from the top down."""
        waiting: list[LexborNode] = []
        place = 0
        parent = node.parent
        while parent is not None:
            known = self._places.get(parent.mem_id)
            if known is not None:
                place = known
                break
            waiting.append(parent)
            parent = parent.parent
        for ancestor in reversed(waiting):
            attributes = ancestor.attributes
            for name in attributes:
                if name in RELEVANT or (name[0] == "x" and name.startswith("xmlns:")):
                    place = self._append(ancestor, attributes, place)
                    break
            else:
                self._places[ancestor.mem_id] = place
        return place

    def _append(self, node: LexborNode, attributes: dict[str, str | None], parent: int) -> int:
        place = len(self.elements)
        self._places[node.mem_id] = place
        in_hanging = parent != -1 and self._in_hanging[parent]
        self._in_hanging.append(
            in_hanging or (("rel" in attributes or "rev" in attributes) and _is_hanging(attributes))
        )
        namespaces = _NO_NAMESPACES
        for name in attributes:
            if name[0] == "x" and name.startswith("xmlns"):
                namespaces = _declared(attributes)
                break
        self.elements.append(Element(node.tag or "", _without_none(attributes), namespaces, node, parent))
        return place


def _without_none(attributes: dict[str, str | None]) -> Mapping[str, str]:
    """Attributes without a value have an empty one."""
    if None in attributes.values():
        return {name: value or "" for name, value in attributes.items()}
    return cast("dict[str, str]", attributes)


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
        """HTML+RDFa 1.1, section 3.4."""
        return "".join(_serialized(child, namespaces) for child in reversed(_children(node)))


_READER = _HtmlReader()


def _serialized(node: LexborNode, namespaces: Mapping[str, str]) -> str:
    """A node as XML, with namespaces if it is an element. A stack instead of recursion: pages nest as they like."""
    parts: list[str] = []
    waiting: list[LexborNode | str] = [node]
    extra = _namespace_attributes(node.tag or "", namespaces)
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            parts.append(item)
        elif item.is_text_node:
            parts.append(escape(item.text_content or "", quote=False))
        elif item.is_comment_node:
            parts.append(f"<!--{(item.html or '')[4:-3].replace('--', '- -')}-->")
        elif item.is_element_node:
            children = _children(item)
            parts.append(f"<{item.tag}{_attributes(item)}{extra}" + (">" if children else "/>"))
            if children:
                waiting.append(f"</{item.tag}>")
                waiting.extend(children)
            extra = ""
    return "".join(parts)


def _children(node: LexborNode) -> list[LexborNode]:
    """The children of a node, the last one first."""
    found: list[LexborNode] = []
    child = node.last_child
    while child is not None:
        found.append(child)
        child = child.prev
    return found


def _attributes(node: LexborNode) -> str:
    return "".join(f' {name}="{escape(value or "")}"' for name, value in node.attributes.items())


def _namespace_attributes(tag: str, namespaces: Mapping[str, str]) -> str:
    declared = {**namespaces, "": _NAMESPACES.get(tag, _XHTML)}
    return "".join(f' xmlns{":" if prefix else ""}{prefix}="{escape(iri)}"' for prefix, iri in sorted(declared.items()))

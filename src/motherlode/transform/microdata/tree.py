"""The sparse tree of a page's Microdata: only elements with its attributes, and those that an itemref points to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from selectolax.lexbor import LexborNode

from motherlode.www.document import Document
from motherlode.www.html_ancestry import Ancestry
from motherlode.www.marks import Mark

# A plain list is faster than `:is()`, and finds an element once for each member that it fits.
_SELECTOR = "[itemscope], [itemprop]"
_REVERSE = "[itemprop-reverse]"
_ATTRIBUTES = frozenset({"itemscope", "itemprop", "itemprop-reverse"})


class Element:
    """An element with Microdata attributes, or one that an itemref points to."""

    __slots__ = ("attributes", "children", "is_item", "names", "node", "reverse")

    def __init__(self, node: LexborNode) -> None:
        attributes = node.attributes
        self.node = node
        self.attributes: Mapping[str, str | None] = attributes
        self.is_item = "itemscope" in attributes
        self.names = words(attributes.get("itemprop"))
        self.reverse = words(attributes["itemprop-reverse"]) if "itemprop-reverse" in attributes else ()
        self.children: list[Element] = []
        """The nearest elements of the sparse tree below this one."""


class Tree:
    """The sparse tree, its items at the top, and its elements by id."""

    def __init__(self, document: Document) -> None:
        selector = f"{_SELECTOR}, {_REVERSE}" if Mark.REVERSE_PROPERTIES in document.marks else _SELECTOR
        nodes = {node.mem_id: node for node in document.html.css(selector)}
        elements = {key: Element(node) for key, node in nodes.items()}
        references = [e.attributes["itemref"] for e in elements.values() if "itemref" in e.attributes]
        wanted = {word for reference in references for word in words(reference)}
        self.by_id: dict[str, Element] = {}
        self.top_items: list[Element] = []
        if wanted:
            nodes = {node.mem_id: node for node in document.html.css(f"{selector}, [id]")}
            elements = dict(self._with_targets(nodes, wanted))
        turned_round: list[Element] = []  # they inherit from the item that they stand in, if they stand in one
        ancestry: Ancestry[Element | None] = Ancestry(elements, default=None)
        for element in elements.values():
            parent = ancestry.above(element.node)
            if parent is not None:
                parent.children.append(element)
            if element.is_item and not element.names:
                (turned_round if element.reverse else self.top_items).append(element)
        self.top_items.extend(turned_round)

    def _with_targets(self, nodes: Mapping[int, LexborNode], wanted: set[str]) -> Iterator[tuple[int, Element]]:
        """The elements with Microdata attributes, and those that an itemref points to."""
        for key, node in nodes.items():
            attributes = node.attributes
            identifier = attributes.get("id")
            is_target = identifier in wanted and identifier not in self.by_id
            if is_target or not attributes.keys().isdisjoint(_ATTRIBUTES):
                element = Element(node)
                if is_target:
                    self.by_id[identifier or ""] = element
                yield key, element

    def properties(self, item: Element) -> Iterator[Element]:
        """The elements that give an item's properties (HTML, section 5.2.5), each once, loops or not."""
        seen = {id(item)}
        waiting = item.children[::-1]
        for identifier in reversed(words(item.attributes.get("itemref"))):
            target = self.by_id.get(identifier)
            if target is not None:
                waiting.append(target)
        while waiting:
            element = waiting.pop()
            if id(element) in seen:
                continue
            seen.add(id(element))
            if element.names or element.reverse:
                yield element
            if not element.is_item:
                waiting.extend(reversed(element.children))


def words(value: str | None) -> tuple[str, ...]:
    """The words of an attribute, each once.

    >>> words(" name  url name "), words(None)
    (('name', 'url'), ())
    """
    if not value:
        return ()
    found = value.split()
    return tuple(found) if len(found) < 2 else tuple(dict.fromkeys(found))

"""The sparse tree of a page's Microdata: only elements with its attributes, and those that an itemref points to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from selectolax.lexbor import LexborNode

from motherlode.www.document import Document
from motherlode.www.html_ancestry import Ancestry

_MARKED = "[itemscope], [itemprop], [itemprop-reverse]"
# An element that fits two members of a plain list of selectors is found twice; with :is() it is found once.
_SELECTOR = f":is({_MARKED})"
_SELECTOR_WITH_IDS = f":is({_MARKED}, [id])"


class Element:
    """An element with Microdata attributes, or one that an itemref points to."""

    __slots__ = ("attributes", "children", "is_item", "names", "node", "reverse")

    def __init__(self, node: LexborNode) -> None:
        self.node = node
        self.attributes: Mapping[str, str | None] = node.attributes
        self.is_item = "itemscope" in self.attributes
        self.names = words(self.attributes.get("itemprop"))
        self.reverse = words(self.attributes.get("itemprop-reverse"))
        self.children: list[Element] = []
        """The nearest elements of the sparse tree below this one."""


class Tree:
    """The sparse tree, its items at the top, and its elements by id."""

    def __init__(self, document: Document) -> None:
        elements = [Element(node) for node in document.html.css(_SELECTOR)]
        wanted = {word for element in elements for word in words(element.attributes.get("itemref"))}
        self.by_id: dict[str, Element] = {}
        self.top_items: list[Element] = []
        if wanted:
            elements = list(self._with_targets(document.html.css(_SELECTOR_WITH_IDS), wanted))
        above: Ancestry[Element | None] = Ancestry(((e.node, e) for e in elements), default=None)
        for element in elements:
            parent = above.above(element.node)
            if parent is not None:
                parent.children.append(element)
            if element.is_item and not element.names and not (element.reverse and parent):
                self.top_items.append(element)

    def _with_targets(self, nodes: list[LexborNode], wanted: set[str]) -> Iterator[Element]:
        """The elements with Microdata attributes, and those that an itemref points to."""
        for node in nodes:
            attributes = node.attributes
            identifier = attributes.get("id")
            is_target = identifier in wanted and identifier not in self.by_id
            if is_target or not attributes.keys().isdisjoint(_ATTRIBUTES):
                element = Element(node)
                if is_target:
                    self.by_id[identifier or ""] = element
                yield element

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


_ATTRIBUTES = frozenset({"itemscope", "itemprop", "itemprop-reverse"})


def words(value: str | None) -> tuple[str, ...]:
    """The words of an attribute, each once.

    >>> words(" name  url name "), words(None)
    (('name', 'url'), ())
    """
    if not value:
        return ()
    found = value.split()
    return tuple(found) if len(found) < 2 else tuple(dict.fromkeys(found))

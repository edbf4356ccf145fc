"""Microdata items as dicts: type, id, properties and nested items (HTML, section 5.5.1)."""

from collections.abc import Callable
from typing import Any, NamedTuple

from selectolax.lexbor import LexborNode

from motherlode.transform.microdata.generator import MAX_VALUES, URL_ATTRIBUTES, VALUE_ATTRIBUTES, ItemElement, ItemTree
from motherlode.transform.microdata.layout_text import read_layout_text
from motherlode.www import iri
from motherlode.www.document import Document
from motherlode.www.html_limits import TextBudget

ItemDict = dict[str, Any]
MAX_NESTED_ITEMS = 100
"""Maximum number of levels of nested items, because callers process them by recursion. Deeper items are replaced by
their text."""
_SPACE = " \t\n\f\r"
_ACTION_SUFFIXES = ("-input", "-output")
"""Endings of property names that annotate the inputs and outputs of schema.org actions."""


def read_item_dicts(document: Document, html_node_of: Callable[[LexborNode], Any] | None = None) -> list[ItemDict]:
    """Return the items of a page that are not values of other items, in document order.

    With `html_node_of`, each item has its result for the element of the item under the key htmlNode.
    """
    return _ItemReader(document, html_node_of).read_page()


class _WaitingItem(NamedTuple):
    """An item whose properties are still to be read."""

    element: ItemElement
    item: ItemDict
    enclosing: frozenset[int]
    """Identities of this element and those around it; empty if no item has an itemref."""
    depth: int


class _ItemReader:
    """Reads the items of one page. It uses a stack instead of recursion because items may be nested deeply."""

    def __init__(self, document: Document, html_node_of: Callable[[LexborNode], Any] | None) -> None:
        self._html_node_of = html_node_of
        self._base = document.iri_base
        self._tree = ItemTree(document)
        self._order = {id(element): number for number, element in enumerate(self._tree.elements)}
        self._used: set[int] = set()
        """Identities of the elements that are values of other items."""
        self._stack: list[_WaitingItem] = []
        self._values_left = MAX_VALUES
        self._budget = TextBudget(len(document.body))

    def read_page(self) -> list[ItemDict]:
        found = [(element, self._read_tree(element)) for element in self._tree.top_items]
        # an item with an itemprop outside of every item is the value of nothing, but still an item
        for element in self._tree.elements:
            if element.is_item and element.names and id(element) not in self._used:
                found.append((element, self._read_tree(element)))
        found = [pair for pair in found if not pair[0].names or id(pair[0]) not in self._used]
        found.sort(key=lambda pair: self._order[id(pair[0])])
        return [item for _, item in found]

    def _read_tree(self, element: ItemElement) -> ItemDict:
        """Return an item with all items nested in it."""
        found = self._start_item(element, None)
        while self._stack and self._values_left > 0:
            self._fill(self._stack.pop())
        self._stack.clear()
        return found

    def _start_item(self, element: ItemElement, parent: _WaitingItem | None) -> ItemDict:
        item: ItemDict = {}
        types = (element.attributes.get("itemtype") or "").split()
        if types:
            item["type"] = types[0] if len(types) == 1 else types
            if identifier := element.attributes.get("itemid"):
                item["id"] = identifier.strip()
        enclosing = parent.enclosing if parent is not None else frozenset()
        if self._tree.has_references:
            enclosing |= {id(element)}
        depth = parent.depth + 1 if parent is not None else 0
        self._stack.append(_WaitingItem(element, item, enclosing, depth))
        return item

    def _fill(self, waiting: _WaitingItem) -> None:
        element, item = waiting.element, waiting.item
        properties: dict[str, Any] = {}
        repeated: set[str] = set()
        for child in self._find_properties(element):
            self._values_left -= 1
            value = self._read_value(child, waiting)
            for name in child.names:
                if name not in properties:
                    properties[name] = value
                elif name in repeated:
                    properties[name].append(value)
                else:
                    properties[name] = [properties[name], value]
                    repeated.add(name)
        if properties:
            item["properties"] = properties
        else:
            item["value"] = self._read_plain(element)
        if self._html_node_of is not None:
            item["htmlNode"] = self._html_node_of(element.node)

    def _find_properties(self, element: ItemElement) -> list[ItemElement]:
        """Return the property elements of an item in tree order (HTML, section 5.2.5)."""
        found = [child for child in self._tree.iter_properties(element) if child.names]
        if "itemref" in element.attributes:
            found.sort(key=lambda child: self._order[id(child)])
        return found

    def _read_value(self, element: ItemElement, parent: _WaitingItem) -> Any:
        """Return the value of a property; None for an item that contains itself by an itemref."""
        if not element.is_item:
            return self._read_plain(element)
        self._used.add(id(element))
        if parent.depth >= MAX_NESTED_ITEMS:
            return self._read_text(element.node)
        return None if id(element) in parent.enclosing else self._start_item(element, parent)

    def _read_plain(self, element: ItemElement) -> Any:
        """Return the value of an element that is not an item (HTML, section 5.2.4)."""
        attributes, tag = element.attributes, element.node.tag or ""
        if tag == "meta":
            return attributes.get("content") or ""
        if tag in URL_ATTRIBUTES:
            reference = attributes.get(URL_ATTRIBUTES[tag])
            if reference is not None:
                return iri.resolve(self._base, reference.strip(_SPACE))
        elif tag in VALUE_ATTRIBUTES:
            given = attributes.get(VALUE_ATTRIBUTES[tag][0])
            if given is not None:
                return given
        if content := attributes.get("content"):
            return content
        if any(name.endswith(_ACTION_SUFFIXES) for name in element.names[-1:]):
            return _read_action_value(element)
        return self._read_text(element.node)

    def _read_text(self, node: LexborNode) -> str:
        if self._budget.is_spent:
            return ""
        text = read_layout_text(node)
        self._budget.spend(text)
        return text


def _read_action_value(element: ItemElement) -> ItemDict:
    """Return the constraints of an input or output of an action (schema.org/docs/actions.html, part 4)."""
    found: ItemDict = {}
    if "required" in element.attributes:
        found["valueRequired"] = True
    if name := element.attributes.get("name"):
        found["valueName"] = name
    return found

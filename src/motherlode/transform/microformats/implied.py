"""Properties that a root element implies (microformats2-parsing, "parsing for implied properties")."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from motherlode.transform.microformats.items import Item, Value
from motherlode.transform.microformats.text import Images
from motherlode.transform.microformats.urls import resolve
from motherlode.transform.microformats.values import Element

_NAME = (("img", "alt"), ("area", "alt"), ("abbr", "title"))
_PHOTO = (("img", "src"), ("object", "data"))
_URL = (("a", "href"), ("area", "href"))


def imply(item: Item, element: Element, language: str) -> None:
    """Adds name, photo and url where the author did not write them out. Classic microformats imply nothing."""
    if item.is_classic or item.has_nested:
        return
    if "name" not in item.properties and item.prefixes.isdisjoint("pe"):
        item.add("name", Value(prefix="p", text=_name(element), language=language))
    if "u" in item.prefixes:
        return
    if "photo" not in item.properties and (found := _pointer(element, _PHOTO)):
        node, src = found
        alt = node.attributes["alt"] or "" if node.tag == "img" and "alt" in node.attributes else None
        item.add("photo", _url(element.base, src, alt, language))
    if "url" not in item.properties and (found := _pointer(element, _URL)):
        item.add("url", _url(element.base, found[1], None, language))


def _url(base: str, reference: str, alt: str | None, language: str) -> Value:
    return Value(
        prefix="u", text=resolve(base, reference), written=reference, from_attribute=True, alt=alt, language=language
    )


def _name(element: Element) -> str:
    for tag, attribute in _NAME:
        if element.tag == tag and attribute in element.attributes:
            return (element.attribute(attribute) or "").strip()
    only = _only_child(element.node)
    for node in (only, _only_child(only) if only is not None else None):
        for tag, attribute in _NAME:
            if node is not None and node.tag == tag and (found := node.attributes.get(attribute)):
                return found.strip()
    return element.text(Images.ALT)


def _pointer(element: Element, kinds: tuple[tuple[str, str], ...]) -> tuple[LexborNode, str] | None:
    """The element that may stand for the item's photo or url: itself, an only one of its kind below, or a level on."""
    for tag, attribute in kinds:
        if element.tag == tag and attribute in element.attributes:
            return element.node, element.attribute(attribute) or ""
    only = _only_child(element.node)
    for parent in (element.node, only):
        for tag, attribute in kinds:
            node = _only_of_type(parent, tag) if parent is not None else None
            if node is not None and attribute in node.attributes:
                return node, node.attributes[attribute] or ""
    return None


def _elements(node: LexborNode) -> Iterator[LexborNode]:
    return (child for child in node.iter() if child.is_element_node)


def _only_child(node: LexborNode) -> LexborNode | None:
    found = None
    for child in _elements(node):
        if found is not None:
            return None
        found = child
    return found


def _only_of_type(node: LexborNode, tag: str) -> LexborNode | None:
    found = None
    for child in _elements(node):
        if child.tag == tag:
            if found is not None:
                return None
            found = child
    return found

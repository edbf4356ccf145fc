"""Items of microformats and their property values: text, URLs, dates, markup and implied properties.

The traversal of a page (`walker`) appends all texts and images to one list of pieces, and the text of an element is a
slice of it. An image stays an `Image` in the list, because its contribution to the text depends on the property.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from urllib.parse import unquote

import msgspec
from selectolax.lexbor import LexborNode

from motherlode.transform.microformats.dates import is_duration, join_date_parts
from motherlode.www import iri

HTML_SPACE = " \t\n\f\r"
_TRIMMED = HTML_SPACE + "\x0b\xa0"


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """One value of one property."""

    prefix: str
    """The prefix of the property's class name: p, u, dt or e."""
    text: str
    """The value by the specification: URLs are resolved, times are completed with a date."""
    written: str = ""
    """For u-*: the reference before it was resolved."""
    from_attribute: bool = False
    """True if the value is from an attribute (href, datetime, value …), False if it is from running text."""
    alt: str | None = None
    html: str | None = None
    """For e-*: the markup of the element's content."""
    language: str = ""
    item: Item | None = None
    """The nested item that the same element starts, if any."""
    item_value: str | Value | None = None
    """The plain value of the nested item: a text, or the value of its name or url."""


class Item(msgspec.Struct, kw_only=True):
    """One microformat. It is mutable, because the traversal of the page (`walker`) fills it."""

    key: int
    """Identifies the element. An include may read the same element twice."""
    types: tuple[str, ...]
    is_classic: bool
    id: str = ""
    language: str = ""
    properties: dict[str, list[Value | None]] = msgspec.field(default_factory=dict)
    """The values by name; None for a value whose element is still open."""
    children: list[Item] = msgspec.field(default_factory=list)
    plain: Value | None = None
    """The text of a classic geo or adr without properties."""
    has_nested: bool = False
    prefixes: set[str] = msgspec.field(default_factory=set)
    """The prefixes of the explicit properties."""

    def values(self, name: str) -> list[Value]:
        """Return the values of a property whose elements are closed."""
        return [value for value in self.properties.get(name, ()) if value is not None]

    def first(self, name: str, prefix: str) -> Value | None:
        """Return the first value of a property with this prefix, or None."""
        return next((value for value in self.values(name) if value.prefix == prefix), None)


def plain_value(value: Value) -> str | Value:
    """Return the plain value of a nested item, or the text; an image with alternative text is returned unchanged."""
    if value.item is not None:
        return value.item_value if value.item_value is not None else ""
    return value if value.alt is not None else value.text


# Text


class Image(msgspec.Struct, frozen=True):
    """An img element inside text."""

    alt: str | None
    src: str | None

    def __len__(self) -> int:
        """Return the number of characters by which an image counts towards the limit of text per page."""
        return 200


Piece = str | Image


class ImageText(Enum):
    """The part of an image that becomes text of the element around it."""

    NOTHING = "nothing"
    """No text. Used for values of u-* and dt-* properties."""
    ALT = "alt"
    """The `alt` attribute. Used for implied names."""
    ALT_OR_SRC = "alt or src"
    """The `alt` attribute, or else `src`. Used for values of p-* and e-* properties."""


def join_pieces(pieces: Sequence[Piece], images: ImageText) -> str:
    """Return the text of pieces without leading and trailing white space."""
    texts = [piece if isinstance(piece, str) else _image_text(piece, images) for piece in pieces]
    return "".join(texts).strip(_TRIMMED)


def _image_text(image: Image, images: ImageText) -> str:
    if images is ImageText.NOTHING:
        return ""
    if image.alt is not None:
        return image.alt
    return f" {image.src} " if images is ImageText.ALT_OR_SRC and image.src is not None else ""


def collapse(text: str) -> str:
    """Return a text with each run of white space replaced by one space, as a browser shows it."""
    return " ".join(text.split())


# URLs


def resolve(base: str, reference: str) -> str:
    """Return the absolute URL of a reference. An absolute reference is returned unchanged."""
    return iri.resolve(base, reference.strip(HTML_SPACE))


def read_tag(url: str) -> str:
    """Return the tag of a rel=tag link: the last segment of its path (microformats.org/wiki/rel-tag)."""
    path = iri.split(url)[2]
    return unquote(path.rstrip("/").rpartition("/")[2].replace("+", " "))


# Explicit properties (microformats2-parsing, "parsing a p-, u-, dt-, e- property")

_LINK_ATTRIBUTES = {
    **dict.fromkeys(("a", "area", "link"), ("href",)),
    **dict.fromkeys(("audio", "iframe", "img", "source"), ("src",)),
    "video": ("src", "poster"),
    "object": ("data",),
}
"""Attributes with the URL of an element. The first one that is present counts."""
_ALT = frozenset({"area", "img"})
_DATETIME = frozenset({"del", "ins", "time"})
_URL_ATTRIBUTES = ("href", "src", "poster", "data", "cite", "action", "formaction", "longdesc")
_WITH_URLS = ",".join(f"[{name}]" for name in _URL_ATTRIBUTES)
_MAYBE_RELATIVE = re.compile(rf""" (?:{"|".join(_URL_ATTRIBUTES)})="(?!#|https?:)""")


class ValuePart(msgspec.Struct, frozen=True, kw_only=True):
    """One element of the value class pattern."""

    text: str
    moment: str
    """The text for dt-* properties, which also read the datetime attribute."""


class PropertyElement(msgspec.Struct, kw_only=True):
    """An HTML element that has a property class such as `p-name`.

    `pieces` (its text) and `parts` (its value-class descendants) are filled when the traversal of the tree leaves it.
    """

    node: LexborNode
    tag: str
    attributes: dict[str, str | None]
    base: str
    language: str
    pieces: Sequence[Piece] = ()
    parts: list[ValuePart] = msgspec.field(default_factory=list)

    def attribute(self, name: str) -> str | None:
        """Return the value of an attribute; None if the element lacks it, "" if it has no value."""
        return self.attributes[name] or "" if name in self.attributes else None

    def text(self, images: ImageText) -> str:
        return join_pieces(self.pieces, images)

    def attribute_value(self, *, titled: frozenset[str], alt: bool) -> str | None:
        """Return the attribute that gives the element's value: `title`, `value`, or with `alt` the `alt` of images."""
        if self.tag in titled:
            return self.attribute("title")
        if self.tag in ("data", "input"):
            return self.attribute("value")
        return self.attribute("alt") if alt and self.tag in _ALT else None


_ABBR = frozenset({"abbr"})
_ABBR_LINK = frozenset({"abbr", "link"})


def read_text(element: PropertyElement) -> tuple[str, bool]:
    """Return the value of a p-* property, and whether it is from an attribute."""
    if element.parts:
        return "".join(part.text for part in element.parts), False
    found = element.attribute_value(titled=_ABBR_LINK, alt=True)
    return (found, True) if found is not None else (element.text(ImageText.ALT_OR_SRC), False)


def read_reference(element: PropertyElement) -> tuple[str, bool]:
    """Return the unresolved reference of a u-* property, and whether it is from an attribute."""
    found = None
    for name in _LINK_ATTRIBUTES.get(element.tag, ()):
        if found is None:
            found = element.attribute(name)
    if found is None and element.parts:
        return "".join(part.text for part in element.parts), False
    if found is None:
        found = element.attribute_value(titled=_ABBR, alt=False)
    return (found, True) if found is not None else (element.text(ImageText.NOTHING), False)


def read_moment(element: PropertyElement) -> str:
    """Return the value of a dt-* property, from its value elements if possible. It may be a time without a date."""
    found = join_date_parts(part.moment for part in element.parts)
    if found is not None:
        return found
    joined = "".join(part.moment for part in element.parts).strip()
    if is_duration(joined):
        return joined
    written = element.attribute("datetime") if element.tag in _DATETIME else None
    if written is None:
        written = element.attribute_value(titled=_ABBR, alt=False)
    return written if written is not None else element.text(ImageText.NOTHING)


def read_part(element: PropertyElement, *, is_title: bool) -> ValuePart:
    """Return the value part of an element with the class value or value-title."""
    if is_title:
        title = element.attribute("title") or ""
        return ValuePart(text=title, moment=title)
    found = element.attribute_value(titled=_ABBR, alt=True)
    text = found if found is not None else element.text(ImageText.ALT_OR_SRC)
    moment = element.attribute("datetime") if element.tag in _DATETIME else None
    return ValuePart(text=text, moment=text if moment is None else moment)


def read_url(element: PropertyElement, item: Item | None) -> Value:
    """Return the value of a u-* property. The plain value of an item on the same element is the item's own u-url."""
    written, from_attribute = read_reference(element)
    url = resolve(element.base, written)
    found = item.first("url", "u") if item is not None else None
    is_text = item is not None and "url" in item.properties and not from_attribute
    return Value(
        prefix="u",
        text=url,
        written=written,
        from_attribute=from_attribute,
        alt=element.attribute("alt") if element.tag == "img" and "src" in element.attributes else None,
        language=element.language,
        item=item,
        item_value=plain_value(found) if found is not None else written if is_text else url,
    )


def read_plain(element: PropertyElement, item: Item | None, *, rel_tag: bool) -> Value:
    """Return the value of a p-* property. With `rel_tag`, the value is the tag of a rel=tag link."""
    if rel_tag:
        text, from_attribute = read_tag(resolve(element.base, element.attribute("href") or "")), True
    else:
        text, from_attribute = read_text(element)
    named = item.first("name", "p") if item is not None else None
    return Value(
        prefix="p",
        text=text,
        from_attribute=from_attribute,
        language=element.language,
        item=item,
        item_value=plain_value(named) if named is not None else text,
    )


def read_markup(element: PropertyElement) -> tuple[str, int]:
    """Return the content of an e-* element as HTML with absolute references, and its cost in processed characters."""
    html = element.node.inner_html or ""
    cost = len(html)
    if _MAYBE_RELATIVE.search(html):
        copy = element.node.clone()  # the tree is shared with other extractors
        for found in copy.css(_WITH_URLS):
            cost += 100
            for name, reference in found.attributes.items():
                if name in _URL_ATTRIBUTES and reference and not reference.startswith("#"):
                    found.attrs[name] = resolve(element.base, reference)
        html = copy.inner_html or ""
    return html.strip(), cost


# Implied properties (microformats2-parsing, "parsing for implied properties")

_NAME_ATTRIBUTES = {"img": "alt", "area": "alt", "abbr": "title"}
_PHOTO = (("img", "src"), ("object", "data"))
_URL = (("a", "href"), ("area", "href"))


def add_implied_properties(item: Item, element: PropertyElement) -> None:
    """Add name, photo and url if they are not explicit. Classic microformats have no implied properties."""
    if item.is_classic or item.has_nested:
        return
    if "name" not in item.properties and item.prefixes.isdisjoint("pe"):
        item.properties["name"] = [Value(prefix="p", text=_implied_name(element), language=element.language)]
    if "u" in item.prefixes:
        return
    if "photo" not in item.properties and (found := _find_reference(element, _PHOTO)):
        node, src = found
        alt = node.attributes["alt"] or "" if node.tag == "img" and "alt" in node.attributes else None
        item.properties["photo"] = [_url_value(element, src, alt)]
    if "url" not in item.properties and (found := _find_reference(element, _URL)):
        item.properties["url"] = [_url_value(element, found[1], None)]


def _url_value(element: PropertyElement, reference: str, alt: str | None) -> Value:
    url = resolve(element.base, reference)
    return Value(prefix="u", text=url, written=reference, from_attribute=True, alt=alt, language=element.language)


def _implied_name(element: PropertyElement) -> str:
    attribute = _NAME_ATTRIBUTES.get(element.tag, "")
    if attribute in element.attributes:
        return (element.attribute(attribute) or "").strip()
    node = _only_child(element.node)
    for _ in range(2):  # the only child, and the only child of that
        if node is not None and (found := node.attributes.get(_NAME_ATTRIBUTES.get(node.tag or "", ""))):
            return found.strip()
        node = _only_child(node) if node is not None else None
    return element.text(ImageText.ALT)


def _find_reference(element: PropertyElement, kinds: tuple[tuple[str, str], ...]) -> tuple[LexborNode, str] | None:
    """Return element and reference of an implied photo or url: of the root, its only child or only grandchild."""
    for tag, attribute in kinds:
        if element.tag == tag and attribute in element.attributes:
            return element.node, element.attribute(attribute) or ""
    only = _only_child(element.node)
    for parent in (element.node, only):
        for tag, attribute in kinds:
            node = _only_child(parent, tag) if parent is not None else None
            if node is not None and attribute in node.attributes:
                return node, node.attributes[attribute] or ""
    return None


def _only_child(node: LexborNode, tag: str = "") -> LexborNode | None:
    """Return the only child element, or the only one with a tag; None if there are none or several."""
    found = None
    for child in node.iter():
        if child.is_element_node and (not tag or child.tag == tag):
            if found is not None:
                return None
            found = child
    return found

"""The text of elements, gathered while the tree is walked.

The walk appends every text and image to one list; the text of an element is a slice of it. The specification treats
images differently from property to property, so an image stays an image until somebody asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from urllib.parse import unquote

import msgspec
from selectolax.lexbor import LexborNode

from motherlode.transform.microformats.dates import is_duration, piece_together
from motherlode.transform.microformats.items import Item, Value
from motherlode.www import iri

HTML_SPACE = " \t\n\f\r"
_TRIMMED = HTML_SPACE + "\x0b\xa0"


class Image(msgspec.Struct, frozen=True):
    """An img element in the middle of text."""

    alt: str | None
    src: str | None
    """Absolute."""

    def __len__(self) -> int:
        """What it counts as, of the text that may be taken out of a page."""
        return 200


Piece = str | Image


class Images(Enum):
    """What an image inside an element adds to its text."""

    NOTHING = "nothing"
    """For u-* and dt-*."""
    ALT = "alt"
    """For implied names."""
    ALT_OR_SRC = "alt or src"
    """For p-* and e-*."""


def join(pieces: Sequence[Piece], images: Images) -> str:
    """The text of these pieces, without the white space around it.

    >>> join([" see ", Image("a cat", "http://e.org/c"), Image(None, "http://e.org/d"), " "], Images.ALT_OR_SRC)
    'see a cat http://e.org/d'
    """
    spelt = [piece if isinstance(piece, str) else _image(piece, images) for piece in pieces]
    return "".join(spelt).strip(_TRIMMED)


def _image(image: Image, images: Images) -> str:
    if images is Images.NOTHING:
        return ""
    if image.alt is not None:
        return image.alt
    return f" {image.src} " if images is Images.ALT_OR_SRC and image.src is not None else ""


def collapse(text: str) -> str:
    """Text as a browser shows it: runs of white space are one space.

    >>> collapse(" a  \\n b ")
    'a b'
    """
    return " ".join(text.split())


# ── Addresses in microformats: the canonical JSON has them absolute, and otherwise as their authors wrote them.


def resolve(base: str, reference: str) -> str:
    """An absolute URL; one that is absolute already stays as it is, to the letter.

    >>> resolve("http://example.org/a/b", "../c"), resolve("http://example.org", ""), resolve("http://e.org/", "tel:1")
    ('http://example.org/c', 'http://example.org', 'tel:1')
    """
    return iri.resolve(base, reference.strip(HTML_SPACE))


def tag_of(url: str) -> str:
    """The tag that a rel=tag link names: the last segment of its path (microformats.org/wiki/rel-tag).

    >>> tag_of("http://example.org/tags/web+of%20data/?page=2")
    'web of data'
    """
    path = iri.split(url)[2]
    return unquote(path.rstrip("/").rpartition("/")[2].replace("+", " "))


# ── How the value of a property is read off its element (microformats2-parsing, "parsing a p-, u-, dt-, e- property").

_HREF = frozenset({"a", "area", "link"})
_SRC = frozenset({"audio", "iframe", "img", "source", "video"})
_ALT = frozenset({"area", "img"})
_DATETIME = frozenset({"del", "ins", "time"})
_URL_ATTRIBUTES = ("href", "src", "poster", "data", "cite", "action", "formaction", "longdesc")
_WITH_URLS = ",".join(f"[{name}]" for name in _URL_ATTRIBUTES)
_MAYBE_RELATIVE = re.compile(rf""" (?:{"|".join(_URL_ATTRIBUTES)})="(?!#|https?:)""")


class ValuePart(msgspec.Struct, kw_only=True):
    """One element of the value class pattern."""

    text: str = ""
    """As p-* and u-* properties see it."""
    moment: str = ""
    """As dt-* properties see it: the datetime attribute counts too."""


class PropertyElement(msgspec.Struct, kw_only=True):
    """An element that has been walked to its end: all that a value may be read from."""

    node: LexborNode
    tag: str
    attributes: dict[str, str | None]
    base: str
    pieces: Sequence[Piece] = ()
    parts: list[ValuePart] = msgspec.field(default_factory=list)

    def attribute(self, name: str) -> str | None:
        """The value of an attribute; None where there is none, "" where it has no value."""
        return self.attributes[name] or "" if name in self.attributes else None

    def text(self, images: Images) -> str:
        return join(self.pieces, images)

    def _machine_value(self, *, titled: frozenset[str], alt: bool) -> str | None:
        if self.tag in titled:
            return self.attribute("title")
        if self.tag in ("data", "input"):
            return self.attribute("value")
        return self.attribute("alt") if alt and self.tag in _ALT else None


_ABBR = frozenset({"abbr"})
_ABBR_LINK = frozenset({"abbr", "link"})


def text_value(element: PropertyElement) -> tuple[str, bool]:
    """The value of a p-* property, and whether an attribute gave it."""
    if element.parts:
        return "".join(part.text for part in element.parts), False
    found = element._machine_value(titled=_ABBR_LINK, alt=True)
    return (found, True) if found is not None else (element.text(Images.ALT_OR_SRC), False)


def url_value(element: PropertyElement) -> tuple[str, bool]:
    """The reference in a u-* property, not yet resolved, and whether an attribute gave it."""
    found = link_of(element)
    if found is None and element.parts:
        return "".join(part.text for part in element.parts), False
    if found is None:
        found = element._machine_value(titled=_ABBR, alt=False)
    return (found, True) if found is not None else (element.text(Images.NOTHING), False)


def link_of(element: PropertyElement) -> str | None:
    """What an element points at by its own nature."""
    if element.tag in _HREF:
        return element.attribute("href")
    if element.tag in _SRC and "src" in element.attributes:
        return element.attribute("src")
    if element.tag == "video":
        return element.attribute("poster")
    return element.attribute("data") if element.tag == "object" else None


def moment_value(element: PropertyElement) -> str:
    """The value of a dt-* property; where it is a lone time, the caller may know a date for it.

    Value elements may hold a duration as well. With anything else in them they count for nothing, and the text is read.
    """
    found = piece_together(part.moment for part in element.parts)
    if found is not None:
        return found
    spelt = "".join(part.moment for part in element.parts).strip()
    if is_duration(spelt):
        return spelt
    written = element.attribute("datetime") if element.tag in _DATETIME else None
    if written is None:
        written = element._machine_value(titled=_ABBR, alt=False)
    return written if written is not None else element.text(Images.NOTHING)


def part_of(element: PropertyElement, *, is_title: bool) -> ValuePart:
    """What an element of class value or value-title contributes."""
    if is_title:
        title = element.attribute("title") or ""
        return ValuePart(text=title, moment=title)
    found = element._machine_value(titled=_ABBR, alt=True)
    text = found if found is not None else element.text(Images.ALT_OR_SRC)
    moment = element.attribute("datetime") if element.tag in _DATETIME else None
    return ValuePart(text=text, moment=text if moment is None else moment)


def markup_value(element: PropertyElement) -> tuple[str, int]:
    """The markup inside an e-* element, and what it cost in characters handled.

    References are made absolute; those into the same page stay as they are.
    """
    html = element.node.inner_html or ""
    cost = len(html)
    if _MAYBE_RELATIVE.search(html):
        copy = element.node.clone()  # other readers see the same tree
        for found in copy.css(_WITH_URLS):
            cost += 100
            for name, reference in found.attributes.items():
                if name in _URL_ATTRIBUTES and reference and not reference.startswith("#"):
                    found.attrs[name] = resolve(element.base, reference)
        html = copy.inner_html or ""
    return html.strip(), cost


# ── Properties that a root element implies (microformats2-parsing, "parsing for implied properties").

_NAME = (("img", "alt"), ("area", "alt"), ("abbr", "title"))
_PHOTO = (("img", "src"), ("object", "data"))
_URL = (("a", "href"), ("area", "href"))


def imply(item: Item, element: PropertyElement, language: str) -> None:
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


def _name(element: PropertyElement) -> str:
    for tag, attribute in _NAME:
        if element.tag == tag and attribute in element.attributes:
            return (element.attribute(attribute) or "").strip()
    only = _only_child(element.node)
    for node in (only, _only_child(only) if only is not None else None):
        for tag, attribute in _NAME:
            if node is not None and node.tag == tag and (found := node.attributes.get(attribute)):
                return found.strip()
    return element.text(Images.ALT)


def _pointer(element: PropertyElement, kinds: tuple[tuple[str, str], ...]) -> tuple[LexborNode, str] | None:
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

"""How the value of a property is read off its element (microformats2-parsing, "parsing a p-, u-, dt-, e- property")."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from selectolax.lexbor import LexborNode

from motherlode.transform.microformats.dates import is_duration, piece_together
from motherlode.transform.microformats.text import Images, Piece, join
from motherlode.transform.microformats.urls import resolve

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


class Element(msgspec.Struct, kw_only=True):
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


def text_value(element: Element) -> tuple[str, bool]:
    """The value of a p-* property, and whether an attribute gave it."""
    if element.parts:
        return "".join(part.text for part in element.parts), False
    found = element._machine_value(titled=_ABBR_LINK, alt=True)
    return (found, True) if found is not None else (element.text(Images.ALT_OR_SRC), False)


def url_value(element: Element) -> tuple[str, bool]:
    """The reference in a u-* property, not yet resolved, and whether an attribute gave it."""
    found = link_of(element)
    if found is None and element.parts:
        return "".join(part.text for part in element.parts), False
    if found is None:
        found = element._machine_value(titled=_ABBR, alt=False)
    return (found, True) if found is not None else (element.text(Images.NOTHING), False)


def link_of(element: Element) -> str | None:
    """What an element points at by its own nature."""
    if element.tag in _HREF:
        return element.attribute("href")
    if element.tag in _SRC and "src" in element.attributes:
        return element.attribute("src")
    if element.tag == "video":
        return element.attribute("poster")
    return element.attribute("data") if element.tag == "object" else None


def moment_value(element: Element) -> str:
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


def part_of(element: Element, *, is_title: bool) -> ValuePart:
    """What an element of class value or value-title contributes."""
    if is_title:
        title = element.attribute("title") or ""
        return ValuePart(text=title, moment=title)
    found = element._machine_value(titled=_ABBR, alt=True)
    text = found if found is not None else element.text(Images.ALT_OR_SRC)
    moment = element.attribute("datetime") if element.tag in _DATETIME else None
    return ValuePart(text=text, moment=text if moment is None else moment)


def markup_value(element: Element) -> tuple[str, int]:
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

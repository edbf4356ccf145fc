"""Properties that HTML elements inherit (the nearest marked ancestor, the language), and the datatypes of dates."""

import re
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from selectolax.lexbor import LexborNode

from motherlode.model import ContentKind
from motherlode.model.terms import XSD
from motherlode.www.document import Document
from motherlode.www.html_prefilter import Mark as PageMark

Mark = TypeVar("Mark")


class Ancestry(Generic[Mark]):
    """Finds the nearest mark at or above an element. Results are cached, so that no path is walked twice."""

    __slots__ = ("_default", "_known")

    def __init__(self, marked: Mapping[int, Mark], *, default: Mark) -> None:
        """`marked` maps the `mem_id` of elements to their marks."""
        self._known = {**marked}
        """`mem_id` of each visited element → the mark that applies to it."""
        self._default = default

    def above(self, node: LexborNode) -> Mark:
        """Return the mark of the nearest ancestor that has one, without the element itself."""
        parent = node.parent
        return self._default if parent is None else self.at(parent)

    def at(self, node: LexborNode) -> Mark:
        """Return the mark of the element, or else of its nearest ancestor that has one."""
        known = self._known
        key = node.mem_id
        if key in known:
            return known[key]
        passed = [key]
        mark = self._default
        here = node.parent
        while here is not None:
            key = here.mem_id
            if key in known:
                mark = known[key]
                break
            passed.append(key)
            here = here.parent
        for key in passed:
            known[key] = mark
        return mark


def own_language(attributes: Mapping[str, str | None], *, is_xml: bool) -> str | None:
    """Return the language that an element names for itself, or None. `xml:lang` counts only in XML."""
    if is_xml and "xml:lang" in attributes:
        return (attributes["xml:lang"] or "").strip()
    return (attributes["lang"] or "").strip() if "lang" in attributes else None


def languages(document: Document, *, default: str) -> Callable[[LexborNode], str]:
    """Return a function from an element to its language: that of the nearest element that names one."""
    root = document.html.root
    attributes = root.attributes if root is not None else {}
    is_xml = document.kind is ContentKind.XHTML
    if not is_xml and "lang" in attributes and PageMark.LANGUAGES not in document.marks:
        everywhere = (attributes["lang"] or "").strip()
        return lambda _node: everywhere
    named = document.html.css(r"[lang], [xml\:lang]" if is_xml else "[lang]")
    own = ((node.mem_id, own_language(node.attributes, is_xml=is_xml)) for node in named)
    # in SVG inside HTML, the selector also finds `xml:lang`
    return Ancestry({key: language for key, language in own if language is not None}, default=default).at


# Dates and times of the `time` element, in the lexical forms of XML Schema --------------------------------------------

_YEAR = r"-?(?:[1-9]\d{3,}|0\d{3})"
_MONTH = r"(?:0[1-9]|1[0-2])"
_DAY_OF_MONTH = (
    r"(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
)
_LEAP_DAY = rf"(?={_YEAR}-)-?\d*(?:0[48]|[2468][048]|[13579][26]|(?:[02468][048]|[13579][26])00)-02-29"
_DATE = rf"(?:{_YEAR}-{_DAY_OF_MONTH}|{_LEAP_DAY})"
_TIME = r"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?|24:00:00(?:\.0+)?)"
_ZONE = r"(?:Z|[+-](?:0\d|1[0-3]):[0-5]\d|[+-]14:00)?"
_DURATION = r"-?P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?"
_FORMS = tuple(
    (re.compile(pattern, re.ASCII), XSD + name)
    for pattern, name in (
        (_DATE + _ZONE, "date"),
        (f"{_DATE}T{_TIME}{_ZONE}", "dateTime"),
        (_TIME + _ZONE, "time"),
        (_DURATION, "duration"),
        (_YEAR + _ZONE, "gYear"),
        (f"{_YEAR}-{_MONTH}{_ZONE}", "gYearMonth"),
    )
)


def date_datatype(text: str) -> str | None:
    """Return the datatype whose lexical form a text has, or None."""
    return next((datatype for pattern, datatype in _FORMS if pattern.fullmatch(text)), None)

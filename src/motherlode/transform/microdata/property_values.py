"""The value of a property: an IRI, a number, a time, or text in a language (note, section 6.4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from selectolax.lexbor import LexborNode

from motherlode.model.terms import XSD, literal
from motherlode.www.document import Document
from motherlode.www.html_ancestors import languages, time_datatype
from motherlode.www.html_limits import TextBudget
from motherlode.www.iri import Iri, is_absolute, repair_message, resolve_and_check

_URL_ATTRIBUTES = {
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "track", "video"), "src"),
    **dict.fromkeys(("a", "area", "link"), "href"),
    "object": "data",
}
_MOST_REFUSED = 100
_NUMBERS = (
    (re.compile(r"[+-]?\d+", re.ASCII), XSD + "integer"),
    (re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII), XSD + "double"),
)


def _number_datatype(text: str) -> str | None:
    return next((datatype for pattern, datatype in _NUMBERS if pattern.fullmatch(text)), None)


_TYPED: Mapping[str, tuple[str, Callable[[str], str | None]]] = {
    "time": ("datetime", time_datatype),
    "data": ("value", _number_datatype),
    "meter": ("value", _number_datatype),
}
"""Elements whose value may have a datatype: the attribute that holds it, and how its datatype is found."""


class PropertyValues:
    """Reads values of one page, within a budget."""

    def __init__(self, document: Document) -> None:
        self._base = document.iri_base
        self.budget = TextBudget(len(document.body))
        self.refused: dict[str, None] = {}
        """What is no valid IRI, and was left out."""
        self.repaired: dict[str, str] = {}
        """Messages about IRIs that had characters that none may have, and what was made of them."""
        self._language_of = languages(document, default=_default_language(document))

    def term(self, node: LexborNode, attributes: Mapping[str, str | None]) -> str | None:
        """The term of an element that is not an item; None if it has no value.

        A `content` attribute replaces the value of every element, and the element types it like any other value. An
        empty one does not replace an address, a time or a number.
        """
        tag = node.tag or ""
        content = attributes.get("content")
        if tag in _URL_ATTRIBUTES:
            reference = content or attributes.get(_URL_ATTRIBUTES[tag])
            if reference is not None:  # HTML would have nothing for a link to nowhere; its text says at least something
                return self.address(reference)
        elif tag in _TYPED:
            attribute, datatype_of = _TYPED[tag]
            given = content or attributes.get(attribute)
            return self._typed(node, self._content(node) if given is None else given, datatype_of)
        elif tag == "meta":
            return self._text(node, content or "")
        return self._text(node, self._content(node) if content is None else content)

    def address(self, reference: str) -> str | None:
        """The term of a reference; None where it is none."""
        return self.checked(resolve_and_check(self._base, reference))

    def checked(self, address: Iri, *, is_reference: bool = True) -> str | None:
        """The term of an IRI; None if it is not valid, which is recorded if it has a scheme. A repair is recorded.

        A type is no reference: it is never resolved, so a relative one is none.
        """
        if address.is_valid:
            if address.is_repaired and len(self.repaired) < _MOST_REFUSED:
                self.repaired[repair_message(address)] = address.value
            return address.term
        if (is_absolute(address.value) or not is_reference) and len(self.refused) < _MOST_REFUSED:
            self.refused[address.value] = None
        return None

    def _typed(self, node: LexborNode, value: str | None, datatype_of: Callable[[str], str | None]) -> str | None:
        if value is None:
            return None
        datatype = datatype_of(value.strip())
        return literal(value.strip(), datatype=datatype) if datatype else self._text(node, value)

    def _text(self, node: LexborNode, value: str | None) -> str | None:
        if value is None:
            return None
        return literal(value, language=self._language_of(node))

    def _content(self, node: LexborNode) -> str | None:
        if self.budget.is_spent:
            return None
        text = node.text()
        self.budget.spend(text)
        return text


def _default_language(document: Document) -> str:
    """The language of a page that names it by the pragma alone, as pages once did (HTML, section 4.2.5.3)."""
    root, head = document.html.root, document.html.head
    if root is None or head is None or "lang" in root.attributes:
        return ""
    meta = head.css_first('meta[http-equiv="content-language" i]')
    said = (meta.attributes.get("content") or "").strip() if meta is not None else ""
    return said if "," not in said and " " not in said else ""

"""Values of Microdata properties: IRIs, numbers, times, or text in a language (note, section 6.4)."""

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
_MAX_REPORTED_IRIS = 100
"""Invalid IRIs, and repaired IRIs, of one page that are reported as problems."""
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
"""Elements whose value may have a datatype: the attribute with the value, and the function that finds the datatype."""


class PropertyValues:
    """Reads the property values of one page within a text budget."""

    def __init__(self, document: Document) -> None:
        self._base = document.iri_base
        self.budget = TextBudget(len(document.body))
        self.invalid_iris: dict[str, None] = {}
        """IRIs that were left out because they are invalid."""
        self.repairs: dict[str, str] = {}
        """The message about each repaired IRI, and the original IRI."""
        self._language_of = languages(document, default=_default_language(document))

    def read(self, node: LexborNode, attributes: Mapping[str, str | None]) -> str | None:
        """Return the value of an element that is not an item, or None if it has none.

        A `content` attribute replaces the value of every element and gets the same datatype. An empty one does not
        replace an IRI, a time or a number.
        """
        tag = node.tag or ""
        content = attributes.get("content")
        if tag in _URL_ATTRIBUTES:
            reference = content or attributes.get(_URL_ATTRIBUTES[tag])
            if reference is not None:  # otherwise the text is the value; HTML specifies an empty string
                return self.resolve_reference(reference)
        elif tag in _TYPED:
            attribute, datatype_of = _TYPED[tag]
            given = content or attributes.get(attribute)
            return self._typed_literal(node, self._read_text(node) if given is None else given, datatype_of)
        elif tag == "meta":
            return self._text_literal(node, content or "")
        return self._text_literal(node, self._read_text(node) if content is None else content)

    def resolve_reference(self, reference: str) -> str | None:
        """Return the term of an IRI reference, or None if it is invalid."""
        return self.record_term(resolve_and_check(self._base, reference))

    def record_term(self, iri: Iri, *, is_reference: bool = True) -> str | None:
        """Return the term of an IRI, or None if it is invalid; record whether it is invalid or repaired.

        An invalid reference without a scheme is not recorded. A type is not a reference, because it is not resolved.
        """
        if iri.is_valid:
            if iri.is_repaired and len(self.repairs) < _MAX_REPORTED_IRIS:
                self.repairs[repair_message(iri)] = iri.value
            return iri.term
        if (is_absolute(iri.value) or not is_reference) and len(self.invalid_iris) < _MAX_REPORTED_IRIS:
            self.invalid_iris[iri.value] = None
        return None

    def _typed_literal(
        self, node: LexborNode, value: str | None, datatype_of: Callable[[str], str | None]
    ) -> str | None:
        if value is None:
            return None
        datatype = datatype_of(value.strip())
        return literal(value.strip(), datatype=datatype) if datatype else self._text_literal(node, value)

    def _text_literal(self, node: LexborNode, value: str | None) -> str | None:
        if value is None:
            return None
        return literal(value, language=self._language_of(node))

    def _read_text(self, node: LexborNode) -> str | None:
        """Return the text of an element, or None if the text budget is spent."""
        if self.budget.is_spent:
            return None
        text = node.text()
        self.budget.spend(text)
        return text


def _default_language(document: Document) -> str:
    """Return the language of `<meta http-equiv=content-language>` if the root has none (HTML, section 4.2.5.3)."""
    root, head = document.html.root, document.html.head
    if root is None or head is None or "lang" in root.attributes:
        return ""
    meta = head.css_first('meta[http-equiv="content-language" i]')
    language = (meta.attributes.get("content") or "").strip() if meta is not None else ""
    return language if "," not in language and " " not in language else ""

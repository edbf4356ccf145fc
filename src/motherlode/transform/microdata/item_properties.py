"""Predicates and values of Microdata properties.

The vocabulary of an item's type gives the predicate of a property name, and the registry the predicates that it
implies. Values are IRIs, numbers, times, or text in a language (note, section 6.4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from selectolax.lexbor import LexborNode

from motherlode.model.terms import XSD, literal
from motherlode.www.document import Document
from motherlode.www.html_ancestors import languages, time_datatype
from motherlode.www.html_limits import TextBudget
from motherlode.www.iri import Iri, check, is_absolute, repair_message, resolve_and_check, without_fragment

_MAX_CACHED = 4_096

Registry = Mapping[str, Mapping[str, tuple[str, ...]]]
"""For each vocabulary prefix, the IRIs that a property implies by subPropertyOf or equivalentProperty."""


DEFAULT_REGISTRY: Registry = msgspec.json.decode(
    Path(__file__).with_name("registry.json").read_bytes(), type=dict[str, dict[str, tuple[str, ...]]]
)
"""An extract of the W3C's registry at http://www.w3.org/ns/md."""


class Vocabularies:
    """Resolves property names to predicates. Results that do not depend on the page are cached for all pages."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._by_type: dict[str, str] = {"": ""}
        self._predicates: dict[tuple[str, str], tuple[str, ...]] = {}

    def find(self, item_type: str) -> str:
        """Return the vocabulary of a type (note, section 6.2, step 6), or "" if the type is ""."""
        known = self._by_type.get(item_type)
        if known is None:
            known = self._find_registered(item_type) or _vocabulary_prefix(item_type)
            if len(self._by_type) < _MAX_CACHED:
                self._by_type[item_type] = known
        return known

    def add_scheme(self, written: str) -> str | None:
        """Return a type with its missing scheme, or None if its vocabulary is not registered.

        >>> Vocabularies(DEFAULT_REGISTRY).add_scheme("//Schema.org/Product")
        'http://schema.org/Product'
        """
        host, slash, rest = written.lstrip("/").partition("/")
        host = host.lower()
        for name in (host, host.removeprefix("www.")):
            item_type = f"http://{name}{slash}{rest}"
            if rest and self._find_registered(item_type):
                return item_type
        return None

    def _find_registered(self, item_type: str) -> str | None:
        return next((prefix for prefix in self._registry if item_type.startswith(prefix)), None)

    def resolve_predicates(
        self, vocabulary: str, name: str, *, base: str, term_of: Callable[[Iri], str | None]
    ) -> tuple[str, ...]:
        """Return the predicate of a property name (section 6.3) and those that it implies (section 6.2, step 8).

        The result is empty if the IRI is invalid. `term_of` returns the term of an IRI, or None if it is invalid, and
        may record problems.
        """
        if not vocabulary and not is_absolute(name):
            term = term_of(check(f"{without_fragment(base)}#{name.replace('#', '%23')}"))
            return () if term is None else (term,)
        known = self._predicates.get((vocabulary, name))
        if known is None:
            implied = self._registry.get(vocabulary, {}).get(name, ())
            iris = [check(it) for it in (_predicate_iri(vocabulary, name), *implied)]
            known = tuple(term for iri in iris if (term := term_of(iri)) is not None)
            # IRIs with problems are not cached, because each page reports them
            if all(iri.is_valid and not iri.is_repaired for iri in iris) and len(self._predicates) < _MAX_CACHED:
                self._predicates[vocabulary, name] = known
        return known


def _predicate_iri(vocabulary: str, name: str) -> str:
    if is_absolute(name):
        return name
    return vocabulary + ("" if vocabulary[-1] in "#/" else "#") + name.replace("#", "%23")


def _vocabulary_prefix(item_type: str) -> str:
    """Return a type up to the last slash or hash of its path and fragment."""
    start = item_type.find("//") + 2 if "//" in item_type else item_type.find(":") + 1
    cut = max(item_type.rfind("/", start), item_type.rfind("#", start))
    return item_type[: cut + 1] if cut != -1 else item_type


DEFAULT_VOCABULARIES = Vocabularies(DEFAULT_REGISTRY)


# Values

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
            value = self._read_text(node) if given is None else given
            datatype = datatype_of((value or "").strip())
            return literal((value or "").strip(), datatype=datatype) if datatype else self._text_literal(node, value)
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

    def _text_literal(self, node: LexborNode, value: str | None) -> str | None:
        return None if value is None else literal(value, language=self._language_of(node))

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

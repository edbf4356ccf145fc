"""Items as RDF. The mapping is described in docs/microformats.md."""

from __future__ import annotations

import re

from motherlode.model import Statement
from motherlode.model.terms import RDF, RDF_TYPE, literal
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.microformats.dates import typed
from motherlode.transform.microformats.items import Item, Value
from motherlode.transform.microformats.value_parsing import collapse
from motherlode.www.iri import check, is_absolute, repair_message

MICROFORMATS = "http://microformats.org/profile/"
"""Namespace of types (h-card) and properties (name)."""
KNOWN_TYPES = frozenset(
    f"h-{name}"
    for name in (
        *("adr", "app", "card", "cite", "entry", "event", "feed", "food", "geo", "item", "leg", "listing", "measure"),
        *("money", "news", "org", "price", "product", "rating", "recipe", "resume", "review", "review-aggregate"),
        *("tag", "trip", "venue", "work", "x-app", "as-note", "as-article"),
    )
)
"""Vocabularies at microformats.org. An item of another type counts if a property or an item inside was written out."""

_LONGEST_ADDRESS = 4096
_LONGEST_ID = 256
_REFERENCE = re.compile(r"[/?#]|\.{1,2}/")
_CHILDREN = f"<{MICROFORMATS}children>"
_ALT = f"<{MICROFORMATS}alt>"
_VALUE = f"<{MICROFORMATS}value>"


class ItemWriter:
    """Turns the items of one page into statements."""

    def __init__(self, page_url: str, names: BlankNames) -> None:
        self.statements: list[Statement] = []
        self.troubles: list[tuple[str, str]] = []
        """Messages, and the addresses that they are about."""
        self.repairs: dict[str, str] = {}
        """The same of addresses with characters that an IRI may not have."""
        self._page = page_url.partition("#")[0]
        self._names = names
        self._subjects: dict[int, str] = {}
        self._ids: set[str] = set()

    def write(self, item: Item) -> str | None:
        """The subject of an item whose statements have been written; None for one that is none."""
        if not _is_meant(item):
            return None
        if item.key in self._subjects:  # met again by way of an include
            return self._subjects[item.key]
        subject = self._subjects[item.key] = self._subject(item)
        for name in item.types:
            self._add(subject, RDF_TYPE, f"<{MICROFORMATS}{name}>")
        if item.plain is not None and (text := collapse(item.plain.text)):
            self._add(subject, _VALUE, literal(text, language=_language(item.plain)))
        for name in item.properties:
            predicate = f"<{MICROFORMATS}{name}>"
            for value in item.values(name):
                term = self._term(value)
                if term is not None:
                    self._add(subject, predicate, term)
        for child in item.children:
            term = self.write(child)
            if term is not None:
                self._add(subject, _CHILDREN, term)
        return subject

    def _subject(self, item: Item) -> str:
        """The element's own fragment of the page where it has an id that nothing else has, or else a blank node."""
        if 0 < len(item.id) <= _LONGEST_ID and item.id not in self._ids:
            self._ids.add(item.id)
            found = check(f"{self._page}#{item.id}")
            if found.is_valid and not found.is_repaired:  # an id is a name, and no reference to be repaired
                return found.term
        return self._names.fresh()

    def _term(self, value: Value) -> str | None:
        if value.item is not None:
            subject = self.write(value.item)
            if subject is not None:
                self._plain_value_of(subject, value)
                return subject
        if value.prefix == "u":
            return self._address(value)
        if value.html is not None:
            return literal(value.html, datatype=RDF + "HTML") if value.html else None
        text = collapse(value.text)
        if not text:
            return None
        if value.prefix == "dt" and (date := typed(text)):
            return literal(date[0], datatype=date[1])
        return literal(text, language=_language(value))

    def _plain_value_of(self, subject: str, value: Value) -> None:
        """An item without properties ("51.5;-0.1" as geo) would be lost but for its text."""
        assert value.item is not None
        if value.html:
            self._add(subject, _VALUE, literal(value.html, datatype=RDF + "HTML"))
        elif not value.item.properties and (text := collapse(value.text)):
            self._add(subject, _VALUE, literal(text, language=_language(value)))

    def _address(self, value: Value) -> str | None:
        written = value.written.strip()
        if not written and not value.from_attribute:
            return None
        if not value.from_attribute and not is_absolute(written) and not _REFERENCE.match(written):
            return literal(collapse(written), language=value.language)  # running text is no reference
        if len(value.text) > _LONGEST_ADDRESS:
            self._tell(f"an address of {len(value.text)} characters was left out", written)
            return None
        term = self._iri(value.text, written)
        if term is None:
            self._tell(f"not an address: {value.text[:200]}", written)
            return None
        if value.alt and (alt := collapse(value.alt)):
            self._add(term, _ALT, literal(alt, language=value.language))
        return term

    def _iri(self, address: str, written: str) -> str | None:
        """The term of an address; None if it is no IRI. A repair is recorded."""
        found = check(address)
        if found.is_valid and found.is_repaired:
            self.repairs[repair_message(found)] = written
        return found.term if found.is_valid else None

    def _add(self, subject: str, predicate: str, term: str) -> None:
        self.statements.append((subject, predicate, term, ""))

    def _tell(self, message: str, address: str) -> None:
        self.troubles.append((message, address))


def _language(value: Value) -> str:
    """What stands in an attribute made for it is no text in a language."""
    return "" if value.from_attribute else value.language


def _is_meant(item: Item) -> bool:
    if not KNOWN_TYPES.isdisjoint(item.types):
        return True
    return bool(item.prefixes) or any(_is_meant(child) for child in item.children)

"""Items as RDF. docs/microformats.md describes the mapping."""

import re

from motherlode.model import Statement
from motherlode.model.terms import RDF, RDF_TYPE, literal
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.microformats.dates import to_typed_value
from motherlode.transform.microformats.value_parsing import Item, Value, collapse
from motherlode.transform.source_locations import IriProblems
from motherlode.www.iri import check, is_absolute

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
"""Vocabularies at microformats.org. An item of another type counts only if it or a child has an explicit property."""

_MAX_URL_CHARS = 4096
_MAX_ID_CHARS = 256
_REFERENCE = re.compile(r"[/?#]|\.{1,2}/")
_CHILDREN = f"<{MICROFORMATS}children>"
_ALT = f"<{MICROFORMATS}alt>"
_VALUE = f"<{MICROFORMATS}value>"


class ItemWriter:
    """Converts the items of one page to statements."""

    def __init__(self, page_url: str, names: BlankNames) -> None:
        self.statements: list[Statement] = []
        self.problems: list[tuple[str, str]] = []
        """Messages about URLs that were left out because they are too long, and the original text of each."""
        self.iri_problems = IriProblems()
        self._page = page_url.partition("#")[0]
        self._names = names
        self._subjects: dict[int, str] = {}
        self._ids: set[str] = set()

    def add_item(self, item: Item) -> str | None:
        """Add the statements of an item and return its subject; None if the item does not count."""
        if not _counts(item):
            return None
        if item.key in self._subjects:  # an include read it again
            return self._subjects[item.key]
        subject = self._subjects[item.key] = self._create_subject(item)
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
            term = self.add_item(child)
            if term is not None:
                self._add(subject, _CHILDREN, term)
        return subject

    def _create_subject(self, item: Item) -> str:
        """Return the page's IRI with the element's id as fragment; a blank node without id or for a repeated id."""
        if 0 < len(item.id) <= _MAX_ID_CHARS and item.id not in self._ids:
            self._ids.add(item.id)
            found = check(f"{self._page}#{item.id}")
            if found.is_valid and not found.is_repaired:  # repairs are only for references
                return found.term
        return self._names.fresh()

    def _term(self, value: Value) -> str | None:
        if value.item is not None:
            subject = self.add_item(value.item)
            if subject is not None:
                self._add_plain_value(subject, value)
                return subject
        if value.prefix == "u":
            return self._url_term(value)
        if value.html is not None:
            return literal(value.html, datatype=RDF + "HTML") if value.html else None
        text = collapse(value.text)
        if not text:
            return None
        if value.prefix == "dt" and (date := to_typed_value(text)):
            return literal(date[0], datatype=date[1])
        return literal(text, language=_language(value))

    def _add_plain_value(self, subject: str, value: Value) -> None:
        """Add the markup of a nested item, or its text if it has no properties (such as "51.5;-0.1" of geo)."""
        assert value.item is not None
        if value.html:
            self._add(subject, _VALUE, literal(value.html, datatype=RDF + "HTML"))
        elif not value.item.properties and (text := collapse(value.text)):
            self._add(subject, _VALUE, literal(text, language=_language(value)))

    def _url_term(self, value: Value) -> str | None:
        """Return the term of a u-* value: an IRI, a literal for other running text, or None."""
        written = value.written.strip()
        if not written and not value.from_attribute:
            return None
        if not value.from_attribute and not is_absolute(written) and not _REFERENCE.match(written):
            return literal(collapse(written), language=value.language)
        if len(value.text) > _MAX_URL_CHARS:
            self.problems.append((f"a URL of {len(value.text)} characters was left out", written))
            return None
        term = self.iri_problems.record(check(value.text), written)
        if term is None:
            return None
        if value.alt and (alt := collapse(value.alt)):
            self._add(term, _ALT, literal(alt, language=value.language))
        return term

    def _add(self, subject: str, predicate: str, term: str) -> None:
        self.statements.append((subject, predicate, term, ""))


def _language(value: Value) -> str:
    """Return the language of a text; "" for a machine-readable value from an attribute."""
    return "" if value.from_attribute else value.language


def _counts(item: Item) -> bool:
    """Whether an item has a known type, or it or a child has an explicit property."""
    if not KNOWN_TYPES.isdisjoint(item.types):
        return True
    return bool(item.prefixes) or any(_counts(child) for child in item.children)

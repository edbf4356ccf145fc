"""The statements of a page's items (note, section 6)."""

from __future__ import annotations

from motherlode.model import Extraction, Problem, Statement, Syntax
from motherlode.model.terms import RDF_TYPE
from motherlode.transform.blank import BlankNames
from motherlode.transform.locating import located
from motherlode.transform.microdata.tree import Element, Tree, words
from motherlode.transform.microdata.values import Values
from motherlode.transform.microdata.vocabularies import Registry, vocabularies
from motherlode.www.document import Document
from motherlode.www.iri import check, is_absolute

_MOST_VALUES = 250_000
"""Property values of one page. An itemref to one big element from many items multiplies them without end."""
_MOST_REPAIRED = 100
"""Repaired types of one page that are told one by one."""


class Generator:
    """Works through the items of one page. A stack instead of recursion: items nest as deep as a page likes."""

    def __init__(self, document: Document, names: BlankNames, registry: Registry) -> None:
        self._document = document
        self._base = document.iri_base
        self._names = names
        self._tree = Tree(document)
        self._vocabularies = vocabularies(registry)
        self._values = Values(document)
        self._subjects: dict[int, str] = {}
        """The note's "memory": items that have a subject, by the identity of their element."""
        self._waiting: list[tuple[Element, str]] = []
        """Items to be worked through, each with the type that it inherits."""
        self._statements: list[Statement] = []
        self._repaired: dict[str, str] = {}
        """Types that lack their scheme, and what is told about them."""
        self._left = _MOST_VALUES

    def run(self) -> Extraction:
        for item in self._tree.top_items:
            self._subject(item, "")
            while self._waiting and self._left > 0:
                self._item(*self._waiting.pop())
        return Extraction(
            syntax=Syntax.MICRODATA, statements=tuple(dict.fromkeys(self._statements)), problems=tuple(self._problems())
        )

    def _problems(self) -> list[Problem]:
        limits = []
        if self._left <= 0:
            limits.append(f"more than {_MOST_VALUES} property values; the rest was left out")
        if self._values.budget.was_short:
            limits.append("properties nested in properties repeat too much text; the rest was left out")
        refused = ((f"not a valid IRI: <{address[:200]}>", address) for address in self._values.refused)
        repaired = ((message, written) for written, message in self._repaired.items())
        return [
            *(Problem(syntax=Syntax.MICRODATA, message=message) for message in limits),
            *located(self._document, Syntax.MICRODATA, refused),
            *located(self._document, Syntax.MICRODATA, repaired, mended=True),
            *located(self._document, Syntax.MICRODATA, self._values.repaired.items(), mended=True),
        ]

    def _subject(self, item: Element, inherited: str) -> str:
        """The subject of an item; one that is met for the first time is put up for work."""
        known = self._subjects.get(id(item))
        if known is not None:
            return known
        subject = self._names.fresh() if not item.attributes.get("itemid") else self._identifier(item)
        self._subjects[id(item)] = subject
        self._waiting.append((item, inherited))
        return subject

    def _identifier(self, item: Element) -> str:
        return self._values.address(item.attributes.get("itemid") or "") or self._names.fresh()

    def _item(self, item: Element, inherited: str) -> None:
        subject = self._subjects[id(item)]
        types = [term for word in words(item.attributes.get("itemtype")) if (term := self._type(word))]
        for term in types:
            self._statements.append((subject, RDF_TYPE, term, ""))
        item_type = types[0][1:-1] if types else inherited
        vocabulary = self._vocabularies.of(item_type)
        for element in self._tree.properties(item):
            self._left -= 1
            if self._left <= 0:
                return
            value = self._subject(element, item_type) if element.is_item else None
            self._property(subject, element, vocabulary, value)

    def _type(self, written: str) -> str | None:
        """Return the term of a type, which is an absolute IRI; one that lacks but its scheme is repaired."""
        iri = check(written)
        if not is_absolute(iri.value) and (meant := self._vocabularies.type_without_scheme(iri.value)):
            if len(self._repaired) < _MOST_REPAIRED:
                self._repaired[written] = f"type without a scheme, read as {meant[:200]}"
            iri = check(meant)
        return self._values.checked(iri, is_reference=False)

    def _property(self, subject: str, element: Element, vocabulary: str, item: str | None) -> None:
        value = item or self._values.term(element.node, element.attributes)
        if value is None:
            return
        names = element.names
        if len(names) > 1:
            names = names[: self._values.budget.affordable(value, len(names))]
        for name in names:
            for predicate in self._predicates(vocabulary, name):
                self._statements.append((subject, predicate, value, ""))
        if element.reverse and not value.startswith('"'):
            for name in element.reverse:
                for predicate in self._predicates(vocabulary, name):
                    self._statements.append((value, predicate, subject, ""))

    def _predicates(self, vocabulary: str, name: str) -> tuple[str, ...]:
        return self._vocabularies.predicates(vocabulary, name, base=self._base, term_of=self._values.checked)

"""The sparse tree of a page's Microdata: only elements with its attributes, and those that an itemref points to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from selectolax.lexbor import LexborNode

from motherlode.model import Extraction, Problem, Statement, Syntax
from motherlode.model.terms import RDF_TYPE
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.microdata.property_values import PropertyValues
from motherlode.transform.microdata.vocabularies import Registry, vocabularies
from motherlode.transform.source_locations import locate_problems
from motherlode.www.document import Document
from motherlode.www.html_ancestors import Ancestry
from motherlode.www.html_prefilter import Mark
from motherlode.www.iri import check, is_absolute

# A plain list is faster than `:is()`, and finds an element once for each member that it fits.
_SELECTOR = "[itemscope], [itemprop]"
_REVERSE = "[itemprop-reverse]"
_ATTRIBUTES = frozenset({"itemscope", "itemprop", "itemprop-reverse"})


class ItemElement:
    """An element with Microdata attributes, or one that an itemref points to."""

    __slots__ = ("attributes", "children", "is_item", "names", "node", "reverse")

    def __init__(self, node: LexborNode) -> None:
        attributes = node.attributes
        self.node = node
        self.attributes: Mapping[str, str | None] = attributes
        self.is_item = "itemscope" in attributes
        self.names = words(attributes.get("itemprop"))
        self.reverse = words(attributes["itemprop-reverse"]) if "itemprop-reverse" in attributes else ()
        self.children: list[ItemElement] = []
        """The nearest elements of the sparse tree below this one."""


class ItemTree:
    """The sparse tree, its items at the top, and its elements by id."""

    def __init__(self, document: Document) -> None:
        selector = f"{_SELECTOR}, {_REVERSE}" if Mark.REVERSE_PROPERTIES in document.marks else _SELECTOR
        nodes = {node.mem_id: node for node in document.html.css(selector)}
        elements = {key: ItemElement(node) for key, node in nodes.items()}
        references = [e.attributes["itemref"] for e in elements.values() if "itemref" in e.attributes]
        wanted = {word for reference in references for word in words(reference)}
        self.by_id: dict[str, ItemElement] = {}
        self.top_items: list[ItemElement] = []
        if wanted:
            nodes = {node.mem_id: node for node in document.html.css(f"{selector}, [id]")}
            elements = dict(self._with_targets(nodes, wanted))
        turned_round: list[ItemElement] = []  # they inherit from the item that they stand in, if they stand in one
        ancestry: Ancestry[ItemElement | None] = Ancestry(elements, default=None)
        for element in elements.values():
            parent = ancestry.above(element.node)
            if parent is not None:
                parent.children.append(element)
            if element.is_item and not element.names:
                (turned_round if element.reverse else self.top_items).append(element)
        self.top_items.extend(turned_round)

    def _with_targets(self, nodes: Mapping[int, LexborNode], wanted: set[str]) -> Iterator[tuple[int, ItemElement]]:
        """The elements with Microdata attributes, and those that an itemref points to."""
        for key, node in nodes.items():
            attributes = node.attributes
            identifier = attributes.get("id")
            is_target = identifier in wanted and identifier not in self.by_id
            if is_target or not attributes.keys().isdisjoint(_ATTRIBUTES):
                element = ItemElement(node)
                if is_target:
                    self.by_id[identifier or ""] = element
                yield key, element

    def properties(self, item: ItemElement) -> Iterator[ItemElement]:
        """The elements that give an item's properties (HTML, section 5.2.5), each once, loops or not."""
        seen = {id(item)}
        waiting = item.children[::-1]
        for identifier in reversed(words(item.attributes.get("itemref"))):
            target = self.by_id.get(identifier)
            if target is not None:
                waiting.append(target)
        while waiting:
            element = waiting.pop()
            if id(element) in seen:
                continue
            seen.add(id(element))
            if element.names or element.reverse:
                yield element
            if not element.is_item:
                waiting.extend(reversed(element.children))


def words(value: str | None) -> tuple[str, ...]:
    """The words of an attribute, each once.

    >>> words(" name  url name "), words(None)
    (('name', 'url'), ())
    """
    if not value:
        return ()
    found = value.split()
    return tuple(found) if len(found) < 2 else tuple(dict.fromkeys(found))


# ── The statements of a page's items (note, section 6).

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
        self._tree = ItemTree(document)
        self._vocabularies = vocabularies(registry)
        self._values = PropertyValues(document)
        self._subjects: dict[int, str] = {}
        """The note's "memory": items that have a subject, by the identity of their element."""
        self._waiting: list[tuple[ItemElement, str]] = []
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
            *locate_problems(self._document, Syntax.MICRODATA, refused),
            *locate_problems(self._document, Syntax.MICRODATA, repaired, repaired=True),
            *locate_problems(self._document, Syntax.MICRODATA, self._values.repaired.items(), repaired=True),
        ]

    def _subject(self, item: ItemElement, inherited: str) -> str:
        """The subject of an item; one that is met for the first time is put up for work."""
        known = self._subjects.get(id(item))
        if known is not None:
            return known
        subject = self._names.fresh() if not item.attributes.get("itemid") else self._identifier(item)
        self._subjects[id(item)] = subject
        self._waiting.append((item, inherited))
        return subject

    def _identifier(self, item: ItemElement) -> str:
        return self._values.address(item.attributes.get("itemid") or "") or self._names.fresh()

    def _item(self, item: ItemElement, inherited: str) -> None:
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

    def _property(self, subject: str, element: ItemElement, vocabulary: str, item: str | None) -> None:
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

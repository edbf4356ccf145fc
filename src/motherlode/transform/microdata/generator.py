"""The sparse tree of a page's Microdata, and the statements that are generated from it (note, section 6).

The tree has the elements with Microdata attributes and the targets of `itemref`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from selectolax.lexbor import LexborNode

from motherlode.model import Extraction, Problem, Statement, Syntax
from motherlode.model.terms import RDF_TYPE
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.microdata.item_properties import PropertyValues, Vocabularies
from motherlode.transform.source_locations import locate_problems
from motherlode.www.document import Document
from motherlode.www.html_ancestors import Ancestry
from motherlode.www.html_prefilter import Mark
from motherlode.www.iri import check, is_absolute

# A plain list of selectors is faster than `:is()`. It returns an element once per selector that matches.
_SELECTOR = "[itemscope], [itemprop]"
_REVERSE = "[itemprop-reverse]"
_ATTRIBUTES = frozenset({"itemscope", "itemprop", "itemprop-reverse"})


class ItemElement:
    """An element with Microdata attributes, or the target of an itemref."""

    __slots__ = ("attributes", "children", "is_item", "names", "node", "reverse")

    def __init__(self, node: LexborNode) -> None:
        attributes = node.attributes
        self.node = node
        self.attributes: Mapping[str, str | None] = attributes
        self.is_item = "itemscope" in attributes
        self.names = split_words(attributes.get("itemprop"))
        self.reverse = split_words(attributes["itemprop-reverse"]) if "itemprop-reverse" in attributes else ()
        self.children: list[ItemElement] = []
        """The nearest descendants in the sparse tree."""


class ItemTree:
    """The sparse tree: the top-level items, and the targets of itemref by id."""

    def __init__(self, document: Document) -> None:
        selector = f"{_SELECTOR}, {_REVERSE}" if Mark.REVERSE_PROPERTIES in document.marks else _SELECTOR
        nodes = {node.mem_id: node for node in document.html.css(selector)}
        elements = {key: ItemElement(node) for key, node in nodes.items()}
        references = [e.attributes["itemref"] for e in elements.values() if "itemref" in e.attributes]
        wanted = {word for reference in references for word in split_words(reference)}
        self.by_id: dict[str, ItemElement] = {}
        self.top_items: list[ItemElement] = []
        if wanted:
            nodes = {node.mem_id: node for node in document.html.css(f"{selector}, [id]")}
            elements = dict(self._iter_with_targets(nodes, wanted))
        reverse_items: list[ItemElement] = []  # processed last, because an enclosing item passes its vocabulary on
        ancestry: Ancestry[ItemElement | None] = Ancestry(elements, default=None)
        for element in elements.values():
            parent = ancestry.above(element.node)
            if parent is not None:
                parent.children.append(element)
            if element.is_item and not element.names:
                (reverse_items if element.reverse else self.top_items).append(element)
        self.top_items.extend(reverse_items)

    def _iter_with_targets(
        self, nodes: Mapping[int, LexborNode], wanted: set[str]
    ) -> Iterator[tuple[int, ItemElement]]:
        """Yield the elements with Microdata attributes and those with a wanted id, by memory address."""
        for key, node in nodes.items():
            attributes = node.attributes
            identifier = attributes.get("id")
            is_target = identifier in wanted and identifier not in self.by_id
            if is_target or not attributes.keys().isdisjoint(_ATTRIBUTES):
                element = ItemElement(node)
                if is_target:
                    self.by_id[identifier or ""] = element
                yield key, element

    def iter_properties(self, item: ItemElement) -> Iterator[ItemElement]:
        """Yield the elements with an item's properties (HTML, section 5.2.5), each once even if itemrefs are cyclic."""
        seen = {id(item)}
        stack = item.children[::-1]
        for identifier in reversed(split_words(item.attributes.get("itemref"))):
            target = self.by_id.get(identifier)
            if target is not None:
                stack.append(target)
        while stack:
            element = stack.pop()
            if id(element) in seen:
                continue
            seen.add(id(element))
            if element.names or element.reverse:
                yield element
            if not element.is_item:
                stack.extend(reversed(element.children))


def split_words(value: str | None) -> tuple[str, ...]:
    """Return the words of an attribute value without duplicates."""
    if not value:
        return ()
    found = value.split()
    return tuple(found) if len(found) < 2 else tuple(dict.fromkeys(found))


# Statements

_MAX_VALUES = 250_000
"""Property values of one page. Many items with an itemref to the same large element multiply them."""
_MAX_REPORTED_TYPES = 100
"""Repaired types of one page that are reported as problems."""


class StatementGenerator:
    """Generates the statements of one page. It uses a stack instead of recursion because items may be nested deeply."""

    def __init__(self, document: Document, names: BlankNames, vocabularies: Vocabularies) -> None:
        self._document = document
        self._base = document.iri_base
        self._names = names
        self._tree = ItemTree(document)
        self._vocabularies = vocabularies
        self._values = PropertyValues(document)
        self._subjects: dict[int, str] = {}
        """The note's "memory": the subject of each item, by the identity of its element."""
        self._stack: list[tuple[ItemElement, str]] = []
        """Items still to be processed, each with the type that it inherits."""
        self._statements: list[Statement] = []
        self._repaired_types: dict[str, str] = {}
        """Types without a scheme, and the message about each."""
        self._values_left = _MAX_VALUES

    def run(self) -> Extraction:
        """Process all items and return their statements and problems."""
        for item in self._tree.top_items:
            self._get_subject(item, "")
            while self._stack and self._values_left > 0:
                self._process_item(*self._stack.pop())
        return Extraction(
            syntax=Syntax.MICRODATA,
            statements=tuple(dict.fromkeys(self._statements)),
            problems=tuple(self._collect_problems()),
        )

    def _collect_problems(self) -> list[Problem]:
        limits = []
        if self._values_left <= 0:
            limits.append(f"more than {_MAX_VALUES} property values; the rest was left out")
        if self._values.budget.was_short:
            limits.append("nested properties repeat too much text; the rest was left out")
        invalid = ((f"not a valid IRI: <{iri[:200]}>", iri) for iri in self._values.invalid_iris)
        repaired = ((message, written) for written, message in self._repaired_types.items())
        return [
            *(Problem(syntax=Syntax.MICRODATA, message=message) for message in limits),
            *locate_problems(self._document, Syntax.MICRODATA, invalid),
            *locate_problems(self._document, Syntax.MICRODATA, repaired, repaired=True),
            *locate_problems(self._document, Syntax.MICRODATA, self._values.repairs.items(), repaired=True),
        ]

    def _get_subject(self, item: ItemElement, inherited: str) -> str:
        """Return the subject of an item. A new item is put on the stack."""
        known = self._subjects.get(id(item))
        if known is not None:
            return known
        identifier = item.attributes.get("itemid")
        subject = (self._values.resolve_reference(identifier) if identifier else None) or self._names.fresh()
        self._subjects[id(item)] = subject
        self._stack.append((item, inherited))
        return subject

    def _process_item(self, item: ItemElement, inherited: str) -> None:
        """Add the statements of an item. `inherited` is the type of the enclosing item."""
        subject = self._subjects[id(item)]
        types = [term for word in split_words(item.attributes.get("itemtype")) if (term := self._read_type(word))]
        for term in types:
            self._statements.append((subject, RDF_TYPE, term, ""))
        item_type = types[0][1:-1] if types else inherited
        vocabulary = self._vocabularies.find(item_type)
        for element in self._tree.iter_properties(item):
            self._values_left -= 1
            if self._values_left <= 0:
                return
            value = self._get_subject(element, item_type) if element.is_item else None
            self._add_property(subject, element, vocabulary, value)

    def _read_type(self, written: str) -> str | None:
        """Return the term of a type, which must be an absolute IRI. A missing scheme is repaired."""
        iri = check(written)
        if not is_absolute(iri.value) and (repaired := self._vocabularies.add_scheme(iri.value)):
            if len(self._repaired_types) < _MAX_REPORTED_TYPES:
                self._repaired_types[written] = f"type without a scheme, read as {repaired[:200]}"
            iri = check(repaired)
        return self._values.record_term(iri, is_reference=False)

    def _add_property(self, subject: str, element: ItemElement, vocabulary: str, item: str | None) -> None:
        """Add the statements of a property element. `item` is the subject of the nested item, if the value is one."""
        value = item or self._values.read(element.node, element.attributes)
        if value is None:
            return
        names = element.names
        if len(names) > 1:
            names = names[: self._values.budget.affordable(value, len(names))]
        for predicate in self._resolve_predicates(vocabulary, names):
            self._statements.append((subject, predicate, value, ""))
        if element.reverse and not value.startswith('"'):
            for predicate in self._resolve_predicates(vocabulary, element.reverse):
                self._statements.append((value, predicate, subject, ""))

    def _resolve_predicates(self, vocabulary: str, names: Iterable[str]) -> Iterator[str]:
        resolve, term_of = self._vocabularies.resolve_predicates, self._values.record_term
        for name in names:
            yield from resolve(vocabulary, name, base=self._base, term_of=term_of)

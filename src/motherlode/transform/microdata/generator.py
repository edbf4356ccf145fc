"""Microdata to RDF (note, section 6): the sparse tree of a page, predicates and values of properties, statements."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import msgspec
from selectolax.lexbor import LexborNode

from motherlode.model import Extraction, Problem, Statement, Syntax
from motherlode.model.terms import RDF_TYPE, XSD, literal
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.source_locations import IriProblems, locate_problems
from motherlode.www.document import Document
from motherlode.www.html_ancestors import Ancestry, date_datatype, languages
from motherlode.www.html_limits import TextBudget
from motherlode.www.html_prefilter import Mark
from motherlode.www.iri import Iri, check, is_absolute, resolve_and_check, without_fragment, without_scheme_rest

# A plain list of selectors is faster than `:is()`. It returns an element once per selector that matches.
_SELECTOR = "[itemscope], [itemprop]"
_REVERSE = "[itemprop-reverse]"
_ATTRIBUTES = frozenset({"itemscope", "itemprop", "itemprop-reverse"})


class ItemElement:
    """An element with Microdata attributes, or the target of an itemref."""

    __slots__ = ("attributes", "children", "is_item", "names", "node", "reverse")

    def __init__(self, node: LexborNode) -> None:
        attributes = node.attributes
        if None in attributes.values():  # an attribute without a value has the value ""
            attributes = {name: value or "" for name, value in attributes.items()}
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
        self.has_references = bool(wanted)
        """Whether an item has an itemref."""
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
        self.elements = list(elements.values())
        """All elements of the tree in document order."""

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


# Predicates

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
        self.find = lru_cache(maxsize=_MAX_CACHED)(self._find)
        self._predicates: dict[tuple[str, str], tuple[str, ...]] = {}

    def _find(self, item_type: str) -> str:
        """Return the vocabulary of a type (note, section 6.2, step 6), or "" if the type is ""."""
        return self._find_registered(item_type) or _vocabulary_prefix(item_type) if item_type else ""

    def add_scheme(self, written: str) -> str | None:
        """Return a type with its missing scheme, or None if its vocabulary is not registered."""
        host, slash, rest = written.partition("/")
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
        """Return the predicate of a name (section 6.3) and those it implies (6.2, step 8); () if it is invalid."""
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

URL_ATTRIBUTES = {
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "track", "video"), "src"),
    **dict.fromkeys(("a", "area", "link"), "href"),
    "object": "data",
}
_NUMBERS = (
    (re.compile(r"[+-]?\d+", re.ASCII), XSD + "integer"),
    (re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII), XSD + "double"),
)


def _number_datatype(text: str) -> str | None:
    return next((datatype for pattern, datatype in _NUMBERS if pattern.fullmatch(text)), None)


VALUE_ATTRIBUTES: Mapping[str, tuple[str, Callable[[str], str | None]]] = {
    "time": ("datetime", date_datatype),
    "data": ("value", _number_datatype),
    "meter": ("value", _number_datatype),
}
"""Elements whose value may have a datatype: the attribute with the value, and the function that finds the datatype."""


class PropertyValues:
    """Reads the property values of one page within a text budget."""

    def __init__(self, document: Document) -> None:
        self._base = document.iri_base
        self.budget = TextBudget(len(document.body))
        self.iri_problems = IriProblems()
        self._language_of = languages(document, default=_default_language(document))

    def read(self, node: LexborNode, attributes: Mapping[str, str | None]) -> str | None:
        """Return the value of an element that is not an item, or None. A `content` attribute replaces any value."""
        tag = node.tag or ""
        content = attributes.get("content")
        if tag in URL_ATTRIBUTES:
            if content or URL_ATTRIBUTES[tag] in attributes:  # otherwise the text; HTML specifies an empty string
                return self.resolve_reference(content or attributes[URL_ATTRIBUTES[tag]] or "")
        elif tag in VALUE_ATTRIBUTES:
            attribute, datatype_of = VALUE_ATTRIBUTES[tag]
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
        """Return the term of an IRI, or None if it is invalid; record whether it is invalid or repaired."""
        if not iri.is_valid and is_reference and not is_absolute(iri.value):
            return None
        return self.iri_problems.record(iri)

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


# Statements

MAX_VALUES = 250_000
"""Maximum number of property values of one page. Many items with an itemref to the same large element multiply them."""
_MAX_REPORTED_TYPES = 100


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
        self._values_left = MAX_VALUES

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
            limits.append(f"more than {MAX_VALUES} property values; the rest was left out")
        if self._values.budget.was_short:
            limits.append("nested properties repeat too much text; the rest was left out")
        repaired = ((message, written) for written, message in self._repaired_types.items())
        return [
            *(Problem(syntax=Syntax.MICRODATA, message=message) for message in limits),
            *locate_problems(self._document, Syntax.MICRODATA, repaired, repaired=True),
            *self._values.iri_problems.locate(self._document, Syntax.MICRODATA),
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
        """Return the term of a type, which must be an absolute IRI. An incomplete scheme is repaired."""
        iri = check(written)
        rest = without_scheme_rest(iri.value)
        if rest and (repaired := self._vocabularies.add_scheme(rest)):
            if len(self._repaired_types) < _MAX_REPORTED_TYPES:
                self._repaired_types[written] = f"type without a complete scheme, read as {repaired[:200]}"
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

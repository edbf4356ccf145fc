"""The statements of one page as an in-memory graph, and the parts of its literals, for validation.

Terms are in N-Triples syntax. The two namespaces of schema.org are read as one (`http://schema.org/`).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from motherlode.model.terms import RDF, RDF_TYPE, XSD

Triple = tuple[str, str, str]
Superclasses = Callable[[str], frozenset[str]]
"""Function from a class to its superclasses without itself, as terms."""

RDFS_SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
_HTTPS_SCHEMA = "<https://schema.org/"
_LENGTH = len(_HTTPS_SCHEMA)
_NOTHING: Mapping[str, Sequence[str]] = {}
_ESCAPE = re.compile(r'\\(?:([tbnrf"\'\\])|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))')
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_MAX_CACHED_LITERALS = 1 << 14
_MAX_CACHED_CHARACTERS = 200
"""Longer literals are not cached, so that the cache stays below a few megabytes."""


def no_superclasses(_term: str) -> frozenset[str]:
    """Return no superclasses, for data without a known vocabulary."""
    return frozenset()


def fold_schema(term: str) -> str:
    """Return a term of `https://schema.org/` in the namespace `http://schema.org/`, and other terms unchanged.

    >>> fold_schema("<https://schema.org/name>"), fold_schema("<https://a.example/>")
    ('<http://schema.org/name>', '<https://a.example/>')
    """
    return "<http" + term[6:] if term[:_LENGTH] == _HTTPS_SCHEMA else term


class LiteralParts(NamedTuple):
    """The parts of a literal: its text, datatype IRI and language tag."""

    text: str
    datatype: str
    language: str


def parse_literal(term: str) -> LiteralParts | None:
    r"""Return the parts of a literal, or None if the term is not a literal.

    >>> parse_literal('"a\\"b"@en').text, parse_literal('"1"^^<http://www.w3.org/2001/XMLSchema#integer>').datatype
    ('a"b', 'http://www.w3.org/2001/XMLSchema#integer')
    """
    if not term.startswith('"'):
        return None
    return _parse_cached(term) if len(term) <= _MAX_CACHED_CHARACTERS else _parse(term)


def _parse(term: str) -> LiteralParts:
    end = term.rindex('"')
    text, suffix = term[1:end], term[end + 1 :]
    if "\\" in text:
        text = _ESCAPE.sub(_unescape, text)
    if suffix.startswith("@"):
        return LiteralParts(text, RDF + "langString", suffix[1:].lower())
    return LiteralParts(text, suffix[3:-1] if suffix.startswith("^^") else XSD + "string", "")


_parse_cached = lru_cache(maxsize=_MAX_CACHED_LITERALS)(_parse)


def _unescape(match: re.Match[str]) -> str:
    short, four, eight = match.groups()
    return _ESCAPED[short] if short else chr(int(four or eight, 16))


def is_iri(term: str) -> bool:
    """Return whether a term is an IRI."""
    return term.startswith("<") and not term.startswith("<<")


class PageGraph:
    """An immutable graph with indexes by subject, and lazily by object and by predicate."""

    __slots__ = ("_by_object", "_by_predicate", "_by_subject", "_superclasses", "_types", "_walks_subclasses", "active")

    def __init__(self, triples: Iterable[Triple], superclasses: Superclasses = no_superclasses) -> None:
        self._by_subject: dict[str, dict[str, list[str]]] = {}
        self._by_object: dict[str, dict[str, list[str]]] | None = None
        self._by_predicate: dict[str, list[tuple[str, str]]] | None = None
        self._types: dict[str, frozenset[str]] = {}
        self._superclasses = superclasses
        self._walks_subclasses = False
        self.active: set[tuple[str, str]] = set()
        """Pairs of a recursive shape and a node that are being validated now."""
        folded = ((fold_schema(s), fold_schema(p), fold_schema(o)) for s, p, o in triples)
        for subject, predicate, object_ in dict.fromkeys(folded):
            self._by_subject.setdefault(subject, {}).setdefault(predicate, []).append(object_)
            if predicate == RDFS_SUBCLASS:
                self._walks_subclasses = True

    def objects(self, subject: str, predicate: str) -> Sequence[str]:
        """Return the values of a property of a node."""
        return self._by_subject.get(subject, _NOTHING).get(predicate, ())

    def properties(self, subject: str) -> Mapping[str, Sequence[str]]:
        """Return the values of a node by property."""
        return self._by_subject.get(subject, _NOTHING)

    def nodes(self) -> Iterable[str]:
        """Return all subjects."""
        return self._by_subject

    def subjects(self, predicate: str, object_: str) -> Sequence[str]:
        """Return the nodes whose property `predicate` has the value `object_`."""
        if self._by_object is None:
            self._by_object = {}
            for subject, predicate_, value in self.triples():
                self._by_object.setdefault(value, {}).setdefault(predicate_, []).append(subject)
        return self._by_object.get(object_, _NOTHING).get(predicate, ())

    def pairs(self, predicate: str) -> Sequence[tuple[str, str]]:
        """Return subject and object of the statements with a predicate."""
        if self._by_predicate is None:
            self._by_predicate = {}
            for subject, predicate_, value in self.triples():
                self._by_predicate.setdefault(predicate_, []).append((subject, value))
        return self._by_predicate.get(predicate, ())

    def triples(self) -> Iterable[Triple]:
        """Yield all statements."""
        for subject, properties in self._by_subject.items():
            for predicate, values in properties.items():
                for value in values:
                    yield subject, predicate, value

    def types(self, node: str) -> frozenset[str]:
        """Return the types of a node and their superclasses."""
        found = self._types.get(node)
        if found is None:
            found = frozenset(self._close(self.objects(node, RDF_TYPE)))
            self._types[node] = found
        return found

    def _close(self, types: Sequence[str]) -> set[str]:
        closed: set[str] = set(types)
        if not self._walks_subclasses:
            return closed.union(*map(self._superclasses, types))
        waiting = list(types)
        while waiting:
            type_ = waiting.pop()
            above = self._superclasses(type_).union(self.objects(type_, RDFS_SUBCLASS)) - closed
            closed |= above
            waiting.extend(above)
        return closed

    def read_list(self, head: str) -> list[str]:
        """Return the members of an RDF list. A list that refers to itself ends there."""
        members: list[str] = []
        seen: set[str] = set()
        while head not in seen and head != f"<{RDF}nil>":
            seen.add(head)
            members.extend(self.objects(head, f"<{RDF}first>")[:1])
            head = next(iter(self.objects(head, f"<{RDF}rest>")), f"<{RDF}nil>")
        return members
